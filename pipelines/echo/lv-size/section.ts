import type { ConceptKey } from '../../concepts/concepts.ts';
import { fixed, rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { bodyMassIndex, OBESE_FROM } from '../formulas/body.ts';
import {
  cubeMass,
  fractionalChange,
  massPerHeight,
  relativeWallThickness,
  wallThicknessOfBoth,
} from '../formulas/chambers.ts';
import { familyOf, type HeartView, type ViewFamily } from '../locate/names.ts';
import {
  classification,
  conclude,
  finding,
  GAPS,
  inAdultRange,
  patientGaps,
  rangedSex,
} from '../shared/conclude.ts';
import { type GradedQuantity, gradeOf, type Sex } from '../shared/grading.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import { calculated, graded, named, type Values, withValues } from '../shared/values.ts';
import { ASYMMETRIC_WALLS, geometryOf, LEFT_VENTRICLE } from './guideline.ts';

/** What this section needs beside the values. */
interface LvSizeEvidence extends PatientEvidence {
  /** The view of every clip. */
  clips: readonly { view: HeartView | null }[];
  /** `parasternal` is null where its reader failed; its `clips` where no permitted model measures. */
  views: {
    parasternal: {
      clips:
        | readonly { family: ViewFamily; frames: readonly { lines: { cavity?: unknown } }[] }[]
        | null;
    } | null;
  };
}

/** Why nothing was measured on a parasternal long axis, as a sentence; null where something was. */
export function parasternalGap({
  clips,
  views,
}: Pick<LvSizeEvidence, 'clips' | 'views'>): string | null {
  const { parasternal } = views;
  if (parasternal === null) {
    return 'The parasternal clips could not be analysed because of an internal error.';
  }
  if (!clips.some(({ view }) => view !== null && familyOf(view) === 'PLAX')) {
    return 'No PLAX clip was found.';
  }
  if (parasternal.clips === null) return 'No permitted model measures the parasternal long axis.';
  const own = parasternal.clips.filter(({ family }) => family === 'PLAX');
  if (own.some(({ frames }) => frames.some(({ lines }) => lines.cavity))) return null;
  return 'The PLAX clips show no lines that can be relied on.';
}

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
  'relative-wall-thickness': LEFT_VENTRICLE.relativeWallThickness,
  'fractional-shortening': LEFT_VENTRICLE.shortening,
} as const satisfies Partial<Record<ConceptKey, GradedQuantity>>;

const LINEAR = ['ivsd', 'lvidd', 'lvpwd'] as const;

/** Mass by 2D areas has limits of its own, per surface area alone (echo 5.3). */
const is2d = (one: Measurement | null) => one?.method === 'cart-mass-2d';

