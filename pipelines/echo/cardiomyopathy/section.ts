import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import { gradableEf } from '../lvef/measure.ts';
import { classification, conclude, finding, GAPS, isChild, rangedSex } from '../shared/conclude.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import type { Values } from '../shared/values.ts';
import {
  AMYLI_RULE_OUT,
  asymmetryStatement,
  DYSFUNCTION,
  dilatedPattern,
  isConvention,
  isPublished,
  OBSTRUCTION,
  obstructionCategory,
  provokedObstruction,
  RESTRICTIVE,
  type WALL_STATEMENTS,
  wallStatement,
} from './guideline.ts';

/** What this section needs beside the values. */
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

/** Whether a gradient reaches that of an obstruction. */
const obstructs = (...gradients: readonly (Measurement | null)[]) =>
  gradients.some((one) => one !== null && rounded(one.value, 0) >= OBSTRUCTION.from);

/** The ratio of apical to basal and mid strain was published for speckle tracking (PHE12). */
function sparingGap({ heart }: CardiomyopathyEvidence): string {
  const contour = heart.trusted && heart.segments.some(({ strain }) => strain !== null);
  return `Relative apical sparing was not assessed: ${
    contour
      ? 'strain by segment is that of contours, for which the cut-off was not shown'
      : 'no strain by segment'
  }.`;
}

/** Whether a wall meets the criterion outright, and not only in relatives. */
const meets = (wall: string | null) => wall?.startsWith('meets') ?? false;

const UNLESS_LOADED =
  'if not explained by loading such as hypertension, aortic stenosis or athletic training';

interface Hypertrophy {
  /** Null: below the criterion by one wall alone, which says nothing of the other. */
  wall: (typeof WALL_STATEMENTS)[number] | null;
  sentence: string | null;
  asymmetry: string | null;
  measured: readonly (Measurement | null)[];
}

/** One thick wall meets the criterion; that no wall does takes both (echo 14.1). */
function hypertrophyOf(values: Values): Hypertrophy {
  const [septum, posterior] = [values.measurement('ivsd'), values.measurement('lvpwd')];
  const measured = [septum, posterior].filter((one) => one !== null);
  const thickest = 10 * Math.max(0, ...measured.map(({ value }) => value));
  const stated = measured.length > 0 ? wallStatement(thickest, null) : null;
  const both = septum !== null && posterior !== null;
  const wall = both || stated !== 'below criterion' ? stated : null;
  const thick = wall !== null && wall !== 'below criterion';
  const which = both ? 'Greatest of the two measured walls' : 'The one measured wall';
  return {
    wall,
    sentence:
      wall &&
      `${which} ${rounded(thickest, 0)} mm: ${wall}${meets(wall) ? `, ${UNLESS_LOADED}` : ''}`,
    asymmetry: thick && both ? asymmetryStatement(septum.value, posterior.value) : null,
    measured,
  };
}

/** E/A and deceleration time alone: the size of the chambers, the other criteria, is not weighed. */
function restrictiveOf(values: Values): string | null {
  const [filling, deceleration] = [values.number('e-to-a'), values.number('deceleration-time')];
  const meetsBoth =
    filling !== null &&
    deceleration !== null &&
    rounded(filling, 2) >= RESTRICTIVE.ratio &&
    rounded(deceleration, 0) < RESTRICTIVE.deceleration;
  return meetsBoth
    ? 'Filling meets two criteria of a restrictive pattern (E/A and deceleration time); the sizes of the atria and the LV were not considered'
    : null;
}

function amyloidIndexOf(values: Values, wall: Hypertrophy['wall']): string | null {
  const thickness = values.number('relative-wall-thickness');
  const ratio = values.number('e-to-e-prime');
  if (thickness === null || ratio === null || wall === null || wall === 'below criterion') {
    return null;
  }
  const index = rounded(thickness * ratio, 2);
  const meaning =
    index < AMYLI_RULE_OUT
      ? ', which makes amyloid unlikely in a population screened for it'
      : ', which neither rules amyloid out nor diagnoses it';
  return `AMYLI index ${index.toFixed(2)}${meaning}`;
}

