import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  categoryOfCardiomyopathy,
  type DilatedPattern,
  type Obstruction,
  sayOfCardiomyopathy,
  type WallStatement,
} from '../../result/render/echo/cardiomyopathy.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { gradableEf } from '../lvef/judge.ts';
import {
  classification,
  conclude,
  type EchoSection,
  finding,
  isChild,
  PATIENT_GAPS,
  type PatientEvidence,
  rangedSex,
  type Values,
} from '../shared/section.ts';
import {
  AMYLI_RULE_OUT,
  asymmetryOf,
  DYSFUNCTION,
  dilatedPattern,
  isConvention,
  isPublished,
  meetsCriterion,
  OBSTRUCTION,
  obstructionCategory,
  provokedObstruction,
  RESTRICTIVE,
  wallStatement,
} from './guideline.ts';

interface CardiomyopathyEvidence extends PatientEvidence {
  heart: { trusted: boolean; segments: readonly { strain: number | null }[] };
}

const ID = 'cardiomyopathy';
const NEEDS = [
  'wall thickness',
  'LVEF and LV size',
  "E/A, E/e'",
  'LVOT CW at rest and provoked',
  'strain by segment',
] as const;

const obstructs = (...gradients: readonly (Measurement | null)[]) =>
  gradients.some((one) => one !== null && rounded(one.value, 0) >= OBSTRUCTION.from);

/**
 * Reports that apical sparing is not assessed. It is the ratio of apical strain to basal and mid
 * strain, and was published for speckle tracking only (PHE12).
 */
function sparingGap({ heart }: CardiomyopathyEvidence): Statement {
  const contour = heart.trusted && heart.segments.some(({ strain }) => strain !== null);
  return sayOfCardiomyopathy.gap('cardiomyopathy.no-sparing', { contour });
}

interface Hypertrophy {
  /**
   * Null if no wall was measured, or only one that is below the criterion, because the other wall
   * may be thicker.
   */
  wall: WallStatement | null;
  conclusions: readonly (Statement | null)[];
  measured: readonly Measurement[];
}

/**
 * Grades wall thickness. One thick wall is enough to meet the criterion, but both walls must have
 * been measured to report that it is not met (echo 14.1).
 */
function hypertrophyOf(values: Values): Hypertrophy {
  const [septum, posterior] = [values.measurement('ivsd'), values.measurement('lvpwd')];
  const measured = [septum, posterior].filter((one) => one !== null);
  const thickest = 10 * Math.max(0, ...measured.map(({ value }) => value));
  const stated = measured.length > 0 ? wallStatement(thickest, null) : null;
  const both = septum !== null && posterior !== null;
  const wall = both || stated !== 'below-criterion' ? stated : null;
  const thick = wall !== null && wall !== 'below-criterion';
  const asymmetry = thick && both ? asymmetryOf(septum.value, posterior.value) : null;
  return {
    wall,
    conclusions: [
      wall &&
        sayOfCardiomyopathy.conclusion('cardiomyopathy.wall', {
          walls: both ? 2 : 1,
          thickest: rounded(thickest, 0),
          wall,
          meets: meetsCriterion(wall),
        }),
      asymmetry && sayOfCardiomyopathy.conclusion('cardiomyopathy.asymmetry', { asymmetry }),
    ],
    measured,
  };
}

/**
 * Recognises restrictive filling from E/A and the deceleration time. The published criteria also
 * include chamber sizes, which are not used here.
 */
function restrictiveOf(values: Values): Statement | null {
  const [filling, deceleration] = [values.number('e-to-a'), values.number('deceleration-time')];
  const meetsBoth =
    filling !== null &&
    deceleration !== null &&
    rounded(filling, 2) >= RESTRICTIVE.ratio &&
    rounded(deceleration, 0) < RESTRICTIVE.deceleration;
  return meetsBoth ? sayOfCardiomyopathy.conclusion('cardiomyopathy.restrictive', {}) : null;
}

function amyloidIndexOf(values: Values, wall: Hypertrophy['wall']): Statement | null {
  const thickness = values.number('relative-wall-thickness');
  const ratio = values.number('e-to-e-prime');
  if (thickness === null || ratio === null || wall === null || wall === 'below-criterion') {
    return null;
  }
  const index = rounded(thickness * ratio, 2);
  const meaning = index < AMYLI_RULE_OUT ? 'rules-out' : 'open';
  return sayOfCardiomyopathy.conclusion('cardiomyopathy.amyli', { index, meaning });
}

function obstructionOf(rest: Measurement | null, provoked: Measurement | null) {
  return rest
    ? obstructionCategory(rest.value, provoked?.value ?? null)
    : provoked && provokedObstruction(provoked.value);
}

