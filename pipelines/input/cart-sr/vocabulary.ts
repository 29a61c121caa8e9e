import type { CartCode, CartDerivation, CartSelection } from '../../contract/study.ts';

/**
 * Returns a code as `scheme|code`. The meaning is left out, because it differs between carts and is
 * never compared.
 */
export function keyOf({ scheme, code }: CartCode): string {
  return `${scheme}|${code}`;
}

/** TID of each root concept under which carts report ultrasound values. */
export const REPORT_TITLES: Readonly<Record<string, string>> = {
  'DCM|125000': 'TID 5000',
  'DCM|125100': 'TID 5100',
  // TID 5200 and TID 5300 have the same title (PS3.17 CCCC.5). TID 5220 has a title for each age
  // group.
  'DCM|125200': 'TID 5200',
  'DCM|125195': 'TID 5220',
  'DCM|125196': 'TID 5220',
  'DCM|125197': 'TID 5220',
};

/** TID 1500, which is used by all modalities. */
export const IMAGING_MEASUREMENT_REPORT = 'DCM|126000';

export const MODIFIERS = {
  'SCT|363698007': 'site',
  'SCT|370129005': 'method',
  'SCT|272518008': 'phase',
  'SCT|272517003': 'respiration',
  'SCT|399264008': 'imageMode',
  'DCM|111031': 'imageView',
  'SCT|260674002': 'flowDirection',
  'LN|18139-6': 'stage',
  'DCM|125307': 'property',
  'DCM|125308': 'divisor',
  // (121425, DCM, "Index") in TID 5203 means the same as the divisor in TID 5302.
  'DCM|121425': 'divisor',
} as const;

export const NAMES = {
  laterality: 'SCT|272741003',
  derivation: 'DCM|121401',
  selection: 'DCM|121404',
  equation: 'DCM|121420',
  tableOfValues: 'DCM|121424',
  subjectClass: 'DCM|121024',
  subjectId: 'DCM|121030',
  /** Labels of the fetus. These codes are never used for the patient. */
  fetusNumber: 'DCM|121037',
  fetusId: 'LN|11951-1',
  subjectAge: 'DCM|121033',
  biometryGroup: 'DCM|125005',
} as const;

/** (121026, DCM, "Fetus") as the subject class (TID 1006). */
export const SUBJECT_FETUS = 'DCM|121026';

/**
 * Concepts for the number of fetuses: in the context of a section (TID 1008) and in the summary.
 */
export const NUMBER_OF_FETUSES = {
  inContext: { scheme: 'DCM', code: '121038', meaning: 'Number of Fetuses' },
  bySummary: { scheme: 'LN', code: '11878-6', meaning: 'Number of Fetuses by US' },
} as const satisfies Record<string, CartCode>;

/** Concepts in a biometry group that describe another value of the group (TID 5008). */
export const ABOUT_THE_GROUP: ReadonlySet<string> = new Set([
  'LN|18185-9',
  'DCM|125012',
  'DCM|125013',
]);

/** Property names that are ambiguous without a site (PS3.16 CID 12222, CID 12304). */
export const PROPERTIES: ReadonlySet<string> = new Set([
  'SCT|81827009',
  'SCT|410668003',
  'SCT|42798000',
  'SCT|118565006',
  'SCT|118538004',
  'SCT|131188004',
  'SCT|385673002',
  'SCT|1483009',
  'LN|59089-3',
  'LN|59090-1',
  'LN|20354-7',
  'LN|11726-7',
  'LN|20355-4',
  'LN|20352-1',
  'LN|20256-4',
  'LN|20247-3',
  'LN|20280-4',
  'LN|20217-6',
  'LN|20168-1',
]);

export const LATERALITIES: Readonly<Record<string, 'left' | 'right'>> = {
  'SCT|7771000': 'left',
  'SCT|24028007': 'right',
};

/** How a value was derived (PS3.16 CID 3627 and CID 7464). */
export const DERIVATIONS: Readonly<Record<string, CartDerivation>> = {
  'SCT|258104002': 'measured',
  'SCT|258090004': 'calculated',
  'SCT|373098007': 'mean',
  'SCT|373099004': 'median',
  'SCT|371912002': 'best',
  'SCT|414135002': 'estimated',
  'SCT|258083009': 'estimated',
  'SCT|255605001': 'minimum',
  'SCT|56851009': 'maximum',
};

/** Why a value was selected (PS3.16 CID 224 and CID 12301). */
export const SELECTIONS: Readonly<Record<string, CartSelection>> = {
  'DCM|121410': 'user',
  'DCM|121411': 'most-recent',
  'DCM|121412': 'mean',
  'SCT|255605001': 'minimum',
  'SCT|56851009': 'maximum',
};

type Dimension =
  | 'length'
  | 'area'
  | 'volume'
  | 'mass'
  | 'time'
  | 'speed'
  | 'number'
  | 'pressure'
  | 'frequency'
  | 'angle';

const DAY = 86_400;

/**
 * Dimension and size, in base units, of each UCUM code (case sensitive; UCUM 2.1, tables 2 to 7).
 */
const UCUM: Readonly<Record<string, readonly [Dimension, number]>> = {
  um: ['length', 1e-6],
  mm: ['length', 1e-3],
  cm: ['length', 1e-2],
  dm: ['length', 1e-1],
  m: ['length', 1],
  '[in_i]': ['length', 0.0254],
  mm2: ['area', 1e-6],
  cm2: ['area', 1e-4],
  m2: ['area', 1],
  mm3: ['volume', 1e-9],
  cm3: ['volume', 1e-6],
  ml: ['volume', 1e-6],
  dl: ['volume', 1e-4],
  l: ['volume', 1e-3],
  mg: ['mass', 1e-6],
  g: ['mass', 1e-3],
  kg: ['mass', 1],
  '[oz_av]': ['mass', 0.028349523125],
  '[lb_av]': ['mass', 0.45359237],
  us: ['time', 1e-6],
  ms: ['time', 1e-3],
  s: ['time', 1],
  min: ['time', 60],
  h: ['time', 3600],
  d: ['time', DAY],
  wk: ['time', 7 * DAY],
  'mm/s': ['speed', 1e-3],
  'cm/s': ['speed', 1e-2],
  'm/s': ['speed', 1],
  '1': ['number', 1],
  '%': ['number', 0.01],
  'mm[Hg]': ['pressure', 133.322],
  kPa: ['pressure', 1000],
  '/min': ['frequency', 1 / 60],
  '/s': ['frequency', 1],
  Hz: ['frequency', 1],
  deg: ['angle', Math.PI / 180],
  rad: ['angle', 1],
};

/**
 * Returns a unit in its simplest spelling. Annotations in braces do not affect the unit (UCUM 6):
 * `{H.B.}/min` becomes `/min`, and `{ratio}` becomes 1. The litre has two spellings (UCUM 29):
 * `mL/m2` becomes `ml/m2`.
 */
function bareUnit(unit: string): string {
  const bare = unit
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/(?<=^|[./])([mcdu]?)L(?=$|[./\d])/g, '$1l')
    .trim();
  return bare === '' ? '1' : bare;
}

/** Converts `value` to the UCUM unit `to`. Returns null if the units have different dimensions. */
export function convert(value: number, from: string, to: string): number | null {
  const source = bareUnit(from);
  const target = bareUnit(to);
  if (source === target) return value;
  const [dimension, size] = UCUM[source] ?? [];
  const [wanted, unit] = UCUM[target] ?? [];
  if (!dimension || !size || !unit || dimension !== wanted) return null;
  return value * (size / unit);
}
