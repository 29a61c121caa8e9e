import { type SentenceTable, statementsOf } from '../../statement.ts';

export const PLANE_LABELS = {
  transthalamic: 'transthalamic head',
  transventricular: 'transventricular head',
  transcerebellar: 'transcerebellar head',
  abdominal: 'abdominal circumference plane',
  femur: 'femur',
  thorax: 'thorax',
  cervix: 'maternal cervix',
  other: 'other',
  midsagittal: 'first-trimester mid-sagittal fetus',
  transperineal: 'transperineal mid-sagittal',
  'early-pregnancy': 'early pregnancy',
  'amniotic-fluid': 'amniotic fluid',
  placenta: 'placenta',
  'four-chamber': 'four-chamber view',
} as const;
type Plane = keyof typeof PLANE_LABELS;

const planeList = (planes: readonly Plane[]): string =>
  planes.map((plane) => PLANE_LABELS[plane]).join(', ');

export const PLANE_SENTENCES = {
  'planes.found': ({ planes }: { planes: readonly Plane[] }) =>
    `Planes found: ${planeList(planes) || 'none'}.`,
  'planes.missing': ({ planes }: { planes: readonly Plane[] }) =>
    `Planes needed for biometry but not found: ${planeList(planes)}.`,
  'planes.no-model': () => 'No model for planes is permitted by the configuration.',
} as const satisfies SentenceTable;

export const say = statementsOf<typeof PLANE_SENTENCES>();
