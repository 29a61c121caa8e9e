import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { listen } from '../../dimse/network/listener.ts';
import { STATUS } from '../../dimse/network/status.ts';
import { acceptedWithQueries } from '../../dimse/receive/presentation-contexts.ts';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { decodeDataSet, encodeDataSet } from '../../pipelines/dicom/data-set.ts';
import { decodeFileMeta } from '../../pipelines/dicom/part10.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { explain, openSite, type Site, waitUntil } from '../gateway/site.ts';
import { DCMTK_INSTALLED, dcmtk, type Program, startStorescp } from './dcmtk.ts';
import { freePort } from './free-port.ts';
import { heldStudy, sendStudy, writeStudy } from './held-study.ts';
import { PYNETDICOM_INSTALLED } from './pynetdicom.ts';

const EVE = heldStudy('1.2.826.2.1');
/** Stored in Implicit VR. */
const IDA = heldStudy('1.2.826.2.3', { patientId: 'P-3', studyDate: '20250301' });
const ADA = heldStudy('1.2.826.2.2', { patientId: 'P-2', studyDate: '20260301' });

describe.skipIf(!DCMTK_INSTALLED)('the gateway as a query/retrieve provider', () => {
  let site: Site;
  let folder = '';
  let viewer: Program;
  let old: Program;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-query-scp-'));
    await mkdir(join(folder, 'viewer'));
    viewer = await startStorescp(join(folder, 'viewer'));
    await mkdir(join(folder, 'old'));
    old = await startStorescp(join(folder, 'old'), ['+xi']);
    site = await openSite({
      roles: ['dimse'],
      sources: [
        {
          name: 'cart',
          callingAeTitles: ['CART', 'STRANGER'],
          addresses: ['127.0.0.0/8'],
          completion: { signal: 'association-release', quietSeconds: 2, afterReleaseSeconds: 0.5 },
        },
      ],
      queryRetrieve: {
        dicomweb: false,
        callers: [{ callingAeTitles: ['VIEWER', 'OTHER'], addresses: ['127.0.0.0/8'] }],
        moveDestinations: [
          { aeTitle: 'VIEWER', host: '127.0.0.1', port: viewer.port },
          { aeTitle: 'OLD', host: '127.0.0.1', port: old.port },
          { aeTitle: 'AWAY', host: '127.0.0.1', port: await freePort(), timeoutSeconds: 2 },
        ],
      },
      routing: { rules: [{ name: 'keep', ignore: true }] },
    });
    for (const study of [EVE, ADA]) await sendStudy(study, folder, site.dicomPort);
    const [cine = ''] = await writeStudy(IDA, folder);
    const implicit = join(folder, 'implicit.dcm');
    await dcmtk('dcmconv', ['+ti', cine, implicit]);
    const cart = { host: '127.0.0.1', port: site.dicomPort, callingAeTitle: 'CART' };
    await sendFiles({ ...cart, aeTitle: 'SONOGATE', timeoutSeconds: 20 }, [implicit]);
    for (const { study } of [EVE, ADA, IDA]) {
      await waitUntil('the study', () => explain(site.gateway, study));
    }
  });
  afterAll(async () => {
    await site?.close();
    await viewer?.stop();
    await old?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a DCMTK program with the Study Root model, as a viewer would. */
  const ask = (program: string, keys: readonly string[], options: readonly string[] = []) =>
    dcmtk(program, [
      '-d',
      '-S',
      '-aec',
      'SONOGATE',
      ...(options.includes('-aet') ? [] : ['-aet', 'VIEWER']),
      ...options,
      ...keys.flatMap((key) => ['-k', key]),
      '127.0.0.1',
      String(site.dicomPort),
    ]);

  test.each([
    ['studies by patient', ['0008,0052=STUDY', '0020,000d', '0010,0020=P-1'], [EVE.study]],
    ['studies by date', ['0008,0052=STUDY', '0020,000d', '0008,0020=20260201-'], [ADA.study]],
    [
      'studies by wildcard',
      ['0008,0052=STUDY', '0020,000d', '0010,0010=EX*'],
      [EVE.study, ADA.study, IDA.study],
    ],
    [
      'the series of a study',
      ['0008,0052=SERIES', `0020,000d=${EVE.study}`, '0020,000e'],
      [`${EVE.study}.1`, `${EVE.study}.2`],
    ],
    [
      'the objects of a series',
      ['0008,0052=IMAGE', `0020,000d=${EVE.study}`, `0020,000e=${EVE.study}.1`, '0008,0018'],
      [EVE.cine],
    ],
    [
      'the objects of a series, with their size',
      [
        '0008,0052=IMAGE',
        `0020,000d=${EVE.study}`,
        `0020,000e=${EVE.study}.1`,
        '0028,0010',
        '0028,0100',
      ],
      [EVE.cine, 'US 24'],
    ],
    ['nothing of an unknown patient', ['0008,0052=STUDY', '0020,000d', '0010,0020=nobody'], []],
  ])('findscu finds %s', async (_, keys, expected) => {
    const { exitCode, output } = await ask('findscu', keys);
    expect(exitCode, output).toBe(0);
    expect(output).toContain('0x0000: Success');
    const uids = expected.filter((text) => /^[\d.]+$/.test(text));
    expect(output.match(/0xff00/g) ?? []).toHaveLength(uids.length);
    for (const text of expected) expect(output).toContain(uids.includes(text) ? `[${text}` : text);
  });

  test.each([
    ['an unknown level', ['0008,0052=PATIENT', '0010,0020'], 'a900'],
    ['series without their study', ['0008,0052=SERIES', '0020,000e'], 'a900'],
    ['a malformed date', ['0008,0052=STUDY', '0008,0020=2026-01-15-9'], 'a900'],
  ])('a query by %s is refused with %s', async (_, keys, status) => {
    expect((await ask('findscu', keys)).output.toLowerCase()).toContain(`0x${status}`);
  });

  it('a source that is not listed as a query caller receives "not authorized"', async () => {
    const { output } = await ask('findscu', ['0008,0052=STUDY', '0020,000d'], ['-aet', 'STRANGER']);
    expect(output).toContain('0x0124');
  });

  it('a query caller that is not a source may not store', async () => {
    const paths = (await readdir(folder)).filter((name) => name.endsWith('-0.dcm'));
    const node = ['-aet', 'OTHER', '-aec', 'SONOGATE', '127.0.0.1', String(site.dicomPort)];
    const sent = await dcmtk('storescu', ['-v', ...node, join(folder, paths[0] ?? '')]);
    expect(sent.output).toMatch(/0124|Unknown Status/i);
  });

  it('no other peer is granted an association', async () => {
    const { output } = await ask('findscu', ['0008,0052=STUDY'], ['-aet', 'NOBODY']);
    expect(output).toContain('Calling AE Title Not Recognized');
  });

  it('movescu has a study sent to a configured destination', async () => {
    const moved = await ask(
      'movescu',
      ['0008,0052=STUDY', `0020,000d=${EVE.study}`],
      ['-aem', 'VIEWER'],
    );
    expect(moved.exitCode, moved.output).toBe(0);
    const there = await readdir(join(folder, 'viewer'));
    expect(
      there.filter((name) => name.includes(EVE.cine) || name.includes(EVE.still)),
    ).toHaveLength(2);
  });

  test.each([
    ['a destination that is not configured', 'ELSEWHERE', 'a801'],
    ['a destination that does not answer', 'AWAY', 'a702'],
  ])('movescu to %s is refused', async (_, to, status) => {
    const moved = await ask('movescu', ['0008,0052=STUDY', `0020,000d=${EVE.study}`], ['-aem', to]);
    expect(moved.output.toLowerCase()).toContain(status);
  });

  const series = ({ study }: typeof ADA) => [
    '0008,0052=SERIES',
    `0020,000d=${study}`,
    `0020,000e=${study}.1`,
  ];

  // DCMTK offers both VRs in one context, in which Explicit VR is accepted.
  test.each([
    ['Explicit VR', ADA],
    ['Implicit VR', IDA],
  ])('getscu pulls a series that is stored in %s', async (stored, study) => {
    const into = join(folder, `got ${stored}`);
    await mkdir(into);
    const got = await ask('getscu', series(study), ['-od', into]);
    expect(got.exitCode, got.output).toBe(0);
    expect(await onlyObject(into)).toEqual({
      transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN,
      sopInstanceUid: study.cine,
    });
  });

  it('movescu has a series converted for a destination that accepts only Implicit VR', async () => {
    const moved = await ask('movescu', series(ADA), ['-aem', 'OLD']);
    expect(moved.exitCode, moved.output).toBe(0);
    const transferSyntax = IMPLICIT_VR_LITTLE_ENDIAN;
    expect(await onlyObject(join(folder, 'old'))).toEqual({
      transferSyntax,
      sopInstanceUid: ADA.cine,
    });
  });

  it.skipIf(!PYNETDICOM_INSTALLED)(
    'pynetdicom finds a study and pulls it, JPEG included',
    async () => {
      const keys = { QueryRetrieveLevel: 'STUDY', StudyInstanceUID: ADA.study };
      const found = await workstation({ operation: 'find', keys, port: site.dicomPort });
      expect(found.answers).toMatchObject([{ status: 0xff00, study: ADA.study }, { status: 0 }]);
      const got = await workstation({ operation: 'get', keys, port: site.dicomPort });
      expect(got.received).toEqual([ADA.cine, ADA.still]);
      expect(got.answers.at(-1)).toMatchObject({ status: 0, completed: 2 });
    },
  );

  it.skipIf(!PYNETDICOM_INSTALLED)(
    'a peer that did not propose to be SCP of the storage classes is sent no object',
    async () => {
      const keys = { QueryRetrieveLevel: 'STUDY', StudyInstanceUID: ADA.study };
      const order = { operation: 'get', keys, port: site.dicomPort, receives: false };
      const { answers, offered } = await workstation(order);
      expect(offered).toEqual([]);
      expect(answers.at(-1)).toMatchObject({ status: 0xa702, completed: 0 });
    },
  );
});

