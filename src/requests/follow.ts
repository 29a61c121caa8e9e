import { batched } from '../database/batched.ts';
import type { Queryable } from '../database/port.ts';
import { problem } from '../errors/problem.ts';
import { armWatch, type ChangeFeed } from './changes.ts';
import type { EventReader } from './core.ts';
import {
  type EventRecord,
  type LogEntry,
  type LogPlace,
  listEvents,
  listEventsOfMany,
  listStatuses,
  type StoredEvent,
} from './events.ts';
import { FINAL_STATUS } from './port.ts';
import type { RequestRow } from './row.ts';
import type { RequestObject } from './view.ts';

interface FollowParts {
  database: Queryable;
  changes: ChangeFeed;
  get(id: string): Promise<RequestRow | null>;
  view(row: RequestRow, baseUrl: string): Promise<RequestObject>;
}

/** Reads and follows the stored log; what it shows carries the addresses the caller reached us by. */
export function createEventReader({ database, changes, get, view }: FollowParts): EventReader {
  const show = async (
    id: string,
    { seq, at, ...event }: EventRecord & LogEntry,
    baseUrl: string,
  ): Promise<StoredEvent> => {
    const self = `${baseUrl}/v1/requests/${id}`;
    switch (event.name) {
      case 'partial': {
        const url = `${self}/artifacts/${encodeURIComponent(event.data.artifact.name)}`;
        const artifact = { ...event.data.artifact, url };
        return { seq, at, name: event.name, data: { ...event.data, artifact } };
      }
      case 'error': {
        const { code, detail } = event.data;
        const data = problem(code, detail, baseUrl, { instance: `/v1/requests/${id}` });
        return { seq, at, name: event.name, data };
      }
      case 'done': {
        const row = await get(id);
        return { seq, at, name: event.name, data: row && (await view(row, baseUrl)) };
      }
      default:
        return { seq, at, ...event };
    }
  };

  const list = async (id: string, afterSeq: number, baseUrl: string) => {
    const events = await listEvents(database, id, afterSeq);
    return Promise.all(events.map((event) => show(id, event, baseUrl)));
  };

  /** Reads together what the followers that woke together ask for. */
  const readLog = batched(async (asked: readonly LogPlace[]) => {
    const statuses = await listStatuses(database, asked);
    const events = await listEventsOfMany(database, asked);
    return asked.map(({ id, after }) => ({
      // Read before the events, so that nothing can come after what an ended request is shown with.
      ended: FINAL_STATUS.has(statuses.get(id) ?? 'expired'),
      events: (events.get(id) ?? []).filter(({ seq }) => seq > after),
    }));
  });

  async function* follow(id: string, afterSeq: number, baseUrl: string, signal: AbortSignal) {
    const watch = armWatch(changes, id);
    let after = afterSeq;
    try {
      while (!signal.aborted) {
        const { ended, events } = await readLog({ id, after });
        for (const event of events) {
          yield await show(id, event, baseUrl);
          after = event.seq;
          if (event.name === 'done') return;
        }
        if (ended) return;
        await watch.next(signal);
      }
    } finally {
      watch.stop();
    }
  }

  return { list, follow };
}
