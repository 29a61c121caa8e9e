import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import type { Attack } from './attack.ts';
import type { AttackedGateway } from './attacked-gateway.ts';
import { type Call, call } from './http-calls.ts';

/**
 * An event stream does not end, and a request without its announced body gets no response, so the
 * wait is limited.
 */
const WAIT_MS = 1_500;

/** Number of responses of the fuzzed gateway, by status. */
export type Statuses = Map<string, number>;

/**
 * Attacks the API with requests. Every response must be HTTP but never 500, because nothing that a
 * client sends is our defect.
 * @param statuses counts the responses.
 */
export function httpAttack(statuses: Statuses = new Map()): Attack<Call> {
  let known: Promise<{ file: string; request: string }> | null = null;
  return {
    cases: call,
    async run(gateway, one) {
      known ??= ordinaryWork(gateway);
      const { file, request } = await known;
      const head = one.head
        .replaceAll('KEY', gateway.key)
        .replaceAll('FILE', file)
        .replaceAll('REQUEST', request);
      const answer = await sent(gateway.url, head, one);
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1];
      if (answer !== '' && status === undefined)
        throw new Error(`no HTTP: ${answer.slice(0, 200)}`);
      if (status === '500')
        throw new Error(`500 for ${JSON.stringify(head)}: ${one.body.toString('base64')}`);
      const name = `${one.operation} ${status ?? 'none'}`;
      statuses.set(name, (statuses.get(name) ?? 0) + 1);
    },
    async probe(gateway) {
      await ordinaryWork(gateway);
    },
  };
}

/** Uploads a file and submits it, as a well-behaved client does. */
async function ordinaryWork({ url, key }: AttackedGateway) {
  const authorization = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: authorization,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`a good client is refused: ${answer.status}`);
    return answer.json();
  };
  const announced = (await post('/v1/uploads', {
    filename: 'a.dcm',
    bytes: 3,
    media_type: 'application/dicom',
  })) as { file: { id: string }; upload: { url: string }; complete_url: string };
  const put = await fetch(announced.upload.url, { method: 'PUT', body: 'abc' });
  if (!put.ok) throw new Error(`a good upload is refused: ${put.status}`);
  await post(new URL(announced.complete_url, url).pathname, {});
  const { id } = await new Sonogate({ url, key }).submit('us/echo', {
    files: [announced.file.id],
  });
  return { file: announced.file.id, request: id };
}

/**
 * Sends a request.
 * @returns the bytes received until the connection closed or the wait was over.
 */
async function sent(url: string, head: string, { body, pieceBytes, cutAt }: Call): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  let answer = '';
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    if (answer.length < 1000) answer += chunk.toString('latin1');
  });
  const whole = Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'utf8'), body]);
  const bytes = whole.subarray(0, cutAt ?? whole.length);
  for (let start = 0; start < bytes.length && socket.writable; start += pieceBytes) {
    socket.write(bytes.subarray(start, start + pieceBytes));
    if (start % (pieceBytes * 64) === 0) await delay(0);
  }
  if (cutAt !== null) socket.end();
  const over = new AbortController();
  await Promise.race([closed, delay(WAIT_MS, null, { signal: over.signal })]);
  over.abort();
  socket.destroy();
  return answer;
}
