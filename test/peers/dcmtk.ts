import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/**
 * Without this, DCMTK leaves Nagle's algorithm on, which adds 44 ms per object whatever the
 * receiver is.
 */
const ENVIRONMENT = { ...process.env, TCP_NODELAY: '1' };
const TIMEOUT_MILLISECONDS = 30_000;

export const DCMTK_INSTALLED = existsSync('/usr/bin/storescu');

export interface ToolResult {
  exitCode: number;
  output: string;
}

/** Runs a DCMTK program to completion. Its failure is returned, not thrown. */
export function dcmtk(program: string, args: readonly string[]): Promise<ToolResult> {
  return new Promise((resolve) => {
    const options = { env: ENVIRONMENT, timeout: TIMEOUT_MILLISECONDS };
    execFile(program, [...args], options, (error, stdout, stderr) => {
      const exitCode = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
      resolve({ exitCode, output: stdout + stderr });
    });
  });
}

export interface Program {
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a program that listens on a free port, and waits until it accepts connections. */
export async function startListening(
  program: string,
  args: (port: number) => string[],
): Promise<Program> {
  const port = await freePort();
  const child = spawn(program, args(port), { env: ENVIRONMENT, stdio: 'ignore' });
  await untilConnectable(port, child);
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Starts `storescp`, writing each object exactly as received. */
export function startStorescp(folder: string, extra: readonly string[] = []): Promise<Program> {
  return startListening('storescp', (port) => [
    '+xa',
    '+B',
    '-uf',
    '-od',
    folder,
    '-pdu',
    '131072',
    ...extra,
    String(port),
  ]);
}

/**
 * Starts `dcmqrscp`, an archive that indexes what it receives and is therefore stricter than
 * `storescp`.
 * @param movesTo node on this machine to which it sends on request (C-MOVE).
 */
export function startDcmqrscp(
  folder: string,
  aeTitle: string,
  movesTo?: { aeTitle: string; port: number },
): Promise<Program> {
  const hosts = movesTo ? [`peer = (${movesTo.aeTitle}, 127.0.0.1, ${movesTo.port})`] : [];
  return startListening('dcmqrscp', (port) => {
    const configFile = join(folder, 'dcmqrscp.cfg');
    const settings = [
      `NetworkTCPPort = ${port}`,
      'MaxPDUSize = 131072',
      'MaxAssociations = 16',
      'HostTable BEGIN',
      ...hosts,
      'HostTable END',
      'VendorTable BEGIN',
      'VendorTable END',
      'AETable BEGIN',
      `${aeTitle} ${folder} RW (100, 1024mb) ANY`,
      'AETable END',
    ];
    // dcmqrscp reads the file at startup.
    writeFileSync(configFile, `${settings.join('\n')}\n`);
    return ['-c', configFile];
  });
}

/**
 * Starts `wlmscpfs`, a modality worklist provider. It answers queries from the `*.wl` files in the
 * folder named after the called AE title.
 */
export function startWlmscpfs(folder: string): Promise<Program> {
  return startListening('wlmscpfs', (port) => ['-csk', '-dfr', '-dfp', folder, String(port)]);
}

async function untilConnectable(port: number, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MILLISECONDS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}`);
    const socket = connect({ port, host: '127.0.0.1' });
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens on port ${port}`);
}
