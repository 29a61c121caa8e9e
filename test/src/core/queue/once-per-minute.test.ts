import { expect, test } from 'vitest';
import { oncePerMinute } from '../../../../src/core/queue/queue.ts';

test('an error of the queue is logged at once and when it changes, otherwise once a minute', () => {
  let now = 5;
  const logged: string[] = [];
  const report = oncePerMinute(
    ({ message }) => logged.push(`${now} ${message}`),
    () => now,
  );
  for (const [at, message] of [
    [5, 'disk full'],
    [1_005, 'disk full'],
    [2_005, 'no connection'],
    [3_005, 'disk full'],
    [63_004, 'disk full'],
    [63_005, 'disk full'],
  ] as const) {
    now = at;
    report(new Error(message));
  }
  expect(logged).toEqual([
    '5 disk full',
    '2005 no connection',
    '3005 disk full',
    '63005 disk full',
  ]);
});
