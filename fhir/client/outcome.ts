import type { OperationOutcome } from '@medplum/fhirtypes';
import type { Candidate } from '../../src/core/outbox/held.ts';
import {
  catalogueEntry,
  type ErrorCode,
  type FailureClass,
} from '../../src/platform/errors/catalogue.ts';

/** What an HTTP status from the EHR means for a delivery (exchange 1.10). */
interface StatusMeaning {
  code: ErrorCode;
  /**
   * How often the report at the receiver may be read again, and the bundle rebuilt, before the
   * delivery is given up.
   */
  rebuilds?: number;
  /** Number of attempts after which a transient failure is left to a person. */
  attempts?: number;
  /** Seconds for which the whole destination waits, unless the EHR specifies a time. */
  hold?: number;
  /** The EHR lacks the interaction; a simpler mode may work (delivery-mode.ts). */
  simpler?: true;
}

/**
 * After wrong credentials, the destination waits for a long time, so that our retries do not lock
 * the account.
 */
const UNAUTHORIZED: StatusMeaning = { code: 'ehr_unauthorized', hold: 300 };
const UNAVAILABLE: StatusMeaning = { code: 'ehr_unavailable' };
const REJECTED: StatusMeaning = { code: 'ehr_rejected' };
/** The EHR accepted the request but has not carried it out yet. */
const ACCEPTED: StatusMeaning = { code: 'ehr_ambiguous' };
const MISCONFIGURED: StatusMeaning = { code: 'ehr_misconfigured' };
const LACKING: StatusMeaning = { ...REJECTED, simpler: true };

/**
 * With this status, the base URL itself is missing. This affects every report, so the whole
 * destination waits.
 */
const NO_SUCH_BASE: StatusMeaning = { ...UNAVAILABLE, hold: 300 };

const STATUS: Readonly<Record<number, StatusMeaning>> = {
  202: ACCEPTED,
  401: UNAUTHORIZED,
  403: UNAUTHORIZED,
  405: LACKING,
  406: MISCONFIGURED,
  408: UNAVAILABLE,
  409: { ...REJECTED, rebuilds: 3 },
  412: { ...REJECTED, rebuilds: 1 },
  415: MISCONFIGURED,
  423: UNAVAILABLE,
  425: UNAVAILABLE,
  429: UNAVAILABLE,
  500: { ...UNAVAILABLE, attempts: 5 },
  501: LACKING,
};

/** Meaning of all other statuses, by their first digit. */
const STATUS_CLASS: Readonly<Record<number, StatusMeaning>> = {
  2: MISCONFIGURED,
  3: MISCONFIGURED,
  4: REJECTED,
  5: UNAVAILABLE,
};

/** Issue types in an OperationOutcome after which a retry may succeed. */
const PASSING_ISSUES: ReadonlySet<string> = new Set([
  'throttled',
  'transient',
  'timeout',
  'lock-error',
  'incomplete',
]);

/** Why a request to the EHR failed. `status` is null if the EHR itself did not respond. */
export interface Failure {
  failure: FailureClass;
  code: ErrorCode;
  /**
   * Contains nothing about the patient: only statuses, issue codes, element paths and, for a 412,
   * words that cannot identify a patient.
   */
  detail: string;
  status: number | null;
  retryAfter?: number;
  rebuilds?: number;
  attempts?: number;
  simpler?: true;
}

/** Thrown inside `fhir/`; a deliverer converts it to a `SendOutcome`. */
export class FhirFailure extends Error {
  override name = 'FhirFailure';
  readonly reason: Failure;
  /** Records for a person to choose from, if matching failed. */
  readonly candidates: readonly Candidate[];

  constructor(reason: Failure, candidates: readonly Candidate[] = []) {
    super(`${reason.code}: ${reason.detail}`);
    this.reason = reason;
    this.candidates = candidates;
  }
}

/** Returns a failure with this code and its retry class from the catalogue. */
export function failureOf(code: ErrorCode, detail: string): Failure {
  return { failure: catalogueEntry(code).retry, code, detail, status: null };
}

/**
 * Classifies the HTTP status of a response, or of an entry in it.
 * @param body the response, in any form; only an OperationOutcome is read.
 * @param retryAfter seconds that the EHR asked us to wait.
 */
