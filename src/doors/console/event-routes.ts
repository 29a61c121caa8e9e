import type { Router } from '@koa/router';
import { eventFrame, RECONNECT, sendEventStream } from '../http/event-stream.ts';
import { auditStudies } from './audit.ts';
import type { ChangeBatch } from './changes.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type { ConsoleEvent } from './contract.ts';
import { readDeliveries, shownDelivery } from './deliveries.ts';
import { needs } from './guard.ts';
import { type ConsoleSession, watchSession } from './sessions.ts';
import { readRows, showRow, withGlances } from './worklist.ts';

/** Adds `GET /events`: the changes that the session's role may see. */
export function addEventRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  router.get('/events', needs('read'), (context) => {
    const after = context.get('Last-Event-ID') || null;
    const { session } = context.state;
    const audited = new Set<string>();
    /**
     * Records in the audit trail the identities that the stream sends. Each is recorded once per
     * stream.
     */
    const audit = async (keys: readonly string[]) => {
      const fresh = keys.filter((key) => !audited.has(key));
      for (const key of fresh) audited.add(key);
      await auditStudies(context, fresh, 'worklist', deps);
    };
    sendEventStream(context, deps, (signal) => frames(after, session, deps, audit, signal));
  });
}

async function* frames(
  after: string | null,
  session: ConsoleSession,
  deps: ConsoleDeps,
  audit: (keys: readonly string[]) => Promise<void>,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const at = () => deps.now().toISOString();
  const { over, stop } = watchSession(session, deps);
  try {
    let first = true;
    let told = after ?? '0.0';
    yield RECONNECT;
    for await (const batch of deps.changes.follow(after, AbortSignal.any([gone, over]))) {
      if (over.aborted) break;
      if (first) yield eventFrame('hello', { at: at() }, batch.cursor);
      if (batch.lost) yield eventFrame('reset', { at: at() }, batch.cursor);
      first = false;
      const events = await eventsOf(batch, session, deps, audit);
      for (const [n, event] of events.entries()) {
        // Only the last event of a batch carries the new cursor, so a client that is disconnected
        // within a batch receives the whole batch again.
        yield eventFrame(event.type, event.data, n === events.length - 1 ? batch.cursor : told);
      }
      told = batch.cursor;
    }
    if (over.aborted) yield eventFrame('session', { at: at() }, '0.0');
  } finally {
    stop();
  }
}

async function eventsOf(
  { changes }: ChangeBatch,
  { role }: ConsoleSession,
  deps: ConsoleDeps,
  audit: (keys: readonly string[]) => Promise<void>,
): Promise<ConsoleEvent[]> {
  const { database, core, showSubject } = deps;
  const rows = await readRows(database, [...new Set(changes.map(({ key }) => key))]);
  const listed = await withGlances(rows, { database, result: core.result });
  const ids = new Set(changes.flatMap(({ delivery_id }) => delivery_id ?? []));
  const deliveries = ids.size > 0 ? await readDeliveries(database, [...ids]) : [];
  const named = [...listed, ...deliveries].filter(({ identity }) => identity !== null);
  await audit(named.flatMap(({ key }) => key ?? []));
  return [
    ...listed.map(
      (row): ConsoleEvent => ({ type: 'row', data: { row: showRow(row, role, showSubject) } }),
    ),
    ...deliveries.map(
      (row): ConsoleEvent => ({ type: 'delivery', data: shownDelivery(row, role, deps) }),
    ),
  ];
}
