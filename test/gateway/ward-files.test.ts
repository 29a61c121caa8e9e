import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { DCMTK_INSTALLED, dcmtk } from '../peers/dcmtk.ts';
import { endOfStudy, openSite, type Site } from './site.ts';

const FOLDER = join(import.meta.dirname, '../../../shared/data/dicom/us');
const AVAILABLE = existsSync(FOLDER) && DCMTK_INSTALLED;

/**
 * DCMTK stops at the broken sequence delimiter before it sends anything. Our own SCU sends the
 * bytes unchanged.
 */
const REFUSED_BY_DCMTK = 'DIRW0007_broken-delimiter.dcm';

async function studyUidOf(path: string): Promise<string> {
  const { output } = await dcmtk('dcmdump', ['+E', '+P', '0020,000d', path]);
  return /\[([\d.]+)\]/.exec(output)?.[1] ?? '';
}

/** Real files from many vendors, kept outside the repository. */
describe.skipIf(!AVAILABLE)('every real ultrasound file, sent by DCMTK in its own syntax', () => {
  const files = AVAILABLE ? readdirSync(FOLDER).sort() : [];
  let site: Site;

  beforeAll(async () => {
    // This rule matches any description; the default rules hold studies that they do not recognize.
    const run = { endpoint: 'us/obstetric/interpret' };
    site = await openSite({ routing: { rules: [{ name: 'any', run }] } });
  });
  afterAll(() => site.close());

  it.each(files)(
    '%s is stored, and its study ends with a result or a reason',
    {
      timeout: 120_000,
    },
    async (file) => {
      const path = join(FOLDER, file);
      if (file === REFUSED_BY_DCMTK) {
        const node = { host: '127.0.0.1', port: site.dicomPort, aeTitle: 'SONOGATE' };
        const caller = { callingAeTitle: 'CART', timeoutSeconds: 30 };
        const [result] = await sendFiles({ ...node, ...caller }, [path]);
        expect(result).toMatchObject({ outcome: 'stored' });
      } else {
        const sent = await dcmtk('dcmsend', [
          '--no-uid-checks',
          '--decompress-never',
          '-aec',
          'SONOGATE',
          '127.0.0.1',
          String(site.dicomPort),
          path,
        ]);
        expect(sent, sent.output).toMatchObject({ exitCode: 0 });
      }
      const studyInstanceUid = await studyUidOf(path);
      const row = await endOfStudy(site, studyInstanceUid);
      expect(['succeeded', 'rejected'], row.fault?.detail).toContain(row.status);
      if (row.status === 'rejected') expect(row.fault?.detail).toMatch(/\w+ \w+ \w+/);
    },
  );
});