function massOf(values: Values): { mass: Measurement | null; index: Measurement | null } {
  const given = values.measurement('lv-mass');
  const mass = is2d(given)
    ? given
    : calculated(values, 'lv-mass', {
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
  return { mass, index };
}

/** In obesity the surface area hides hypertrophy: mass over height^2.7 beside it (echo 1). */
function byHeight({ patient }: LvSizeEvidence, mass: Measurement | null, sex: Sex | null) {
  const bodyMass = bodyMassIndex(patient.height, patient.weight);
  if (mass?.quality !== 'accepted' || is2d(mass)) return null;
  if (patient.height === null || bodyMass === null || rounded(bodyMass, 1) < OBESE_FROM)
    return null;
  const value = massPerHeight(mass.value, patient.height);
  const grade = sex && gradeOf(LEFT_VENTRICLE.massPerHeight, sex, value);
  const shown = rounded(value, LEFT_VENTRICLE.massPerHeight.decimals);
  return {
    grade,
    text: `LV mass / height^2.7 is ${shown} g/m^2.7${grade ? `: ${grade}` : ''}; with a BMI of ${rounded(bodyMass, 1)} kg/m² indexing to BSA may hide hypertrophy`,
  };
}

/** Walls that differ: relative thickness both ways (echo 5.4). */
function asymmetryOf(values: Values): string | null {
  const [septum, posterior] = [values.number('ivsd'), values.number('lvpwd')];
  if (septum === null || posterior === null) return null;
  if (Math.abs(septum - posterior) <= ASYMMETRIC_WALLS + 1e-9) return null;
  const cavity = values.number('lvidd');
  const { decimals } = LEFT_VENTRICLE.relativeWallThickness;
  const both =
    cavity === null
      ? ''
      : `; (IVSd + LVPWd)/LVIDd is ${fixed(wallThicknessOfBoth(septum, posterior, cavity), decimals)}`;
  return `The walls differ by more than 3 mm: relative wall thickness and geometry are by the posterior wall${both}`;
}

function geometryGap(mass: Measurement | null, index: Measurement | null): string | null {
  if (!mass || index) return null;
  return accepted(mass)
    ? `LV geometry was not assessed. ${GAPS.surface}`
    : 'LV geometry was not assessed: LV mass was withheld.';
}

function run(evidence: LvSizeEvidence, values: Values) {
  const sex = rangedSex(evidence);
  const { mass, index } = massOf(values);
  const massIndex =
    is2d(index) || (index?.method === 'per-surface-area' && is2d(mass))
      ? LEFT_VENTRICLE.massIndex2d
      : LEFT_VENTRICLE.massIndex;
  const quantityOf = (one: Measurement): GradedQuantity | null => {
    if (one.concept.key === 'lv-mass-index') return massIndex;
    return is2d(one) ? null : (QUANTITIES[one.concept.key as keyof typeof QUANTITIES] ?? null);
  };
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
    ofOneSource: 'LVIDd and LVIDs',
  });
  const measured = [...LINEAR, 'lvids' as const].map((key) => values.measurement(key));
  const all = [...measured, mass, index, thickness, shortening];
  const known = accepted(index) && accepted(thickness) && sex;
  const geometry =
    known && index && thickness ? geometryOf(sex, index.value, thickness.value, massIndex) : null;
  const grades = all.flatMap((one) => {
    const quantity = one && quantityOf(one);
    const grade = quantity ? graded(one, quantity, sex) : null;
    return one && quantity && grade ? [{ measurement: one, quantity, grade }] : [];
  });
  const abnormal = grades.filter(({ grade }) => grade !== 'normal');
  const perHeight = byHeight(evidence, mass, sex);
  const missing = [...LINEAR, 'lvids' as const].filter((key) => values.measurement(key) === null);
  return conclude(lvSize, {
    measurements: all.map((one) => {
      const quantity = one && quantityOf(one);
      return quantity ? inAdultRange(evidence, one, quantity) : one;
    }),
    sentences: [
      geometry && `LV geometry: ${geometry}`,
      perHeight?.text ?? null,
      asymmetryOf(values),
    ],
    gaps: [
      missing.length > 0
        ? `Not measured: ${missing.map((key) => KEY_NAMES[key]).join(', ')}. ${parasternalGap(evidence) ?? ''}`.trim()
        : null,
      ...patientGaps(evidence, false),
      geometryGap(mass, index),
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
      perHeight?.grade
        ? classification(
            ID,
            'lv-mass-per-height-grade',
            'LV mass / height^2.7',
            perHeight.grade,
            LEFT_VENTRICLE.massPerHeight.source,
          )
        : null,
      ...grades.map(({ measurement, quantity, grade }) =>
        classification(
          ID,
          `${measurement.concept.key}-grade`,
          measurement.label,
          grade,
          quantity.source,
        ),
      ),
    ],
  });
}

const KEY_NAMES = { ivsd: 'IVSd', lvidd: 'LVIDd', lvids: 'LVIDs', lvpwd: 'LVPWd' } as const;

const accepted = <T extends { quality: string }>(one: T | null) =>
  one?.quality === 'accepted' ? one : null;

/** Size, mass and geometry of the left ventricle (echo 5). */
export const lvSize: EchoSection<LvSizeEvidence> = {
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
