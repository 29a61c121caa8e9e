import type { SectionOutcome } from '../../result/section-outcome.ts';
import { outlineGap } from '../chambers/outline-gap.ts';
import { classification, GAPS, isChild } from '../conclude.ts';
import {
  focusedBand,
  focusedEf,
  focusedLevel,
  focusedRightVentricle,
} from '../guidelines/focused.ts';
import { effusionGrade } from '../guidelines/pericardium.ts';
import type { EchoEvidence, EchoSection } from '../section.ts';
import { named, type Values } from '../values.ts';
import { familyOf } from '../view-names.ts';
import { headlineEf } from './lvef.ts';

const ID = 'focused';
const NEEDS = ['two of PLAX, PSAX, A4C and subcostal clips', 'a permitted model of LVEF'] as const;

const FOCUSED_VIEWS: ReadonlySet<string> = new Set(['PLAX', 'PSAX', 'A4C', 'subcostal']);

const REMARK = 'Focused study, not a comprehensive echocardiogram';

/** Fewer windows than these make a statement on the LV a limited one (reference 15). */
const ENOUGH_VIEWS = 2;

function run(evidence: EchoEvidence, values: Values): SectionOutcome {
  const found = new Set(evidence.clips.flatMap(({ view }) => (view ? familyOf(view) : [])));
  const views = [...found].filter((view) => FOCUSED_VIEWS.has(view));
  const child = isChild(evidence);
  const ef = child ? null : headlineEf(values);
  const ratio = child ? null : values.measurement('rv-to-lv');
  const depth = values.number('effusion-depth');
  const held = `Focused views in the upload: ${views.length > 0 ? views.join(', ') : 'none'}`;
  const calibrated = evidence.study.clips.some(({ regions }) => regions.length > 0);
  const limits = [
    child ? GAPS.age : null,
    ef || child
      ? null
      : `LV function was not assessed: no LVEF was measured. ${outlineGap(evidence, ['A4C', 'A2C']) ?? ''}`.trim(),
    ef && views.length < ENOUGH_VIEWS ? 'Limited, single window.' : null,
    depth === null ? 'Pericardial effusion was not assessed.' : null,
    ratio || child ? null : 'RV size was not assessed: no RV to LV ratio was measured.',
    values.number('ivc-diameter') === null ? 'The IVC was not assessed.' : null,
    evidence.handheld && !calibrated
      ? 'The clips of the handheld carry no calibration: ratios only, no sizes and no velocities.'
      : null,
  ].filter((text) => text !== null);
  const detail = limits.join(' ');
  const reason = limits.length > 0 ? { code: 'input_missing', detail, needs: [...NEEDS] } : null;
  if (!ef && !ratio && depth === null) {
    return {
      status: 'not_assessed',
      reason,
      summary: `${held}. ${detail}`,
      data: { views },
    };
  }
  const level = ef && focusedLevel(ef.value);
  const answers = [
    ef && `LV function ${level}: LVEF about ${focusedEf(ef.value)} % (${focusedBand(ef.value)})`,
    ratio && `RV ${focusedRightVentricle(ratio.value)}: ${named(ratio)}`,
    depth === null ? null : `Pericardial effusion: ${effusionGrade(depth)}`,
    held,
    REMARK,
  ].filter(Boolean);
  const scheme = 'focused cardiac ultrasound, three levels';
  return {
    status: limits.length > 0 ? 'partial' : 'complete',
    reason,
    summary: [`${answers.join('. ')}.`, detail].filter(Boolean).join(' '),
    data: { views },
    classifications: [
      level && classification(ID, 'focused-lv-function', 'LV function, focused', level, scheme),
      ratio &&
        classification(
          ID,
          'focused-rv-size',
          'RV size, focused',
          focusedRightVentricle(ratio.value),
          'RV to LV basal diameter',
        ),
    ].filter((one) => one !== null),
  };
}

/** Answers of focused cardiac ultrasound (echo reference 15). */
export const focused: EchoSection = {
  id: ID,
  title: 'Focused cardiac ultrasound',
  needs: NEEDS,
  measures: [],
  run,
};
