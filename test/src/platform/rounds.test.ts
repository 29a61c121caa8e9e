import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { DatabaseUnreachableError } from '../../../src/platform/database/pooled.ts';
import { EVENTS } from '../../../src/platform/logging/events.ts';
import { createLogger } from '../../../src/platform/logging/logger.ts';
import { logRounds, startRounds } from '../../../src/platform/rounds.ts';

const NOT_SEALED = `50: ${EVENTS.audit_unsealed.text}`;
const RESUMED = `30: ${EVENTS.work_resumed.text}`;
const ignore = { onError: () => {} };

describe('rounds', () => {
  test('begin at once and repeat until stopped, never two at a time', async () => {
    let underWay = 0;
    let most = 0;
    const work = vi.fn(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await delay(5);
      underWay -= 1;
    });
    const rounds = startRounds({ work, pauseMilliseconds: 1, ...ignore });
    expect(work).toHaveBeenCalledTimes(1);
    await expect.poll(() => work.mock.calls.length).toBeGreaterThan(3);
    await rounds.stop();
    const until = work.mock.calls.length;
    await delay(20);
    expect(work).toHaveBeenCalledTimes(until);
    expect(most).toBe(1);
  });

  test('report when the first is over, even if it failed', async () => {
    const onError = vi.fn();
    const rounds = startRounds({
      work: () => Promise.reject(new Error('away')),
      pauseMilliseconds: 60_000,
      onError,
    });
    expect(onError).not.toHaveBeenCalled();
    await rounds.first;
    expect(onError).toHaveBeenCalledTimes(1);
    await rounds.stop();
  });

  test('are waited for on stopping, and none follows', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = vi.fn(() => promise);
    const rounds = startRounds({ work, pauseMilliseconds: 0, ...ignore });
    const stopped = vi.fn();
    const stopping = rounds.stop().then(stopped);
    await delay(5);
    expect(stopped).not.toHaveBeenCalled();
    resolve();
    await stopping;
    await delay(5);
    expect(work).toHaveBeenCalledTimes(1);
  });

  test('that are wanted soon begin without the pause, and several requests share one', async () => {
    const ends: (() => void)[] = [];
    const work = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
    const rounds = startRounds({ work, pauseMilliseconds: 3_600_000, ...ignore });
    rounds.soon();
    rounds.soon();
    expect(work).toHaveBeenCalledTimes(1);
    ends[0]?.();
    await expect.poll(() => work.mock.calls.length).toBe(2);
    ends[1]?.();
    await delay(5);
    expect(work).toHaveBeenCalledTimes(2);
    rounds.soon();
    expect(work).toHaveBeenCalledTimes(3);
    const stopping = rounds.stop();
    rounds.soon();
    ends[2]?.();
    await stopping;
    expect(work).toHaveBeenCalledTimes(3);
  });

  test('run once more on stopping if requested, even if the previous one failed', async () => {
    const work = vi.fn(async () => {
      throw new Error('no');
    });
    const onError = vi.fn();
    const hour = 3_600_000;
    const rounds = startRounds({ work, pauseMilliseconds: hour, onceMoreAtStop: true, onError });
    await rounds.stop();
    expect(onError.mock.calls.map(([, failures]) => failures)).toEqual([1, 2]);
  });

  test('that fail in succession are counted, and the pause may depend on the count', async () => {
    const outcomes = [false, false, true, false, true];
    const pauses: number[] = [];
    const told: unknown[] = [];
    const rounds = startRounds({
      work: async () => {
        if (outcomes.shift() === false) throw new Error('no');
      },
      pauseMilliseconds: (failures) => {
        pauses.push(failures);
        return 0;
      },
      onError: (_, failures) => told.push(failures),
      onRecovery: () => told.push('recovered'),
    });
    await expect.poll(() => outcomes).toEqual([]);
    await rounds.stop();
    expect(pauses.slice(0, 4)).toEqual([1, 2, 0, 1]);
    expect(told).toEqual([1, 2, 'recovered', 1, 'recovered']);
  });
});

describe('the log of rounds', () => {
  const log = () => {
    const lines: string[] = [];
    const logger = createLogger('info', {
      write(line) {
        const { level, msg } = JSON.parse(line) as { level: number; msg: string };
        lines.push(`${level}: ${msg}`);
      },
    });
    const observer = logRounds(logger, 'sealing', (error) =>
      logger.event('audit_unsealed', { err: error }),
    );
    return { lines, observer };
  };

  test('states once that the database cannot be reached, whatever the error text, and once that work continues', () => {
    const { lines, observer } = log();
    observer.onError(new DatabaseUnreachableError('connect ECONNREFUSED'), 1);
    observer.onError(new DatabaseUnreachableError('the database system is starting up'), 2);
    observer.onRecovery?.();
    expect(lines).toEqual([`40: ${EVENTS.database_away.text}`, RESUMED]);
  });

  test('states any other error once, and again when it changes', () => {
    const { lines, observer } = log();
    for (const words of ['a', 'a', 'b']) observer.onError(new Error(words), 1);
    expect(lines).toEqual([NOT_SEALED, NOT_SEALED]);
  });

  test('logs an error that returns after it was over', () => {
    const { lines, observer } = log();
    observer.onError(new Error('a'), 1);
    observer.onRecovery?.();
    observer.onError(new Error('a'), 1);
    expect(lines).toEqual([NOT_SEALED, RESUMED, NOT_SEALED]);
  });
});