/**
 * Checks that the folder contains a single object with the cine's pixels, and returns that object.
 */
async function onlyObject(folder: string) {
  const [name, ...others] = await readdir(folder);
  expect(others).toEqual([]);
  const file = await readFile(join(folder, name ?? ''));
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const { transferSyntax, sopInstanceUid } = meta;
  const { PatientName, PixelData } = decodeDataSet(file.subarray(dataSetOffset), transferSyntax);
  expect(String(PatientName)).not.toBe('');
  expect(new Uint8Array((PixelData as ArrayBuffer[])[0] ?? []).slice(0, 2)).toEqual(
    new Uint8Array([0x60, 0x60]),
  );
  return { transferSyntax, sopInstanceUid };
}

async function workstation(order: object): Promise<{
  answers: { status: number; study: string; completed: number | null }[];
  received: string[];
  offered: string[];
}> {
  const program = fileURLToPath(new URL('./pynetdicom/workstation.py', import.meta.url));
  const modules = fileURLToPath(new URL('../../.ci/python', import.meta.url));
  const child = spawn('python3', [program], { env: { ...process.env, PYTHONPATH: modules } });
  child.stdin.end(JSON.stringify({ from: 'VIEWER', ...order }));
  const [answer, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (answer === '') throw new Error(errors);
  return JSON.parse(answer) as Awaited<ReturnType<typeof workstation>>;
}

describe.skipIf(!DCMTK_INSTALLED)('a query that the peer cancels', () => {
  it('ends with the status "canceled", however many matches are left', async () => {
    let sent = 0;
    const listener = await listen({
      host: '127.0.0.1',
      port: 0,
      aeTitle: 'SONOGATE',
      maxPduBytes: 16_384,
      maxAssociations: 2,
      offer: acceptedWithQueries,
      admit: () => ({ idleTimeoutSeconds: 30, mayQuery: true }),
      storage: {
        open: () => Promise.reject(new Error('nothing is stored')),
        ended: async () => {},
      },
      async *query({ transferSyntax }, _, { canceled }) {
        const match = { QueryRetrieveLevel: 'STUDY', StudyInstanceUID: '1.2.3' };
        while (!canceled.aborted) {
          sent += 1;
          yield { status: STATUS.pending, dataSet: encodeDataSet(match, transferSyntax) };
          await new Promise((resolve) => setImmediate(resolve));
        }
        yield { status: STATUS.canceled };
      },
      logger: silentLogger,
    });
    const keys = ['-k', '0008,0052=STUDY', '-k', '0020,000d'];
    const node = ['-aec', 'SONOGATE', '127.0.0.1', String(listener.port)];
    const { output } = await dcmtk('findscu', ['-d', '-S', '--cancel', '3', ...keys, ...node]);
    await listener.close();
    expect(sent).toBeGreaterThanOrEqual(3);
    expect(output.toLowerCase()).toContain('0xfe00');
  });
});
