import type { Request, Stage, TriageFlag } from './generated.ts';
import { ApiError, type Fetch, pause } from './transport.ts';

/** An event of a request, with data that depends on its name. */
export type RequestEvent = { id: number } & (
  | { name: 'status'; data: { status: Request['status']; previous: string | null; at: string } }
  | { name: 'stage'; data: Stage }
  | { name: 'triage'; data: TriageFlag }
  | {
      name: 'partial';
      data: {
        artifact: { name: string; media_type: string; url: string };
        section: string;
        caption: string;
      };
    }
  | { name: 'error'; data: NonNullable<Request['error']> }
  | { name: 'done'; data: Request }
  | { name: 'withdrawn'; data: Omit<NonNullable<Request['withdrawal']>, 'receivers'> }
);

const RECONNECT_MS = 1000;
/** Number of consecutive connection failures after which the last one is thrown. */
const MOST_FAILURES = 20;

/**
 * Yields the events of one connection (WHATWG HTML 9.2.6), leaving out comments and incomplete
 * events.
 */
async function* read(body: ReadableStream<Uint8Array>): AsyncGenerator<RequestEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block.split('\n').map((line) => [line.split(':', 1)[0], line.replace(/^\w*: ?/, '')]),
        );
        if (!fields.id || !fields.data) continue;
        const { id, event: name, data } = fields;
        yield { id: Number(id), name, data: JSON.parse(data) } as RequestEvent;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Yields the events of a request until it has ended, over as many connections as necessary. */
export async function* follow(
  fetch: Fetch,
  requestId: string,
  { after = 0, signal }: { after?: number; signal?: AbortSignal } = {},
): AsyncGenerator<RequestEvent> {
  let last = after;
  for (let failures = 0; ; ) {
    try {
      const answer = await fetch(`/v1/requests/${encodeURIComponent(requestId)}/events`, {
        headers: { 'Last-Event-ID': String(last) },
        ...(signal && { signal }),
      });
      if (answer.status === 204 || !answer.body) return;
      for await (const event of read(answer.body)) {
        failures = 0;
        last = event.id;
        yield event;
        if (event.name === 'done') return;
      }
    } catch (error) {
      failures += 1;
      if (error instanceof ApiError || signal?.aborted || failures > MOST_FAILURES) throw error;
    }
    await pause(RECONNECT_MS, signal);
  }
}
