import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openS3BlobStore } from '../../../../src/core/files/blob-s3.ts';
import { BlobMissingError } from '../../../../src/core/files/blob-store.ts';

const LOCATION = {
  region: 'us-east-1',
  bucket: 'bucket',
  accessKeyId: 'key',
  secretAccessKey: 'secret',
};

it('waits for a silent storage only as long as configured', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.resume();
    sockets.push(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const spool = await mkdtemp(join(tmpdir(), 'sonogate-spool-'));
  const location = {
    ...LOCATION,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  await expect(openS3BlobStore(location, spool, 200)).rejects.toThrow(/tim(ed|e)\s*-?out|Timeout/i);
  expect(sockets.length).toBeGreaterThan(0);
  for (const socket of sockets) socket.destroy();
  server.close();
  await rm(spool, { recursive: true });
});

/** Starts a storage that lists its bucket, and answers everything else with this error. */
async function storageWith(status: number, code: string) {
  const server = createHttpServer((asked, answer) => {
    asked.resume();
    const lists = asked.url?.includes('list-type=2') === true;
    answer.writeHead(lists ? 200 : status, { 'Content-Type': 'application/xml' });
    const error = `<Error><Code>${code}</Code></Error>`;
    answer.end(`<?xml version="1.0"?>${lists ? '<ListBucketResult/>' : error}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, location: { ...LOCATION, endpoint } };
}

it.each([
  ['is overloaded', 503, 'SlowDown', 'storage_unreachable'],
  ['refuses the key', 403, 'AccessDenied', 'storage_unreachable'],
  ['lost the bucket', 404, 'NoSuchBucket', 'storage_unreachable'],
  ['lacks the object', 404, 'NoSuchKey', undefined],
])('a storage that %s is known by its answer', async (_what, status, answered, code) => {
  const { server, location } = await storageWith(status, answered);
  const spool = await mkdtemp(join(tmpdir(), 'sonogate-spool-'));
  const store = await openS3BlobStore(location, spool, 1000);
  const error = await store.place('0'.repeat(64), join(spool, 'to')).catch((one: unknown) => one);
  if (code) expect(error).toMatchObject({ code, cause: { name: answered } });
  else expect(error).toBeInstanceOf(BlobMissingError);
  store.close();
  server.close();
  await rm(spool, { recursive: true });
});

it('a storage that is read-only for our key is not writable, although it lists its bucket', async () => {
  const { server, location } = await storageWith(403, 'AccessDenied');
  const spool = await mkdtemp(join(tmpdir(), 'sonogate-spool-'));
  const store = await openS3BlobStore(location, spool, 1000);
  await expect(store.requireWritable()).rejects.toMatchObject({ code: 'storage_unreachable' });
  store.close();
  server.close();
  await rm(spool, { recursive: true });
});

it('a storage that breaks off in the middle of an object is unreachable', async () => {
  const server = createHttpServer((asked, answer) => {
    if (asked.url?.includes('list-type=2')) return answer.end('<ListBucketResult/>');
    answer.writeHead(200, { 'Content-Length': '1000' });
    answer.write('half');
    return setTimeout(() => asked.socket.destroy(), 50);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const spool = await mkdtemp(join(tmpdir(), 'sonogate-spool-'));
  const store = await openS3BlobStore({ ...LOCATION, endpoint }, spool, 1000);
  const placed = store.place('0'.repeat(64), join(spool, 'to'));
  await expect(placed).rejects.toMatchObject({ code: 'storage_unreachable' });
  expect(await readdir(spool)).toEqual([]);
  store.close();
  server.close();
  await rm(spool, { recursive: true });
});
