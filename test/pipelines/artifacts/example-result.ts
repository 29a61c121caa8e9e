import type { DicomIdentity, Subject } from '../../../pipelines/artifacts/subject.ts';
import { type ConceptKey, measurementConcept } from '../../../pipelines/result/concepts.ts';
import { type Measurement, type Result, resultSchema } from '../../../pipelines/result/envelope.ts';

/** A growth scan at 28+0 weeks, complete enough for every row of the documents. */

export const US_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';
export const US_MULTIFRAME = '1.2.840.10008.5.1.4.1.1.3.1';

export const IDENTITY: DicomIdentity = {
  SpecificCharacterSet: 'ISO_IR 192',
  PatientName: 'Beispiel^Zoë^^Dr.',
  PatientID: 'PID-4711',
  IssuerOfPatientID: 'HOSPITAL-A',
  PatientBirthDate: '19940312',
  PatientSex: 'F',
  StudyInstanceUID: '2.25.1111',
  StudyDate: '20260504',
  StudyTime: '101500',
  StudyID: '77',
  StudyDescription: 'OB growth scan',
  AccessionNumber: 'ACC-2026-5',
  ReferringPhysicianName: 'Praxis^Anna',
  AcquisitionDateTime: '',
  TimezoneOffsetFromUTC: '+0200',
};

export const SUBJECT: Subject = {
  requestId: 'req_01k0exampleexampleexample00',
  identity: IDENTITY,
  instances: [
    {
      sopClassUid: US_IMAGE,
      sopInstanceUid: '2.25.2001',
      seriesInstanceUid: '2.25.1112',
      file: 'head.dcm',
      numberOfFrames: 1,
      rows: 480,
      columns: 640,
    },
    {
      sopClassUid: US_MULTIFRAME,
      sopInstanceUid: '2.25.2002',
      seriesInstanceUid: '2.25.1112',
      file: 'abdomen.dcm',
      numberOfFrames: 8,
      rows: 480,
      columns: 640,
    },
    {
      sopClassUid: US_IMAGE,
      sopInstanceUid: '2.25.2003',
      seriesInstanceUid: '2.25.1113',
      file: 'femur.dcm',
      numberOfFrames: 1,
      rows: 480,
      columns: 640,
    },
  ],
  dating: { gaDays: 196, basis: 'lmp' },
};

export const ANONYMOUS: Subject = { ...SUBJECT, identity: null };

type Overrides = Partial<Measurement>;

export function measurement(
  id: string,
  key: ConceptKey,
  value: number,
  overrides: Overrides = {},
): Measurement {
  return {
    id,
    section: 'biometry',
    concept: measurementConcept(key),
    label: id,
    value,
    unit: 'mm',
    method: 'hc-ellipse',
    derivation: 'measured',
    source: { provenance: 'model', file: null, sop_instance_uid: null, frame: null, calipers: [] },
    site: null,
    laterality: null,
    fetus: null,
    phase: null,
    confidence: null,
    uncertainty: null,
    quality: 'accepted',
    reference: null,
    interpretation: null,
    inputs: [],
    note: null,
    ...overrides,
  };
}

const on = (
  file: string,
  uid: string,
  frame: number,
  calipers: Measurement['source']['calipers'],
): Measurement['source'] => ({
  provenance: 'model',
  file,
  sop_instance_uid: uid,
  frame,
  calipers,
});

const size = (low: number, high: number, centile: number, z: number): Measurement['reference'] => ({
  low,
  high,
  centile,
  z_score: z,
  chart: 'intergrowth-2014-size',
});

export const HC = measurement('m-hc', 'hc', 262.4, {
  label: 'Head circumference',
  source: on('head.dcm', '2.25.2001', 1, [
    {
      type: 'ellipse',
      points: [
        [180, 200],
        [460, 240],
        [336.0, 108],
        [304.0, 332],
      ],
    },
  ]),
  confidence: 0.94,
  uncertainty: 3.1,
  reference: size(248.9, 271.8, 58.9, 0.2238),
  interpretation: 'N',
});

