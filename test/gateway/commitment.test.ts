import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dicomFile } from '../dimse/dicom-file.ts';
import { DCMTK_INSTALLED, dcmtk } from '../peers/dcmtk.ts';
import { freePort } from '../peers/free-port.ts';
import { PYNETDICOM_INSTALLED, type PynetdicomPeer, startPynetdicom } from '../peers/pynetdicom.ts';
import { allDelivered, deliveries, openSite, type Site, waitUntil } from './site.ts';

const CLASS = '1.2.840.10008.5.1.4.1.1.6.1';

interface Requests {
  requests: { transaction: string; objects: string[] }[];
}

describe.skipIf(!DCMTK_INSTALLED || !PYNETDICOM_INSTALLED)('an object sent to a PACS', () => {
  let pacs: PynetdicomPeer;
  let site: Site;
  let folder = '';
  let count = 0;
  let uid = '';
  let transaction = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-commitment-'));
    pacs = await startPynetdicom();
    const port = await freePort();
    await pacs.ask({ action: 'listen', port, title: 'PACS' });
    site = await openSite({
      roles: ['dimse', 'delivery'],
      destinations: [
        {
          type: 'dicom',
          name: 'pacs',
          host: '127.0.0.1',
          port,
          aeTitle: 'PACS',
          storageCommitment: true,
        },
      ],
      routing: { rules: [{ name: 'onward', forwardTo: ['pacs'] }] },
    });
  }, 60_000);
  afterAll(async () => {
    await site?.close();
    await pacs?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    count += 1;
    uid = `1.2.840.95.${count}.1`;
    const path = join(folder, `${count}.dcm`);
    const studyInstanceUid = `1.2.840.95.${count}`;
    await writeFile(path, dicomFile({ sopInstanceUid: uid, studyInstanceUid }));
    const target = ['-aec', 'SONOGATE', '127.0.0.1', String(site.dicomPort)];
    expect(await dcmtk('storescu', [...target, path])).toMatchObject({ exitCode: 0 });
    transaction = await waitUntil('the PACS to be asked', async () => {
      const { requests } = await pacs.ask<Requests>({ action: 'requests' });
      return requests.find(({ objects }) => objects.includes(uid))?.transaction ?? null;
    });
    if (count === 1) await allDelivered(site);
  }, 60_000);

  const answer = (committed: string[], failed: string[]) =>
    pacs.ask<{ status: number }>({
      action: 'answer',
      port: site.dicomPort,
      title: 'PACS',
      transaction,
      class: CLASS,
      committed,
      failed,
    });
  const delivery = async () => (await deliveries(site))[0];

  it('is committed when the PACS reports so over a separate association', async () => {
    expect((await delivery())?.committed_at).toBeNull();
    expect(await answer([uid], [])).toEqual({ status: 0 });
    expect((await delivery())?.committed_at).not.toBeNull();
  });

  it('is dead and left to a person if the PACS does not commit to it', async () => {
    expect(await answer([], [uid])).toEqual({ status: 0 });
    expect(await delivery()).toMatchObject({ state: 'dead', code: 'commitment_refused' });
  });

  it('stays unchanged if the report refers to a transaction that is not ours', async () => {
    transaction = '1.2.3.4.5';
    expect(await answer([uid], [])).toEqual({ status: 0x0112 });
    expect(await delivery()).toMatchObject({ state: 'delivered', committed_at: null });
  });
});
