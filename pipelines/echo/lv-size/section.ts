import type { EchoConcept } from '../../concepts/echo.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { categoryOfLvSize, sayOfLvSize } from '../../result/render/echo/lv-size.ts';
import {
  type Abnormality,
  categoryOfEcho,
  type Geometry,
  sayOfEcho,
} from '../../result/render/echo/shared.ts';
import type { Statement } from '../../result/statement.ts';
import {
  bodyMassIndex,
  cubeMass,
  fractionalChange,
  massPerHeight,
  OBESE_FROM,
  relativeWallThickness,
  wallThicknessOfBoth,
} from '../formulas.ts';
import { familyOf, type HeartView, type ViewDispute, type ViewFamily } from '../locate/names.ts';
import {
  forEverySex,
  type GradedQuantity,
  graded,
  gradeFor,
  isAbnormal,
  type Sex,
} from '../shared/grading.ts';
import {
  classification,
  conclude,
  type EchoSection,
  finding,
  inAdultRange,
  type PatientEvidence,
  patientGaps,
  perSurface,
  rangedSexes,
  type Values,
} from '../shared/section.ts';
import {
  ASYMMETRIC_WALLS,
  geometryOf,
  is2dMass,
  LEFT_VENTRICLE,
  massIndexRange,
} from './guideline.ts';

interface LvSizeEvidence extends PatientEvidence {
  clips: readonly { view: HeartView | null; underStress: boolean; dispute?: ViewDispute }[];
  /**
   * `parasternal` is null if reading the parasternal clips failed. `clips` is null if no permitted
   * model can measure parasternal views.
   */
  views: {
    parasternal: {
      clips:
        | readonly { family: ViewFamily; frames: readonly { lines: { cavity?: unknown } }[] }[]
        | null;
    } | null;
  };
}

function parasternalGap({
  clips,
  views: { parasternal },
}: Pick<LvSizeEvidence, 'clips' | 'views'>): Statement | null {
  if (parasternal === null) return sayOfLvSize.gap('parasternal.reader-failed', {});
  const shown = clips.filter(({ view }) => view !== null && familyOf(view) === 'PLAX');
  if (shown.length === 0) {
    const [dispute] = clips.flatMap(({ dispute: one }) => (one?.named === 'PLAX' ? one : []));
    return dispute
      ? sayOfEcho.gap('outlines.view-disputed', { ...dispute })
      : sayOfLvSize.gap('parasternal.no-clip', {});
  }
  if (shown.every(({ underStress }) => underStress)) {
    return sayOfEcho.gap('outlines.under-stress', { views: ['PLAX'] });
  }
  if (parasternal.clips === null) return sayOfLvSize.gap('parasternal.no-model', {});
  const own = parasternal.clips.filter(({ family }) => family === 'PLAX');
  if (own.some(({ frames }) => frames.some(({ lines }) => lines.cavity))) return null;
  return sayOfLvSize.gap('parasternal.no-lines', {});
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
} as const satisfies Partial<Record<EchoConcept, GradedQuantity>>;

const LINEAR = ['ivsd', 'lvidd', 'lvpwd'] as const;

function massOf(values: Values): { mass: Measurement | null; index: Measurement | null } {
  const given = values.measurement('lv-mass');
  const mass = is2dMass(given)
    ? given
    : values.calculated('lv-mass', {
        section: ID,
        method: 'cube-formula',
        from: LINEAR,
        value: cubeMass,
      });
  const index = values.with([mass]).calculated('lv-mass-index', perSurface(ID, 'lv-mass'));
  return { mass, index };
}

/**
 * Returns the mass divided by height^2.7, g/m^2.7. It is added in obesity, because indexing to body
 * surface area then hides hypertrophy (echo 1).
 */
function byHeight({ patient }: LvSizeEvidence, mass: Measurement | null, sexes: readonly Sex[]) {
  const bodyMass = bodyMassIndex(patient.height, patient.weight);
  if (mass?.quality !== 'accepted' || is2dMass(mass)) return null;
  if (patient.height === null || bodyMass === null || rounded(bodyMass, 1) < OBESE_FROM)
    return null;
  const value = massPerHeight(mass.value, patient.height);
  const grade = gradeFor(LEFT_VENTRICLE.massPerHeight, sexes, value);
  const { decimals } = LEFT_VENTRICLE.massPerHeight;
  return {
    grade,
    statement: sayOfLvSize.conclusion('lv-size.mass-per-height', {
      value,
      decimals,
      grade,
      bodyMass: rounded(bodyMass, 1),
    }),
  };
}

/**
 * Reports the relative wall thickness in both ways if the walls differ in thickness (echo 5.4).
 * Null if they do not.
 */
function asymmetryOf(values: Values): Statement | null {
  const [septum, posterior] = [values.number('ivsd'), values.number('lvpwd')];
  if (septum === null || posterior === null) return null;
  if (Math.abs(septum - posterior) <= ASYMMETRIC_WALLS + 1e-9) return null;
  const cavity = values.number('lvidd');
  const ratio = cavity === null ? null : wallThicknessOfBoth(septum, posterior, cavity);
  return sayOfLvSize.conclusion('lv-size.asymmetric-walls', { ratio });
}

