import type { StoredEvent } from '../requests/events.ts';
import { FINAL_STATUS, type RequestStatus } from '../requests/port.ts';
import type { RequestRow, Stage } from '../requests/row.ts';

/** Path below which the compatible queue is served. */
export const COMPATIBLE_QUEUE = '/queue';

/** The three statuses of the compatible queue (interop 5.3); how it ended, the result tells. */
const QUEUE_STATUS = {
  queued: 'IN_QUEUE',
  preparing: 'IN_PROGRESS',
  running: 'IN_PROGRESS',
  succeeded: 'COMPLETED',
  failed: 'COMPLETED',
  canceled: 'COMPLETED',
  rejected: 'COMPLETED',
  expired: 'COMPLETED',
} as const satisfies Record<RequestStatus, string>;

export interface QueueLog {
  message: string;
  level: 'INFO' | 'WARN' | 'ERROR';
  source: 'USER';
  timestamp: string;
}

export interface QueueStatus {
  status: (typeof QUEUE_STATUS)[RequestStatus];
  request_id: string;
  response_url: string;
  status_url: string;
  cancel_url: string;
  /** While it waits: requests that are taken up before it. */
  queue_position?: number;
  logs?: QueueLog[];
  /** Once it has ended; seconds, or null when it never ran. */
  metrics?: { inference_time: number | null };
}

/** The status object of a request. `address` is the server's own, without a trailing slash. */
export function queueStatus(
  row: Pick<RequestRow, 'id' | 'model' | 'status' | 'started_at' | 'ended_at'>,
  address: string,
  { position = 0, logs }: { position?: number; logs?: QueueLog[] } = {},
): QueueStatus {
  const { id, model, status, started_at: started, ended_at: ended } = row;
  const url = `${address}${COMPATIBLE_QUEUE}/${model}/requests/${id}`;
  const seconds = started && ended ? (ended.getTime() - started.getTime()) / 1000 : null;
  return {
    status: QUEUE_STATUS[status],
    request_id: id,
    response_url: url,
    status_url: `${url}/status`,
    cancel_url: `${url}/cancel`,
    ...(status === 'queued' && { queue_position: position }),
    ...(logs && { logs }),
    ...(FINAL_STATUS.has(status) && { metrics: { inference_time: seconds } }),
  };
}

/** What an event says to a reader of logs: stages, critical flags and errors; else nothing. */
export function queueLogs({ name, data, at }: StoredEvent): QueueLog[] {
  const log = (level: QueueLog['level'], message: string): QueueLog[] => [
    { message, level, source: 'USER', timestamp: at.toISOString() },
  ];
  switch (name) {
    case 'stage':
      return log('INFO', (data as Stage).label);
    case 'triage':
      return log('WARN', (data as { display: string }).display);
    case 'error':
      return log('ERROR', (data as { detail: string }).detail);
    default:
      return [];
  }
}

/**
 * The status after each event of a request's log. Each carries the logs since the one before, since
 * the client adds them up, and COMPLETED comes once, as the last (interop 5.1).
 * @param ended reads the request again once it has ended.
 */
export async function* queueStatuses(
  events: AsyncIterable<StoredEvent>,
  row: RequestRow,
  address: string,
  position: number,
  ended: () => Promise<RequestRow | null>,
): AsyncGenerator<QueueStatus> {
  let status: RequestStatus = 'queued';
  let logs: QueueLog[] = [];
  for await (const event of events) {
    logs.push(...queueLogs(event));
    if (event.name === 'status') ({ status } = event.data as { status: RequestStatus });
    if (event.name === 'done') {
      yield queueStatus((await ended()) ?? { ...row, status }, address, { logs });
    } else if (!FINAL_STATUS.has(status) && (event.name === 'status' || logs.length > 0)) {
      yield queueStatus({ ...row, status }, address, { position, logs });
      logs = [];
    }
  }
}
