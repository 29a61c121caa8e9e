import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { freePort } from './free-port.ts';

const REGION = 'eu-central-1';
const BUCKET = 'sonogate';
const KEY = 'moto';
const START_MS = 60_000;

/**
 * Starts moto's S3 server (`pip install 'moto[s3,server]'`) with one empty bucket. Returns null if
 * it is not installed. It supports all of S3's multipart uploads, whereas s3rver can neither list
 * nor abort them. moto does not check signatures.
 */
export async function startMoto(): Promise<{ url: string; stop(): Promise<void> } | null> {
  const port = await freePort();
  const args = ['--host', '127.0.0.1', '--port', String(port)];
  const server = spawn('moto_server', args, { stdio: 'ignore' });
  const started = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.once('spawn', () => resolve(true));
  });
  if (!started) return null;
  const killWithUs = () => server.kill('SIGKILL');
  process.once('exit', killWithUs);

  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: KEY, secretAccessKey: KEY };
  const client = new S3Client({ endpoint, region: REGION, credentials, forcePathStyle: true });
  const CreateBucketConfiguration = { LocationConstraint: REGION } as const;
  for (const end = performance.now() + START_MS; ; await delay(200)) {
    try {
      await client.send(new CreateBucketCommand({ Bucket: BUCKET, CreateBucketConfiguration }));
      break;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
  client.destroy();
  return {
    url: `http://${KEY}:${KEY}@127.0.0.1:${port}/${BUCKET}?region=${REGION}`,
    async stop() {
      const exited = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGKILL');
      await exited;
      process.off('exit', killWithUs);
    },
  };
}
