import type { Measurement } from '../../result/envelope.ts';
import {
  categoryOfFocused,
  type FocusedLevel,
  sayOfFocused,
} from '../../result/render/echo/focused.ts';
import { type EffusionGrade, sayOfEcho } from '../../result/render/echo/shared.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { familyOf, type HeartView, isFocused, isPicture, showsVentricle } from '../locate/names.ts';
import { EJECTION_FRACTION } from '../lvef/guideline.ts';
import { IVC } from '../pulmonary-hypertension/guideline.ts';
import { isBeyond, isSurelyBeyond, RV_FUNCTION, RV_SIZE } from '../rv-function/guideline.ts';
import { graded } from '../shared/grading.ts';
import {
  classification,
  type EchoSection,
  isChild,
  PATIENT_GAPS,
  type PatientEvidence,
  rangedSexes,
  type Values,
} from '../shared/section.ts';
import {
  focusedBand,
  focusedByDiameters,
  focusedCava,
  focusedEf,
  focusedLevel,
  focusedRightVentricle,
} from './guideline.ts';

interface FocusedEvidence extends PatientEvidence, OutlineEvidence {
  clips: readonly (OutlineEvidence['clips'][number] & {
    clip: { mode: string };
    view: HeartView | null;
  })[];
  /** A clip without regions has no calibration. */
  study: { clips: readonly { regions: readonly unknown[] }[] };
  /** True if the input is one to five videos from a handheld scanner and not a study. */
  handheld: boolean;
}

/**
 * Functions that return the conclusions of the LVEF and pericardial effusion sections, as far as
 * this section needs them.
 */
interface FocusedConditions<Evidence extends FocusedEvidence> {
  gradableEf(values: Values): Measurement | null;
  /** Returns why the LVEF was not graded. Null if it was graded or not measured. */
  ungradedEf(values: Values): { gap: Statement } | null;
  effusionOf(
    evidence: Evidence,
    values: Values,
  ): {
    depth: Measurement | null;
    grade: EffusionGrade | null;
    /** View that shows a deeper effusion than the measured one, or null. */
    deeperIn: string | null;
    fluid: { seen: readonly string[] };
  };
}

const ID = 'focused';
const NEEDS = ['two of PLAX, PSAX, A4C and subcostal clips', 'a permitted model of LVEF'] as const;

/** With fewer windows than this, a statement on the LV is limited (echo 15). */
const ENOUGH_VIEWS = 2;

function windowsGap(windows: readonly string[]): Statement | null {
  if (windows.length >= ENOUGH_VIEWS) return null;
  return windows.length === 0
    ? sayOfFocused.gap('focused.no-lv-window', {})
    : sayOfFocused.gap('focused.single-window', {});
}

interface Answer {
  answer: Statement | null;
  gaps: readonly (Statement | null)[];
}

function effusionAnswer({
  depth,
  grade,
  deeperIn,
  fluid,
}: ReturnType<FocusedConditions<FocusedEvidence>['effusionOf']>): Answer {
  if (depth && !deeperIn && grade) {
    return { answer: sayOfFocused.conclusion('focused.effusion', { grade }), gaps: [] };
  }
  const known = depth && deeperIn ? 'depth-unknown' : fluid.seen.length > 0 ? 'possible' : null;
  return known
    ? { answer: sayOfFocused.conclusion('focused.effusion-not-graded', { known }), gaps: [] }
    : { answer: null, gaps: [sayOfFocused.gap('focused.no-effusion', {})] };
}

function cavaAnswer(values: Values): Answer {
  const [diameter, collapse] = [
    values.measurement('ivc-diameter'),
    values.measurement('ivc-collapse'),
  ];
  if (!diameter) return { answer: null, gaps: [sayOfFocused.gap('focused.no-cava', {})] };
  if (!collapse) return { answer: null, gaps: [sayOfFocused.gap('focused.no-collapse', {})] };
  const state = focusedCava(diameter.value, collapse.value);
  const about = [diameter, collapse];
  if (state === null) {
    const gap = sayOfFocused.gap('focused.cava-at-limit', { limit: IVC.sniff }, about);
    return { answer: null, gaps: [gap] };
  }
  return { answer: sayOfFocused.conclusion('focused.cava', { state }, about), gaps: [] };
}

/**
 * Returns the answer on the LV from its EF. A band is never shown together with the sex-specific
 * grade of the same value (echo 15). On the three-level scale, "normal" begins at 50 %, but the
 * sex-specific normal range begins at a higher EF (echo 4.4). A "normal" answer therefore states
 * the lower limit of that range, or the limits of both sexes if the sex is unknown.
 */
function ventricleAnswer<Evidence extends FocusedEvidence>(
  evidence: Evidence,
  values: Values,
  conditions: FocusedConditions<Evidence>,
  windows: readonly string[],
): Answer & { level: FocusedLevel | null } {
  const ef = conditions.gradableEf(values);
  if (!ef) {
    const ungraded = conditions.ungradedEf(values);
    const gaps = ungraded
      ? [sayOfFocused.gap('focused.lv-not-graded', {}), ungraded.gap]
      : [sayOfFocused.gap('focused.lv-not-assessed', {}), outlineGap(evidence, ['A4C', 'A2C'])];
    return { answer: null, gaps, level: null };
  }
  const level = focusedLevel(ef.value);
  const sexes = rangedSexes(evidence);
  const isGraded = graded(ef, EJECTION_FRACTION, sexes) !== null;
  const limits = sexes.map((sex) => ({ sex, ef: EJECTION_FRACTION[sex].normal[0] }));
  const answer = sayOfFocused.conclusion('focused.lv-function', {
    level,
    ef: focusedEf(ef.value),
    band: isGraded ? null : focusedBand(ef.value),
    limits: isGraded && level === 'normal' ? limits : [],
  });
  return { answer, gaps: [windowsGap(windows)], level };
}

