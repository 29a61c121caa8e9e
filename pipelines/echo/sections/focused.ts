import { classification, GAPS, isChild } from '../conclude.ts';
import { focusedBand, focusedEf, focusedLevel } from '../guidelines/focused.ts';
import { effusionGrade } from '../guidelines/pericardium.ts';
import type { EchoEvidence, EchoSection, SectionOutcome } from '../section.ts';
import type { Values } from '../values.ts';
import { headlineEf } from './lvef.ts';
import { viewOf } from './views.ts';

const ID = 'focused';
const NEEDS = ['two of PLAX, PSAX, A4C and subcostal clips', 'a permitted model of LVEF'] as const;

const FOCUSED_VIEWS: ReadonlySet<string> = new Set(['PLAX', 'PSAX', 'A4C', 'subcostal']);

const REMARK = 'Focused study, not a comprehensive echocardiogram';

function run(evidence: EchoEvidence, values: Values): SectionOutcome {
  const found = new Set(evidence.study.clips.flatMap((clip) => viewOf(clip) ?? []));
  const views = [...found].filter((view) => FOCUSED_VIEWS.has(view));
  const ef = isChild(evidence) ? null : headlineEf(values);
  const depth = values.number('effusion-depth');
  const held = `Focused views that the machine names: ${views.length > 0 ? views.join(', ') : 'none'}`;
  const source = evidence.handheld
    ? 'The clips of a handheld carry no report of a machine, and no permitted model looks at them.'
    : 'No permitted model looks at the clips; LV function is that of the report of the machine.';
  const limits = [
    isChild(evidence) ? GAPS.age : null,
    ef || isChild(evidence) ? null : 'LV function was not assessed: no LVEF was measured.',
    depth === null ? 'Pericardial effusion was not assessed.' : null,
    'RV size was not assessed: no RV to LV ratio was measured.',
    source,
  ].filter((text) => text !== null);
  const detail = limits.join(' ');
  const reason = { code: ef ? 'no_permitted_model' : 'input_missing', detail, needs: [...NEEDS] };
  if (!ef && depth === null) {
    return { status: 'not_assessed', reason, summary: `${held}. ${detail}`, data: { views } };
  }
  const level = ef && focusedLevel(ef.value);
  const answers = [
    ef && `LV function ${level}: LVEF about ${focusedEf(ef.value)} % (${focusedBand(ef.value)})`,
    depth === null ? null : `Pericardial effusion: ${effusionGrade(depth)}`,
    held,
    REMARK,
  ].filter(Boolean);
  return {
    status: 'partial',
    reason,
    summary: `${answers.join('. ')}. ${detail}`,
    data: { views },
    classifications: level
      ? [
          classification(
            ID,
            'focused-lv-function',
            'LV function, focused',
            level,
            'focused cardiac ultrasound, three levels',
          ),
        ]
      : [],
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
