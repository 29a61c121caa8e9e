import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openS3BlobStore } from '../../../../src/core/files/blob-s3.ts';

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
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    bucket: 'bucket',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
  };
  await expect(openS3BlobStore(location, spool, 200)).rejects.toThrow(/tim(ed|e)\s*-?out|Timeout/i);
  expect(sockets.length).toBeGreaterThan(0);
  for (const socket of sockets) socket.destroy();
  server.close();
  await rm(spool, { recursive: true });
});