/** Diameters of the RV, and its basal ratio to the LV, with their limits (echo 7.2). */
const RV_DIAMETERS = {
  'rv-basal': RV_SIZE.basal,
  'rv-mid': RV_SIZE.mid,
  'rv-to-lv': RV_SIZE.ratio,
} as const;

/**
 * Returns the size of the RV by its ratio to the LV. An RV whose diameters are above their limits
 * is enlarged even if the ratio is normal, because the LV may be large as well. Null if nothing was
 * measured by which the size can be judged.
 */
function rightVentricleSize(values: Values) {
  const areas = values.measurement('rv-to-lv-area');
  const ratio = areas ?? values.measurement('rv-to-lv');
  const size = ratio && (areas ? focusedRightVentricle : focusedByDiameters)(ratio.value);
  const wide = Object.entries(RV_DIAMETERS).flatMap(([key, limit]) => {
    // As in rv-function, a diameter counts only if its whole interval is above the limit.
    const one = values.asMeasured.measurement(key as keyof typeof RV_DIAMETERS);
    return one && one.id !== ratio?.id && isSurelyBeyond(limit, one) ? [one] : [];
  });
  if (ratio && size && (size !== 'normal' || wide.length === 0)) {
    const scheme = areas ? 'RV to LV end-diastolic area' : 'RV to LV basal diameter';
    return { size, about: [ratio], scheme };
  }
  const about = [...(ratio ? [ratio] : []), ...wide];
  return wide.length > 0
    ? { size: 'enlarged' as const, about, scheme: 'ASE/EACVI 2015 diameters of the RV' }
    : null;
}

function answersOf<Evidence extends FocusedEvidence>(
  evidence: Evidence,
  values: Values,
  conditions: FocusedConditions<Evidence>,
  windows: readonly string[],
) {
  const ventricle = ventricleAnswer(evidence, values, conditions, windows);
  const excursion = values.measurement('tapse');
  const rv = rightVentricleSize(values);
  const cava = cavaAnswer(values);
  const effusion = effusionAnswer(conditions.effusionOf(evidence, values));
  return {
    answers: [
      ventricle.answer,
      rv && sayOfFocused.conclusion('focused.rv-size', { size: rv.size }, rv.about),
      excursion &&
        sayOfFocused.conclusion(
          'focused.rv-function',
          { reduced: isBeyond(RV_FUNCTION.tapse, excursion.value) },
          [excursion],
        ),
      cava.answer,
      effusion.answer,
    ],
    gaps: [
      ...ventricle.gaps,
      ...effusion.gaps,
      rv ? null : sayOfFocused.gap('focused.no-rv-size', {}),
      excursion ? null : sayOfFocused.gap('focused.no-rv-function', {}),
      ...cava.gaps,
    ],
    classifications: [
      ventricle.level &&
        classification(
          'focused-lv-function',
          'LV function, focused',
          categoryOfFocused('focused-level', ventricle.level),
          'focused cardiac ultrasound, three levels',
        ),
      rv &&
        classification(
          'focused-rv-size',
          'RV size, focused',
          categoryOfFocused('focused-size', rv.size),
          rv.scheme,
        ),
    ],
  };
}

const NO_ANSWERS = { answers: [], gaps: [PATIENT_GAPS.child], classifications: [] };

const present = <T>(values: readonly (T | null | '')[]): T[] =>
  values.filter((one): one is T => Boolean(one));

const run =
  <Evidence extends FocusedEvidence>(conditions: FocusedConditions<Evidence>) =>
  (evidence: Evidence, values: Values): SectionOutcome => {
    const clips = evidence.clips.filter(({ clip }) => isPicture(clip));
    const seen = clips.flatMap(({ view }) => view ?? []).filter(isFocused);
    const views = [...new Set(seen.map(familyOf))];
    const windows = [...new Set(seen.filter(showsVentricle).map(familyOf))];
    const calibrated = evidence.study.clips.some(({ regions }) => regions.length > 0);
    const { answers, gaps, classifications } = isChild(evidence)
      ? NO_ANSWERS
      : answersOf(evidence, values, conditions, windows);
    const missing = present([
      ...gaps,
      evidence.handheld && !calibrated ? sayOfFocused.gap('focused.no-scale', {}) : null,
    ]);
    const held = sayOfFocused.conclusion('focused.views', { views });
    const reason =
      missing.length > 0 ? { code: 'input_missing', gaps: missing, needs: [...NEEDS] } : null;
    const given = present(answers);
    if (given.length === 0) {
      return { status: 'not_assessed', reason, statements: [held, ...missing], data: { views } };
    }
    const remark = evidence.handheld ? [sayOfEcho.limitation('echo.focused-study', {})] : [];
    return {
      status: missing.length > 0 ? 'partial' : 'complete',
      reason,
      statements: [...given, held, ...remark, ...missing],
      data: { views },
      classifications: present(classifications),
    };
  };

/** Answers the questions of focused cardiac ultrasound (echo 15). */
export const focused = <Evidence extends FocusedEvidence>(
  conditions: FocusedConditions<Evidence>,
): EchoSection<Evidence> => ({
  id: ID,
  title: 'Focused cardiac ultrasound',
  needs: NEEDS,
  measures: [],
  run: run(conditions),
});
