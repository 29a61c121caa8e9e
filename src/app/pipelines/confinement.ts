import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import threads from 'node:worker_threads';

/**
 * Loaded into a pipeline process before anything else. Removes network access from its JavaScript,
 * because Node 24 has no permission that controls it. This does not stop native code;
 * docs/security.md describes the protection against that.
 */
function refuse(): never {
  throw Object.assign(new Error('a pipeline has neither network nor threads'), {
    code: 'ERR_ACCESS_DENIED',
  });
}

function refuseAll(owner: object, names: readonly string[]): void {
  for (const name of names) {
    Object.defineProperty(owner, name, { value: refuse, writable: false, configurable: false });
  }
}

// http, https, http2, tls and fetch all use these.
refuseAll(net.Socket.prototype, ['connect']);
refuseAll(net.Server.prototype, ['listen']);
refuseAll(dgram.Socket.prototype, ['bind', 'connect', 'send']);
const asking = (owner: object) =>
  Object.keys(owner).filter((name) => /^(lookup|resolve|reverse)/.test(name));
refuseAll(dns, asking(dns));
refuseAll(dns.promises, asking(dns.promises));

/**
 * Ends this process once its parent, whose process id is `parent`, has ended. Otherwise a gateway
 * that is killed repeatedly on a busy host would leave behind more and more processes, which
 * compete with the processes of the next gateway. A separate thread checks this, because a process
 * that is loading its program or computing without a pause does not notice that its channel is
 * closed.
 */
function endWith(parent: number): void {
  const watch = `setInterval(() => {
    if (process.ppid !== ${parent}) process.kill(process.pid, 'SIGKILL');
  }, 1000);`;
  new threads.Worker(watch, { eval: true }).unref();
}

/** Forbids new threads, which would have network access. Threads already running continue. */
export function forbidThreads(): void {
  refuseAll(threads, ['Worker']);
  syncBuiltinESMExports();
}

syncBuiltinESMExports();

// This file is also loaded in the threads of this process, so only the main thread starts the
// watch.
const parent = Number(process.env.SONOGATE_PARENT_PID);
if (threads.isMainThread && Number.isInteger(parent)) endWith(parent);
