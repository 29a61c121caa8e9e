import { ApiError, createFalClient, type QueueStatus, ValidationError } from '@fal-ai/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FINAL_STATUS } from '../../../../src/core/requests/request.ts';
import { type Gateway, startGateway } from './gateway.ts';

const ENDPOINT = 'us/obstetric/interpret';

let gateway: Gateway;
let key: string;
let file: string;

beforeAll(async () => {
  gateway = await startGateway();
  key = await gateway.key();
  file = await gateway.upload();
});
afterAll(() => gateway.stop());

/** Returns the unmodified client from npm, redirected to our host (exchange 5.2). */
function client(credentials = key) {
  return createFalClient({
    credentials,
    retry: { maxRetries: 0 },
    requestMiddleware: async (request) => ({
      ...request,
      url: request.url.replace(
        /^https:\/\/(queue\.fal\.run|rest\.fal\.ai)/,
        `${gateway.url}/queue`,
      ),
    }),
  });
}

const submit = async () =>
  (await client().queue.submit(ENDPOINT, { input: { files: [file] } })).request_id;

/** Acts as the worker for the next queued request. */
async function workOn(end: (id: string) => Promise<void>): Promise<void> {
  const next = async () =>
    (
      await gateway.database.query<{ id: string }>(
        `SELECT id FROM requests WHERE status = 'queued'`,
      )
    ).rows[0]?.id;
  await expect.poll(next).toBeDefined();
  const id = (await next()) as string;
  await gateway.worker.start(id);
  await gateway.worker.stage(id, 'Köpfe finden', 0.5);
  await end(id);
}

const statusesOf = (updates: readonly QueueStatus[]) => [
  ...new Set(updates.map(({ status }) => status)),
];

