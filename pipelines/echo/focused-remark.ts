import type { SectionOutcome } from '../result/section-outcome.ts';

export const FOCUSED_REMARK = 'Focused study, not a comprehensive echocardiogram';

/** Any number from a focused study carries the remark (echo reference 15), in whichever section. */
export function withFocusedRemark(outcome: SectionOutcome): SectionOutcome {
  const hasNumbers = (outcome.measurements ?? []).some(({ quality }) => quality === 'accepted');
  if (!hasNumbers || outcome.summary.includes(FOCUSED_REMARK)) return outcome;
  return { ...outcome, summary: `${outcome.summary} ${FOCUSED_REMARK}.` };
}
