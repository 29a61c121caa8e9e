import type { Queryable } from '../database/port.ts';
import { problem } from '../errors/problem.ts';
import { armWatch, type ChangeFeed } from './changes.ts';
import type { EventReader } from './core.ts';
import { type EventRecord, type LogEntry, listEvents, type StoredEvent } from './events.ts';
import { FINAL_STATUS } from './port.ts';
import type { RequestRow } from './row.ts';
import type { RequestObject } from './view.ts';

/** Looks again after this long even without a notification, in case one was lost. */
const RECHECK_MILLISECONDS = 5000;

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

  async function* follow(id: string, afterSeq: number, baseUrl: string, signal: AbortSignal) {
    const watch = armWatch(changes, id);
    let after = afterSeq;
    try {
      while (!signal.aborted) {
        const ended = FINAL_STATUS.has((await get(id))?.status ?? 'expired');
        for (const event of await list(id, after, baseUrl)) {
          yield event;
          after = event.seq;
          if (event.name === 'done') return;
        }
        if (ended) return;
        await watch.next(RECHECK_MILLISECONDS, signal);
      }
    } finally {
      watch.stop();
    }
  }

  return { list, follow };
}
