import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startCleaning } from '../../../../src/app/wiring/cleaning.ts';
import { createLogger, silentLogger } from '../../../../src/platform/logging/logger.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('cleaning', () => {
  it('is done at startup, and again an hour after it has ended', async () => {
    let cleaned = 0;
    const clean = async () => {
      cleaned += 1;
    };
    const cleaning = startCleaning(clean, () => {}, silentLogger);
    expect(cleaned).toBe(1);
    await vi.advanceTimersByTimeAsync(HOUR_MS - 1);
    expect(cleaned).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(cleaned).toBe(2);
    await cleaning.stop();
    await vi.advanceTimersByTimeAsync(2 * HOUR_MS);
    expect(cleaned).toBe(2);
  });

  it('that is running is waited for on stopping', async () => {
    const work = Promise.withResolvers<void>();
    const cleaning = startCleaning(
      () => work.promise,
      () => {},
      silentLogger,
    );
    let stopped = false;
    const end = cleaning.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(1);
    expect(stopped).toBe(false);
    work.resolve();
    await end;
    expect(stopped).toBe(true);
  });

  it('that fails is logged and tried again', async () => {
    const lines: string[] = [];
    const logger = createLogger('warn', { write: (line) => lines.push(line) });
    let cleaned = 0;
    const clean = async () => {
      cleaned += 1;
      throw new Error('away');
    };
    const cleaning = startCleaning(
      clean,
      (err) => logger.event('uploads_not_removed', { err }),
      logger,
    );
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    await cleaning.stop();
    expect(cleaned).toBe(2);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ event: 'uploads_not_removed' }]);
  });
});