describe('the unmodified @fal-ai/client', () => {
  it('submits, asks for the status and cancels', async () => {
    const queued = await client().queue.submit(ENDPOINT, {
      input: { files: [file] },
      priority: 'low',
    });
    const url = `${gateway.url}/queue/us/obstetric/requests/${queued.request_id}`;
    expect(queued).toEqual({
      status: 'IN_QUEUE',
      request_id: queued.request_id,
      queue_position: expect.any(Number),
      response_url: url,
      status_url: `${url}/status`,
      cancel_url: `${url}/cancel`,
    });
    const row = await gateway.call(`/v1/requests/${queued.request_id}`);
    expect(await row.json()).toMatchObject({ priority: 'low', source: { kind: 'queue' } });

    const { request_id: requestId } = queued;
    await client().queue.cancel(ENDPOINT, { requestId });
    expect(await client().queue.status(ENDPOINT, { requestId })).toMatchObject({
      status: 'COMPLETED',
      metrics: { inference_time: null },
    });
    const result = client().queue.result(ENDPOINT, { requestId });
    await expect(result).rejects.toMatchObject({
      status: 409,
      message: 'The request was canceled',
    });
    await expect(client().queue.cancel(ENDPOINT, { requestId })).rejects.toMatchObject({
      status: 400,
      body: { status: 'ALREADY_COMPLETED', code: 'already_finished' },
    });
  });

  it.each([{ mode: 'polling' as const, pollInterval: 50 }, { mode: 'streaming' as const }])(
    'subscribes by $mode, with logs and the result',
    async (how) => {
      const updates: QueueStatus[] = [];
      const working = workOn((id) => gateway.worker.succeed(id));
      const { data, requestId } = await client().subscribe(ENDPOINT, {
        ...how,
        input: { files: [file] },
        logs: true,
        onQueueUpdate: (update) => updates.push(update),
      });
      await working;
      expect(data).toMatchObject({ schema: 'sonogate.result/1' });
      expect(requestId).toMatch(/^req_/);
      expect(statusesOf(updates).at(-1)).toBe('COMPLETED');
      const last = updates.at(-1);
      const logs = last && 'logs' in last ? last.logs : [];
      expect(logs.map(({ message }) => message)).toEqual([
        'Received',
        'Waiting for a worker',
        'Checking the files',
        'Köpfe finden',
        'Completed',
      ]);
      expect(logs[0]).toMatchObject({ level: 'INFO', source: 'USER' });
    },
  );

  it('streams each log once, in ASCII, and ends after COMPLETED', async () => {
    const id = await submit();
    const working = workOn((next) => gateway.worker.succeed(next));
    const path = `/queue/us/obstetric/requests/${id}/status/stream?logs=1`;
    const text = await (await gateway.call(path)).text();
    await working;
    const messages = text.split('\n\n').filter((frame) => frame.startsWith('data: '));
    const statuses = messages.map((frame) => JSON.parse(frame.slice('data: '.length)));
    expect(statuses.map(({ status }) => status).filter((status) => status === 'COMPLETED')).toEqual(
      ['COMPLETED'],
    );
    expect(statuses.at(-1).status).toBe('COMPLETED');
    const said = statuses.flatMap(({ logs }) =>
      logs.map((log: { message: string }) => log.message),
    );
    expect(said).toHaveLength(new Set(said).size);
    expect(said).toContain('Köpfe finden');
    expect(Buffer.byteLength(text), 'one byte for each character').toBe(text.length);
  });

  it('receives an error for each invalid field in the input', async () => {
    const refused = client().queue.submit(ENDPOINT, { input: { files: [], option: 1 } });
    const error = await refused.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).status).toBe(422);
    expect((error as ValidationError).getFieldErrors('files')).toHaveLength(1);
    expect((error as ValidationError).getFieldErrors('option')).toMatchObject([
      { loc: ['body', 'option'], msg: 'unknown field' },
    ]);
  });

  it('receives the error of a body that is no object at the body itself', async () => {
    const answer = await gateway.call('/queue/us/obstetric', { body: null });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ detail: [{ loc: ['body'] }] });
  });

  it('receives the reason for a rejection in place of the result', async () => {
    const working = workOn((id) => gateway.worker.reject(id, 'a.png: not an image'));
    const failed = client().subscribe(ENDPOINT, { input: { files: [file] }, pollInterval: 50 });
    const error = await failed.catch((thrown: unknown) => thrown);
    await working;
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).body.detail).toBe('a.png: not an image');
  });

  it('receives the reason in place of a result that was withdrawn', async () => {
    const requestId = await submit();
    await workOn((id) => gateway.worker.succeed(id));
    const withdrawn = await gateway.call(`/v1/requests/${requestId}/withdraw`, {
      key: await gateway.key({ scopes: ['sign'] }),
      body: { reason: 'wrong-patient', text: 'Images of another woman' },
    });
    expect(withdrawn.status).toBe(200);
    const error = await client()
      .queue.result(ENDPOINT, { requestId })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError<unknown>).status).toBe(409);
    expect((error as ApiError<unknown>).body).toMatchObject({
      code: 'result_withdrawn',
      detail: 'Wrong patient: Images of another woman.',
    });
    const { status, logs } = (await client().queue.status(ENDPOINT, {
      requestId,
      logs: true,
    })) as QueueStatus & { logs: { level: string; message: string }[] };
    expect(status).toBe('COMPLETED');
    expect(logs.at(-1)).toMatchObject({
      level: 'WARN',
      message: expect.stringContaining('withdrawn'),
    });
  });

  it('uploads a file and reads it from the returned URL', async () => {
    const scan = new File(['pixels of a head'], 'head.png', { type: 'image/png' });
    const url = await client().storage.upload(scan);
    expect(url).toMatch(/^http.*\/queue\/storage\/files\/file_/);
    const { request_id } = await client().queue.submit(ENDPOINT, { input: { files: [url] } });
    const { input } = (await (await gateway.call(`/v1/requests/${request_id}`)).json()) as {
      input: { files: string[] };
    };
    expect(input.files).toEqual([url.split('/').at(-1)]);
    const stored = await gateway.call(url);
    expect(await stored.text()).toBe('pixels of a head');
  });

  it('uploads the files in an input automatically', async () => {
    const input = { files: [new Blob(['pixels'], { type: 'image/png' })] };
    const { request_id } = await client().queue.submit(ENDPOINT, { input });
    expect(request_id).toMatch(/^req_/);
  });

  it('is refused with an explanation if the key is unknown', async () => {
    const wrong = `sg_live_${'0'.repeat(43)}`;
    const refused = client(wrong).queue.submit(ENDPOINT, { input: { files: [file] } });
    const error = await refused.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 401, message: 'The API key is not valid' });
  });
});

