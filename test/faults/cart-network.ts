import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A cart at the end of a cable that can be pulled, simulated by a network namespace and a pair of
 * interfaces.
 */
export interface CartNetwork {
  /** The gateway's address as seen from the cart. */
  gateway: string;
  range: string;
  start(program: string, args: readonly string[]): ChildProcess;
  throttle(megabits: number): Promise<void>;
  /** Pulls the cable: neither side is notified that the connection is gone. */
  pull(): Promise<void>;
  plug(): Promise<void>;
  remove(): Promise<void>;
}

/** Sets up the network; null if network namespaces are not permitted. */
export async function cartNetwork(): Promise<CartNetwork | null> {
  const id = process.pid % 100_000;
  const namespace = `sonogate-cart-${id}`;
  const [ours, theirs] = [`sg${id}g`, `sg${id}c`];
  // The addresses must differ from those of other runs, including killed runs that left their
  // addresses behind.
  const network = `10.213.${process.pid % 256}`;
  const gateway = `${network}.1`;
  const ip = (...args: string[]) => run('ip', args);
  const onCart = (...args: string[]) => ip('netns', 'exec', namespace, ...args);
  const remove = async () => {
    await ip('netns', 'del', namespace).catch(() => {});
    await ip('link', 'del', ours).catch(() => {});
  };
  try {
    await ip('netns', 'add', namespace);
    await ip('link', 'add', ours, 'type', 'veth', 'peer', 'name', theirs, 'netns', namespace);
    await ip('addr', 'add', `${gateway}/30`, 'dev', ours);
    await ip('link', 'set', ours, 'up');
    await onCart('ip', 'addr', 'add', `${network}.2/30`, 'dev', theirs);
    await onCart('ip', 'link', 'set', theirs, 'up');
  } catch {
    await remove();
    return null;
  }
  return {
    gateway,
    range: `${gateway}/30`,
    start: (program, args) =>
      spawn('ip', ['netns', 'exec', namespace, program, ...args], { stdio: 'ignore' }),
    async throttle(megabits) {
      const limit = ['rate', `${megabits}mbit`, 'burst', '32kbit', 'latency', '400ms'];
      await onCart('tc', 'qdisc', 'replace', 'dev', theirs, 'root', 'tbf', ...limit);
    },
    async pull() {
      await ip('link', 'set', ours, 'down');
    },
    async plug() {
      await ip('link', 'set', ours, 'up');
    },
    remove,
  };
}
