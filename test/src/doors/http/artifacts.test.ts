import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, read, sha256, startGateway } from './gateway.ts';

const LINK_LIFE_MS = 5 * 60_000;

describe("a request's artifacts", () => {
  let gateway: Gateway;
  let id: string;

  beforeAll(async () => {
    gateway = await startGateway();
    id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.succeed(id, { 'report.pdf': 'a report' });
  });
  afterAll(() => gateway.stop());

  const link = async (name = 'report.pdf') => {
    const answer = await gateway.call(`/v1/requests/${id}/artifacts/${name}`);
    return { status: answer.status, url: answer.headers.get('Location') ?? '' };
  };

  it('are listed with name, type, size and digest, the result first', async () => {
    const { data } = await read(await gateway.call(`/v1/requests/${id}/artifacts`));
    expect(data).toEqual([
      expect.objectContaining({ name: 'result.json', media_type: 'application/json' }),
      {
        name: 'report.pdf',
        media_type: 'application/pdf',
        bytes: 8,
        sha256: sha256('a report'),
        section: null,
      },
    ]);
  });

  it('redirect to a URL that needs no key and downloads a file', async () => {
    const { status, url } = await link();
    expect(status).toBe(302);
    const answer = await gateway.call(url, { key: null });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe('application/pdf');
    expect(answer.headers.get('Content-Length')).toBe('8');
    expect(answer.headers.get('Content-Disposition')).toBe('attachment; filename="report.pdf"');
    expect(await answer.text()).toBe('a report');
  });

  describe('as downloads', () => {
    const load = async (headers: Record<string, string>, method = 'GET') =>
      gateway.call((await link()).url, { key: null, headers, method });
    const etag = `"${sha256('a report')}"`;

    it('have their digest as ETag, and say that they can be continued', async () => {
      const { headers } = await load({});
      expect(headers.get('ETag')).toBe(etag);
      expect(headers.get('Accept-Ranges')).toBe('bytes');
    });

    it.each([
      ['bytes=2-', 'report', 'bytes 2-7/8'],
      ['bytes=0-0', 'a', 'bytes 0-0/8'],
      ['bytes=2-99', 'report', 'bytes 2-7/8'],
      ['bytes=-3', 'ort', 'bytes 5-7/8'],
      ['bytes=-99', 'a report', 'bytes 0-7/8'],
    ])('send one range: %s', async (Range, text, place) => {
      const answer = await load({ Range });
      expect(answer.status).toBe(206);
      expect(answer.headers.get('Content-Range')).toBe(place);
      expect(answer.headers.get('Content-Length')).toBe(String(text.length));
      expect(await answer.text()).toBe(text);
    });

    it.each(['bytes=0-1,3-4', 'bytes=5-2', 'bytes=-', 'bytes=a-b', 'lines=1-2'])(
      'are sent whole if the range is not one of bytes: %s',
      async (Range) => {
        const answer = await load({ Range });
        expect(answer.status).toBe(200);
        expect(await answer.text()).toBe('a report');
      },
    );

    it.each(['bytes=8-', 'bytes=8-9', 'bytes=-0'])(
      'have no range after their end: %s',
      async (Range) => {
        const answer = await load({ Range });
        expect(answer.status).toBe(416);
        expect(answer.headers.get('Content-Range')).toBe('bytes */8');
        expect((await read(answer)).code).toBe('range_not_satisfiable');
      },
    );

    it('are continued only if the part is of the same file', async () => {
      expect((await load({ Range: 'bytes=2-', 'If-Range': etag })).status).toBe(206);
      expect((await load({ Range: 'bytes=2-', 'If-Range': '"another"' })).status).toBe(200);
    });

    it('are not sent again to a client that has them', async () => {
      const answer = await load({ 'If-None-Match': etag });
      expect(answer.status).toBe(304);
      expect(await answer.text()).toBe('');
    });

    it('ignore a range in HEAD, which only GET defines', async () => {
      const answer = await load({ Range: 'bytes=2-' }, 'HEAD');
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Content-Length')).toBe('8');
    });
  });

  it('have a URL that is valid for five minutes', async () => {
    const { url } = await link();
    gateway.advance(LINK_LIFE_MS - 2000);
    expect((await gateway.call(url, { key: null })).status).toBe(200);
    gateway.advance(2000);
    const late = await gateway.call(url, { key: null });
    expect(late.status).toBe(410);
    expect((await read(late)).code).toBe('expired');
  });

  it.each([
    ['another name', (url: string) => url.replace('report.pdf', 'result.json')],
    ['more time', (url: string) => url.replace(/expires=\d+/, 'expires=9999999999')],
    ['another signature', (url: string) => url.replace(/signature=.{4}/, 'signature=AAAA')],
    ['no signature', (url: string) => url.replace(/&signature=.*/, '')],
    ['two signatures', (url: string) => `${url}&signature=AAAA`],
  ])('have a URL that is invalid with %s', async (_case, change) => {
    const { url } = await link();
    expect((await gateway.call(change(url), { key: null })).status).toBe(404);
  });

  it.each([
    '..%2fresult.json',
    '..%2f..%2f..%2fetc%2fpasswd',
    '%2e%2e%2fresult.json',
    '..%5cresult.json',
    'report.pdf%00.png',
    '%2fetc%2fpasswd',
    '%zz',
    'unknown.pdf',
  ])('are found by their names only: %s', async (name) => {
    expect((await link(name)).status).toBe(404);
  });

  it('are found by their names only: a path that no client library would send', async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.end(
      `GET /v1/requests/${id}/artifacts/../../../../etc/passwd HTTP/1.1\r\nHost: ${hostname}\r\n` +
        `Authorization: Bearer ${await gateway.key()}\r\nConnection: close\r\n\r\n`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('return 410 once the request has expired', async () => {
    const gone = await gateway.submit();
    await gateway.worker.start(gone);
    await gateway.worker.succeed(gone, { 'report.pdf': 'a report' });
    const link = await gateway.call(`/v1/requests/${gone}/artifacts/report.pdf`);
    await gateway.worker.expire(gone);
    const signed = link.headers.get('Location') ?? '';
    const below = `/v1/requests/${gone}/artifacts`;
    for (const path of [below, `${below}/report.pdf`, signed]) {
      const answer = await gateway.call(path);
      expect(answer.status).toBe(410);
      expect((await read(answer)).code).toBe('expired');
    }
  });

  it('are an empty list before the first one exists', async () => {
    const answer = await gateway.call(`/v1/requests/${await gateway.submit()}/artifacts`);
    expect((await read(answer)).data).toEqual([]);
  });
});