function geometryGap(mass: Measurement | null, index: Measurement | null): Statement | null {
  if (!mass || index) return null;
  return accepted(mass)
    ? sayOfLvSize.gap('lv-size.geometry-without-index', {})
    : sayOfLvSize.gap('lv-size.geometry-without-mass', {});
}

function rangesFor(mass: Measurement | null, index: Measurement | null) {
  const massIndex = massIndexRange(index, mass);
  const quantityOf = (one: Measurement): GradedQuantity | null => {
    if (one.concept.key === 'lv-mass-index') return massIndex;
    return is2dMass(one) ? null : (QUANTITIES[one.concept.key as keyof typeof QUANTITIES] ?? null);
  };
  return { massIndex, quantityOf };
}

interface Graded {
  measurement: Measurement;
  quantity: GradedQuantity;
  grade: Abnormality;
}

/**
 * Returns a finding with the values and their grades; null without values. `severity` is `info` for
 * values outside their range on the side without grades of severity, such as a small cavity,
 * because they are not abnormal by themselves.
 */
function gradesFinding(id: string, severity: 'abnormal' | 'info', grades: readonly Graded[]) {
  if (grades.length === 0) return null;
  const measurements = grades.map(({ measurement }) => measurement);
  const said = { grades: grades.map(({ grade }) => grade) };
  const statement = sayOfLvSize.conclusion('lv-size.abnormal', said, measurements);
  return finding(id, statement, severity);
}

function classificationsOf(
  geometry: Geometry | null,
  byHeightGrade: Abnormality | null,
  grades: readonly Graded[],
) {
  return [
    geometry &&
      classification(
        'lv-geometry',
        'LV geometry',
        categoryOfLvSize('geometry', geometry),
        'ASE/EACVI 2015',
      ),
    byHeightGrade
      ? classification(
          'lv-mass-per-height-grade',
          'LV mass / height^2.7',
          categoryOfEcho('abnormality', byHeightGrade),
          LEFT_VENTRICLE.massPerHeight.source,
        )
      : null,
    ...grades.map(({ measurement, quantity, grade }) =>
      classification(
        `${measurement.concept.key}-grade`,
        measurement.label,
        categoryOfEcho('abnormality', grade),
        quantity.source,
      ),
    ),
  ].map((one) => one || null);
}

function run(evidence: LvSizeEvidence, values: Values) {
  const sexes = rangedSexes(evidence);
  const { mass, index } = massOf(values);
  const { massIndex, quantityOf } = rangesFor(mass, index);
  const thickness = values.calculated('relative-wall-thickness', {
    section: ID,
    method: 'twice-posterior-wall',
    from: ['lvpwd', 'lvidd'],
    value: relativeWallThickness,
  });
  const shortening = values.calculated('fractional-shortening', {
    section: ID,
    method: 'fraction-of-dimensions',
    from: ['lvidd', 'lvids'],
    value: fractionalChange,
    ofOneSource: 'diameters',
  });
  const measured = [...LINEAR, 'lvids' as const].map((key) => values.measurement(key));
  const all = [...measured, mass, index, thickness, shortening];
  const geometry =
    accepted(index) && accepted(thickness) && index && thickness
      ? forEverySex(sexes, (sex) => geometryOf(sex, index.value, thickness.value, massIndex))
      : null;
  const grades = all.flatMap((one) => {
    const quantity = one && quantityOf(one);
    const grade = quantity ? graded(one, quantity, sexes) : null;
    return one && quantity && grade ? [{ measurement: one, quantity, grade }] : [];
  });
  const outside = grades.filter(({ grade }) => grade !== 'normal');
  const abnormal = outside.filter(({ grade }) => isAbnormal(grade));
  const ungraded = outside.filter(({ grade }) => !isAbnormal(grade));
  const perHeight = byHeight(evidence, mass, sexes);
  const missing = [...LINEAR, 'lvids' as const].filter((key) => values.measurement(key) === null);
  return conclude(lvSize, {
    measurements: all.map((one) => {
      const quantity = one && quantityOf(one);
      return quantity ? inAdultRange(evidence, one, quantity) : one;
    }),
    conclusions: [
      geometry && sayOfLvSize.conclusion('lv-size.geometry', { geometry }),
      perHeight?.statement ?? null,
      asymmetryOf(values),
    ],
    gaps: [
      ...(missing.length > 0
        ? [sayOfLvSize.gap('lv-size.not-measured', { keys: missing }), parasternalGap(evidence)]
        : []),
      ...patientGaps(evidence, mass?.quality === 'accepted' && index === null),
      geometryGap(mass, index),
    ],
    findings: [
      gradesFinding('lv-size-abnormal', 'abnormal', abnormal),
      gradesFinding('lv-size-outside-range', 'info', ungraded),
    ],
    classifications: classificationsOf(geometry, perHeight?.grade ?? null, grades),
  });
}

const accepted = <T extends { quality: string }>(one: T | null) =>
  one?.quality === 'accepted' ? one : null;

/** Reports the size, mass and geometry of the left ventricle (echo 5). */
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
