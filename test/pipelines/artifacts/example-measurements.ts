import { type ConceptKey, measurementConcept } from '../../../pipelines/concepts/concepts.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';

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
    origin: 'image',
    standing: 'counts',
    remarks: [],
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
