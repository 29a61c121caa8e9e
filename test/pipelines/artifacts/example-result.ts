import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { MEASUREMENTS } from './example-measurements.ts';

/** A growth scan at 28+0 weeks, complete enough to fill every row of the documents. */

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

/** The same study, but with nothing that could be measured. */
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

/** Two fetuses, distinguished by `fetus`. */
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
