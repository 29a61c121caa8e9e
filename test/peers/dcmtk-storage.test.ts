import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { echo } from '../../dimse/send/verification.ts';
import { decodeFileMeta, readFileMeta } from '../../pipelines/dicom/part10.ts';
import { openSite, type Site } from '../dimse/site.ts';
import { DCMTK_INSTALLED, dcmtk, type Program, startStorescp } from './dcmtk.ts';

const DATA = '../shared/data/dicom/us';
const FILES = existsSync(DATA) ? readdirSync(DATA) : [];
/** DCMTK cannot read the broken sequence delimiter in this file, so it cannot send it. */
const UNREADABLE_FOR_DCMTK = 'DIRW0007_broken-delimiter.dcm';

/** The `storescu` option that proposes a file's transfer syntax. */
const PROPOSE: Readonly<Record<string, string>> = {
  '1.2.840.10008.1.2': '-xi',
  '1.2.840.10008.1.2.1': '-xe',
  '1.2.840.10008.1.2.2': '-xb',
  '1.2.840.10008.1.2.5': '-xr',
  '1.2.840.10008.1.2.4.50': '-xy',
  '1.2.840.10008.1.2.4.70': '-xs',
  '1.2.840.10008.1.2.4.80': '-xt',
  '1.2.840.10008.1.2.4.90': '-xv',
  '1.2.840.10008.1.2.4.91': '-xw',
  '1.2.840.10008.1.2.4.102': '-xn',
};

let site: Site;
let storescp: Program;
let folder = '';

beforeAll(async () => {
  if (!DCMTK_INSTALLED) return;
  folder = await mkdtemp(join(tmpdir(), 'sonogate-storescp-'));
  [site, storescp] = await Promise.all([openSite(), startStorescp(folder)]);
});
afterAll(async () => {
  await storescp?.stop();
  await site?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** Returns the data set of the only file that `storescp` has written since the previous call. */
async function takeFromStorescp(): Promise<Buffer> {
  const [name = '', ...others] = await readdir(folder);
  expect(others).toEqual([]);
  const file = await readFile(join(folder, name));
  await rm(join(folder, name));
  return file.subarray(decodeFileMeta(file).dataSetOffset);
}

/** Returns the data set as the intake stored it, or null if it is missing. */
async function storedDataSet(dataSet: Buffer): Promise<Buffer | null> {
  const { rows } = await site.database.query<{ path: string }>('SELECT path FROM instances');
  for (const { path } of rows) {
    const file = await readFile(join(site.config.dataDir, path));
    const stored = file.subarray(decodeFileMeta(file).dataSetOffset);
    if (stored.equals(dataSet)) return stored;
  }
  return null;
}

describe.skipIf(!DCMTK_INSTALLED)('DCMTK', () => {
  test.skipIf(FILES.length === 0).each(FILES.filter((name) => name !== UNREADABLE_FOR_DCMTK))(
    'storescu sends %s in its own transfer syntax; we keep what storescp +B keeps',
    async (name) => {
      const path = join(DATA, name);
      const option = PROPOSE[(await readFileMeta(path)).meta.transferSyntax] ?? 'unknown syntax';
      for (const [title, port] of [
        ['STORESCP', storescp.port],
        ['SONOGATE', site.gateway.port],
      ]) {
        // -R proposes only the file's class. Without it, DCMTK omits retired classes.
        const args = ['-R', '-aec', String(title), option, '127.0.0.1', String(port), path];
        expect(await dcmtk('storescu', args)).toMatchObject({ exitCode: 0 });
      }
      const reference = await takeFromStorescp();
      expect((await storedDataSet(reference))?.equals(reference)).toBe(true);
      // Some files are the same object in another encoding, which would be a duplicate.
      await site.database.query('DELETE FROM instances');
    },
  );

  test.skipIf(FILES.length === 0)('dcmsend sends all files over one association', async () => {
    const paths = FILES.filter((name) => name !== UNREADABLE_FOR_DCMTK).map((n) => join(DATA, n));
    const args = ['-aec', 'SONOGATE', '127.0.0.1', String(site.gateway.port), ...paths];
    expect(await dcmtk('dcmsend', args)).toMatchObject({ exitCode: 0 });
  });

  test.skipIf(FILES.length === 0)('storescp receives each file from us byte for byte', async () => {
    const node = { ...site.node, port: storescp.port, aeTitle: 'STORESCP' };
    for (const name of FILES) {
      const path = join(DATA, name);
      expect(await sendFiles(node, [path])).toMatchObject([{ outcome: 'stored' }]);
      const { dataSetOffset } = await readFileMeta(path);
      expect(
        (await takeFromStorescp()).equals((await readFile(path)).subarray(dataSetOffset)),
      ).toBe(true);
    }
  });

  test('echoscu is answered, in either direction', async () => {
    const args = ['-aec', 'SONOGATE', '127.0.0.1', String(site.gateway.port)];
    expect(await dcmtk('echoscu', args)).toMatchObject({ exitCode: 0 });
    expect(await echo({ ...site.node, port: storescp.port })).toMatchObject({ status: 0 });
    expect(await echo(site.node)).toMatchObject({ status: 0 });
  });

  test('echoscu to another AE title is refused: called AE title not recognized', async () => {
    const args = ['-aec', 'OTHER', '127.0.0.1', String(site.gateway.port)];
    const { exitCode, output } = await dcmtk('echoscu', args);
    expect(exitCode).not.toBe(0);
    expect(output).toContain('Called AE Title Not Recognized');
  });
});
