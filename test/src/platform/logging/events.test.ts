import { glob, readFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../../../src/platform/logging/event.ts';
import { EVENTS } from '../../../../src/platform/logging/events.ts';
import { createLogger } from '../../../../src/platform/logging/logger.ts';
import { LOG_EVENTS_PAGE, renderLogEventsPage } from '../../../docs/generate.ts';

const ROOT = new URL('../../../../', import.meta.url).pathname;
const all: readonly (readonly [string, LogEvent])[] = Object.entries(EVENTS);

/** Returns every quoted text in a statement that logs, or chooses, an event. */
async function loggedIds(): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const path of glob('{src,dimse,fhir}/**/*.ts', { cwd: ROOT })) {
    const source = await readFile(`${ROOT}${path}`, 'utf8');
    for (const [statement] of source.matchAll(/\b(?:event|log)\b[^;]*/g)) {
      for (const [, id = ''] of statement.matchAll(/'(\w+)'/g)) ids.add(id);
    }
  }
  return ids;
}

describe('the table of log events', () => {
  test('contains only events that are logged', async () => {
    const logged = await loggedIds();
    expect(all.map(([id]) => id).filter((id) => !logged.has(id))).toEqual([]);
  });

  test('states for each error what to do', () => {
    const mute = all.filter(
      ([, { level, action, meaning }]) =>
        !meaning.endsWith('.') || (level === 'error' && action === undefined),
    );
    expect(mute).toEqual([]);
  });

  test('is the page docs/log-events.md', async () => {
    expect(await readFile(LOG_EVENTS_PAGE, 'utf8')).toBe(renderLogEventsPage());
  });
});

describe('a log line', () => {
  const lineOf = (write: (logger: ReturnType<typeof createLogger>) => void) => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    write(createLogger('debug', sink));
    return JSON.parse(lines[0] ?? '{}') as Record<string, unknown>;
  };

  test('in the table has the id of its event and keeps its fields', () => {
    expect(
      lineOf((logger) => logger.event('sign_in_failed', { code: 'x', err: null })),
    ).toMatchObject({
      event: 'sign_in_failed',
      code: 'x',
      msg: EVENTS.sign_in_failed.text,
    });
  });

  test('without fields has the id too', () => {
    expect(lineOf((logger) => logger.event('admin_shared'))).toMatchObject({
      event: 'admin_shared',
      msg: EVENTS.admin_shared.text,
    });
  });

  test('outside the table has no id', () => {
    expect(lineOf((logger) => logger.debug({ a: 1 }, 'something else'))).not.toHaveProperty(
      'event',
    );
  });
});
