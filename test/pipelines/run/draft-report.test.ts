import { expect, it } from 'vitest';
import { writeReport } from '../../../pipelines/result/render/obstetric/report.ts';
import { withDraftReport } from '../../../pipelines/run/sections.ts';
import { interpretReadings, MEDIAN_28_WEEKS } from '../obstetric/evidence-sample.ts';

const result = interpretReadings({
  readings: MEDIAN_28_WEEKS(),
  options: { report: false, dating: { ga_days: 196 } },
});
// Without its last section, which is added again below.
const interpreted = { ...result, sections: result.sections.slice(0, -1) };

it('puts a report that the result bears out behind the other sections', () => {
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

it('withholds a report with a number that the result does not hold, and names the number', () => {
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

it('a report that cannot be written does not fail the study, and is logged', () => {
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

it('says of a report that was not requested that it was not', () => {
  const drafted = withDraftReport(interpreted, null);
  expect(drafted.report).toBeNull();
  expect(drafted.sections.at(-1)).toMatchObject({
    status: 'not_requested',
    reason: { code: 'not_requested', needs: ['options.report'] },
  });
});
