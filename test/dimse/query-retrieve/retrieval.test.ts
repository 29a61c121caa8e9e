import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryService } from '../../../dimse/query-retrieve/query-scp.ts';
import { encodeDataSet } from '../../../pipelines/dicom/data-set.ts';
import { QUERY_RETRIEVE } from '../../../pipelines/dicom/sop-classes.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { objectsOnDisk } from '../../../src/core/files/received-objects.ts';
import type { PooledDatabase } from '../../../src/platform/database/pooled.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { type OpenDatabase, openFreshDatabase } from '../../peers/database.ts';
import { freePort } from '../../peers/free-port.ts';
import { dicomFile } from '../dicom-file.ts';
import { instanceHeader } from '../instance-header.ts';

/** The second object states a number of frames that is not an integer. */
const FRAMES = [1, 1.5];

let fresh: OpenDatabase;
let dataDir: string;
let database: PooledDatabase;
beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database, dataDir } = fresh);
  const { identity } = instanceHeader();
  const study = randomUUID();
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after, instance_count)
     VALUES ($1, '1.2.3', 's', 'A', 'B', 'routed', $2, now(), now(), now(), 2)`,
    [study, JSON.stringify(identity)],
  );
  for (const [index, content] of [
    Buffer.from('damaged'),
    dicomFile({ sopInstanceUid: '1.2.3.1.2' }),
  ].entries()) {
    const sopInstanceUid = `1.2.3.1.${index + 1}`;
    const path = `intake/s/2026-01-01/${index}.dcm`;
    await mkdir(dirname(join(dataDir, path)), { recursive: true });
    await writeFile(join(dataDir, path), content);
    await database.query(
      `INSERT INTO instances (id, study_id, sop_instance_uid, ordinal, revision, path, bytes,
         file_sha256, transfer_syntax, header, received_at, conflict)
       VALUES ($1, $2, $3, $4, 1, $5, 1, '', $6, $7, now(), false)`,
      [
        randomUUID(),
        study,
        sopInstanceUid,
        index + 1,
        path,
        EXPLICIT_VR_LITTLE_ENDIAN,
        JSON.stringify(instanceHeader({ sopInstanceUid, numberOfFrames: FRAMES[index] ?? 1 })),
      ],
    );
  }
});
afterAll(async () => {
  await fresh.close();
});

/** Retrieves the study by C-GET; the peer stores each object that arrives with `status`. */
const get = (status: number) => retrieve({ operation: 'C-GET', status });

/** Has the study sent to `moveDestination` by C-MOVE. AWAY is configured, but does not listen. */
const move = (moveDestination: string) => retrieve({ operation: 'C-MOVE', moveDestination });

async function retrieve({
  operation,
  moveDestination = '',
  status = 0,
}: {
  operation: 'C-GET' | 'C-MOVE';
  moveDestination?: string;
  status?: number;
}) {
  const sent: string[] = [];
  const logged: unknown[] = [];
  const away = { aeTitle: 'AWAY', host: '127.0.0.1', port: await freePort(), timeoutSeconds: 5 };
  const service = queryService({
    certificates: new ClientCertificates(),
    database,
    objects: objectsOnDisk(dataDir),
    config: {
      dicom: { aeTitle: 'SONOGATE' },
      queryRetrieve: { moveDestinations: [away] },
    } as unknown as Parameters<typeof queryService>[0]['config'],
    audit: { searched: async () => {}, retrieved: async () => {} },
  });
  const answers = await Array.fromAsync(
    service(
      {
        operation,
        sopClassUid: {
          'C-GET': QUERY_RETRIEVE.studyRootGet,
          'C-MOVE': QUERY_RETRIEVE.studyRootMove,
        }[operation],
        transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN,
        identifier: encodeDataSet(
          { QueryRetrieveLevel: 'STUDY', StudyInstanceUID: '1.2.3' },
          EXPLICIT_VR_LITTLE_ENDIAN,
        ),
        moveDestination,
      },
      {
        id: 'a',
        callingAeTitle: 'VIEWER',
        calledAeTitle: 'SONOGATE',
        address: '::1',
        mayQuery: true,
      },
      {
        canceled: new AbortController().signal,
        accepts: () => [EXPLICIT_VR_LITTLE_ENDIAN],
        store: async ({ sopInstanceUid }) => {
          sent.push(sopInstanceUid);
          return status;
        },
        log: (id, fields) => {
          logged.push({ id, ...fields });
        },
      },
    ),
  );
  return { sent, logged, last: answers.at(-1) };
}

test('the log says how many objects a C-MOVE could not send, where to and why', async () => {
  const { logged, last } = await move('AWAY');
  expect(last).toMatchObject({ status: 0xa702, subOperations: { completed: 0, failed: 2 } });
  const counts = { completed: 0, failed: 2, warning: 0 };
  const why = {
    destination: 'AWAY',
    codes: ['object_not_understood', 'peer_unreachable'],
    ...counts,
  };
  expect(logged).toEqual([{ id: 'retrieval_incomplete', operation: 'C-MOVE', ...why }]);
});

test('the log names the destination of a C-MOVE that is not configured', async () => {
  const { logged, last } = await move('NOWHERE');
  expect(last).toMatchObject({ status: 0xa801 });
  const counts = { completed: 0, failed: 0, warning: 0 };
  const why = { destination: 'NOWHERE', codes: ['move_destination_unknown'], ...counts };
  expect(logged).toEqual([{ id: 'retrieval_incomplete', operation: 'C-MOVE', ...why }]);
});

test('the log says how many objects the peer of a C-GET refused, and why', async () => {
  const { logged } = await get(0xa700);
  const counts = { completed: 0, failed: 2, warning: 0 };
  const why = {
    destination: 'VIEWER',
    codes: ['object_not_understood', 'peer_out_of_resources'],
    ...counts,
  };
  expect(logged).toEqual([{ id: 'retrieval_incomplete', operation: 'C-GET', ...why }]);
});

test('C-GET sends an object whose number of frames is malformed', async () => {
  expect((await get(0)).sent).toEqual(['1.2.3.1.2']);
});

test('C-GET sends the other objects of a study if the file of one is damaged', async () => {
  const { sent, last } = await get(0);
  expect(sent).toEqual(['1.2.3.1.2']);
  expect(last).toMatchObject({
    status: 0xb000,
    subOperations: { remaining: 0, completed: 1, failed: 1, warning: 0 },
  });
});

test.each([
  ['0001H', 0x0001],
  ['attribute list error', 0x0107],
  ['attribute value out of range', 0x0116],
  ['coercion of data elements', 0xb000],
])('C-GET counts an object stored with a warning as such: %s', async (_, status) => {
  const { last } = await get(status);
  expect(last).toMatchObject({
    status: 0xb000,
    subOperations: { remaining: 0, completed: 0, failed: 1, warning: 1 },
  });
});

test.each([0xa700, 0xc000, 0x0110])(
  'C-GET counts a refused object as failed: %i',
  async (status) => {
    const { last } = await get(status);
    expect(last).toMatchObject({
      status: 0xa702,
      subOperations: { remaining: 0, completed: 0, failed: 2, warning: 0 },
    });
  },
);
