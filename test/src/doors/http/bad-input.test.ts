import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findJsonShapeFault } from '../../../../src/doors/http/parse.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('the shape of a JSON text', () => {
  it.each([
    ['a name once in each of two objects', '[{"a":1},{"a":2}]'],
    ['a name of an object in an object of that name', '{"a":{"a":1}}'],
    ['a name that is also a value', '{"a":"a","b":["a","a"]}'],
    ['punctuation inside a string', String.raw`{"a":"{\"a\":1,","b":"]}"}`],
    ['64 levels', nested(64)],
    ['no object at all', '17'],
  ])('is sound with %s', (_what, json) => {
    expect(findJsonShapeFault(json)).toBeNull();
  });

  it.each([
    ['a name twice', '{"a":1,"b":2,"a":1}', 'twice'],
    ['a name twice, once escaped', String.raw`{"a":1,"\u0061":1}`, 'twice'],
    ['a name twice, deep inside', '{"x":[{"a":{},"a":[]}]}', 'twice'],
    ['a name twice, before and after an object', '{"a":1,"b":{"c":1},"a":2}', 'twice'],
    ['65 levels', nested(65), 'deeper'],
  ])('is unsound with %s', (_what, json, why) => {
    expect(findJsonShapeFault(json)).toContain(why);
  });
});