describe('the addresses of the compatible queue', () => {
  it.each(['us/obstetric', 'us/obstetric/interpret'])(
    'accept a request under %s, with PUT and POST to cancel',
    async (form) => {
      for (const method of ['PUT', 'POST']) {
        const id = await submit();
        const at = `/queue/${form}/requests/${id}`;
        expect((await gateway.call(`${at}/status`)).status).toBe(200);
        const unfinished = await gateway.call(at);
        expect(unfinished.status).toBe(400);
        expect(unfinished.headers.get('X-Fal-Request-Id')).toBe(id);
        expect(await unfinished.json()).toMatchObject({ code: 'not_finished' });
        const canceled = await gateway.call(`${at}/cancel`, { method });
        expect(canceled.status).toBe(202);
        expect(await canceled.json()).toEqual({ status: 'CANCELLATION_REQUESTED' });
      }
    },
  );

  it('do not lead to a request of another model', async () => {
    const answer = await gateway.call(`/queue/us/echo/requests/${await submit()}/status`);
    expect(answer.status).toBe(404);
  });

  it('do not lead to a request of another account', async () => {
    const stranger = await gateway.key({ accountId: 'other' });
    const path = `/queue/us/obstetric/requests/${await submit()}/status`;
    expect((await gateway.call(path, { key: stranger })).status).toBe(404);
  });

  it('also accept the input inside `input`, with the other fields of a submit', async () => {
    const body = { input: { files: [file] }, metadata: { ward: '3' } };
    const answer = await gateway.call(`/queue/${ENDPOINT}@1`, { body });
    expect(answer.status).toBe(200);
    const { request_id } = (await answer.json()) as { request_id: string };
    const request = await (await gateway.call(`/v1/requests/${request_id}`)).json();
    expect(request).toMatchObject({ metadata: { ward: '3' }, version: '1.10.0' });
  });

  it('report a field by its name, even if every object has a property of that name', async () => {
    const answer = await gateway.call('/queue/storage/upload/initiate', {
      body: { ['__proto__']: { a: 1 } },
    });
    expect(answer.status).toBe(422);
    const { detail } = (await answer.json()) as { detail: { loc: string[] }[] };
    expect(detail.map(({ loc }) => loc)).toContainEqual(['body', '__proto__']);
  });

  it('refuse a webhook that is not an https address, and report its location', async () => {
    const path = `/queue/${ENDPOINT}?fal_webhook=ftp%3A%2F%2Fhis.example`;
    const answer = await gateway.call(path, { body: { files: [file] } });
    expect(answer.status).toBe(422);
    const { detail } = (await answer.json()) as { detail: { loc: string[] }[] };
    expect(detail.map(({ loc }) => loc.slice(0, 2))).toEqual([['query', 'fal_webhook']]);
  });

  it('count the requests that are claimed before this one: by priority, then by age', async () => {
    const { rows } = await gateway.database.query<{ id: string; status: never }>(
      'SELECT id, status FROM requests',
    );
    for (const { id, status } of rows) {
      if (!FINAL_STATUS.has(status))
        await gateway.call(`/v1/requests/${id}/cancel`, { method: 'POST' });
    }
    const ids = [];
    for (const priority of ['normal', 'normal', 'low', 'high']) {
      const body = { input: { files: [file] }, priority };
      const answer = await gateway.call(`/queue/${ENDPOINT}`, { body });
      ids.push(((await answer.json()) as { request_id: string }).request_id);
    }
    const positions = await Promise.all(
      ids.map(async (id) => {
        const answer = await gateway.call(`/queue/us/obstetric/requests/${id}/status`);
        return ((await answer.json()) as { queue_position: number }).queue_position;
      }),
    );
    expect(positions).toEqual([1, 2, 3, 0]);
  });
});
