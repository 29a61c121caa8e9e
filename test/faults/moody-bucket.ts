import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startMoto } from '../peers/moto.ts';

/** How the storage answers: every mood except `well` is a fault. */
export type BucketMood = 'well' | 'dead' | 'slow' | 'busy' | 'forbidden' | 'deleted';

/** An S3 server whose answers can be spoiled. */
export interface MoodyBucket {
  url: string;
  /** Number of requests that were spoiled. */
  spoiled: number;
  be(mood: BucketMood): void;
  stop(): Promise<void>;
}

const SLOW_MS = 8_000;
const ERRORS = {
  busy: { status: 503, code: 'SlowDown' },
  forbidden: { status: 403, code: 'AccessDenied' },
  deleted: { status: 404, code: 'NoSuchBucket' },
} as const;

/** Starts moto behind a proxy; null if moto is not installed. */
export async function startMoodyBucket(): Promise<MoodyBucket | null> {
  const moto = await startMoto();
  if (!moto) return null;
  const behind = new URL(moto.url);
  let mood: BucketMood = 'well';
  const server = createServer(async (asked, answer) => {
    if (mood !== 'well') bucket.spoiled += 1;
    if (mood === 'dead') return asked.socket.destroy();
    if (mood === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    if (mood === 'busy' || mood === 'forbidden' || mood === 'deleted') {
      const { status, code } = ERRORS[mood];
      asked.resume();
      answer.writeHead(status, { 'Content-Type': 'application/xml' });
      return answer.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
    }
    const { method, url, headers } = asked;
    const passed = request({ host: '127.0.0.1', port: behind.port, method, path: url, headers });
    passed.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    return asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const front = new URL(moto.url);
  front.port = String((server.address() as AddressInfo).port);
  const bucket: MoodyBucket = {
    url: front.href,
    spoiled: 0,
    be(next) {
      mood = next;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await moto.stop();
    },
  };
  return bucket;
}
