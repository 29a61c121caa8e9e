import { glob, readFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { LOG_EVENTS_PAGE, renderLogEventsPage } from '../../../../src/app/cli/docs.ts';
import { LOG_EVENTS } from '../../../../src/platform/logging/events/catalogue.ts';
import { createLogger } from '../../../../src/platform/logging/logger.ts';

const ROOT = new URL('../../../../', import.meta.url).pathname;

/**
 * Calls of a logger at a level that an operator reads, with all that stands between the brackets, and
 * of `startCleaning`, which is handed its line.
 */
const CALL =
  /(?:\blogger|Logger)\??(?:\.(?:info|warn|error)|\[level\])\(|#log\(|\blog\('(?=info|warn|error)|\bstartCleaning\(/g;

/** The texts that the code logs: the string literals that are arguments of their own. */
async function textsInCode(): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for await (const path of glob('{src,dimse,fhir}/**/*.ts', { cwd: ROOT })) {
    if (path.startsWith('src/console/pages/')) continue;
    const source = await readFile(`${ROOT}${path}`, 'utf8');
    for (const call of source.matchAll(CALL)) {
      const text = textOf(argumentsAt(source, call.index + call[0].lastIndexOf('(')));
      if (text !== null) texts.set(text, path);
    }
  }
  return texts;
}

/** The top-level arguments of the call whose bracket opens at `open`. */
function argumentsAt(source: string, open: number): string[] {
  const parts: string[] = [''];
  let depth = 0;
  let quote = '';
  for (let at = open; at < source.length; at++) {
    const character = source[at] as string;
    if (quote) quote = character === quote && source[at - 1] !== '\\' ? '' : quote;
    else if (`'"\``.includes(character)) quote = character;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (depth === 0) break;
    if (depth === 1 && character === ',' && !quote) parts.push('');
    else if (at > open) parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

const LEVELS = ["'info'", "'warn'", "'error'", "'debug'"];

function textOf(parts: readonly string[]): string | null {
  const literal = parts.find((part) => /^'.*'$/s.test(part) && !LEVELS.includes(part));
  return literal?.slice(1, -1).replaceAll("\\'", "'") ?? null;
}

describe('the table of log events', () => {
  test('has every line that the code logs at info or above, and no other', async () => {
    const texts = await textsInCode();
    const listed = new Set<string>(Object.values(LOG_EVENTS).map(({ text }) => text));
    expect([...texts].filter(([text]) => !listed.has(text))).toEqual([]);
    expect([...listed].filter((text) => !texts.has(text))).toEqual([]);
  });

  test('says of each warning and error what to do', () => {
    const mute = Object.entries(LOG_EVENTS).filter(
      ([, { level, action, meaning }]) =>
        !meaning.endsWith('.') || (level === 'error' && action === null),
    );
    expect(mute).toEqual([]);
  });

  test('is the page docs/log-events.md', async () => {
    expect(await readFile(LOG_EVENTS_PAGE, 'utf8')).toBe(renderLogEventsPage());
  });
});

describe('a line of the log', () => {
  const lineOf = (write: (logger: ReturnType<typeof createLogger>) => void) => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    write(createLogger('info', sink));
    return JSON.parse(lines[0] ?? '{}') as Record<string, unknown>;
  };

  test('of the table has the id of its event and keeps its fields', () => {
    expect(lineOf((logger) => logger.warn({ code: 'x' }, 'association rejected'))).toMatchObject({
      event: 'association_rejected',
      code: 'x',
      msg: 'association rejected',
    });
  });

  test('without fields has it too', () => {
    expect(lineOf((logger) => logger.info('gateway started'))).toMatchObject({
      event: 'gateway_started',
      msg: 'gateway started',
    });
  });

  test('outside the table has none', () => {
    expect(lineOf((logger) => logger.info({ a: 1 }, 'something else'))).not.toHaveProperty('event');
  });
});