export function classifyStatus(status: number, body: unknown, retryAfter?: number): Failure {
  const issues = issuesOf(body);
  const isBase = status !== 404 || issues.length > 0;
  const listed = isBase
    ? (STATUS[status] ?? STATUS_CLASS[Math.floor(status / 100)] ?? REJECTED)
    : NO_SUCH_BASE;
  const passing =
    issues.length > 0 && issues.every((issue) => PASSING_ISSUES.has(issue.code ?? ''));
  const meaning = listed.code === 'ehr_rejected' && passing ? UNAVAILABLE : listed;
  return {
    ...failureOf(meaning.code, [`HTTP ${status}`, ...describe(issues, status)].join('; ')),
    status,
    retryAfter: retryAfter ?? meaning.hold,
    rebuilds: meaning.rebuilds,
    attempts: meaning.attempts,
    simpler: meaning.simpler,
  };
}

type Issue = NonNullable<OperationOutcome['issue']>[number];

function issuesOf(body: unknown): readonly Issue[] {
  return isOperationOutcome(body) ? body.issue : [];
}

function isOperationOutcome(body: unknown): body is OperationOutcome & { issue: Issue[] } {
  return (
    typeof body === 'object' &&
    body !== null &&
    'resourceType' in body &&
    body.resourceType === 'OperationOutcome' &&
    'issue' in body &&
    Array.isArray(body.issue) &&
    body.issue.every((issue) => typeof issue === 'object' && issue !== null)
  );
}

/**
 * The words of `diagnostics` that are kept. All other words are replaced by an ellipsis, because an
 * EHR may quote names, identifiers and dates of the patient in any spelling.
 */
const KEPT_WORDS: ReadonlySet<string> = new Set(
  `a about all already an and any are as at be because been before but by can cannot conditional
  conflict constraint could create current delete does duplicate element elements error etag exist
  existing exists expected failed failure for found from given has have id identifier if in index
  integrity interaction invalid is it its key lock match matched matches matching met missing more
  multiple must no not of on one only operation or parameter parameters patch precondition provided
  read record records reference referenced requested request required resource resources result
  results returned save search server status than that the there this to transaction unable unique
  unsupported update url used value values version versions was were which with would`.split(/\s+/),
);
const RESOURCE_NAMES: ReadonlySet<string> = new Set([
  'Bundle',
  'Device',
  'DiagnosticReport',
  'ImagingStudy',
  'Observation',
  'Patient',
  'Provenance',
  'ServiceRequest',
]);
const LONGEST_DIAGNOSTICS = 160;

/** Reduces a text from the EHR to single-digit numbers and words that cannot identify a patient. */
function withoutIdentity(text: string): string {
  // Quoted text is a value, such as a URL, a name or an identifier.
  const plain = text.slice(0, 1000).replaceAll(/"[^"]*"?|'[^']*'?|`[^`]*`?/g, ' … ');
  const words = plain.split(/[^\p{L}\p{N}…]+/u).map((word) => {
    const kept = KEPT_WORDS.has(word.toLowerCase()) || RESOURCE_NAMES.has(word);
    return kept || /^\d$/.test(word) ? word : '…';
  });
  const shown = words.join(' ').replaceAll(/…(?: …)+/g, '…');
  return shown.length > LONGEST_DIAGNOSTICS ? `${shown.slice(0, LONGEST_DIAGNOSTICS)}…` : shown;
}

/**
 * Returns the EHR's explanation of a failed precondition (412), without identity; '' for any other
 * status or without an explanation.
 */
function diagnosticsOf({ diagnostics, details }: Issue, status: number): string {
  const said = diagnostics ?? details?.text;
  return status === 412 && typeof said === 'string' ? `: ${withoutIdentity(said)}` : '';
}

/**
 * Describes issues by code and element path, because `diagnostics` and `details` may quote the
 * patient's data. A 412 must be resolved by a person in the EHR, so its description also contains
 * those words of both texts that cannot identify the patient.
 */
function describe(issues: readonly Issue[], status: number): string[] {
  return issues.slice(0, 5).map((issue) => {
    const code = /^[a-z-]{1,40}$/.test(issue.code ?? '') ? issue.code : 'issue';
    const paths = (Array.isArray(issue.expression) ? issue.expression : []).filter((path) =>
      /^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*|\[\d+\])*$/.test(path),
    );
    const place = paths.length > 0 ? ` at ${paths.join(', ')}` : '';
    return `${code}${place}${diagnosticsOf(issue, status)}`;
  });
}
