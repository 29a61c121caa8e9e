import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that the system assigns automatically (Linux's `ip_local_port_range`). Otherwise,
 * another test that listens on port 0, or any outgoing connection, could take a port before the
 * program that it is meant for.
 */
const RANGE = { from: 20_000, below: 32_768 } as const;

/**
 * Returns a loopback TCP port that is currently free and that the system never assigns
 * automatically.
 */
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
