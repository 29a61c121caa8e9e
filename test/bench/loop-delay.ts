/**
 * Loaded into a gateway with `node --import`. At every SIGUSR2, writes the event-loop delay in
 * milliseconds (p50, p99, maximum) to the file `LOOP_DELAY_FILE` and starts over.
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
    // The histogram measures the time between samples, which equals the resolution if there is no
    // delay.
    const above = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolution);
    const [p50, p99] = [50, 99].map((share) => above(delay.percentile(share)));
    writeFileSync(file, JSON.stringify({ p50, p99, longest: above(delay.max) }));
    delay.reset();
  });
}
