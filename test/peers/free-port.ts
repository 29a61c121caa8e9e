import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the system hands out by itself (`ip_local_port_range` of Linux): else another
 * test that listens on port 0, or any connection that goes out, may take one before its program does.
 */
const RANGE = { from: 20_000, below: 32_768 } as const;

/** A TCP port of the loopback that was free a moment ago, and is given to nobody who asks for any. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(RANGE.from, RANGE.below);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve, reject) => {
    server.once('listening', () => resolve(true));
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1');
  });
  if (free) await once(server.close(), 'close');
  return free;
}
