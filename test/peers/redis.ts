import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';

export interface RedisServer {
  url: string;
  /** Deletes everything, as if the server had restarted without its data. */
  flush(): Promise<void>;
  /** Sends a command such as `CONFIG SET maxmemory 1`. */
  command(name: string, ...args: string[]): Promise<unknown>;
  /** Makes the server unreachable: connections break and new ones are refused. */
  pause(): Promise<void>;
  /** Restarts the server at the same address, empty unless it is persistent. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a separate Redis server. Returns null if it is not installed.
 * @param persistent logs each write to the disk (AOF), so that the server restarts with its data
 */
export async function startRedis({ persistent = false } = {}): Promise<RedisServer | null> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  if (persistent) args.push('--appendonly', 'yes', '--appendfsync', 'always');
  let server = spawn('redis-server', args, { stdio: 'ignore' });
  const started = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.once('spawn', () => resolve(true));
  });
  if (!started) {
    await rm(folder, { recursive: true, force: true });
    return null;
  }
  const killWithUs = () => server.kill('SIGKILL');
  process.once('exit', killWithUs);
  const kill = async () => {
    const exited = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await exited;
  };

  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, { maxRetriesPerRequest: 100, retryStrategy: () => 100 });
  client.on('error', () => {});
  await client.ping();
  return {
    url,
    flush: async () => {
      await client.flushall();
    },
    command: (name, ...args) => client.call(name, ...args),
    pause: kill,
    resume: async () => {
      server = spawn('redis-server', args, { stdio: 'ignore' });
      await client.ping();
    },
    stop: async () => {
      process.off('exit', killWithUs);
      client.disconnect();
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
