import { expect, it } from 'vitest';
import { summaryOf } from '../../../../src/app/cli/remote.ts';
import type { RequestObject } from '../../../../src/core/requests/view.ts';
import { sampleResult } from '../../../fhir/sample.ts';

const ended = (output: ReturnType<typeof sampleResult>) =>
  ({ id: 'req_1', cost: { total: '0.10', currency: 'USD' }, output }) as RequestObject;

it('a submit ends with the impression, the cost, and instructions for downloading', () => {
  const impression = ['Growth appropriate for 28+0 weeks.'];
  const report = {
    language: 'en' as const,
    title: 'Draft',
    findings: [],
    impression,
    limitations: [],
  };
  expect(summaryOf(ended(sampleResult({ report })))).toEqual([
    '  Growth appropriate for 28+0 weeks.',
    'cost 0.10 USD',
    'sonogate download req_1 --out DIR',
  ]);
});

it('without a report, a submit states how to get an impression', () => {
  expect(summaryOf(ended(sampleResult({ report: null })))[0]).toContain('--report');
});
