import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Config } from '../../../../config/schema.ts';
import { createHostedFileFetcher } from '../../../../src/core/files/hosted-files.ts';
import {
  createOutboundClient,
  type OutboundClient,
} from '../../../../src/platform/outbound/client.ts';
import { createUrlGuard } from '../../../../src/platform/outbound/url-guard.ts';
import { openSite, type Site } from '../requests/site.ts';
import { type Receiver, type Reply, startReceiver } from '../webhooks/receiver.ts';

const MAX_BYTES = 100;

let server: Receiver;
let client: OutboundClient;
let settings: Config['outbound'];
const url = (path = '/scan.dcm') => `http://127.0.0.1:${server.port}${path}`;
const to = (location: string): Reply => ({ status: 302, headers: { Location: location } });
const pixels = (bytes: number) => ({ status: 200, body: 'x'.repeat(bytes) });

beforeEach(async () => {
  server = await startReceiver();
  const own = { host: '127.0.0.1', addresses: ['127.0.0.1'], ports: [server.port], http: true };
  settings = {
    hosts: [own],
    inputFiles: 'listed-hosts',
    maxFileBytes: MAX_BYTES,
    fetchTimeoutSeconds: 30,
  };
  client = createOutboundClient(createUrlGuard(settings));
});
afterEach(async () => {
  await client.close();
  await server.close();
});

describe('a hosted file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-hosted-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const fetchFile = async (signal = new AbortController().signal) => {
    const path = join(folder, String((await readdir(folder)).length));
    await createHostedFileFetcher(client, settings)(url(), path, signal);
    return readFile(path, 'utf8');
  };

  it('is fetched unchanged', async () => {
    server.replies.push({ status: 200, body: 'pixels' });
    expect(await fetchFile()).toBe('pixels');
    expect(server.received).toMatchObject([
      { method: 'GET', path: '/scan.dcm', headers: { 'accept-encoding': 'identity' } },
    ]);
  });

  it('is fetched over three redirects', async () => {
    server.replies.push(to('/1'), to('2'), to(url('/3')), pixels(1));
    expect(await fetchFile()).toBe('x');
    expect(server.received.map(({ path }) => path)).toEqual(['/scan.dcm', '/1', '/2', '/3']);
  });

  it.each([
    ['over four redirects', () => [to('/1'), to('/2'), to('/3'), to('/4')], 'too many redirects'],
    ['by a redirect to metadata', () => [to('http://169.254.169.254/')], 'URL not permitted'],
    ['by a redirect to another port', () => [to('http://127.0.0.1:1/')], 'URL not permitted'],
    ['by a redirect to a local file', () => [to('file:///etc/passwd')], 'URL not permitted'],
    ['by a redirect to nowhere', () => [to('http://')], 'a redirect without a target'],
    ['where there is none', () => [{ status: 404 }], 'the server answered 404'],
    ['that is one byte too long', () => [pixels(MAX_BYTES + 1)], 'more than 100 bytes'],
    [
      'that is too long and does not say so',
      () => [{ ...pixels(MAX_BYTES + 1), headers: { 'Transfer-Encoding': 'chunked' } }],
      'more than 100 bytes',
    ],
    [
      'that is packed',
      () => [{ status: 200, headers: { 'Content-Encoding': 'gzip' }, body: String(gzipSync('x')) }],
      'content coding',
    ],
    ['that breaks off', () => [{ ...pixels(50), breaksOff: true }], 'the connection failed'],
  ])('is not fetched %s', async (_case, replies: () => Reply[], reason) => {
    server.replies.push(...replies());
    await expect(fetchFile()).rejects.toThrow(reason);
  });

  it('is not fetched if it does not arrive in time', async () => {
    settings.fetchTimeoutSeconds = 0.5;
    server.replies.push('silence');
    await expect(fetchFile()).rejects.toThrow('it took more than 0.5 s');
  });

  it('of the maximum length is fetched', async () => {
    server.replies.push(pixels(MAX_BYTES));
    expect(await fetchFile()).toHaveLength(MAX_BYTES);
  });

  it('is no longer waited for once the request is aborted', async () => {
    server.replies.push('silence');
    const broken = AbortSignal.timeout(50);
    await expect(fetchFile(broken)).rejects.toThrow('due to timeout');
  });
});

describe('a request with hosted files', () => {
  let site: Site;
  const submit = (path = '/scan.dcm') =>
    site.submit('result', {
      files: [{ name: 'a.txt', url: url(path) }],
    });

  beforeAll(async () => {
    site = await openSite({
      fetchFile: (...call) => createHostedFileFetcher(client, settings)(...call),
    });
    await site.startWorker();
  });
  afterAll(() => site.close());

  it('fetches them as it starts', async () => {
    server.replies.push({ status: 200, body: 'hello from afar' });
    const id = await submit();
    const events = await site.follow(id);
    expect(await site.core.result(id)).toMatchObject({ texts: ['hello from afar'] });
    expect(events).toContainEqual(
      expect.objectContaining({ data: expect.objectContaining({ label: 'Fetching the files' }) }),
    );
  });

  it('is rejected if one cannot be fetched, with its name and the reason', async () => {
    server.replies.push({ status: 403 });
    const id = await submit();
    await site.follow(id);
    expect(await site.row(id)).toMatchObject({
      status: 'rejected',
      fault: {
        code: 'hosted_file_unreachable',
        detail: 'a.txt could not be fetched: the server answered 403.',
      },
    });
  });

  it('can be canceled while it fetches', async () => {
    server.replies.push('silence');
    const id = await submit();
    await site.until(id, 'preparing');
    await expect.poll(() => server.received.length).toBe(1);
    await site.core.cancel(id, 'acc_1');
    server.replies.push({ status: 200, body: 'the next one' });
    const next = await submit();
    await site.follow(next);
    expect(await site.core.result(next)).toMatchObject({ texts: ['the next one'] });
    expect(await site.row(id)).toMatchObject({ status: 'canceled' });
  });
});