/** Patterns that no input of the endpoint tells: named, so that silence is not taken for absence. */
const NEVER_ASSESSED =
  'The amyloid score of ESC 2021, other flags of infiltration, excess trabeculation, apical ballooning and an arrhythmogenic RV were not assessed.';

function run(evidence: CardiomyopathyEvidence, values: Values): SectionOutcome {
  const gradients = [
    values.measurement('lvot-gradient-rest'),
    values.measurement('lvot-gradient-provoked'),
  ] as const;
  if (isChild(evidence)) {
    return conclude(cardiomyopathy, { measurements: gradients, gaps: [GAPS.age] });
  }
  const [rest, provoked] = gradients;
  const { wall, sentence, asymmetry, measured: walls } = hypertrophyOf(values);
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
  const obstruction = rest
    ? obstructionCategory(rest.value, provoked?.value ?? null)
    : provoked && provokedObstruction(provoked.value);
  const sentences = [
    sentence,
    asymmetry && `Walls: ${asymmetry}`,
    pattern &&
      `Dilated pattern: ${pattern}${device ? '; LVEF in the range of device therapy' : ''}`,
    obstruction && `LVOT: ${obstruction}`,
    restrictiveOf(values),
    amyloidIndexOf(values, wall),
  ];
  const said = sentences.some(Boolean);
  return conclude(cardiomyopathy, {
    // Walls, LVEF and filling stand in their own sections; this one draws on them.
    measurements: gradients,
    seen: said,
    sentences,
    gaps:
      said || rest || provoked
        ? [
            'Maximal wall thickness may be missed: walls of short-axis views were not measured.',
            obstruction
              ? null
              : 'LVOT obstruction was not assessed: no gradient at rest was measured.',
            sparingGap(evidence),
            NEVER_ASSESSED,
            wall ? null : 'Hypertrophic pattern was not assessed: both walls are needed.',
            pattern
              ? null
              : 'Dilated pattern was not assessed: an LVEF that can be graded is needed.',
          ]
        : [
            'Patterns of cardiomyopathy were not assessed: neither wall thickness nor LVEF was available.',
          ],
    findings: [
      meets(wall)
        ? finding(
            ID,
            'wall-thickness',
            `Wall thickness: ${wall}, if not explained by loading`,
            'abnormal',
            walls,
          )
        : null,
      pattern && pattern !== 'no dilated pattern'
        ? finding(
            ID,
            'dilated-pattern',
            `${pattern}; echocardiography alone does not establish the cause`,
            'abnormal',
            [ef],
          )
        : null,
      obstruction && obstructs(rest, provoked)
        ? finding(ID, 'lvot-obstruction', `LVOT: ${obstruction}`, 'abnormal', gradients)
        : null,
    ],
    classifications: [
      wall &&
        classification(
          ID,
          'hypertrophic-pattern',
          'Wall thickness',
          wall,
          'ESC 2023, AHA/ACC 2024',
        ),
      pattern && isPublished(pattern)
        ? classification(ID, 'dilated-pattern', 'Dilated pattern', pattern, 'ESC 2023')
        : null,
      obstruction
        ? classification(
            ID,
            'lvot-obstruction',
            'LVOT obstruction',
            obstruction,
            isConvention(obstruction) ? 'Sonogate convention for LVOT gradients' : 'AHA/ACC 2024',
          )
        : null,
    ],
  });
}

/** Patterns, never causes (echo 14). */
export const cardiomyopathy: EchoSection<CardiomyopathyEvidence> = {
  id: ID,
  title: 'Cardiomyopathy patterns',
  needs: NEEDS,
  measures: ['lvot-gradient-rest', 'lvot-gradient-provoked'],
  run,
};
