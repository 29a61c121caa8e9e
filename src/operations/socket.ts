import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SonogateError } from '../platform/errors/catalogue.ts';
import { EVENTS } from '../platform/logging/events.ts';
import type { Logger } from '../platform/logging/logger.ts';

/**
 * The embedded database serves one process, so every other command asks the running gateway over a
 * Unix socket that only the gateway's own user may open (mode 0600).
 */
export type AdminOperations = Record<string, (parameters: unknown) => Promise<unknown>>;

/** `sun_path` of a Unix socket address holds 108 bytes on Linux, 104 on macOS. */
const LONGEST_SOCKET_PATH = 100;

export function adminSocketPath(dataDir: string): string {
  const path = join(resolve(dataDir), 'admin.sock');
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path;
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(tmpdir(), `sonogate-${name}.sock`);
}

/**
 * Serves `operations`. Of several processes on one data folder (with a server database) the first
 * serves; a socket file that nobody answers on is stale and is replaced.
 */
export async function serveAdminSocket(
  dataDir: string,
  operations: AdminOperations,
  logger: Logger,
): Promise<{ close(): Promise<void> }> {
  const path = adminSocketPath(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (existsSync(path)) {
    if (await answers(path)) {
      logger.event(EVENTS.adminShared);
      return { close: async () => {} };
    }
    rmSync(path);
  }
  const server: Server = createServer((call, answer) => {
    void handle(call, operations, logger).then(({ status, body }) => {
      answer.writeHead(status, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    // The socket is bound before `listen` returns, so that no other file of this process is made
    // under the narrow mask.
    const umask = process.umask(0o177);
    server.listen(path, done);
    process.umask(umask);
  });
  return {
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

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
  operations: AdminOperations,
  logger: Logger,
): Promise<{ status: number; body: unknown }> {
  const name = (call.url ?? '/').slice(1);
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (!operation) return { status: 404, body: { detail: `the gateway has no command "${name}"` } };
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of call) chunks.push(chunk as Buffer);
    const parameters: unknown = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    return { status: 200, body: (await operation(parameters)) ?? null };
  } catch (error) {
    if (error instanceof SonogateError) {
      return { status: 400, body: { code: error.code, detail: error.detail ?? error.message } };
    }
    logger.event(EVENTS.adminFailed, { err: error, operation: name });
    return { status: 500, body: { detail: (error as Error).message } };
  }
}

/** Thrown when no gateway runs on the data folder. */
export class NoGatewayError extends Error {
  override name = 'NoGatewayError';
}

/** Runs one operation in the gateway of `dataDir`. @throws NoGatewayError when none runs. */
export async function callAdminSocket(
  dataDir: string,
  operation: string,
  parameters: unknown,
): Promise<unknown> {
  const socketPath = adminSocketPath(dataDir);
  return new Promise((done, fail) => {
    // No connection is kept: the gateway behind the same path may be another one at the next call.
    const options = { socketPath, path: `/${operation}`, method: 'POST', agent: false };
    const call = request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', fail);
      answer.on('end', () => {
        const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || 'null');
        if (answer.statusCode === 200) done(body);
        else fail(new Error((body as { detail?: string } | null)?.detail ?? 'the command failed'));
      });
    });
    call.on('error', (error: NodeJS.ErrnoException) => {
      const absent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      fail(absent ? new NoGatewayError(`no gateway runs on ${resolve(dataDir)}`) : error);
    });
    call.end(JSON.stringify(parameters));
  });
}
