import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
const VERSIONS = '/usr/lib/postgresql';

export interface PostgresServer {
  /** Folder with `pg_dump` and the other programs of this version. */
  programs: string;
  /** Address of the database `postgres`. */
  url: string;
  createDatabase(): Promise<string>;
  /** Runs a statement as superuser in the database `postgres`. */
  administer(sql: string): Promise<void>;
  /** Kills the server immediately; sessions end once they notice. */
  crash(): Promise<void>;
  /** Shuts the server down as an administrator does; its sessions are ended. */
  shutDown(): Promise<void>;
  /** Stops every process of the server, so that connections stay open but nothing answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Restarts the server at the same address. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Returns the folder with PostgreSQL's programs (Debian); null if it is not installed. */
async function programs(): Promise<string | null> {
  const versions = await readdir(VERSIONS).catch(() => []);
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? null : join(VERSIONS, newest, 'bin');
}

/**
 * Returns the user under which PostgreSQL runs, because it refuses to run as root. Debian's package
 * creates this user.
 */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (of: '-u' | '-g') =>
    Number(execFileSync('id', [of, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * Returns a folder with the files of a new server. Initializing them takes half a second of
 * processor time, so this is done once and then copied.
 */
async function template(bin: string, user: ReturnType<typeof serverUser>): Promise<string> {
  const ready = join(tmpdir(), `sonogate-template-postgres-${basename(dirname(bin))}`);
  if (await stat(ready).catch(() => null)) return ready;
  const making = await mkdtemp(`${ready}-`);
  if (user) await chown(making, user.uid, user.gid);
  const initArgs = ['-D', making, '-A', 'trust', '-U', 'test', '--no-sync', '-E', 'UTF8'];
  await run(join(bin, 'initdb'), initArgs, { cwd: making, ...user });
  // If several test processes make a template at the same time, the first one is kept.
  await rename(making, ready).catch(() => rm(making, { recursive: true, force: true }));
  return ready;
}

/**
 * Starts a separate PostgreSQL server in a temporary folder. Returns null if it is not installed.
 * @param durable commits wait for the disk, as in production
 * @param preload PostgreSQL libraries to load at startup, such as `pg_stat_statements`
 */
export async function startPostgres({
  durable = false,
  preload = '',
} = {}): Promise<PostgresServer | null> {
  const bin = await programs();
  if (!bin) return null;
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-postgres-'));
  await chmod(folder, 0o755);
  const user = serverUser();
  if (user) await chown(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  // Keeps the owner and the permissions, which PostgreSQL checks.
  await run('cp', ['-a', await template(bin, user), data]);

  const port = await freePort();
  const settings = [
    `listen_addresses=127.0.0.1`,
    `unix_socket_directories=${folder}`,
    `fsync=${durable ? 'on' : 'off'}`,
    'max_connections=400',
    `shared_preload_libraries=${preload}`,
  ].flatMap((setting) => ['-c', setting]);
  const start = () =>
    spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
      cwd: folder,
      stdio: 'ignore',
      ...user,
    });
  let server = start();
  let exited = once(server, 'exit');
  // "Fast shutdown": open sessions are ended.
  const shutDown = () => server.kill('SIGINT');
  process.once('exit', shutDown);

  const address = (database: string) => `postgres://test@127.0.0.1:${port}/${database}`;
  const admin = async (sql: string) => {
    const client = new pg.Client(address('postgres'));
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await until(() => admin('SELECT 1'));

  let made = 0;
  return {
    programs: bin,
    url: address('postgres'),
    createDatabase: async () => {
      made += 1;
      await admin(`CREATE DATABASE test_${made}`);
      return address(`test_${made}`);
    },
    administer: admin,
    crash: async () => {
      server.kill('SIGKILL');
      await exited;
    },
    shutDown: async () => {
      shutDown();
      await exited;
    },
    freeze: () => signalAll(server.pid, 'STOP'),
    thaw: () => signalAll(server.pid, 'CONT'),
    resume: async () => {
      await until(async () => {
        // PostgreSQL refuses to start while a session of the killed server still holds its memory.
        if (server.exitCode !== null || server.signalCode !== null) {
          server = start();
          exited = once(server, 'exit');
        }
        await admin('SELECT 1');
      });
    },
    stop: async () => {
      process.off('exit', shutDown);
      shutDown();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a signal to the server and to its sessions, which are its children. */
async function signalAll(server: number | undefined, signal: 'STOP' | 'CONT'): Promise<void> {
  await run('kill', [`-${signal}`, String(server)]);
  await run('pkill', [`-${signal}`, '-P', String(server)]);
}

/** Retries until the attempt succeeds, for at most half a minute. */
async function until(attempt: () => Promise<void>): Promise<void> {
  for (let left = 150; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
