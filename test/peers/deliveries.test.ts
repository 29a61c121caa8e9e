import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import type { CommandAnswer } from '../../src/operations/commands.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { deliveries, openSite, type Site, waitUntil } from '../gateway/site.ts';
import { DCMTK_INSTALLED, type Program, startStorescp } from './dcmtk.ts';
import { freePort } from './free-port.ts';
import { ORTHANC_DICOMWEB_INSTALLED, type Orthanc, startOrthanc } from './orthanc.ts';

const OBJECTS = 4;
const LOOPBACK = '127.0.0.1';

/** The study description determines the destination. */
const ruleTo = (destination: string) => ({
  name: destination,
  when: { studyDescription: { equals: destination } },
  forwardTo: [destination],
});

describe.skipIf(!DCMTK_INSTALLED || !ORTHANC_DICOMWEB_INSTALLED)('deliveries to real peers', () => {
  let folder = '';
  let log = '';
  let archive: Program;
  let orthanc: Orthanc;
  let site: Site;
  let count = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-deliveries-'));
    log = join(folder, 'storescp.log');
    const logging = join(folder, 'log.cfg');
    writeFileSync(
      logging,
      [
        'log4cplus.rootLogger = INFO, file',
        'log4cplus.appender.file = log4cplus::FileAppender',
        `log4cplus.appender.file.File = ${log}`,
        'log4cplus.appender.file.ImmediateFlush = true',
        'log4cplus.appender.file.layout = log4cplus::PatternLayout',
        'log4cplus.appender.file.layout.ConversionPattern = %m%n\n',
      ].join('\n'),
    );
    archive = await startStorescp(folder, ['-lc', logging]);
    const httpPort = await freePort();
    const started = await startOrthanc({
      dicomWeb: true,
      settings: {
        DicomWeb: { Servers: { sonogate: { Url: `http://${LOOPBACK}:${httpPort}/dicomweb/` } } },
      },
    });
    if (!started) throw new Error('Orthanc did not start');
    orthanc = started;
    const deadPort = await freePort();
    const node = { type: 'dicom', host: LOOPBACK, aeTitle: 'ARCHIVE' };
    site = await openSite({
      roles: ['api', 'dimse', 'delivery'],
      http: { host: LOOPBACK, port: httpPort },
      sources: [
        {
          name: 'this-machine',
          callingAeTitles: ['*'],
          addresses: ['127.0.0.0/8'],
          apiKeys: ['vna'],
          completion: { signal: 'association-release', quietSeconds: 2, afterReleaseSeconds: 0.5 },
        },
      ],
      destinations: [
        { ...node, name: 'archive', port: archive.port, associationIdleSeconds: 30 },
        { ...node, name: 'away', port: deadPort, alternate: 'vna' },
        { type: 'dicomweb', name: 'vna', baseUrl: `${orthanc.url}/dicom-web/` },
      ],
      delivery: {
        retryBaseSeconds: 0.1,
        retryCapSeconds: 0.1,
        breaker: { failures: 2, openSeconds: 0.5, longestOpenSeconds: 0.5 },
        alternateAfterMinutes: 0.01,
      },
      routing: { rules: ['archive', 'away', 'vna'].map(ruleTo) },
    });
  }, 120_000);

  afterAll(async () => {
    await site?.close();
    await Promise.all([archive?.stop(), orthanc?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  /**
   * Sends a small study over DICOM.
   * @returns the SOP Instance UIDs.
   */
  const receive = async (studyDescription: string): Promise<string[]> => {
    count += 1;
    const study = `1.2.840.114.${count}`;
    const uids = Array.from({ length: OBJECTS }, (_, n) => `${study}.1.${n}`);
    const paths = uids.map((uid) => join(folder, `sent-${uid}`));
    for (const [n, path] of paths.entries()) {
      const sopInstanceUid = uids[n] ?? '';
      await writeFile(
        path,
        dicomFile({ sopInstanceUid, studyInstanceUid: study, studyDescription }),
      );
    }
    const port = site.dicomPort;
    const cart = { host: LOOPBACK, port, aeTitle: 'SONOGATE', callingAeTitle: 'CART' };
    await sendFiles({ ...cart, timeoutSeconds: 20 }, paths);
    return uids;
  };
  const rowsTo = async (destination: string): Promise<CommandAnswer<'deliveries.list'>> =>
    (await deliveries(site)).filter((row) => row.destination === destination);
  const ended = (destination: string, state: string) =>
    waitUntil(`deliveries to ${destination} to be ${state}`, async () => {
      const rows = await rowsTo(destination);
      return rows.length === OBJECTS && rows.every((row) => row.state === state) ? rows : null;
    });
  const held = async () => (await orthanc.instances()).map(({ SOPInstanceUID: uid }) => uid);

  it('by C-STORE share one association', async () => {
    await receive('archive');
    await ended('archive', 'delivered');
    const seen = readFileSync(log, 'utf8').match(/Association Acknowledged/g) ?? [];
    expect(seen).toHaveLength(1);
  });

  it('by STOW-RS reach a DICOMweb server, object by object', async () => {
    const uids = await receive('vna');
    const rows = await ended('vna', 'delivered');
    expect(new Set(rows.map(({ detail }) => detail))).toEqual(new Set(['HTTP 200']));
    expect(await held()).toEqual(expect.arrayContaining(uids));
  });

  it('to an unreachable PACS go to its alternate once, and record the diversion', async () => {
    const uids = await receive('away');
    const away = await ended('away', 'diverted');
    expect(away.every(({ code }) => code === null || code === 'peer_unreachable')).toBe(true);
    const instead = await waitUntil('the alternate to have them', async () => {
      const rows = (await rowsTo('vna')).filter(({ alternate_of }) => alternate_of !== null);
      return rows.length === OBJECTS && rows.every(({ state }) => state === 'delivered')
        ? rows
        : null;
    });
    expect(new Set(instead.map(({ alternate_of }) => alternate_of))).toEqual(
      new Set(away.map(({ id }) => id)),
    );
    expect(await held()).toEqual(expect.arrayContaining(uids));
  });

  it('from another server arrive by STOW-RS: Orthanc stores a study here', async () => {
    const made = await site.gateway.run('keys.create', { name: 'vna', scopes: ['store'] });
    const { key } = made;
    const study = '1.2.840.115.1';
    const uids = ['1.2.840.115.1.1.1', '1.2.840.115.1.1.2'];
    for (const sopInstanceUid of uids) {
      const body = dicomFile({ sopInstanceUid, studyInstanceUid: study, studyDescription: 'x' });
      await fetch(`${orthanc.url}/instances`, { method: 'POST', body });
    }
    const found = await fetch(`${orthanc.url}/tools/lookup`, { method: 'POST', body: study });
    const [{ ID: id }] = (await found.json()) as [{ ID: string }];
    const sent = await fetch(`${orthanc.url}/dicom-web/servers/sonogate/stow`, {
      method: 'POST',
      body: JSON.stringify({
        Resources: [id],
        HttpHeaders: { Authorization: `Bearer ${key}` },
        Synchronous: true,
      }),
    });
    expect(sent.status, await sent.text()).toBe(200);
    const told = await waitUntil('the study to be here', async () => {
      const known = await site.gateway.run('studies.explain', { study }).catch(() => null);
      return (known as { instances?: number; source?: string } | null) ?? null;
    });
    expect(told).toMatchObject({ source: 'this-machine' });
  });
});
