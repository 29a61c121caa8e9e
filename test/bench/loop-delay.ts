/**
 * Loaded into a gateway by `node --import`: writes the delay of its event loop in milliseconds (p50,
 * p99, longest) into the file `LOOP_DELAY_FILE` at every SIGUSR2, and begins anew.
 */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env.LOOP_DELAY_FILE;
if (isMainThread && file !== undefined) {
  const resolution = 5;
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  process.on('SIGUSR2', () => {
    // The histogram counts from one sample to the next, which is the resolution without any delay.
    const above = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolution);
    const [p50, p99] = [50, 99].map((share) => above(delay.percentile(share)));
    writeFileSync(file, JSON.stringify({ p50, p99, longest: above(delay.max) }));
    delay.reset();
  });
}
