import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { Remark } from '../../result/statement.ts';
import type { Values } from '../shared/section.ts';
import type { Applicability } from './applicability.ts';
import type { Filling2016 } from './guideline-2016.ts';
import { type Diastolic2025, earlyOverAnnular, type FibrillationInputs } from './guideline-2025.ts';

export const SECTION = 'diastolic';

export const MEASURED = [
  'mitral-e',
  'mitral-a',
  'deceleration-time',
  'e-prime-septal',
  'e-prime-lateral',
  'a-prime-septal',
  'a-prime-lateral',
  's-prime-septal',
  's-prime-lateral',
  'mitral-a-duration',
  'ivrt',
  'pulmonary-vein-s',
  'pulmonary-vein-d',
] as const satisfies readonly EchoConcept[];

export const CALCULATED = [
  'e-to-a',
  'e-to-e-prime',
  'e-to-e-prime-septal',
  'e-to-e-prime-lateral',
  'pulmonary-vein-ratio',
] as const satisfies readonly EchoConcept[];
type Calculated = (typeof CALCULATED)[number];

const divided = (one = 0, other = 1) => one / other;

/** Method of each ratio, and the values from which it is calculated. */
const RATIOS = {
  'e-to-a': { from: ['mitral-e', 'mitral-a'], value: divided, method: 'ratio-of-values' },
  'e-to-e-prime': {
    from: ['mitral-e', 'e-prime-septal', 'e-prime-lateral'],
    value: earlyOverAnnular,
    method: 'early-over-annular',
  },
  'e-to-e-prime-septal': {
    from: ['mitral-e', 'e-prime-septal'],
    value: earlyOverAnnular,
    method: 'early-over-annular',
  },
  'e-to-e-prime-lateral': {
    from: ['mitral-e', 'e-prime-lateral'],
    value: earlyOverAnnular,
    method: 'early-over-annular',
  },
  'pulmonary-vein-ratio': {
    from: ['pulmonary-vein-s', 'pulmonary-vein-d'],
    value: divided,
    method: 'ratio-of-values',
  },
} as const;

/**
 * Ratios of E to e', the velocity of the mitral annulus. They are invalid if the mitral valve is
 * diseased.
 */
const ANNULAR: ReadonlySet<Calculated> = new Set<Calculated>([
  'e-to-e-prime',
  'e-to-e-prime-septal',
  'e-to-e-prime-lateral',
]);

function againstRatio(key: Calculated, { mitral, filling }: Applicability): Remark | null {
  if (key === 'e-to-a') return filling;
  return ANNULAR.has(key) && mitral.length > 0 ? remarkOfEcho('diastolic.invalid-ratio', {}) : null;
}

/**
 * Returns the section's ratios, and the given values extended by those ratios that are not
 * withheld.
 */
export function withRatios(given: Values, applicability: Applicability) {
  const ratios = CALCULATED.map((key): Measurement | null => {
    const ratio = given.calculated(key, { section: SECTION, ...RATIOS[key] });
    const because = againstRatio(key, applicability);
    // A ratio that a person confirmed is not withheld.
    return ratio && because && !ratio.confirmed
      ? { ...ratio, quality: 'inadequate', remarks: [...ratio.remarks, because] }
      : ratio;
  });
  const values = given.without(new Set<EchoConcept>(CALCULATED)).with(ratios);
  return { ratios, values };
}

/** Returns the LA volume index; that by discs is preferred (echo 6). */
export const atrialIndexOf = (values: Values): Measurement | null =>
  values.measurement('la-volume-index') ?? values.measurement('la-volume-index-area-length');

export interface DiastolicInputs {
  of2016: Omit<Filling2016, 'reducedEf'>;
  of2025: Diastolic2025;
  ofFibrillation: FibrillationInputs;
}

/**
 * Returns the inputs of the algorithms of 2016, of 2025, and of 2025 for atrial fibrillation.
 *
 * @param systolicPressure systolic pulmonary artery pressure, mmHg; null if not known.
 */
export function inputsOf(values: Values, systolicPressure: number | null): DiastolicInputs {
  const annular = {
    averageRatio: values.number('e-to-e-prime'),
    septalRatio: values.number('e-to-e-prime-septal'),
    lateralRatio: values.number('e-to-e-prime-lateral'),
    septal: values.number('e-prime-septal'),
    lateral: values.number('e-prime-lateral'),
  };
  const shared = {
    early: values.number('mitral-e'),
    jet: values.number('tr-vmax'),
    veinRatio: values.number('pulmonary-vein-ratio'),
  };
  const filling = {
    ratio: values.number('e-to-a'),
    atrialIndex: atrialIndexOf(values)?.value ?? null,
  };
  // This software does not measure left atrial reservoir strain.
  const pressure = { systolicPressure, reservoirStrain: null };
  return {
    of2016: { ...annular, ...shared, ...filling },
    of2025: {
      ...annular,
      ...shared,
      ...filling,
      ...pressure,
      relaxationTime: values.number('ivrt'),
    },
    ofFibrillation: {
      ...shared,
      ...pressure,
      septalRatio: annular.septalRatio,
      deceleration: values.number('deceleration-time'),
    },
  };
}
