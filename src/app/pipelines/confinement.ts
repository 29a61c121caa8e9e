import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import threads from 'node:worker_threads';

/**
 * Loaded into a pipeline process before anything else: removes network access from its JavaScript,
 * for which Node 24 has no permission. It does not stop native code; docs/security.md describes
 * what stops native code.
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

/** Forbids new threads, which would have network access; running ones continue. */
export function forbidThreads(): void {
  refuseAll(threads, ['Worker']);
  syncBuiltinESMExports();
}

syncBuiltinESMExports();
