import type { Clip } from '../../contract/study.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { familyOf, type HeartView, isFocused, isPicture, showsVentricle } from '../locate/names.ts';
import { gradableEf, ungradedEf } from '../lvef/measure.ts';
import { type Effusion, type EffusionEvidence, effusionOf } from '../pericardial-effusion/judge.ts';
import { isBeyond, RV_FUNCTION } from '../rv-function/guideline.ts';
import { classification, GAPS, isChild, rangedSex } from '../shared/conclude.ts';
import type { EchoSection } from '../shared/section.ts';
import { named, type Values } from '../shared/values.ts';
import {
  FOCUSED_REMARK,
  focusedBand,
  focusedCava,
  focusedEf,
  focusedLevel,
  focusedRightVentricle,
} from './guideline.ts';

/** What this section needs beside the values. */
interface FocusedEvidence extends OutlineEvidence, EffusionEvidence {
  clips: readonly { clip: { mode: Clip['mode'] }; view: HeartView | null }[];
  /** The clips of the study; one without regions carries no calibration. */
  study: { clips: readonly { regions: readonly unknown[] }[] };
  /** One to five videos of a handheld scanner instead of a study. */
  handheld: boolean;
}

const ID = 'focused';
const NEEDS = ['two of PLAX, PSAX, A4C and subcostal clips', 'a permitted model of LVEF'] as const;

/** Fewer windows than these make a statement on the LV a limited one (echo 15). */
const ENOUGH_VIEWS = 2;

/** Why there is no answer on LV function. */
function withoutEf(evidence: FocusedEvidence, values: Values): string {
  const ungraded = ungradedEf(values);
  if (ungraded) return `LV function was not graded. ${ungraded.text}`;
  const missing = outlineGap(evidence, ['A4C', 'A2C']) ?? '';
  return `LV function was not assessed: no LVEF was measured. ${missing}`.trim();
}

/** How far the windows carry the answer on the LV; null: far enough, or there is none. */
function windowsInWords(windows: readonly string[]): string | null {
  if (windows.length >= ENOUGH_VIEWS) return null;
  return windows.length === 0
    ? 'No clip of the focused views shows the LV: the LVEF comes from another view, or from the machine.'
    : 'Limited, single window.';
}

/** The fluid, as far as its own section can tell it. */
function effusionInWords({ depth, grade, deeperIn, fluid }: Effusion): string | null {
  if (depth && deeperIn) return 'Pericardial effusion: present, greatest depth not measured';
  if (depth) return `Pericardial effusion: ${grade}`;
  return fluid.seen.length > 0 ? 'Pericardial effusion: possible, not measured' : null;
}

function cavaOf(values: Values): { answer: string | null; gap: string | null } {
  const [diameter, collapse] = [
    values.measurement('ivc-diameter'),
    values.measurement('ivc-collapse'),
  ];
  if (!diameter) return { answer: null, gap: 'The IVC was not assessed.' };
  if (!collapse) {
    return { answer: null, gap: 'The IVC was not assessed: its collapse was not measured.' };
  }
  const state = focusedCava(diameter.value, collapse.value);
  return { answer: `IVC ${state}: ${named(diameter)}, ${named(collapse)}`, gap: null };
}

const NO_ANSWERS = { answers: [], gaps: [GAPS.age], classifications: [] };

function answersOf(evidence: FocusedEvidence, values: Values, windows: readonly string[]) {
  const ef = gradableEf(values);
  const ratio = values.measurement('rv-to-lv');
  const excursion = values.measurement('tapse');
  const cava = cavaOf(values);
  const effusion = effusionInWords(effusionOf(evidence, values));
  const level = ef && focusedLevel(ef.value);
  // Never beside the sex-specific grade of the same value, which `lvef` gives (echo 15).
  const band = ef && !rangedSex(evidence) ? focusedBand(ef.value) : null;
  return {
    answers: [
      ef && `LV function ${level}: LVEF about ${focusedEf(ef.value)} %${band ? ` (${band})` : ''}`,
      ratio && `RV ${focusedRightVentricle(ratio.value)}: ${named(ratio)}`,
      excursion &&
        `RV function ${isBeyond(RV_FUNCTION.tapse, excursion.value) ? 'reduced' : 'normal'} by TAPSE alone: ${named(excursion)}`,
      cava.answer,
      effusion,
    ],
    gaps: [
      ef ? windowsInWords(windows) : withoutEf(evidence, values),
      effusion ? null : 'Pericardial effusion was not assessed.',
      ratio ? null : 'RV size was not assessed: no RV to LV ratio was measured.',
      excursion ? null : 'RV function was not assessed: no TAPSE was measured.',
      cava.gap,
    ],
    classifications: [
      level &&
        classification(
          ID,
          'focused-lv-function',
          'LV function, focused',
          level,
          'focused cardiac ultrasound, three levels',
        ),
      ratio &&
        classification(
          ID,
          'focused-rv-size',
          'RV size, focused',
          focusedRightVentricle(ratio.value),
          'RV to LV basal diameter',
        ),
    ],
  };
}

function run(evidence: FocusedEvidence, values: Values): SectionOutcome {
  const clips = evidence.clips.filter(({ clip }) => isPicture(clip));
  const seen = clips.flatMap(({ view }) => view ?? []).filter(isFocused);
  const views = [...new Set(seen.map(familyOf))];
  const windows = [...new Set(seen.filter(showsVentricle).map(familyOf))];
  const held = `Focused views in the upload: ${views.length > 0 ? views.join(', ') : 'none'}`;
  const calibrated = evidence.study.clips.some(({ regions }) => regions.length > 0);
  const { answers, gaps, classifications } = isChild(evidence)
    ? NO_ANSWERS
    : answersOf(evidence, values, windows);
  const detail = [
    ...gaps,
    evidence.handheld && !calibrated
      ? 'The clips of the handheld carry no calibration: ratios only, no sizes and no velocities.'
      : null,
  ]
    .filter(Boolean)
    .join(' ');
  const reason = detail ? { code: 'input_missing', detail, needs: [...NEEDS] } : null;
  const given = answers.filter((one) => one !== null);
  if (given.length === 0) {
    return { status: 'not_assessed', reason, summary: `${held}. ${detail}`, data: { views } };
  }
  const said = [...given, held, ...(evidence.handheld ? [FOCUSED_REMARK] : [])];
  return {
    status: detail ? 'partial' : 'complete',
    reason,
    summary: [`${said.join('. ')}.`, detail].filter(Boolean).join(' '),
    data: { views },
    classifications: classifications.filter((one) => one !== null),
  };
}

/** Answers of focused cardiac ultrasound (echo 15). */
export const focused: EchoSection<FocusedEvidence> = {
  id: ID,
  title: 'Focused cardiac ultrasound',
  needs: NEEDS,
  measures: [],
  run,
};
