import type { ConceptKey } from '../../result/concepts.ts';
import { classification, conclude, finding, GAPS, patientGaps, rangedSex } from '../conclude.ts';
import { cubeMass, fractionalChange, relativeWallThickness } from '../formulas/chambers.ts';
import { ASYMMETRIC_WALLS, geometryOf, LEFT_VENTRICLE } from '../guidelines/left-ventricle.ts';
import type { GradedQuantity } from '../guidelines/partition.ts';
import { parasternalGap } from '../parasternal/parasternal-gap.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { calculated, graded, named, ranged, type Values, withValues } from '../values.ts';

const ID = 'lv-size';
const NEEDS = [
  'IVSd, LVIDd, LVIDs and LVPWd of a parasternal long axis',
  'sex',
  'height and weight',
] as const;

const QUANTITIES = {
  ivsd: LEFT_VENTRICLE.wall,
  lvidd: LEFT_VENTRICLE.diastolicDiameter,
  lvids: LEFT_VENTRICLE.systolicDiameter,
  lvpwd: LEFT_VENTRICLE.wall,
  'lv-mass': LEFT_VENTRICLE.mass,
  'lv-mass-index': LEFT_VENTRICLE.massIndex,
  'relative-wall-thickness': LEFT_VENTRICLE.relativeWallThickness,
  'fractional-shortening': LEFT_VENTRICLE.shortening,
} as const satisfies Partial<Record<ConceptKey, GradedQuantity>>;

const LINEAR = ['ivsd', 'lvidd', 'lvpwd'] as const;

function run(evidence: EchoEvidence, values: Values) {
  const sex = rangedSex(evidence);
  const mass = calculated(values, 'lv-mass', {
    section: ID,
    method: 'cube-formula',
    from: LINEAR,
    value: cubeMass,
  });
  const index = calculated(withValues(values, [mass]), 'lv-mass-index', {
    section: ID,
    method: 'per-surface-area',
    from: ['lv-mass', 'body-surface-area'],
    value: (m, surface) => m / surface,
  });
  const thickness = calculated(values, 'relative-wall-thickness', {
    section: ID,
    method: 'twice-posterior-wall',
    from: ['lvpwd', 'lvidd'],
    value: relativeWallThickness,
  });
  const shortening = calculated(values, 'fractional-shortening', {
    section: ID,
    method: 'fraction-of-dimensions',
    from: ['lvidd', 'lvids'],
    value: fractionalChange,
  });
  const measured = [...LINEAR, 'lvids' as const].map((key) => values.measurement(key));
  const all = [...measured, mass, index, thickness, shortening];
  const known = accepted(index) && accepted(thickness) && sex;
  const geometry =
    known && index && thickness ? geometryOf(sex, index.value, thickness.value) : null;
  const grades = all.flatMap((one) => {
    const quantity = one && QUANTITIES[one.concept.key as keyof typeof QUANTITIES];
    const grade = quantity ? graded(one, quantity, sex) : null;
    return one && grade ? [{ measurement: one, grade }] : [];
  });
  const abnormal = grades.filter(({ grade }) => grade !== 'normal');
  const [septum, posterior] = [values.number('ivsd'), values.number('lvpwd')];
  const asymmetric =
    septum !== null && posterior !== null && Math.abs(septum - posterior) > ASYMMETRIC_WALLS + 1e-9;
  const missing = [...LINEAR, 'lvids' as const].filter((key) => values.measurement(key) === null);
  return conclude(lvSize, {
    measurements: all.map((one) => {
      const quantity = one && QUANTITIES[one.concept.key as keyof typeof QUANTITIES];
      return one && quantity ? ranged(one, quantity, sex) : one;
    }),
    sentences: [
      geometry && `LV geometry: ${geometry}`,
      asymmetric
        ? 'The walls differ by more than 3 mm: relative wall thickness and geometry are by the posterior wall'
        : null,
    ],
    gaps: [
      missing.length > 0
        ? `Not measured: ${missing.map((key) => KEY_NAMES[key]).join(', ')}. ${parasternalGap(evidence) ?? ''}`.trim()
        : null,
      ...patientGaps(evidence, false),
      mass && !index ? `LV geometry was not assessed. ${GAPS.surface}` : null,
    ],
    findings: [
      abnormal.length > 0
        ? finding(
            ID,
            'lv-size-abnormal',
            abnormal.map(({ measurement, grade }) => `${named(measurement)} ${grade}`).join(', '),
            'abnormal',
            abnormal.map(({ measurement }) => measurement),
          )
        : null,
    ],
    classifications: [
      geometry && classification(ID, 'lv-geometry', 'LV geometry', geometry, 'ASE/EACVI 2015'),
      ...grades.map(({ measurement, grade }) =>
        classification(
          ID,
          `${measurement.concept.key}-grade`,
          measurement.label,
          grade,
          QUANTITIES[measurement.concept.key as keyof typeof QUANTITIES].source,
        ),
      ),
    ],
  });
}

const KEY_NAMES = { ivsd: 'IVSd', lvidd: 'LVIDd', lvids: 'LVIDs', lvpwd: 'LVPWd' } as const;

const accepted = <T extends { quality: string }>(one: T | null) =>
  one?.quality === 'accepted' ? one : null;

/** Size, mass and geometry of the left ventricle (echo reference 5). */
export const lvSize: EchoSection = {
  id: ID,
  title: 'Left ventricular size and mass',
  needs: NEEDS,
  measures: [
    ...LINEAR,
    'lvids',
    'lv-mass',
    'lv-mass-index',
    'relative-wall-thickness',
    'fractional-shortening',
  ],
  run,
};
