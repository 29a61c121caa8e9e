import type { ConsoleEvent } from '../../../../src/doors/console/contract.ts';
import { readServerSentEvents } from '../../../peers/server-sent-events.ts';

export type SentEvent = ConsoleEvent & { id: string };

/**
 * Reads the stream of changes until `enough` returns true.
 * @param afterHello is called once the stream is open. Changes made from then on must appear in the
 * stream.
 */
export async function readEvents(
  url: string,
  cookie: string,
  enough: (events: readonly SentEvent[]) => boolean,
  afterHello: () => Promise<void> = async () => {},
  headers: Record<string, string> = {},
): Promise<SentEvent[]> {
  const gone = new AbortController();
  const answer = await fetch(`${url}/console/api/events`, {
    headers: { cookie, ...headers },
    signal: gone.signal,
  });
  if (!answer.ok || !answer.body) throw new Error(`the stream answers ${answer.status}`);
  const events: SentEvent[] = [];
  for await (const { id, event, data } of readServerSentEvents(answer.body)) {
    events.push({ id, type: event, data: JSON.parse(data) } as SentEvent);
    if (event === 'hello') await afterHello();
    if (enough(events)) break;
  }
  gone.abort();
  return events;
}
