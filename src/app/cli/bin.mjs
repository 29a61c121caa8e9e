#!/usr/bin/env node
// The command line runs on the Node.js of the project's own dependencies (24), whatever the
// machine's Node is; TypeScript needs no build step there.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('./sonogate.ts', import.meta.url));
if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import(cli);
} else {
  const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write('Sonogate needs its dependencies: run "npm ci" in its folder first.\n');
    process.exit(1);
  }
  const child = spawn(node, [cli, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
