import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from './gateway.ts';

const HEARTBEAT_MS = 200;

interface Frame {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

/**
 * Reads the events of a stream until `enough` returns true. Returns them together with the full
 * text.
 */
async function follow(answer: Response, enough: (frames: Frame[], text: string) => boolean) {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (enough(parse(text), text)) break;
  }
  return { text, frames: parse(text) };
}

const toTheEnd = () => false;

function parse(text: string): Frame[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const found = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(block);
      return found
        ? [{ id: Number(found[1]), event: `${found[2]}`, data: JSON.parse(`${found[3]}`) }]
        : [];
    });
}

describe('GET /v1/requests/{id}/events', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({ heartbeatMs: HEARTBEAT_MS });
  });
  afterAll(() => gateway.stop());

  const open = (id: string, headers: Record<string, string> = {}, query = '') =>
    gateway.call(`/v1/requests/${id}/events${query}`, {
      headers: { Accept: 'text/event-stream', ...headers },
    });
  const finished = async () => {
    const id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.stage(id, 'Planes', 0.5);
    await gateway.worker.succeed(id);
    return id;
  };

  it('streams a request from the first event to done as it happens, numbered without gaps', async () => {
    const id = await gateway.submit();
    const answer = await open(id);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    const told = follow(answer, toTheEnd);
    await gateway.worker.start(id);
    await gateway.worker.stage(id, 'Planes', 0.5);
    await gateway.worker.succeed(id);
    const { text, frames } = await told;

    expect(text.startsWith('retry: 3000\n\n')).toBe(true);
    expect(frames.map((frame) => frame.id)).toEqual(frames.map((_, n) => n + 1));
    const statuses = frames.filter(({ event }) => event === 'status').map(({ data }) => data);
    expect(statuses.map(({ previous, status }) => [previous, status])).toEqual([
      [null, 'queued'],
      ['queued', 'preparing'],
      ['preparing', 'running'],
      ['running', 'succeeded'],
    ]);
    expect(frames.filter(({ event }) => event === 'stage').map(({ data }) => data)).toContainEqual({
      name: 'inference.planes',
      label: 'Planes',
      progress: 0.5,
      eta_s: null,
    });
    expect(frames.at(-1)).toMatchObject({
      event: 'done',
      data: { id, object: 'request', status: 'succeeded', output: { version: '1.2.0' } },
    });
  });

  it('ends a rejection with error, as problem details, and then done', async () => {
    const id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.reject(id, 'a.png cannot be decoded');
    const { frames } = await follow(await open(id), toTheEnd);
    expect(frames.slice(-2)).toMatchObject([
      { event: 'error', data: { code: 'no_readable_image', detail: 'a.png cannot be decoded' } },
      { event: 'done', data: { status: 'rejected', output: null } },
    ]);
  });

  it('resumes after any Last-Event-ID with exactly what followed', async () => {
    const id = await finished();
    const { frames } = await follow(await open(id), toTheEnd);
    for (const { id: last } of frames.slice(0, -1)) {
      const resumed = await follow(await open(id, { 'Last-Event-ID': String(last) }), toTheEnd);
      expect(resumed.frames).toEqual(frames.slice(last));
    }
    const byQuery = await follow(await open(id, {}, '?last_event_id=2'), toTheEnd);
    expect(byQuery.frames).toEqual(frames.slice(2));
  });

  it('resumes in the middle of a run after the connection broke', async () => {
    const id = await gateway.submit();
    const { frames } = await follow(await open(id), (seen) => seen.length >= 2);
    const last = frames.at(-1)?.id ?? 0;
    await gateway.worker.start(id);
    const resumed = follow(await open(id, { 'Last-Event-ID': String(last) }), toTheEnd);
    await gateway.worker.succeed(id);
    expect((await resumed).frames[0]?.id).toBe(last + 1);
    expect((await resumed).frames.at(-1)?.event).toBe('done');
  });

  it('answers 204 if a finished request has no events left', async () => {
    const id = await finished();
    const { frames } = await follow(await open(id), toTheEnd);
    const answer = await open(id, { 'Last-Event-ID': String(frames.length) });
    expect(answer.status).toBe(204);
    expect(await answer.text()).toBe('');
  });

  it.each(['abc', '-1', '1.5', '2147483648', '999999999999999', '99999999999999999999'])(
    'sends everything after a Last-Event-ID that it never issued: %s',
    async (last) => {
      const id = await finished();
      const { frames } = await follow(await open(id, { 'Last-Event-ID': last }), toTheEnd);
      expect(frames[0]?.id).toBe(1);
    },
  );

  it('answers the id after the last one with everything, even while the request is running', async () => {
    const id = await finished();
    const { frames } = await follow(await open(id), toTheEnd);
    const beyond = { 'Last-Event-ID': String(frames.length + 1) };
    expect((await follow(await open(id, beyond), toTheEnd)).frames).toEqual(frames);

    const running = await gateway.submit();
    const { rows } = await gateway.database.query<{ last_seq: number }>(
      'SELECT last_seq FROM requests WHERE id = $1',
      [running],
    );
    const ahead = { 'Last-Event-ID': String((rows[0]?.last_seq ?? 0) + 1) };
    const told = follow(await open(running, ahead), toTheEnd);
    await gateway.worker.start(running);
    await gateway.worker.succeed(running);
    expect((await told).frames[0]?.id).toBe(1);
    expect((await told).frames.at(-1)?.event).toBe('done');
  });

  it('keeps a quiet stream open with comments', async () => {
    const id = await gateway.submit();
    const { text } = await follow(
      await open(id),
      (_frames, seen) => seen.split(': hb\n\n').length > 3,
    );
    expect(text).toContain(': hb\n\n: hb\n\n');
  });

  it('is not delayed for others by a client that reads nothing', async () => {
    const id = await gateway.submit();
    const { hostname, port } = new URL(gateway.url);
    const deaf = connect(Number(port), hostname);
    await once(deaf, 'connect');
    deaf.pause();
    deaf.write(
      `GET /v1/requests/${id}/events HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${await gateway.key()}\r\n\r\n`,
    );
    await delay(50);
    const told = follow(await open(id), toTheEnd);
    await gateway.worker.start(id);
    for (let n = 1; n <= 100; n++) await gateway.worker.stage(id, 'x'.repeat(1000), n / 200);
    await gateway.worker.succeed(id);
    expect((await told).frames.at(-1)?.event).toBe('done');
    deaf.destroy();
  });

  it('answers 404 for an unknown request', async () => {
    expect((await open(`req_${'0'.repeat(26)}`)).status).toBe(404);
  });
});

it('open streams end when the server stops', async () => {
  const gateway = await startGateway();
  const id = await gateway.submit();
  const answer = await gateway.call(`/v1/requests/${id}/events`);
  const told = follow(answer, toTheEnd);
  await gateway.stop();
  expect((await told).frames.map(({ event }) => event)).not.toContain('done');
});
