import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type ListenerOptions, listen } from '../../../dimse/network/listener.ts';
import { AssociationPool } from '../../../dimse/send/association-pool.ts';
import { outgoingBuffer, sendObjects } from '../../../dimse/send/store-scu.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { dicomFile } from '../dicom-file.ts';

const IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';
const REPORT = '1.2.840.10008.5.1.4.1.1.88.33';
const EXPLICIT = '1.2.840.10008.1.2.1';

const toClose: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});

/**
 * Starts a PACS that records which association sent which objects, and how each association ended.
 */
async function pacs(over: Partial<ListenerOptions> = {}) {
  const associations = new Map<string, string[]>();
  const ends: string[] = [];
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    aeTitle: 'PACS',
    maxPduBytes: 16_384,
    maxAssociations: 8,
    offer: () => ({ preferred: [], others: [EXPLICIT] }),
    admit: ({ id }) => {
      associations.set(id, []);
      return { idleTimeoutSeconds: 60 };
    },
    storage: {
      open: async ({ sopInstanceUid }, { id }) => ({
        write: async () => {},
        commit: async () => {
          associations.get(id)?.push(sopInstanceUid);
        },
        discard: async () => {},
      }),
      ended: async (_, end) => {
        ends.push(end);
      },
    },
    logger: silentLogger,
    ...over,
  });
  toClose.push(() => listener.close(0));
  return { port: listener.port, brought: () => [...associations.values()], ends };
}

function sender(port: number, idleSeconds: number) {
  const pool = new AssociationPool(idleSeconds);
  toClose.push(() => pool.close());
  const node = {
    host: '127.0.0.1',
    port,
    aeTitle: 'PACS',
    callingAeTitle: 'SONOGATE',
    timeoutSeconds: 5,
  };
  return async (sopInstanceUid: string, sopClassUid = IMAGE, signal?: AbortSignal) => {
    const object = outgoingBuffer(dicomFile({ sopInstanceUid, sopClassUid }));
    const [result] = await sendObjects(node, [[object]], { signal, associations: pool });
    return result?.code ?? result?.outcome;
  };
}

/**
 * Forwards connections to `port`. On demand, breaks them as soon as the caller sends more bytes.
 */
async function fragileLine(port: number) {
  let breaking = false;
  const server = createServer((socket) => {
    const onward = connect({ port, host: '127.0.0.1' });
    for (const end of [socket, onward]) end.on('error', () => {});
    socket.on('data', (bytes) => {
      if (breaking) {
        breaking = false;
        socket.destroy();
        onward.destroy();
      } else onward.write(bytes);
    });
    onward.pipe(socket);
    socket.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  toClose.push(async () => server.close());
  return {
    port: (server.address() as AddressInfo).port,
    breakAtNextBytes: () => {
      breaking = true;
    },
  };
}

describe('deliveries to one node', () => {
  test('in succession share one association, which is released when there are no more', async () => {
    const { port, brought, ends } = await pacs();
    const send = sender(port, 2);
    for (const uid of ['1.1', '1.2', '1.3']) expect(await send(uid)).toBe('stored');
    expect(brought()).toEqual([['1.1', '1.2', '1.3']]);
    await expect.poll(() => ends).toEqual(['released']);
  });

  test('use a separate association each if none is kept open', async () => {
    const { port, brought } = await pacs();
    const send = sender(port, 0);
    for (const uid of ['1.1', '1.2']) expect(await send(uid)).toBe('stored');
    expect(brought()).toEqual([['1.1'], ['1.2']]);
  });

  test('open a new one for a class that was not negotiated, which from then on covers both classes', async () => {
    const { port, brought } = await pacs();
    const send = sender(port, 2);
    await send('1.1', IMAGE);
    await send('1.2', REPORT);
    await send('1.3', IMAGE);
    await send('1.4', REPORT);
    expect(brought()).toEqual([['1.1'], ['1.2', '1.3', '1.4']]);
  });

  test('propose a class again each time if the peer does not accept it', async () => {
    let taken = false;
    const { port } = await pacs({
      offer: () => (taken ? { preferred: [], others: [EXPLICIT] } : null),
    });
    const send = sender(port, 2);
    expect(await send('1.1')).toBe('presentation_context_refused');
    taken = true;
    expect(await send('1.1')).toBe('stored');
  });
});

describe('an association that the peer ends', () => {
  test('while it is idle loses nothing', async () => {
    const { port, brought, ends } = await pacs({ admit: () => ({ idleTimeoutSeconds: 1 }) });
    const send = sender(port, 5);
    expect(await send('1.1')).toBe('stored');
    await expect.poll(() => ends).toEqual(['aborted']);
    expect(await send('1.2')).toBe('stored');
    expect(brought()).toEqual([]);
  });

  test('just as the next object is sent also loses nothing', async () => {
    const { port, brought } = await pacs();
    const line = await fragileLine(port);
    const send = sender(line.port, 5);
    expect(await send('1.1')).toBe('stored');
    line.breakAtNextBytes();
    expect(await send('1.2')).toBe('stored');
    expect(brought()).toEqual([['1.1'], ['1.2']]);
  });

  test('during its first object is a failure, because the peer may have the object', async () => {
    const { port } = await pacs();
    const line = await fragileLine(port);
    const send = sender(line.port, 5);
    line.breakAtNextBytes();
    expect(await send('1.1')).toBe('peer_unreachable');
  });
});

test('a canceled delivery aborts only its own association', async () => {
  const answers: (() => void)[] = [];
  const { port, brought } = await pacs({
    storage: {
      open: async () => ({
        write: async () => {},
        commit: () =>
          new Promise((resolve) => {
            answers.push(resolve);
          }),
        discard: async () => {},
      }),
      ended: async () => {},
    },
  });
  const send = sender(port, 5);
  const broken = new AbortController();
  const first = send('1.1', IMAGE, broken.signal);
  await expect.poll(() => answers.length).toBe(1);
  broken.abort();
  expect(await first).toBe('peer_connection_lost');
  const second = send('1.2');
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.();
  expect(await second).toBe('stored');
  expect(brought()).toHaveLength(2);
});

/** Peers that accept the connection and then keep the caller waiting. */
const HANGING: [string, (answer: (bytes: Buffer) => void) => void][] = [
  ['says nothing', () => {}],
  [
    'sends a byte now and then',
    (answer) => {
      // The header of an A-ASSOCIATE-AC that announces 100 bytes, of which only the first few
      // arrive.
      const bytes = [2, 0, 0, 0, 0, 100];
      const timer = setInterval(() => answer(Buffer.from([bytes.shift() ?? 0])), 50);
      toClose.push(async () => clearInterval(timer));
    },
  ],
];

test.each(HANGING)('a peer that %s is waited for only as long as configured', async (_, hang) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.resume();
    hang((bytes) => socket.write(bytes));
    toClose.push(async () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  toClose.push(async () => server.close());
  const node = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    aeTitle: 'PACS',
    callingAeTitle: 'SONOGATE',
    timeoutSeconds: 0.4,
  };
  const object = outgoingBuffer(dicomFile({ sopInstanceUid: '1.1' }));
  expect(await sendObjects(node, [[object]])).toMatchObject([{ code: 'peer_unreachable' }]);
});
