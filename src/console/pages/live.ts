import type { ConsoleEvent } from '../contract.ts';
import { API } from './api.ts';

export interface LiveStream {
  /** False while changes do not arrive; the browser connects again by itself. */
  connected(): boolean;
  close(): void;
}

const TYPES = [
  'hello',
  'reset',
  'row',
  'delivery',
  'session',
] as const satisfies readonly ConsoleEvent['type'][];

/**
 * Follows the changes of the gateway. The browser connects again with `Last-Event-ID`, so nothing is
 * missed; where the server cannot resume it says `reset`.
 * @param turned is called when the stream is lost or back.
 */
export function followChanges(
  changed: (event: ConsoleEvent) => void,
  turned: () => void,
): LiveStream {
  const source = new EventSource(`${API}/events`);
  let connected = true;
  const turn = (now: boolean) => {
    if (now === connected) return;
    connected = now;
    turned();
  };
  source.addEventListener('open', () => turn(true));
  source.addEventListener('error', () => turn(false));
  for (const type of TYPES) {
    source.addEventListener(type, (message: MessageEvent<string>) => {
      changed({ type, data: JSON.parse(message.data) } as ConsoleEvent);
    });
  }
  return { connected: () => connected, close: () => source.close() };
}
