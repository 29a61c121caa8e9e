import { statSync } from 'node:fs';
import type { Routing } from '../../../../config/routing.ts';
import { EVENTS } from '../../../platform/logging/events.ts';
import type { Logger } from '../../../platform/logging/logger.ts';
import { requireKnownAttributes } from './attribute-values.ts';

/** The current routing rules. */
export interface RulesSource {
  current(): Routing;
  stop(): void;
}

export function fixedRules(routing: Routing): RulesSource {
  return { current: () => routing, stop() {} };
}

const LOOK_MILLISECONDS = 1000;

/**
 * Follows a file of rules: after a change it is read again, and applied completely or not at all. A
 * file with a mistake is logged, and the previous rules stay in force.
 * @param read reads and checks the file. @throws what is wrong with it.
 */
export function followRules(
  file: string,
  { first, read, logger }: { first: Routing; read: () => Routing; logger: Logger },
): RulesSource {
  let routing = first;
  let seen = 0;
  const look = () => {
    try {
      const changed = statSync(file).mtimeMs;
      if (changed === seen) return;
      seen = changed;
      const next = read();
      requireKnownAttributes(next);
      if (JSON.stringify(next) === JSON.stringify(routing)) return;
      routing = next;
      logger.event(EVENTS.rulesChanged, { rules: next.rules.map(({ name }) => name) });
    } catch (error) {
      logger.event(EVENTS.rulesUnchanged, { error: String(error) });
    }
  };
  // Polls the modification time: editors and orchestrators replace files, which ends other kinds of
  // watch.
  const timer = setInterval(look, LOOK_MILLISECONDS).unref();
  return { current: () => routing, stop: () => clearInterval(timer) };
}
