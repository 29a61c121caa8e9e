import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { DatabaseUnreachableError } from '../platform/database/pooled.ts';
import { ERRORS, type ErrorCode, SonogateError } from '../platform/errors/catalogue.ts';
import { withMeaning } from '../platform/errors/connection-failures.ts';
import type { Logger } from '../platform/logging/logger.ts';
import { type RunByName, type RunCommand, typedCommands } from './commands.ts';

/**
 * Maximum length of a socket path in bytes. `sun_path` holds 108 bytes on Linux and 104 on macOS.
 */
const LONGEST_SOCKET_PATH = 100;

export function adminSocketPath(dataDir: string): string {
  const path = join(resolve(dataDir), 'admin.sock');
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path;
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(tmpdir(), `sonogate-${name}.sock`);
}

/**
 * Serves commands on a Unix socket that only the gateway's own user may open (mode 0600). Commands
 * go through the socket because only one process can use the embedded database. If several
 * processes share a data folder (with a database server), the first one serves. A socket file on
 * which no process answers is replaced.
 */
export async function serveAdminSocket(
  dataDir: string,
  run: RunByName,
  logger: Logger,
): Promise<{ close(): Promise<void> }> {
  const path = adminSocketPath(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (await answers(path)) {
    logger.event('admin_shared');
    return { close: async () => {} };
  }
  const server: Server = createServer((call, answer) => {
    void handle(call, run, logger).then(({ status, body }) => {
      answer.writeHead(status, { 'content-type': 'application/json' });
      answer.end(body);
    });
  });
  // Several processes may start at the same moment and all find that no process answers. Each binds
  // a temporary name and then renames it, which is atomic. Of these processes, the last to rename
  // its socket serves, and none fails to start.
  const own = join(dirname(path), `.a${randomBytes(3).toString('hex')}`);
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    // `listen` binds the socket before it returns. The restrictive umask can therefore be reset at
    // once, and applies to no other file of this process.
    const umask = process.umask(0o177);
    server.listen(own, done);
    process.umask(umask);
  });
  const inode = statSync(own).ino;
  renameSync(own, path);
  return {
    close: () =>
      new Promise((done) => {
        if (statSync(path, { throwIfNoEntry: false })?.ino === inode) rmSync(path, { force: true });
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Returns true if a gateway serves commands for this data folder. */
export const gatewayAnswers = (dataDir: string): Promise<boolean> =>
  answers(adminSocketPath(dataDir));

function answers(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

async function handle(
  call: IncomingMessage,
  run: RunByName,
  logger: Logger,
): Promise<{ status: number; body: string }> {
  const name = (call.url ?? '/').slice(1);
  try {
    const parameters: unknown = JSON.parse((await text(call)) || '{}');
    return { status: 200, body: await run(name, parameters) };
  } catch (error) {
    if (error instanceof SonogateError) {
      const problem = { code: error.code, detail: error.detail ?? error.message };
      return { status: 400, body: JSON.stringify(problem) };
    }
    if (error instanceof DatabaseUnreachableError) {
      const problem = { code: 'database_unreachable', detail: withMeaning(error.message) };
      return { status: 503, body: JSON.stringify(problem) };
    }
    logger.event('admin_failed', { err: error, operation: name });
    const detail = error instanceof Error ? error.message : String(error);
    return { status: 500, body: JSON.stringify({ detail }) };
  }
}

/** Thrown if no gateway is running on the data folder. */
export class NoGatewayError extends Error {
  override name = 'NoGatewayError';
}

const refusal = z.object({
  /** Error code; absent for a fault in the gateway itself. */
  code: z
    .custom<ErrorCode>((code) => typeof code === 'string' && Object.hasOwn(ERRORS, code))
    .optional()
    .catch(undefined),
  detail: z.string().default('the command failed'),
});

/**
 * Runs one command in the gateway on `dataDir`.
 * @throws NoGatewayError if no gateway is running, SonogateError if it refuses.
 */
export async function callAdminSocket(
  dataDir: string,
  name: string,
  parameters: unknown,
): Promise<string> {
  const socketPath = adminSocketPath(dataDir);
  // The connection is not reused, because a different gateway may serve the same path next time.
  const options = { socketPath, path: `/${name}`, method: 'POST', agent: false };
  const answer = await new Promise<IncomingMessage>((done, fail) => {
    const call = request(options, done);
    call.on('error', (error: NodeJS.ErrnoException) => {
      const absent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      fail(absent ? new NoGatewayError(`no gateway is running on ${resolve(dataDir)}`) : error);
    });
    call.end(JSON.stringify(parameters));
  });
  const body = await text(answer);
  if (answer.statusCode === 200) return body;
  const { code, detail } = refusal.parse(JSON.parse(body || '{}'));
  throw code === undefined ? new Error(detail) : new SonogateError(code, detail);
}

/** Returns the commands of the gateway running on `dataDir`. */
export const commandsOfGateway = (dataDir: string): RunCommand =>
  typedCommands((name, parameters) => callAdminSocket(dataDir, name, parameters));
