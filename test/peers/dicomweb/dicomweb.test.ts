import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Scope } from '../../../src/core/accounts/keys.ts';
import { explain, openSite, type Site, waitUntil } from '../../gateway/site.ts';
import { freePort } from '../free-port.ts';
import { HEIGHT, heldStudy, sendStudy, WIDTH } from '../held-study.ts';
import { ORTHANC_DICOMWEB_INSTALLED, type Orthanc, startOrthanc } from '../orthanc.ts';

const PROGRAM = fileURLToPath(new URL('./client.py', import.meta.url));
/** Folder into which `.ci/run` installs dicomweb-client, separate from Debian's pydicom. */
const MODULES = fileURLToPath(new URL('../../../.ci/dicomweb', import.meta.url));
const env = { ...process.env, PYTHONPATH: MODULES };
const CLIENT_INSTALLED =
  spawnSync('python3', ['-c', 'import dicomweb_client'], { env }).status === 0;

const EVE = heldStudy('1.2.826.1.1');
const ADA = heldStudy('1.2.826.1.2', {
  patientId: 'P-2',
  patientName: 'Sample^Ada',
  studyDate: '20260301',
});

let site: Site;
let folder = '';
let httpPort = 0;
let key = '';
let orthanc: Orthanc | null = null;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-dicomweb-'));
  httpPort = await freePort();
  site = await openSite({
    roles: ['api', 'dimse'],
    http: { host: '127.0.0.1', port: httpPort },
    queryRetrieve: { dicomweb: true },
    routing: { rules: [{ name: 'keep', ignore: true }] },
  });
  key = await newKey('viewer', ['retrieve']);
  for (const study of [EVE, ADA]) {
    await sendStudy(study, folder, site.dicomPort);
    await waitUntil('the study', () => explain(site.gateway, study.study));
  }
  if (ORTHANC_DICOMWEB_INSTALLED) {
    orthanc = await startOrthanc({
      dicomWeb: true,
      settings: {
        DicomWeb: {
          Servers: {
            sonogate: {
              Url: `http://127.0.0.1:${httpPort}/dicomweb/`,
              HttpHeaders: { Authorization: `Bearer ${key}` },
            },
          },
        },
      },
    });
  }
}, 120_000);

