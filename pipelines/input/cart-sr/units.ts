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

/** UCUM code (case sensitive) → dimension and size in its base unit (UCUM 2.1, tables 2 to 7). */
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
 * Annotations in braces have no effect on the unit (UCUM 6): `{H.B.}/min` is `/min`, `{ratio}` 1. The
 * litre is written in both cases (UCUM 29): `mL/m2` is `ml/m2`.
 */
function bareUnit(unit: string): string {
  const bare = unit
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/(?<=^|[./])([mcdu]?)L(?=$|[./\d])/g, '$1l')
    .trim();
  return bare === '' ? '1' : bare;
}

/** `value` in the UCUM unit `to`; null where the units do not measure the same. */
export function convert(value: number, from: string, to: string): number | null {
  const source = bareUnit(from);
  const target = bareUnit(to);
  if (source === target) return value;
  const [dimension, size] = UCUM[source] ?? [];
  const [wanted, unit] = UCUM[target] ?? [];
  if (!dimension || !size || !unit || dimension !== wanted) return null;
  return value * (size / unit);
}
