import { classifyStatus, type Failure, failureOf, retryAfterSeconds } from './outcome.ts';

/** Errors that end a connection before a byte of the request has left. */
const BEFORE_SENDING =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|CERT_.*|.*SELF_SIGNED.*|UNABLE_TO_.*)$/;

/** What fhir-kit-client throws for an answer that is not 2xx, or not JSON. */
interface AnswerError {
  response: { status: number; data: unknown };
  config: { headers: Headers };
}

/**
 * Classifies what a call threw. A write whose answer was lost may have been committed: ambiguous.
 * No message of the error is kept, since it can hold the address with its credentials.
 */
export function classifyFetchError(error: unknown, interaction: 'read' | 'write'): Failure {
  if (isAnswerError(error)) return classifyAnswer(error, interaction);
  const code = causeCode(error);
  if (interaction === 'read' || BEFORE_SENDING.test(code)) {
    return failureOf('ehr_unavailable', `No answer: ${code}`);
  }
  return failureOf('ehr_ambiguous', `The answer was lost: ${code}`);
}

/** Whether a failure was an answer with one of these statuses. */
export function hasAnswer(failure: Failure, statuses: readonly number[]): boolean {
  return failure.status !== null && statuses.includes(failure.status);
}

function classifyAnswer(error: AnswerError, interaction: 'read' | 'write'): Failure {
  const { status, data } = error.response;
  const { headers } = error.config;
  // A 2xx arrives here only because its body could not be parsed.
  const cutShort = status < 300 && /json/.test(headers.get('content-type') ?? '');
  if (cutShort) {
    const code = interaction === 'write' ? 'ehr_ambiguous' : 'ehr_unavailable';
    return { ...failureOf(code, `HTTP ${status} with damaged JSON`), status };
  }
  return classifyStatus(status, data, retryAfterSeconds(headers.get('retry-after')));
}

function isAnswerError(error: unknown): error is AnswerError {
  return (
    error instanceof Error &&
    'response' in error &&
    typeof error.response === 'object' &&
    error.response !== null &&
    'status' in error.response &&
    'config' in error &&
    typeof error.config === 'object' &&
    error.config !== null &&
    'headers' in error.config &&
    error.config.headers instanceof Headers
  );
}

/** The system's code of the innermost cause, else the name of the error. */
function causeCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.cause instanceof Error) return causeCode(error.cause);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