afterAll(async () => {
  await site?.close();
  await orthanc?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function newKey(name: string, scopes: Scope[], test = false): Promise<string> {
  return (await site.gateway.run('keys.create', { name, scopes, test })).key;
}

const get = (path: string, accept = '*/*', as = key) =>
  fetch(`http://127.0.0.1:${httpPort}/dicomweb${path}`, {
    headers: { Authorization: `Bearer ${as}`, Accept: accept },
  });

type Json = Record<string, { vr: string; Value?: unknown[]; BulkDataURI?: string }>;
const search = async (path: string): Promise<Json[]> => {
  const answer = await get(path);
  return answer.status === 204 ? [] : ((await answer.json()) as Json[]);
};
const studiesOf = (found: Json[]) => found.map((one) => one['0020000D']?.Value?.[0]);

describe('a search', () => {
  test.each([
    ['by nothing', '', [ADA, EVE]],
    ['by patient ID', '?PatientID=P-1', [EVE]],
    ['by tag', '?00100020=P-2', [ADA]],
    ['by the start of a name, in any case', '?PatientName=exam*', [EVE]],
    ['by one unknown character', '?PatientID=P-?', [ADA, EVE]],
    ['by a percent sign, which is no wildcard', '?PatientID=P%25', []],
    ['by a date', '?StudyDate=20260115', [EVE]],
    ['by a range of dates', '?StudyDate=20260201-20260331', [ADA]],
    ['by an open range', '?StudyDate=20260116-', [ADA]],
    ['by a time stated to the hour', '?StudyTime=10-11', [ADA, EVE]],
    ['by a list of UIDs', `?StudyInstanceUID=${EVE.study},${ADA.study}`, [ADA, EVE]],
    ['by modality', '?ModalitiesInStudy=US', [ADA, EVE]],
    ['by another modality', '?ModalitiesInStudy=CT', []],
    ['by two keys of which one differs', '?PatientID=P-1&StudyDate=20260301', []],
    ['of the second page', '?limit=1&offset=1', [EVE]],
  ])('%s', async (_, query, expected) => {
    expect(studiesOf(await search(`/studies${query}`))).toEqual(expected.map(({ study }) => study));
  });

  it('states that there are more results than requested', async () => {
    const answer = await get('/studies?limit=1&includefield=all');
    expect(answer.headers.get('warning')).toMatch(/^299 .*additional results/);
  });

  it('warns that values are matched literally', async () => {
    const answer = await get('/studies?fuzzymatching=true');
    expect(answer.headers.get('warning')).toMatch(/fuzzymatching parameter is not supported/);
  });

  it('counts series and objects, and states where the study can be retrieved', async () => {
    const [found] = await search('/studies?PatientID=P-1');
    expect(found).toMatchObject({
      '00080061': { vr: 'CS', Value: ['US'] },
      '00081190': { vr: 'UR', Value: [expect.stringContaining(`/studies/${EVE.study}`)] },
      '00100010': { vr: 'PN', Value: [{ Alphabetic: 'Example^Eve' }] },
      '00201206': { vr: 'IS', Value: [2] },
      '00201208': { vr: 'IS', Value: [2] },
    });
  });

  it('finds series and objects of a study, and across studies', async () => {
    expect(await search(`/studies/${EVE.study}/series`)).toHaveLength(2);
    expect(await search('/series?Modality=US')).toHaveLength(4);
    expect(await search(`/instances?SOPInstanceUID=${EVE.cine}`)).toMatchObject([
      {
        '00080018': { Value: [EVE.cine] },
        '00280008': { Value: [2] },
        '00280010': { Value: [HEIGHT] },
      },
    ]);
  });

  test.each([
    ['an unknown key', '?NoSuchAttribute=1', 400],
    ['a private key', '?00091001=1', 400],
    ['a key of a lower level', '?SOPInstanceUID=1.2', 400],
    ['a count as key', '?NumberOfStudyRelatedSeries=2', 400],
    ['a date of another form', '?StudyDate=2026-01-15-01', 400],
    ['a limit below zero', '?limit=-1', 400],
    ['no match', '?PatientID=nobody', 204],
  ])('%s is answered %s', async (_, query, status) => {
    expect((await get(`/studies${query}`)).status).toBe(status);
  });
});

describe('who may search and retrieve', () => {
  test.each<[string, Scope[], boolean, number]>([
    ['a key that reads results', ['read'], false, 403],
    ['a key that stores', ['store'], false, 403],
    ['a test key', ['retrieve'], true, 403],
    ['a key for it', ['retrieve'], false, 200],
  ])('%s', async (name, scopes, isTest, status) => {
    const as = await newKey(name, scopes, isTest);
    expect((await get('/studies', '*/*', as)).status).toBe(status);
    expect((await get(`/studies/${EVE.study}/metadata`, '*/*', as)).status).toBe(status);
  });
});

describe('what cannot be retrieved', () => {
  test.each([
    ['a study that is not here', '/studies/1.2.3.4', '*/*', 404],
    ['a study that is no UID', '/studies/abc', '*/*', 404],
    [
      'an object of another study',
      `/studies/${ADA.study}/series/${EVE.study}.1/instances/${EVE.cine}`,
      '*/*',
      404,
    ],
    ['a search in XML', '/studies', 'application/dicom+xml', 406],
    [
      'metadata in XML',
      `/studies/${EVE.study}/metadata`,
      'multipart/related; type="application/dicom+xml"',
      406,
    ],
    [
      'an object in another transfer syntax',
      `/studies/${EVE.study}/series/${EVE.study}.2`,
      'multipart/related; type="application/dicom"; transfer-syntax=1.2.840.10008.1.2.4.90',
      406,
    ],
    [
      'a frame behind the last',
      `/studies/${EVE.study}/series/${EVE.study}.1/instances/${EVE.cine}/frames/3`,
      '*/*',
      404,
    ],
    [
      'frame 0',
      `/studies/${EVE.study}/series/${EVE.study}.1/instances/${EVE.cine}/frames/0`,
      '*/*',
      400,
    ],
    [
      'a picture as TIFF',
      `/studies/${EVE.study}/series/${EVE.study}.1/instances/${EVE.cine}/rendered`,
      'image/tiff',
      406,
    ],
    [
      'colour frames decoded, whose header says YBR',
      `/studies/${EVE.study}/series/${EVE.study}.2/instances/${EVE.still}/frames/1`,
      'multipart/related; type="application/octet-stream"',
      406,
    ],
  ])('%s', async (_, path, accept, status) => {
    const answer = await get(path, accept);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  });

  it('a study with only some objects in the requested transfer syntax is partial content', async () => {
    const accept =
      'multipart/related; type="application/dicom"; transfer-syntax=1.2.840.10008.1.2.1';
    expect((await get(`/studies/${EVE.study}`, accept)).status).toBe(206);
  });
});

describe.skipIf(!CLIENT_INSTALLED)('dicomweb-client', () => {
  it('searches and retrieves a study in every form', async () => {
    const cine = [EVE.study, `${EVE.study}.1`, EVE.cine];
    const still = [EVE.study, `${EVE.study}.2`, EVE.still];
    const calls = [
      ['search_for_studies', [], { search_filters: { PatientID: 'P-1' }, fields: ['StudyDate'] }],
      ['search_for_series', [EVE.study], {}],
      ['search_for_instances', [EVE.study, `${EVE.study}.1`], { limit: 10, offset: 0 }],
      ['search_for_studies', [], { search_filters: { PatientID: 'nobody' } }],
      ['retrieve_study_metadata', [EVE.study], {}],
      ['retrieve_study', [EVE.study], {}],
      ['retrieve_instance', still, {}],
      ['retrieve_instance_frames', [...cine, [1, 2]], {}],
      ['retrieve_instance_frames', [...still, [1]], { media_types: ['image/jpeg'] }],
      ['retrieve_instance_rendered', cine, { media_types: ['image/png'] }],
      ['retrieve_instance_frames_rendered', [...still, [1]], { media_types: ['image/jpeg'] }],
      ['retrieve_instance', ['1.2.3', '1.2.4', '1.2.5'], {}],
      ['search_for_series', [], { search_filters: { ModalitiesInStudy: 'US', PatientID: 'P-1' } }],
      ['retrieve_instance_rendered', cine, { params: { viewport: '16,16' } }],
      [
        'retrieve_instance_frames_rendered',
        [...still, [1]],
        { media_types: ['image/png'], params: { viewport: '64,64,8,0,-16,12' } },
      ],
      ['retrieve_instance_rendered', cine, { params: { viewport: '16,16,40,0,8,8' } }],
    ];
    const order = { url: `http://127.0.0.1:${httpPort}/dicomweb`, key, calls };
    const ran = await runClient(order);
    const image = { size: [WIDTH, HEIGHT] };
    expect(ran).toMatchObject([
      [{ '0020000D': { Value: [EVE.study] } }],
      [{}, {}],
      [{ '00080018': { Value: [EVE.cine] } }],
      [],
      [
        { '7FE00010': { BulkDataURI: expect.stringMatching(/\/bulkdata\/7FE00010$/) } },
        { '00280004': { Value: ['YBR_FULL_422'] } },
      ],
      [
        { sopInstanceUid: EVE.cine, pixelBytes: 2 * WIDTH * HEIGHT, patientName: 'Example^Eve' },
        { sopInstanceUid: EVE.still, transferSyntax: '1.2.840.10008.1.2.4.50' },
      ],
      { sopInstanceUid: EVE.still },
      [WIDTH * HEIGHT, WIDTH * HEIGHT],
      [expect.any(Number)],
      { ...image, format: 'PNG' },
      { ...image, format: 'JPEG' },
      { status: 404 },
      [{ '0020000D': { Value: [EVE.study] } }, {}],
      { size: [16, 12] },
      { size: [64, 48], format: 'PNG' },
      { status: 400 },
    ]);
  });
});

describe('a rendered frame', () => {
  const path = `/studies/${EVE.study}/series/${EVE.study}.1/instances/${EVE.cine}/rendered`;

  // The first frame is uniformly 60H.
  test.each([
    ['below the window', '200,20,linear', 0],
    ['above the window', '50,20,linear', 255],
    ['in the middle of the window', '96,100,linear-exact', 128],
    ['in the middle of a sigmoid window', '96,100,sigmoid', 128],
  ])('is %s', async (_, window, expected) => {
    const answer = await get(`${path}?window=${window}`, 'image/png');
    const { data } = await sharp(await answer.arrayBuffer())
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect(data[0]).toBe(expected);
  });

  test.each(['window=96', 'window=96,0,linear', 'viewport=0,5', 'viewport=5', 'viewport=a,b'])(
    'with %s is refused',
    async (query) => {
      expect((await get(`${path}?${query}`, 'image/png')).status).toBe(400);
    },
  );
});

describe('a study without a patient name', () => {
  it('has an empty name in the response (PS3.18 F.2.5)', async () => {
    const nameless = heldStudy('1.2.826.1.3', { patientId: 'P-3', patientName: '' });
    await sendStudy(nameless, folder, site.dicomPort);
    const found = await waitUntil('the study', async () => {
      const [study] = await search('/studies?PatientID=P-3');
      return study ?? null;
    });
    expect(found['00100010']).toEqual({ vr: 'PN' });
  });
});

describe('a single frame', () => {
  const still = `/studies/${EVE.study}/series/${EVE.study}.2/instances/${EVE.still}/frames/1`;
  test.each([
    ['image/jpeg', /^image\/jpeg; transfer-syntax=/],
    ['multipart/related; type="image/jpeg"', /^multipart\/related; type="image\/jpeg"/],
    ['*/*', /^multipart\/related; type="image\/jpeg"/],
  ])('accepted as %s is sent in that form', async (accept, type) => {
    const answer = await get(still, accept);
    expect(answer.headers.get('content-type')).toMatch(type);
    const start = Buffer.from(await answer.arrayBuffer()).subarray(0, 2);
    expect(start.toString('hex') === 'ffd8').toBe(accept === 'image/jpeg');
  });
});

/** Runs the client as a separate process, because the gateway is in this one. */
async function runClient(order: object): Promise<unknown> {
  const child = spawn('python3', [PROGRAM], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(JSON.stringify(order));
  const [answer, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (answer === '') throw new Error(errors);
  return JSON.parse(answer);
}

describe.skipIf(!ORTHANC_DICOMWEB_INSTALLED)('Orthanc as a DICOMweb client', () => {
  it('searches the gateway and retrieves a study from it', async () => {
    if (!orthanc) throw new Error('Orthanc did not start');
    const server = `${orthanc.url}/dicom-web/servers/sonogate`;
    const post = async (path: string, body: object) => {
      const answer = await fetch(`${server}/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      expect(answer.status, await answer.clone().text()).toBe(200);
      return answer.json();
    };
    const found = await post('qido', { Uri: '/studies', Arguments: { PatientID: 'P-2' } });
    expect(JSON.stringify(found)).toContain(ADA.study);
    await post('retrieve', { Resources: [{ Study: ADA.study }], Synchronous: true });
    const held = (await orthanc.instances()).map(({ SOPInstanceUID: uid }) => uid);
    expect(held).toEqual(expect.arrayContaining([ADA.cine, ADA.still]));
  });
});