export const BPD = measurement('m-bpd', 'bpd', 72.1, {
  label: 'Biparietal diameter',
  method: 'bpd-outer-outer',
  source: on('head.dcm', '2.25.2001', 1, [
    {
      type: 'line',
      points: [
        [336, 108],
        [304, 332],
      ],
    },
  ]),
  confidence: 0.94,
  reference: size(69.7, 77.3, 31.7, -0.475),
  interpretation: 'N',
});

export const AC = measurement('m-ac', 'ac', 214.9, {
  label: 'Abdominal circumference',
  method: 'ac-ellipse',
  source: on('abdomen.dcm', '2.25.2002', 5, [
    {
      type: 'ellipse',
      points: [
        [200, 240],
        [440, 240],
        [320, 130],
        [320, 350],
      ],
    },
  ]),
  confidence: 0.88,
  reference: size(218.8, 247.8, 5.2, -1.629),
  interpretation: 'L',
});

export const FL = measurement('m-fl', 'fl', 51.7, {
  label: 'Femur length',
  method: 'fl-outer-outer',
  source: on('femur.dcm', '2.25.2003', 1, [
    {
      type: 'line',
      points: [
        [210.25, 300.5],
        [430.75, 262.5],
      ],
    },
  ]),
  confidence: 0.9,
  reference: size(48.6, 54.0, 57.5, 0.188),
  interpretation: 'N',
});

export const OFD_NOT_ACCEPTED = measurement('m-ofd', 'ofd', 91.2, {
  label: 'Occipitofrontal diameter',
  method: 'ofd-outer-outer',
  quality: 'low',
  confidence: 0.41,
  source: on('head.dcm', '2.25.2001', 1, [
    {
      type: 'line',
      points: [
        [180, 200],
        [460, 240],
      ],
    },
  ]),
});

const calculated = (overrides: Overrides): Overrides => ({
  derivation: 'calculated',
  ...overrides,
});

export const MEASUREMENTS: Measurement[] = [
  HC,
  BPD,
  OFD_NOT_ACCEPTED,
  AC,
  FL,
  measurement(
    'm-hc-ac',
    'hc-ac-ratio',
    1.221,
    calculated({
      label: 'HC/AC ratio',
      unit: '1',
      method: 'ratio',
      inputs: ['m-hc', 'm-ac'],
    }),
  ),
  measurement(
    'm-fl-ac',
    'fl-ac-ratio',
    24.06,
    calculated({
      label: 'FL/AC ratio',
      unit: '%',
      method: 'ratio',
      inputs: ['m-fl', 'm-ac'],
    }),
  ),
  measurement(
    'm-ga-hc',
    'ga-by-hc',
    199.6,
    calculated({
      label: 'Gestational age by HC',
      unit: 'd',
      method: 'hadlock-1984-ga-hc',
      inputs: ['m-hc'],
      uncertainty: 14.4,
    }),
  ),
  measurement(
    'm-ga',
    'ga-by-hc-ac-fl',
    191.2,
    calculated({
      label: 'Gestational age by HC, AC and FL',
      unit: 'd',
      method: 'hadlock-1984-ga-hc-ac-fl',
      inputs: ['m-hc', 'm-ac', 'm-fl'],
    }),
  ),
  measurement(
    'm-efw',
    'efw',
    1003.7,
    calculated({
      section: 'growth',
      label: 'Estimated fetal weight',
      unit: 'g',
      method: 'hadlock-1985-efw-hc-ac-fl',
      inputs: ['m-hc', 'm-ac', 'm-fl'],
      uncertainty: 150.6,
      reference: {
        low: 982,
        high: 1279,
        centile: 13.9,
        z_score: -1.085,
        chart: 'intergrowth-2020-efw',
      },
      interpretation: 'N',
      note: 'Half width 15 % of the estimate.',
    }),
  ),
];

const notAssessed = (id: string, title: string): Result['sections'][number] => ({
  id,
  title,
  status: 'not_assessed',
  reason: {
    code: 'not_in_this_version',
    detail: `This version does not assess ${title.toLowerCase()}.`,
    needs: [],
  },
  summary: '',
  data: {},
  artifacts: [],
});

