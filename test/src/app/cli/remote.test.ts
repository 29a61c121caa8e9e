import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { download, summaryOf } from '../../../../src/app/cli/remote.ts';
import { sampleResult } from '../../../fhir/sample.ts';

const ended = (output: ReturnType<typeof sampleResult>) => ({
  id: 'req_1',
  cost: { total: '0.10', currency: 'USD' as const, lines: [] },
  output,
});

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

it('downloads nothing if one of the artifacts does not exist', async () => {
  const client = {
    calls: { listArtifacts: async () => ({ data: [{ name: 'report.pdf' }] }) },
    download: () => {
      throw new Error('downloaded');
    },
  } as unknown as Parameters<typeof download>[2];
  const out = await mkdtemp(join(tmpdir(), 'sonogate-download-'));
  const only = ['report.pdf', 'reprot.pdf'];
  await expect(download('req_1', { out, only }, client)).rejects.toThrow(
    'req_1 has no reprot.pdf; available: report.pdf',
  );
  await rm(out, { recursive: true });
});
