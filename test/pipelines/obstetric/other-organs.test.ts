import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Job } from '../../../pipelines/contract/job.ts';
import { keepOpen } from '../../../pipelines/inference/keep-open.ts';
import { type ModelSession, openSession } from '../../../pipelines/inference/session.ts';
import { openLocator } from '../../../pipelines/obstetric/open-locator.ts';
import { createObstetricPipeline } from '../../../pipelines/obstetric/pipeline.ts';
import { type Result, resultSchema } from '../../../pipelines/result/envelope.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/**
 * Screens from real machines that show no fetus: adult hearts, thyroid, elbow, a probe in air. The
 * gestational age is given, so that nothing is left out for lack of it.
 */
const FOLDER = '../shared/data/dicom/us';
const present = existsSync(FOLDER);
if (!present) console.warn(`${FOLDER} is absent: real screens of other organs are not interpreted`);

/**
 * These files have the same pixels as others in another transfer syntax (real-files.test.ts shows
 * this).
 */
const REPEATED = /_jpegls|_broken-delimiter|_repaired|_h264|_expb|1A_rle\.|US1_(?!UNCR)|color-px/;

const opened: ModelSession[] = [];
afterAll(() => Promise.all(opened.map((session) => session.close())));
const opening = keepOpen(async (model, settings) => {
  const session = await openSession(model, settings);
  opened.push(session);
  return session;
});

const pipeline = createObstetricPipeline({
  openLocator: (settings) => openLocator(settings, opening),
  // No documents are written, because they are derived from the result, which is checked directly.
  writeArtifacts: async () => [],
});

async function interpret(name: string, mmPerPx?: number): Promise<Result> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'files'));
  await mkdir(join(folder, 'artifacts'));
  await symlink(resolve(FOLDER, name), join(folder, 'files', name));
  const job: Job = {
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    files: [name],
    priorFiles: [],
    options: { dating: { ga_days: 150 }, ...(mmPerPx && { mm_per_px: mmPerPx }) },
    clinicalContext: {},
    models: { allow: 'all', provider: 'cpu', threads: 1 },
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
  const end = await pipeline(folder, () => undefined, new AbortController().signal);
  expect(end.type).toBe('done');
  return resultSchema.parse(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')));
}

describe.skipIf(!present)('a screen without a fetus', () => {
  const names = present ? readdirSync(FOLDER).filter((name) => !REPEATED.test(name)) : [];

  it.each(names)('%s gives no measurement, finding, category or score', async (name) => {
    const { measurements, findings, classifications, scores } = await interpret(name);
    const said = measurements.map(({ section, label, value }) => `${section}: ${label} ${value}`);
    expect(said).toEqual([]);
    // A plane may be misidentified, but nothing must follow from it.
    expect(classifications.filter(({ section }) => section !== 'planes')).toEqual([]);
    expect([...findings, ...scores]).toEqual([]);
  });

  // On these images the whole image looks like an abdomen, a femur or a placenta, so with a scale
  // it could be measured.
  it.each(['US-PAL-8-10x-echo', 'YBR_FULL-RLE.dcm', 'color-pl.dcm', 'examples_palette.dcm'])(
    '%s gives none that is used, even when the sender adds a scale',
    async (name) => {
      const { measurements, findings, sections } = await interpret(name, 0.3);
      expect(measurements.filter(({ quality }) => quality === 'accepted')).toEqual([]);
      expect(findings).toEqual([]);
      // These two sections list the planes that were identified; every other section reports
      // nothing.
      const others = sections.filter(({ id }) => id !== 'planes' && id !== 'anomaly-screen');
      const assessed = others.filter(({ status }) => status === 'complete' || status === 'partial');
      expect(assessed.map(({ id }) => id)).toEqual([]);
    },
  );
});
