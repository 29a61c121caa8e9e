import type { Measurement } from '../../result/envelope.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import { classification, conclude, finding, GAPS, isChild, rangedSex } from '../conclude.ts';
import { rounded } from '../formulas/rounding.ts';
import {
  AMYLI_RULE_OUT,
  ASYMMETRY,
  DYSFUNCTION,
  dilatedPattern,
  OBSTRUCTION,
  obstructionCategory,
  RESTRICTIVE,
  wallStatement,
} from '../guidelines/cardiomyopathy.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import type { Values } from '../values.ts';
import { headlineEf } from './lvef.ts';

const ID = 'cardiomyopathy';
const NEEDS = [
  'wall thickness',
  'LVEF and LV size',
  "E/A, E/e'",
  'LVOT CW at rest and provoked',
  'strain by segment',
] as const;

/** mm of the thicker of the two walls that were measured; null unless both were. */
function thickestWall(values: Values): number | null {
  const [septum, posterior] = [values.number('ivsd'), values.number('lvpwd')];
  return septum === null || posterior === null ? null : 10 * Math.max(septum, posterior);
}

/** Whether a gradient reaches that of an obstruction. */
const obstructs = (...gradients: readonly (Measurement | null)[]) =>
  gradients.some((one) => one !== null && rounded(one.value, 0) >= OBSTRUCTION.from);

/** The ratio of apical to basal and mid strain was published for speckle tracking (PHE12). */
function sparingGap({ heart }: EchoEvidence): string {
  const contour = heart.trusted && heart.segments.some(({ strain }) => strain !== null);
  return `Relative apical sparing was not assessed: ${
    contour
      ? 'strain by segment is that of contours, for which the cut-off was not shown'
      : 'no strain by segment'
  }.`;
}

function run(evidence: EchoEvidence, values: Values): SectionOutcome {
  const sex = rangedSex(evidence);
  const thickest = isChild(evidence) ? null : thickestWall(values);
  const wall = thickest === null ? null : wallStatement(thickest, null);
  const [septum, posterior] = [values.measurement('ivsd'), values.measurement('lvpwd')];
  const asymmetric =
    wall !== null &&
    wall !== 'below criterion' &&
    septum !== null &&
    posterior !== null &&
    rounded(septum.value / posterior.value, 2) >= ASYMMETRY;
  const ef = headlineEf(values);
  const pattern =
    ef && sex
      ? dilatedPattern(sex, ef.value, values.number('lvidd'), values.number('lvedv-index'))
      : null;
  const filling = values.number('e-to-a');
  const deceleration = values.number('deceleration-time');
  const restrictive =
    filling !== null &&
    deceleration !== null &&
    rounded(filling, 2) >= RESTRICTIVE.ratio &&
    rounded(deceleration, 0) < RESTRICTIVE.deceleration;
  const [thickness, ratio] = [
    values.number('relative-wall-thickness'),
    values.number('e-to-e-prime'),
  ];
  const amyloidIndex =
    thickness !== null && ratio !== null && wall !== null && wall !== 'below criterion'
      ? thickness * ratio
      : null;
  const rest = values.measurement('lvot-gradient-rest');
  const provoked = values.measurement('lvot-gradient-provoked');
  const obstruction =
    rest && !isChild(evidence) ? obstructionCategory(rest.value, provoked?.value ?? null) : null;
  const device = ef !== null && pattern !== null && rounded(ef.value, 0) <= DYSFUNCTION.device;
  const sentences = [
    wall &&
      `Greatest of the two measured walls ${rounded(thickest ?? 0, 0)} mm: ${wall}${wall.startsWith('meets') ? ', if not explained by loading such as hypertension, aortic stenosis or athletic training' : ''}`,
    asymmetric ? 'Asymmetric septal hypertrophy' : null,
    pattern &&
      `Dilated pattern: ${pattern}${device ? '; LVEF in the range of device therapy' : ''}`,
    obstruction && `LVOT: ${obstruction}`,
    restrictive ? 'Filling meets two criteria of a restrictive pattern' : null,
    amyloidIndex === null
      ? null
      : `AMYLI index ${rounded(amyloidIndex, 2).toFixed(2)}${amyloidIndex < AMYLI_RULE_OUT ? ', which makes amyloid unlikely in a population screened for it' : ', a rule-out index alone: it says nothing for amyloid'}`,
  ];
  if (sentences.every((sentence) => !sentence)) {
    return conclude(cardiomyopathy, {
      measurements: [],
      gaps: [
        isChild(evidence)
          ? GAPS.age
          : 'Patterns of cardiomyopathy were not assessed: neither wall thickness nor LVEF with sex was available.',
      ],
    });
  }
  const concluded = conclude(cardiomyopathy, {
    // The values stand in their own sections; this one draws on them.
    measurements: [septum, posterior, ef, rest, provoked],
    sentences,
    gaps: [
      'Maximal wall thickness may be missed: walls of short-axis views were not measured.',
      obstruction ? null : 'LVOT obstruction was not assessed: no gradient at rest was measured.',
      sparingGap(evidence),
      wall ? null : 'Hypertrophic pattern was not assessed: both walls are needed.',
      pattern ? null : 'Dilated pattern was not assessed: LVEF and sex are needed.',
    ],
    findings: [
      wall?.startsWith('meets')
        ? finding(
            ID,
            'wall-thickness',
            `Wall thickness: ${wall}, if not explained by loading`,
            'abnormal',
            [septum, posterior],
          )
        : null,
      pattern && pattern !== 'no dilated pattern'
        ? finding(
            ID,
            'dilated-pattern',
            `${pattern}; the cause is not told by echocardiography`,
            'abnormal',
            [ef],
          )
        : null,
      obstruction && obstructs(rest, provoked)
        ? finding(ID, 'lvot-obstruction', `LVOT: ${obstruction}`, 'abnormal', [rest, provoked])
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
      pattern && classification(ID, 'dilated-pattern', 'Dilated pattern', pattern, 'ESC 2023'),
      obstruction
        ? classification(ID, 'lvot-obstruction', 'LVOT obstruction', obstruction, 'AHA/ACC 2024')
        : null,
    ],
  });
  return {
    ...concluded,
    measurements: [rest, provoked].filter((one) => one !== null),
    summary: [...sentences.filter(Boolean), concluded.reason?.detail]
      .join('. ')
      .replaceAll('..', '.'),
  };
}

/** Patterns, never causes (echo reference 14). */
export const cardiomyopathy: EchoSection = {
  id: ID,
  title: 'Cardiomyopathy patterns',
  needs: NEEDS,
  measures: ['lvot-gradient-rest', 'lvot-gradient-provoked'],
  run,
};
