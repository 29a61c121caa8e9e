import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { DCMTK_INSTALLED, dcmtk, type Program, startStorescp } from '../peers/dcmtk.ts';
import { allDelivered, deliveries, explain, openSite, type Site, waitUntil } from './site.ts';

const STUDY = '1.2.840.97.1';
const OBJECTS = [1, 2, 3];

const dataSetOf = (file: Buffer) => file.subarray(decodeFileMeta(file).dataSetOffset);

describe.skipIf(!DCMTK_INSTALLED)('a study that a rule forwards', () => {
  let archive: Program;
  let archived = '';
  let folder = '';
  let site: Site;
  let sent: Buffer[];

  beforeAll(async () => {
    archived = await mkdtemp(join(tmpdir(), 'sonogate-archive-'));
    folder = await mkdtemp(join(tmpdir(), 'sonogate-cart-'));
    archive = await startStorescp(archived);
    site = await openSite({
      roles: ['dimse', 'delivery'],
      destinations: [
        {
          type: 'dicom',
          name: 'archive',
          host: '127.0.0.1',
          port: archive.port,
          aeTitle: 'ARCHIVE',
        },
      ],
      routing: { rules: [{ name: 'archive', forwardTo: ['archive'] }] },
    });
    sent = OBJECTS.map((number) =>
      dicomFile({ sopInstanceUid: `${STUDY}.1.${number}`, studyInstanceUid: STUDY }),
    );
    const paths = sent.map((_, index) => join(folder, `${index}.dcm`));
    await Promise.all(paths.map((path, index) => writeFile(path, sent[index] as Buffer)));
    const { exitCode, output } = await dcmtk('storescu', [
      ...['-aec', 'SONOGATE', '127.0.0.1', String(site.dicomPort)],
      ...paths,
    ]);
    expect(exitCode, output).toBe(0);
    await waitUntil('the study to be routed', async () =>
      (await explain(site.gateway, STUDY))?.state === 'routed' ? true : null,
    );
    await allDelivered(site);
  }, 120_000);

  afterAll(async () => {
    await site?.close();
    await archive?.stop();
    for (const made of [archived, folder]) await rm(made, { recursive: true, force: true });
  });

  it('reaches the archive, with every data set unchanged byte for byte', async () => {
    const names = await readdir(archived);
    const files = await Promise.all(names.map((name) => readFile(join(archived, name))));
    const received = files.map((file) => dataSetOf(file).toString('hex')).sort();
    expect(received).toEqual(sent.map((file) => dataSetOf(file).toString('hex')).sort());
  });

  it('has one delivery for each object, but no request', async () => {
    const rows = await deliveries(site);
    expect(
      rows.map(({ kind, destination, request_id }) => ({ kind, destination, request_id })),
    ).toEqual(OBJECTS.map(() => ({ kind: 'forward', destination: 'archive', request_id: null })));
    expect((await explain(site.gateway, STUDY))?.requests).toEqual([]);
  });
});