function gapsOf(evidence: CardiomyopathyEvidence, found: Found): (Statement | null)[] {
  const { wall, pattern, obstruction, any } = found;
  if (!any) return [sayOfCardiomyopathy.gap('cardiomyopathy.nothing', {})];
  return [
    sayOfCardiomyopathy.gap('cardiomyopathy.walls-may-be-missed', {}),
    obstruction ? null : sayOfCardiomyopathy.gap('cardiomyopathy.no-gradient', {}),
    sparingGap(evidence),
    // The endpoint has no input that could show these patterns. They are listed so that readers do
    // not take them as excluded.
    sayOfCardiomyopathy.gap('cardiomyopathy.never-assessed', {}),
    wall ? null : sayOfCardiomyopathy.gap('cardiomyopathy.no-hypertrophy', {}),
    pattern ? null : sayOfCardiomyopathy.gap('cardiomyopathy.no-dilated', {}),
  ];
}

interface Found {
  wall: WallStatement | null;
  pattern: DilatedPattern | null;
  obstruction: Obstruction | null;
  any: boolean;
}

function classificationsOf({ wall, pattern, obstruction }: Found) {
  return [
    wall &&
      classification(
        'hypertrophic-pattern',
        'Wall thickness',
        categoryOfCardiomyopathy('wall', wall),
        'ESC 2023, AHA/ACC 2024',
      ),
    pattern && isPublished(pattern)
      ? classification(
          'dilated-pattern',
          'Dilated pattern',
          categoryOfCardiomyopathy('dilatation', pattern),
          'ESC 2023',
        )
      : null,
    obstruction
      ? classification(
          'lvot-obstruction',
          'LVOT obstruction',
          categoryOfCardiomyopathy('obstruction', obstruction),
          isConvention(obstruction) ? 'Sonogate convention for LVOT gradients' : 'AHA/ACC 2024',
        )
      : null,
  ];
}

function run(evidence: CardiomyopathyEvidence, values: Values): SectionOutcome {
  const gradients = [
    values.measurement('lvot-gradient-rest'),
    values.measurement('lvot-gradient-provoked'),
  ] as const;
  if (isChild(evidence)) {
    return conclude(cardiomyopathy, { measurements: gradients, gaps: [PATIENT_GAPS.child] });
  }
  const [rest, provoked] = gradients;
  const { wall, conclusions: ofWalls, measured: walls } = hypertrophyOf(values);
  const ef = gradableEf(values);
  const pattern =
    ef &&
    dilatedPattern(
      rangedSex(evidence),
      ef.value,
      values.number('lvidd'),
      values.number('lvedv-index'),
    );
  const device = ef !== null && rounded(ef.value, 0) <= DYSFUNCTION.device;
  const obstruction = obstructionOf(rest, provoked);
  const outflow =
    obstruction && sayOfCardiomyopathy.conclusion('cardiomyopathy.obstruction', obstruction);
  const conclusions = [
    ...ofWalls,
    pattern && sayOfCardiomyopathy.conclusion('cardiomyopathy.dilated', { pattern, device }),
    outflow,
    restrictiveOf(values),
    amyloidIndexOf(values, wall),
  ];
  const seen = conclusions.some((one) => one !== null);
  const any = seen || rest !== null || provoked !== null;
  return conclude(cardiomyopathy, {
    // The walls, the LVEF and filling are reported by other sections; this section only uses their
    // values.
    measurements: gradients,
    seen,
    conclusions,
    gaps: gapsOf(evidence, { wall, pattern, obstruction, any }),
    findings: [
      wall && meetsCriterion(wall)
        ? finding(
            'wall-thickness',
            sayOfCardiomyopathy.conclusion('cardiomyopathy.thick-wall', { wall }),
            'abnormal',
            walls,
          )
        : null,
      pattern && pattern !== 'none'
        ? finding(
            'dilated-pattern',
            sayOfCardiomyopathy.conclusion('cardiomyopathy.dilated-pattern', { pattern }),
            'abnormal',
            [ef, values.measurement('lvidd'), values.measurement('lvedv-index')],
          )
        : null,
      outflow && obstructs(rest, provoked)
        ? finding('lvot-obstruction', outflow, 'abnormal', gradients)
        : null,
    ],
    classifications: classificationsOf({ wall, pattern, obstruction, any }),
  });
}

/** Reports patterns of cardiomyopathy, never their causes (echo 14). */
export const cardiomyopathy: EchoSection<CardiomyopathyEvidence> = {
  id: ID,
  title: 'Cardiomyopathy patterns',
  needs: NEEDS,
  measures: ['lvot-gradient-rest', 'lvot-gradient-provoked'],
  run,
};