const section = (
  id: string,
  title: string,
  status: Result['sections'][number]['status'],
  summary: string,
): Result['sections'][number] => ({
  id,
  title,
  status,
  reason: null,
  summary,
  data: {},
  artifacts: [],
});

export const RESULT: Result = resultSchema.parse({
  schema: 'sonogate.result/1',
  endpoint: 'us/obstetric/interpret',
  version: '1.0.0',
  generated_at: '2026-05-04T08:31:12.345Z',
  models: [
    {
      id: 'fetal-head',
      version: '1.0.0',
      sha256: 'ab'.repeat(32),
      licence: 'CC-BY-4.0',
      pack: 'permissive',
      provider: 'cpu',
    },
    {
      id: 'fetal-planes',
      version: '1.0.0',
      sha256: 'cd'.repeat(32),
      licence: 'CC-BY-4.0',
      pack: 'permissive',
      provider: 'cpu',
    },
  ],
  draft: true,
  input_summary: {
    files: 4,
    series: 2,
    clips: 3,
    frames: 10,
    calibrated_frames: 10,
    modes: ['2d'],
    refused: [{ file: 'notes.txt', reason: 'Not an image.' }],
    priors: 0,
  },
  sections: [
    section('planes', 'Standard planes', 'complete', 'Head, abdomen and femur planes were found.'),
    section('biometry', 'Biometry', 'partial', 'HC, BPD, AC and FL were measured.'),
    section(
      'growth',
      'Growth',
      'complete',
      'Estimated weight 1004 g, centile 14; abdominal circumference on centile 5.',
    ),
    ...(
      [
        ['amniotic-fluid', 'Amniotic fluid'],
        ['early-pregnancy', 'Early pregnancy'],
        ['nt', 'Nuchal translucency'],
        ['fetal-heart', 'Fetal heart'],
        ['anomaly-screen', 'Anomaly screen'],
        ['placenta', 'Placenta'],
        ['cervix', 'Cervix'],
        ['labor-progress', 'Labor progress'],
        ['presentation', 'Presentation'],
        ['doppler', 'Doppler'],
      ] as const
    ).map(([id, title]) => notAssessed(id, title)),
  ],
  findings: [
    {
      id: 'f-ac',
      section: 'growth',
      concept: null,
      text: 'Abdominal circumference below the 10th centile (5.2) of INTERGROWTH-21st 2014.',
      severity: 'abnormal',
      confidence: null,
      evidence: ['m-ac'],
    },
  ],
  measurements: MEASUREMENTS,
  scores: [],
  classifications: [
    {
      id: 'c-size',
      section: 'growth',
      concept: {
        key: 'size-for-gestational-age',
        system: 'urn:sonogate:99USINT',
        code: 'size-for-gestational-age',
        display: 'Size for gestational age',
      },
      name: 'Size for gestational age',
      value: 'aga',
      scheme: 'ISUOG 2020',
      criteria: [],
    },
  ],
  guidance: [],
  report: null,
  artifacts: [],
});

/** The same study where nothing could be measured. */
export const NOTHING_MEASURED: Result = {
  ...RESULT,
  measurements: [],
  findings: [],
  classifications: [],
  sections: RESULT.sections.map((entry) =>
    entry.id === 'biometry'
      ? {
          ...entry,
          status: 'not_assessed',
          summary: '',
          reason: {
            code: 'no_plane',
            detail: 'No head, abdomen or femur plane was found',
            needs: ['a transthalamic, abdominal or femur plane'],
          },
        }
      : entry,
  ),
};

/** Two fetuses, told apart by `fetus`. */
export const TWINS: Result = {
  ...RESULT,
  measurements: ['A', 'B'].flatMap((fetus) =>
    MEASUREMENTS.map((entry) => ({
      ...entry,
      id: `${entry.id}-${fetus}`,
      inputs: entry.inputs.map((id) => `${id}-${fetus}`),
      fetus,
    })),
  ),
};
