import type { ErrorCode } from '../errors/catalogue.ts';
import type { RequestStatus } from '../requests/port.ts';
import type { StoredRequest } from '../requests/row.ts';
import type { RunOutcome } from './pipeline-process.ts';
import type { WorkerOptions } from './worker.ts';

type Told = Pick<WorkerOptions, 'config' | 'logger'>;

/** A reason to end the request without a result. */
export class Refusal extends Error {
  readonly to: RequestStatus;
  readonly code: ErrorCode;
  readonly detail: string;

  constructor(to: 'failed' | 'rejected', code: ErrorCode, detail: string) {
    super(detail);
    this.to = to;
    this.code = code;
    this.detail = detail;
  }
}

/** The run was broken off before the pipeline began, or after it had ended. */
export class InterruptedError extends Error {
  override name = 'InterruptedError';
}

/** The pipeline found the disk full. */
export class OutOfSpaceError extends Error {
  override name = 'OutOfSpaceError';
}

export function refusalOf(
  outcome: Extract<RunOutcome, { type: 'rejected' | 'failed' | 'timeout' }>,
  row: StoredRequest,
  { config, logger }: Told,
): Refusal {
  switch (outcome.type) {
    case 'rejected':
      return new Refusal('rejected', outcome.code, outcome.detail);
    case 'timeout': {
      const detail = `The pipeline was ended after ${config.worker.timeoutSeconds} s.`;
      return new Refusal('failed', 'pipeline_timeout', detail);
    }
    case 'failed':
      logger.error({ request: row.id, error: outcome.message }, 'pipeline failed');
      return new Refusal('failed', 'pipeline_failed', 'The pipeline ended with an error.');
  }
}

export function outOfSpace({ id, attempts }: StoredRequest, { logger }: Told): Refusal {
  logger.error({ request: id, attempts }, 'the disk has no room for the request');
  const detail = `The disk was full in ${attempts} attempts to run the request.`;
  return new Refusal('failed', 'out_of_space', detail);
}

export function asRefusal(error: unknown, row: StoredRequest, { logger }: Told): Refusal {
  if (error instanceof Refusal) return error;
  logger.error({ request: row.id, error: String(error) }, 'request failed unexpectedly');
  return new Refusal('failed', 'internal', 'An unexpected error of the gateway.');
}
