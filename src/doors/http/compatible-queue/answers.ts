import { type Withdrawal, withdrawalText } from '../../../../pipelines/contract/withdrawal.ts';
import type { StoredEvent } from '../../../core/requests/events.ts';
import {
  FINAL_STATUS,
  type RequestRow,
  type RequestStatus,
  type Stage,
} from '../../../core/requests/request.ts';
import type { Problem } from '../../../platform/errors/problem.ts';

export const COMPATIBLE_QUEUE = '/queue';

/** Maps each field of a submit body to its place in a call of the compatible queue. */
const PLACES: ReadonlyMap<string, readonly string[]> = new Map([
  ['input', ['body']],
  ['webhook', ['query', 'fal_webhook']],
  ['priority', ['header', 'x-fal-queue-priority']],
]);

interface CompatibleError {
  message: string;
  /**
   * The error as text, or a list of faults in the form that the client's `fieldErrors` expects
   * (exchange 5.1).
   */
  detail: string | { loc: (string | number)[]; msg: string; type: 'value_error' }[];
  code: string;
  request_id?: string;
}

/**
 * Converts problem details to the form that the client of the compatible queue reads: plain JSON
 * (exchange 5.6).
 */
export function compatibleError(problem: Problem): CompatibleError {
  const { title, detail, code, errors, request_id } = problem;
  return {
    message: errors ? title : detail,
    detail:
      errors?.map((error) => ({
        loc: place(error.pointer),
        msg: error.detail,
        type: 'value_error' as const,
      })) ?? detail,
    code,
    ...(request_id && { request_id }),
  };
}

/** Converts a JSON Pointer to a location: `/input/files/0` → `body`, `files`, 0; '' → `body`. */
function place(pointer: string): (string | number)[] {
  if (pointer === '') return ['body'];
  const [field = '', ...rest] = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = rest.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return [...(PLACES.get(field) ?? ['body', field]), ...path];
}

/**
 * Status and body of the response if the request to be canceled has already ended (exchange 5.1).
 */
export const ALREADY_COMPLETED_STATUS = 400;
export function alreadyCompleted(detail: string): CompatibleError & { status: string } {
  return { status: 'ALREADY_COMPLETED', message: detail, detail, code: 'already_finished' };
}

/**
 * The three statuses of the compatible queue (exchange 5.3); only the result shows whether the
 * request succeeded.
 */
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

interface QueueLog {
  message: string;
  level: 'INFO' | 'WARN' | 'ERROR';
  source: 'USER';
  timestamp: string;
}

interface QueueStatus {
  status: (typeof QUEUE_STATUS)[RequestStatus];
  request_id: string;
  response_url: string;
  status_url: string;
  cancel_url: string;
  /** The number of requests ahead of this one while it waits. */
  queue_position?: number;
  logs?: QueueLog[];
  /** Run time in seconds once the request has ended; null if it never ran. */
  metrics?: { inference_time: number | null };
}

/**
 * Returns the status object of a request. `address` is this server's address without a trailing
 * slash.
 */
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

/**
 * Returns the log entries for an event: one for a stage, a critical flag, an error or a withdrawal,
 * none for other events.
 */
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
    case 'withdrawn':
      return log('WARN', `The result was withdrawn. ${withdrawalText(data as Withdrawal)}`);
    default:
      return [];
  }
}

/**
 * Yields a status whenever the request's status changes or it has new logs. Each contains only the
 * logs since the previous one, because the client appends them. COMPLETED is sent once, at the end
 * (exchange 5.1).
 * @param ended reads the request again after it has ended.
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

/**
 * Writes JSON in ASCII: the client decodes each chunk separately, which would break a multi-byte
 * character split between two chunks.
 */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
