import { expect, it } from 'vitest';
import { writeReport } from '../../../pipelines/result/render/obstetric/report.ts';
import { withDraftReport } from '../../../pipelines/run/sections.ts';
import { interpretReadings, MEDIAN_28_WEEKS } from '../obstetric/evidence-sample.ts';

const result = interpretReadings({
  readings: MEDIAN_28_WEEKS(),
  options: { report: false, dating: { ga_days: 196 } },
});
// The last section is left out here, because it is added again below.
const interpreted = { ...result, sections: result.sections.slice(0, -1) };

it('adds a report that agrees with the result after the other sections', () => {
  const drafted = withDraftReport(interpreted, writeReport);
  expect(drafted.report).toEqual(writeReport(interpreted));
  expect(drafted.sections.slice(0, -1)).toEqual(interpreted.sections);
  expect(drafted.sections.at(-1)).toMatchObject({
    id: 'report',
    status: 'complete',
    reason: null,
    summary: writeReport(interpreted).impression.join(' '),
  });
});

it('withholds a report with a number that is not in the result, and states the number', () => {
  const drafted = withDraftReport(interpreted, (one) => {
    const written = writeReport(one);
    return { ...written, findings: [...written.findings, 'Cervical length 87.3 mm.'] };
  });
  expect(drafted.report).toBeNull();
  expect(drafted.sections.at(-1)).toMatchObject({
    status: 'failed',
    reason: { code: 'unsupported_claim', detail: expect.stringContaining('87.3') },
  });
});

it('does not fail the study if a report cannot be written, but logs it', () => {
  const told: [string, unknown][] = [];
  const error = new Error('no words');
  const drafted = withDraftReport(
    interpreted,
    () => {
      throw error;
    },
    (section, cause) => told.push([section, cause]),
  );
  expect(drafted.report).toBeNull();
  expect(drafted.sections.slice(0, -1)).toEqual(interpreted.sections);
  expect(drafted.sections.at(-1)).toMatchObject({
    status: 'failed',
    reason: { code: 'section_failed' },
  });
  expect(told).toEqual([['report', error]]);
});

it('states that a report was not requested', () => {
  const drafted = withDraftReport(interpreted, null);
  expect(drafted.report).toBeNull();
  expect(drafted.sections.at(-1)).toMatchObject({
    status: 'not_requested',
    reason: { code: 'not_requested', needs: ['options.report'] },
  });
});
