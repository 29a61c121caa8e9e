import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { assembleResult } from '../../../pipelines/result/assemble.ts';
import { writeReport } from '../../../pipelines/result/render/obstetric/report.ts';
import { unsupportedClaims } from '../../../pipelines/result/render/report-check.ts';
import { ultrasound } from './dicom-sample.ts';
import { onDisk } from './on-disk.ts';

/**
 * Returns an image with distinct pixels and this Study Instance UID, or without one if it is null.
 */
const ofStudy = (instance: number, study: string | null) =>
  ultrasound({ instance, extra: study ? [['0020000D', 'UI', study]] : [] });

async function resultOf(studies: readonly (string | null)[], priors: readonly string[] = []) {
  const files = (uids: readonly (string | null)[], from: number) =>
    onDisk(
      Object.fromEntries(uids.map((uid, at) => [`${from + at}.dcm`, ofStudy(from + at, uid)])),
    );
  const study = await readStudy(await files(studies, 1), { priors: await files(priors, 11) });
  const outcome = { status: 'complete', reason: null, statements: [] } as const;
  return assembleResult({
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    generatedAt: new Date('2026-01-01T00:00:00Z'),
    models: [],
    study,
    refusedFrames: [],
    priors: priors.length,
    sections: [{ id: 'planes', title: 'Planes', outcome }],
    measurements: [],
  });
}

describe('files of more than one study', () => {
  it('are counted and reported in a finding', async () => {
    const { input_summary: summary, findings } = await resultOf(['1.2.1', '1.2.2', '1.2.1']);
    expect(summary.studies).toBe(2);
    expect(findings).toMatchObject([
      { id: 'several-studies', section: 'planes', severity: 'info' },
    ]);
  });

  it('limit everything in the draft report, but are not among its findings', async () => {
    const result = await resultOf(['1.2.1', '1.2.2']);
    const { findings, limitations } = writeReport(result);
    const [finding] = result.findings;
    expect(limitations[0]).toBe(finding?.text);
    expect(findings).not.toContain(finding?.text);
    expect(unsupportedClaims(writeReport(result), result)).toEqual([]);
  });

  it.each([
    ['one study', ['1.2.1', '1.2.1'], []],
    ['one study and files that say none', ['1.2.1', null], []],
    ['one study and an earlier one', ['1.2.1'], ['1.2.2']],
  ])('%s says nothing', async (_, studies, priors) => {
    const { input_summary: summary, findings } = await resultOf(studies, priors);
    expect(summary).not.toHaveProperty('studies');
    expect(findings).toEqual([]);
  });

  it('keep no UID of a study', async () => {
    expect(JSON.stringify(await resultOf(['1.2.77.1', '1.2.77.2']))).not.toContain('1.2.77');
  });
});
