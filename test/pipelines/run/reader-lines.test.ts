import { expect, it } from 'vitest';
import { conclusionTexts } from '../../../pipelines/result/render/conclusion.ts';
import { withNotes } from '../../../pipelines/run/review-effects.ts';
import { RESULT } from '../artifacts/example-result.ts';

it("a reader's line follows the conclusion, even if no report was requested", () => {
  const result = { ...RESULT, report: null };
  const line = 'Repeat in two weeks.';
  const reviewed = withNotes(result, [{ do: 'note', text: line }]);
  expect(conclusionTexts(reviewed)).toEqual([...conclusionTexts(result), line]);
  expect(withNotes(result, [])).toBe(result);
});

it("a reader's line keeps the limitations of a result without a report", () => {
  const result = { ...RESULT, report: null };
  const { report } = withNotes(result, [{ do: 'note', text: 'Repeat in two weeks.' }]);
  expect(report?.title).toBe('Obstetric ultrasound: draft report');
  expect(report?.limitations).toContain('One file was not read: Not an image.');
});
