import type { Logger } from '../../platform/logging/logger.ts';
import type { AuditEntry, WriteAudit } from './audit.ts';

const WINDOW_MILLISECONDS = 60_000;
/**
 * Maximum number of combinations of action, key and address counted separately within a minute.
 * Further refusals share one count.
 */
const MOST_CALLERS = 1000;
const ELSEWHERE = 'several';

type Refusal = Pick<AuditEntry, 'action' | 'actor' | 'keyId' | 'address' | 'detail'>;

export interface RefusalAudit {
  refused(refusal: Refusal): void;
  /** Writes the counts not yet written. */
  stop(): Promise<void>;
}

/**
 * Creates the audit of refusals. The first refusal of an action to a key or an address within a
 * minute is audited at once. Further refusals are counted, and their number is audited at the end of
 * the minute, so that a flood of requests cannot fill the audit trail.
 */
export function createRefusalAudit(parts: {
  writeAudit: WriteAudit;
  logger: Logger;
  now?: () => Date;
  windowMilliseconds?: number;
}): RefusalAudit {
  const { writeAudit, logger, now = () => new Date() } = parts;
  const repeated = new Map<string, { last: Refusal; times: number }>();
  const write = async (refusal: Refusal, times: number): Promise<void> => {
    const detail = { ...refusal.detail, ...(times > 1 && { times }) };
    try {
      await writeAudit({ ...refusal, at: now(), outcome: 'refused', detail });
    } catch (error) {
      logger.event('refusal_unaudited', { err: error, action: refusal.action });
    }
  };
  const settle = async () => {
    const counted = [...repeated.values()].filter(({ times }) => times > 0);
    repeated.clear();
    for (const { last, times } of counted) await write(last, times);
  };
  const timer = setInterval(settle, parts.windowMilliseconds ?? WINDOW_MILLISECONDS);
  timer.unref();
  return {
    refused(refusal) {
      // Counted by address rather than by actor: a caller without a key chooses its own name, and
      // could use a new one for each call.
      const wanted = `${refusal.action} ${refusal.keyId ?? ''} ${refusal.address}`;
      const isKnown = repeated.has(wanted) || repeated.size < MOST_CALLERS;
      const key = isKnown ? wanted : ELSEWHERE;
      const before = repeated.get(key);
      repeated.set(key, { last: refusal, times: before ? before.times + 1 : 0 });
      if (!before) void write(refusal, 1);
    },
    async stop() {
      clearInterval(timer);
      await settle();
    },
  };
}
