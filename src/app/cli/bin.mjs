#!/usr/bin/env node
// The command line runs on the Node.js that the project installs as a dependency (24), whichever
// version this host has. Node.js 24 runs TypeScript without a build step. The gateway runs in that
// process, with flags that Node.js accepts only at startup.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const current = Number(process.versions.node.split('.')[0]) >= 24;
const node = current ? process.execPath : here('../../../node_modules/.bin/node');
if (!existsSync(node)) {
  process.stderr.write('Sonogate needs its dependencies: run "npm ci" in its folder first.\n');
  process.exit(1);
}
// Limits V8's space for new objects. It would otherwise grow to 64 MB and stay resident.
const args = ['--max-semi-space-size=4', here('./sonogate.ts'), ...process.argv.slice(2)];
// Compiled modules are cached in this folder, which is protected in the same way as the program
// itself. A service that may not write there uses another folder (config/deploy). Pipeline
// processes get private copies of a separate cache (src/core/queue/compile-cache.ts).
const cache = here('../../../node_modules/.cache/compile');
const env = { NODE_COMPILE_CACHE: cache, ...memoryOf(process.argv[2]), ...process.env };

/**
 * Returns environment variables that let glibc return the memory that V8 needed only once, for
 * compiling. By default it stays resident, for two reasons. Whenever a large block is freed, glibc
 * raises its thresholds for mapping a block separately and for returning free memory. It also gives
 * every thread a separate heap. Only the gateway gets these settings, because pipelines allocate
 * large blocks all the time.
 */
function memoryOf(command) {
  if (command !== 'serve') return {};
  const threshold = String(128 * 1024);
  return {
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: threshold,
    MALLOC_TRIM_THRESHOLD_: threshold,
  };
}

if (process.execve) {
  process.execve(node, [node, ...process.execArgv, ...args], env);
} else {
  const child = spawn(node, [...process.execArgv, ...args], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
