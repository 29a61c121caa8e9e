import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';

/** The only account that s3rver accepts. */
const KEY = 'S3RVER';

/**
 * Starts an S3 server on a free port with one empty bucket. It refuses unknown keys and expired
 * addresses but does not check signatures, which signature-v4.ts computes.
 */
export async function startS3rver(): Promise<{
  url: string;
  /** Returns the local path of an object. The file's time is when the object was last written. */
  fileOf(key: string): string;
  stop(): Promise<void>;
}> {
  const directory = await mkdtemp(join(tmpdir(), 'sonogate-s3rver-'));
  const bucket = 'sonogate';
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  return {
    url: `http://${KEY}:${KEY}@127.0.0.1:${port}/${bucket}?region=eu-central-1`,
    fileOf: (key) => join(directory, bucket, `${key}._S3rver_object`),
    async stop() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}