describe('bad input', () => {
  let gateway: Gateway;
  let key: string;

  beforeAll(async () => {
    gateway = await startGateway({
      callLimits: { callsPerMinute: 100_000, openStreamsPerKey: 20 },
    });
    key = await gateway.key({ scopes: ['admin'] });
  });
  afterAll(() => gateway.stop());

  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/run/us/obstetric`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
      body,
    });

  /** Sends a request whose path is left unchanged, whereas `fetch` would normalize it. */
  const getAsWritten = async (path: string) => {
    const { hostname, port } = new URL(gateway.url);
    const call = request({ hostname, port, path, headers: { Authorization: `Bearer ${key}` } });
    call.end();
    const [answer] = await once(call, 'response');
    return { status: answer.statusCode as number, body: await text(answer) };
  };

  it.each([
    ['a name twice', '{"input":{"files":[]},"input":{"files":[]}}'],
    ['65 levels of arrays', `{"input":${nested(64)}}`],
    ['as many levels as fit', nested(4999)],
  ])('%s in a body is invalid JSON, even with an Idempotency-Key', async (_what, body) => {
    const plain: Record<string, string> = {};
    for (const headers of [plain, { 'Idempotency-Key': 'deep' }]) {
      const answer = await post(body, headers);
      expect(answer.status).toBe(400);
      expect((await read(answer)).code).toBe('invalid_json');
    }
  });

  it.each([
    '/dicomweb/studies?PatientID=a%00b',
    '/dicomweb/studies?PatientName=a%00*',
    '/dicomweb/workitems?PatientID=%00',
    '/dicomweb/workitems?SOPInstanceUID=1.2%00',
    '/fhir/Task?_id=%00',
    '/fhir/Task?identifier=%00',
    '/fhir/Task?authored-on=ge0000-01-01',
    '/fhir/Subscription?_id=%00',
    '/fhir/Subscription?url=%00',
    '/fhir/Subscription?status=%00',
    '/v1/requests?cursor=%00',
  ])('the search %s, which the database cannot make, is refused', async (path) => {
    const { status } = await getAsWritten(path);
    expect([400, 422]).toContain(status);
  });

  it.each([
    '/dicomweb/studies?PatientID=%ED%A0%80',
    '/fhir/Task?_id=%ED%A0%80',
    '/fhir/Task?authored-on=ge9999-12-31',
  ])('the search %s finds nothing', async (path) => {
    const { status, body } = await getAsWritten(path);
    expect([200, 204]).toContain(status);
    expect(body).not.toContain('"resource"');
  });

  it('text that cannot be stored is refused with a pointer to it', async () => {
    const { status, errors, code } = await (async () => {
      const answer = await post('{"input":{"files":["x"]},"metadata":{"note":"a\\u0000b"}}');
      return { ...(await read(answer)), status: answer.status };
    })();
    expect({ status, code, errors }).toMatchObject({
      status: 422,
      code: 'invalid_input',
      errors: [{ pointer: '/metadata/note', detail: expect.stringContaining('U+0000') }],
    });
  });

  it.each(['/v1/requests', '/v1/uploads', '/queue/us/obstetric/requests/x/cancel'])(
    'TRACE %s is answered 405 with a problem document',
    async (path) => {
      const { hostname, port } = new URL(gateway.url);
      const call = request({ hostname, port, path, method: 'TRACE' });
      call.end();
      const [answer] = await once(call, 'response');
      expect(answer.statusCode).toBe(405);
      expect(JSON.parse(await text(answer))).toMatchObject({ code: 'method_not_allowed' });
    },
  );

  it('a stored file of the queue lists its own methods, and does not accept POST', async () => {
    const path = `${gateway.url}/queue/storage/files/file_x`;
    const options = await fetch(path, { method: 'OPTIONS' });
    expect(options.headers.get('Allow')).toBe('HEAD, GET, PUT');
    expect((await fetch(path, { method: 'POST' })).status).toBe(405);
  });

  it('a rotation whose body is null is refused', async () => {
    const answer = await fetch(`${gateway.url}/v1/keys/key_x/rotate`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: 'null',
    });
    expect(answer.status).toBe(422);
  });

  it.each([
    '/v1/requests/../../etc/passwd',
    '/v1/requests/..%2f..%2fetc%2fpasswd',
    '/v1/requests/%2e%2e/keys',
    '/v1/requests/..%5c..%5cwindows',
    '/v1/requests/req_%00',
    '/v1/requests/%ff%fe',
    '/v1/requests/%zz',
    '//v1//requests',
    '/v1/requests/x/artifacts/..%2f..%2fresult.json',
    '/v1/downloads/..%2f..%2fsecrets/result.json?expires=9999999999&signature=x',
    '/queue/storage/files/..%2f..%2fsite.yaml',
    '/errors/..%2f..%2fpackage.json',
  ])('the path %s is not found', async (path) => {
    const { status, body } = await getAsWritten(path);
    expect([400, 404]).toContain(status);
    expect(body).not.toMatch(/root:|"private"|node_modules/);
  });

  it('only the listed artifacts of a request are served, whatever path is requested', async () => {
    const id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.succeed(id, { 'report.pdf': 'a report' });
    const list = `/v1/requests/${id}/artifacts`;
    expect((await getAsWritten(`${list}/report.pdf`)).status).toBe(302);
    for (const name of ['..%2freport.pdf', '.%2freport.pdf', 'report.pdf%00.png', '..']) {
      expect((await getAsWritten(`${list}/${name}`)).status).toBe(404);
    }
  });

  it.each(['made-up', '-1', 'req_', 'zzzz', "' OR 1=1 --", '%25'])(
    'the cursor %s, whose form is never issued, is refused',
    async (cursor) => {
      const answer = await gateway.call(`/v1/requests?cursor=${encodeURIComponent(cursor)}`);
      expect(answer.status).toBe(422);
      expect((await read(answer)).errors).toMatchObject([{ pointer: '/cursor' }]);
    },
  );

  it.each(['made-up', `req_${'0'.repeat(26)}`, `whd_${'0'.repeat(25)}`, "' OR 1=1 --"])(
    'the cursor %s is not a valid cursor of deliveries',
    async (cursor) => {
      const key = await gateway.key({ scopes: ['admin'] });
      const path = `/v1/webhooks/deliveries?cursor=${encodeURIComponent(cursor)}`;
      const answer = await gateway.call(path, { key });
      expect(answer.status).toBe(422);
      expect((await read(answer)).errors).toMatchObject([{ pointer: '/cursor' }]);
    },
  );

  it("a delivery cursor that was never issued shows only the caller's own deliveries", async () => {
    const key = await gateway.key({ accountId: 'other', scopes: ['admin'] });
    const path = `/v1/webhooks/deliveries?cursor=whd_${'z'.repeat(26)}`;
    expect(await (await gateway.call(path, { key })).json()).toMatchObject({ data: [] });
  });

  it.each(['0', 'z'])(
    "the cursor of %ss, which was never issued, shows only the caller's own requests",
    async (digit) => {
      const stranger = await gateway.key({ accountId: 'other' });
      await gateway.submit();
      const path = `/v1/requests?cursor=req_${digit.repeat(26)}`;
      const answer = await gateway.call(path, { key: stranger });
      expect(await answer.json()).toEqual({ data: [], has_more: false, next_cursor: null });
    },
  );

  it("an artifact's signed URL is valid for five minutes, one name and one method", async () => {
    const id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.succeed(id, { 'report.pdf': 'a report', 'other.pdf': 'another' });
    const link = async () =>
      (await gateway.call(`/v1/requests/${id}/artifacts/report.pdf`)).headers.get('Location') ?? '';
    const address = await link();
    const get = async (url: string) => (await gateway.call(url, { key: null })).status;
    expect(await get(address)).toBe(200);
    expect(await get(address.replace('report.pdf', 'other.pdf'))).toBe(404);
    expect(await get(address.replace(/expires=\d+/, 'expires=9999999999'))).toBe(404);
    expect(await get(`${address}&expires=9999999999`)).toBe(404);
    gateway.advance(5 * 60_000 + 1000);
    expect(await get(address)).toBe(410);
    expect(await get(await link())).toBe(200);
  });

  it('ten times as many streams as a key may open are refused, while the allowed ones continue', async () => {
    const id = await gateway.submit();
    const leave = new AbortController();
    const events = `/v1/requests/${id}/events`;
    const open = () => gateway.call(events, { key, signal: leave.signal });
    const answers = await Promise.all(Array.from({ length: 200 }, open));
    const statuses = Map.groupBy(answers, ({ status }) => status);
    expect([statuses.get(200)?.length, statuses.get(429)?.length]).toEqual([20, 180]);
    expect((await gateway.call('/v1/models', { key })).status).toBe(200);
    const other = await gateway.call(events, { signal: leave.signal });
    expect(other.status).toBe(200);
    leave.abort();
    await expect
      .poll(async () => {
        const again = await gateway.call(events, { key });
        await again.body?.cancel();
        return again.status;
      })
      .toBe(200);
  });

  it('a hundred clients that send their requests byte by byte or not at all delay nobody', async () => {
    const { hostname, port } = new URL(gateway.url);
    const slow = Array.from({ length: 100 }, () => connect(Number(port), hostname));
    for (const socket of slow) {
      socket.on('error', () => {});
      socket.write('POST /v1/run/us/obstetric HTTP/1.1\r\nHost: x\r\nContent-Le');
    }
    expect((await gateway.call('/v1/models')).status).toBe(200);
    for (const socket of slow) socket.destroy();
  });
});
