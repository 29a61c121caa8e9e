import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Archive } from '../../../dimse/archive/archive.ts';
import { dicomwebArchive, TAGS } from '../../../dimse/archive/dicomweb-archive.ts';
import type { StorageService } from '../../../dimse/network/service-ports.ts';
import { httpAccess } from '../../../fhir/client/authorization.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { dicomFile } from '../dicom-file.ts';

const STUDY = '1.2.3';

let server: Server;
let folder: string;
let archive: Archive;
let impatient: Archive;
let calls: IncomingMessage[] = [];
let answer: (call: URL, response: ServerResponse) => void = () => {};

beforeAll(async () => {
  server = createServer((call, response) => {
    calls.push(call);
    answer(new URL(call.url ?? '/', 'http://vna.example'), response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  folder = await mkdtemp(join(tmpdir(), 'sonogate-secret-'));
  await writeFile(join(folder, 'password'), 's3cret\n');
  const { port } = server.address() as AddressInfo;
  const settings = {
    name: 'vna',
    baseUrl: `http://127.0.0.1:${port}/dicom-web/`,
    authorization: { type: 'basic', user: 'sonogate', passwordFile: join(folder, 'password') },
  } as const;
  const waiting = (timeoutSeconds: number) =>
    dicomwebArchive(
      { ...settings, timeoutSeconds },
      httpAccess(new ClientCertificates())(settings),
      'SONOGATE',
    );
  archive = waiting(30);
  impatient = waiting(0.5);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  calls = [];
});

const json = (response: ServerResponse, rows: unknown) =>
  response.writeHead(200, { 'content-type': 'application/dicom+json' }).end(JSON.stringify(rows));
const object = (number: number) => ({
  [TAGS.SOPInstanceUID]: { vr: 'UI', Value: [`${STUDY}.${number}`] },
  [TAGS.SeriesInstanceUID]: { vr: 'UI', Value: [`${STUDY}.0`] },
  [TAGS.SOPClassUID]: { vr: 'UI', Value: ['1.2.840.10008.5.1.4.1.1.6.1'] },
});
const status = (code: number) => (_: URL, response: ServerResponse) => {
  response.writeHead(code, { location: 'http://elsewhere.example/' }).end('no');
};

describe('a query by QIDO-RS', () => {
  test.each([
    ['secret', { authorization: { type: 'bearer', tokenFile: '/no/such/file' } }],
    ['certificate', { authorization: { type: 'none' }, tls: { caFile: '/no/such/file' } }],
  ] as const)('is not sent if the file with our %s is missing', async (_, settings) => {
    const { port } = server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/dicom-web`;
    const access = httpAccess(new ClientCertificates())({ baseUrl, tls: undefined, ...settings });
    const without = dicomwebArchive(
      { name: 'vna', baseUrl, timeoutSeconds: 5 },
      access,
      'SONOGATE',
    );
    await expect(without.objects(STUDY)).rejects.toMatchObject({ code: 'peer_unauthorized' });
    expect(calls).toEqual([]);
  });

  test('states its keys and the attributes to return, and authenticates us', async () => {
    answer = (_, response) =>
      json(response, [
        {
          [TAGS.StudyInstanceUID]: { vr: 'UI', Value: [STUDY] },
          [TAGS.StudyDate]: { vr: 'DA', Value: ['20260521'] },
          [TAGS.ModalitiesInStudy]: { vr: 'CS', Value: ['US', 'SR'] },
          [TAGS.PatientID]: { vr: 'LO', Value: ['P 1'] },
          [TAGS.NumberOfStudyRelatedInstances]: { vr: 'IS', Value: [7] },
        },
      ]);
    const found = await archive.studies({ patientId: 'P 1', modality: 'US' }, { limit: 5 });
    expect(found).toEqual([
      {
        studyInstanceUid: STUDY,
        studyDate: '20260521',
        description: '',
        modalities: ['US', 'SR'],
        objects: 7,
        patientId: 'P 1',
        issuerOfPatientId: '',
        birthDate: '',
        sex: '',
      },
    ]);
    const [call] = calls;
    expect(call?.url).toMatch(/^\/dicom-web\/studies\?PatientID=P\+1&ModalitiesInStudy=US&/);
    expect(call?.headers).toMatchObject({
      accept: 'application/dicom+json',
      authorization: `Basic ${Buffer.from('sonogate:s3cret').toString('base64')}`,
    });
  });

  test("reads every page, in the server's order", async () => {
    const all = Array.from({ length: 1203 }, (_, index) => object(index));
    answer = (url, response) => {
      const offset = Number(url.searchParams.get('offset'));
      json(response, all.slice(offset, offset + Number(url.searchParams.get('limit'))));
    };
    expect(await archive.objects(STUDY)).toHaveLength(1203);
    expect(calls).toHaveLength(2);
  });

  test('reads on where the server returns fewer matches than requested and warns of more', async () => {
    const all = Array.from({ length: 250 }, (_, index) => object(index));
    answer = (url, response) => {
      const offset = Number(url.searchParams.get('offset'));
      const left = all.length - offset - 100;
      if (left > 0) {
        const text = `There are ${left} additional results that can be requested`;
        response.setHeader('warning', `299 archive "${text}"`);
      }
      json(response, all.slice(offset, offset + 100));
    };
    expect(await archive.objects(STUDY)).toHaveLength(250);
    expect(calls).toHaveLength(3);
  });

  test('ends with the first response of a server that does not support `offset`', async () => {
    const page = Array.from({ length: 1000 }, (_, index) => object(index));
    answer = (_, response) => json(response, page);
    expect(await archive.objects(STUDY)).toHaveLength(1000);
    expect(calls).toHaveLength(2);
  });

  test.each([204, 404])('finds nothing for a study that does not exist (%i)', async (code) => {
    answer = (_, response) => response.writeHead(code).end();
    expect(await archive.objects(STUDY)).toEqual([]);
  });

  test.each([
    [401, 'peer_unauthorized'],
    [403, 'peer_unauthorized'],
    [429, 'peer_unavailable'],
    [503, 'peer_unavailable'],
    [400, 'archive_refused_query'],
    [302, 'archive_refused_query'],
  ])('answered with %i is %s', async (code, expected) => {
    answer = status(code);
    await expect(archive.objects(STUDY)).rejects.toMatchObject({ code: expected });
    // A redirect is not followed.
    expect(calls).toHaveLength(1);
  });

  test.each([
    ['says nothing', () => {}],
    [
      'stops in the middle',
      (_: URL, response: ServerResponse) => response.writeHead(200).write('[{"0020000D":'),
    ],
  ])('reports a server that %s as unreachable within its time limit', async (_, silent) => {
    answer = silent;
    await expect(impatient.objects(STUDY)).rejects.toMatchObject({ code: 'peer_unreachable' });
  });

  test.each(['<html>', '{"no":"list"}'])('answered with %s is refused', async (text) => {
    answer = (_, response) => response.writeHead(200).end(text);
    await expect(archive.objects(STUDY)).rejects.toMatchObject({ code: 'archive_refused_query' });
  });
});

describe('a retrieval by WADO-RS', () => {
  const stored: string[] = [];
  const ends: string[] = [];
  const into: StorageService = {
    open: async ({ sopInstanceUid }, { source }) => ({
      write: async () => {},
      commit: async () => {
        stored.push(`${source} ${sopInstanceUid}`);
      },
      discard: async () => {},
    }),
    ended: async (_, end) => {
      ends.push(end);
    },
  };
  beforeEach(() => {
    stored.length = 0;
    ends.length = 0;
  });
  const found = (number: number) => ({
    seriesInstanceUid: `${STUDY}.0`,
    sopInstanceUid: `${STUDY}.${number}`,
    sopClassUid: '',
    modality: 'US',
  });
  const wanted = (whole: boolean) => ({
    studyInstanceUid: STUDY,
    objects: [found(1), found(2)],
    whole,
    source: 'cart',
    into,
  });
  const parts = (response: ServerResponse, numbers: number[]) => {
    response.writeHead(200, {
      'content-type': 'multipart/related; type="application/dicom"; boundary=b',
    });
    for (const number of numbers) {
      response.write('\r\n--b\r\nContent-Type: application/dicom\r\n\r\n');
      response.write(dicomFile({ sopInstanceUid: `${STUDY}.${number}` }));
    }
    response.end('\r\n--b--\r\n');
  };

  test('fetches a whole study in one call, as it is stored', async () => {
    answer = (_, response) => parts(response, [1, 2]);
    expect(await archive.retrieve(wanted(true))).toMatchObject({ completed: 2, failed: 0 });
    expect(stored).toEqual(['cart 1.2.3.1', 'cart 1.2.3.2']);
    expect(ends).toEqual(['released']);
    expect(calls.map(({ url }) => url)).toEqual([`/dicom-web/studies/${STUDY}`]);
    expect(calls[0]?.headers.accept).toContain('transfer-syntax=*');
  });

  test('fetches some objects one by one; if one no longer exists, the others are still fetched', async () => {
    answer = (url, response) =>
      url.pathname.endsWith('.1') ? response.writeHead(404).end() : parts(response, [2]);
    expect(await archive.retrieve(wanted(false))).toMatchObject({
      completed: 1,
      failed: 1,
      detail: 'HTTP 404',
    });
    expect(stored).toEqual(['cart 1.2.3.2']);
    expect(calls[1]?.url).toBe(
      `/dicom-web/studies/${STUDY}/series/${STUDY}.0/instances/${STUDY}.2`,
    );
  });

  test('that breaks off is no sign that the study is complete', async () => {
    answer = (_, response) => {
      response.writeHead(200, {
        'content-type': 'multipart/related; type="application/dicom"; boundary=b',
      });
      response.write('\r\n--b\r\nContent-Type: application/dicom\r\n\r\n');
      response.write(dicomFile({ sopInstanceUid: `${STUDY}.1` }), () => response.destroy());
    };
    await expect(archive.retrieve(wanted(true))).rejects.toMatchObject({
      code: 'peer_unreachable',
    });
    expect(ends).toEqual(['aborted']);
  });
});
