import { setTimeout as delay } from 'node:timers/promises';
import type {
  BundleEntry,
  DiagnosticReport,
  DocumentReference,
  Identifier,
  Media,
  Observation,
  Reference,
} from '@medplum/fhirtypes';
import type { ResultSignature } from '../../src/core/studies/signed-results.ts';
import { FhirFailure, failureOf } from '../client/outcome.ts';
import type { FhirServer } from '../client/server.ts';
import { resourceUrn, resultIdentifier, searchToken } from '../resources/identifiers.ts';

/** Statuses of a draft, which may be replaced. Any other status was set by a person. */
export const DRAFT: ReadonlySet<DiagnosticReport['status']> = new Set([
  'registered',
  'partial',
  'preliminary',
]);

interface StudyResult {
  /** Signed revision of the result; 0 for the draft. */
  signedRevision: number;
  resultSystem: string;
  requestId: string;
  /** Earlier requests of the same study and endpoint, newest first. */
  earlier: readonly string[];
  /** Later requests of the same study and endpoint, newest first. */
  later: readonly string[];
  /** `generated_at` of the result, ISO 8601. */
  generatedAt: string;
  /** The signatures of results of the study in the gateway. */
  signed: readonly ResultSignature[];
  /** The requests of the study whose results were withdrawn. */
  withdrawn: readonly string[];
}

/**
 * Returns true if a time stored by a receiver is the one that was sent. A receiver may truncate or
 * round it to the second, the coarsest precision that an `instant` allows.
 */
export const isSameTime = (stored: string | undefined, sent: number): boolean =>
  Math.abs(Date.parse(stored ?? '') - sent) < 1000;

const isLater = (stored: string | undefined, sent: number): boolean =>
  Date.parse(stored ?? '') > sent && !isSameTime(stored, sent);

/**
 * Returns true if the status of a resource was set by signing in the gateway and nobody at the
 * receiver has changed it since. Such a resource has the time of one of the signatures in `signed`,
 * and the status that this signature gave it.
 */
export function isSignedHere(
  { status, at }: { status?: string | undefined; at?: string | undefined },
  signed: readonly ResultSignature[],
): boolean {
  return signed.some(
    (signature) => isSameTime(at, signature.at.getTime()) && status === signature.status,
  );
}

/** A study's report at the receiver, which this result may replace. */
export interface FormerReport {
  report: DiagnosticReport;
  /**
   * The request whose id identifies the report and its parts: the one whose report reached the
   * receiver first.
   */
  key: string;
  /** Every request whose result the report contains or has replaced. */
  requests: readonly string[];
}

/** Why a result is not sent: the receiver has a signed report, or one from a later run. */
export type Outdated = 'signed' | 'newer';

/**
 * Finds a study's report at the receiver.
 * @returns the report to replace; `signed` if this is a draft and the report was signed in the
 * gateway; `newer` if the report belongs to a later run, and both are drafts or both are signed;
 * null if there is no report.
 * @throws FhirFailure `ehr_already_verified` if a person has verified, amended or retracted it at
 * the receiver.
 */
export async function existingReport(
  server: Pick<FhirServer, 'search'>,
  study: StudyResult,
  signal: AbortSignal,
): Promise<FormerReport | Outdated | null> {
  const { resultSystem, requestId, earlier, generatedAt, signedRevision, signed } = study;
  for (const id of [requestId, ...earlier]) {
    const identifier = resultIdentifier(resultSystem, id);
    const answer = await server.search(
      'DiagnosticReport',
      { identifier: searchToken(identifier), _count: '10' },
      signal,
    );
    const all = answer.filter((report) => requestsOf(report, resultSystem).includes(id));
    const reports = all.filter((report) => !isWithdrawn(report, study));
    if (reports.length === 0 && all.some((report) => isOfLater(report, study))) return 'newer';
    const verified = reports.find(
      ({ status, issued }) => !DRAFT.has(status) && !isSignedHere({ status, at: issued }, signed),
    );
    if (verified) {
      throw new FhirFailure(
        failureOf('ehr_already_verified', `The report has status "${verified.status}"`),
      );
    }
    const [report] = reports;
    if (!report) continue;
    if (signedRevision === 0 && !DRAFT.has(report.status)) return 'signed';
    // A signed result replaces every draft, even one from a later run.
    const replacesDraft = signedRevision > 0 && DRAFT.has(report.status);
    if (!replacesDraft && isLater(report.issued, Date.parse(generatedAt))) return 'newer';
    const identifiers = ours(report, resultSystem);
    const official = identifiers.find(({ use }) => use === 'official') ?? identifiers[0];
    return {
      report,
      key: official?.value ?? id,
      requests: requestsOf(report, resultSystem),
    };
  }
  return null;
}

/**
 * Returns true if a report was retracted because its result was withdrawn in the gateway. The next
 * result of the study is a new report.
 */
const isWithdrawn = (report: DiagnosticReport, { resultSystem, withdrawn }: StudyResult) =>
  report.status === 'entered-in-error' &&
  requestsOf(report, resultSystem).some((request) => withdrawn.includes(request));

/**
 * Returns true if a report contains the result of a later request, or contained it before it was
 * withdrawn.
 */
const isOfLater = (report: DiagnosticReport, { resultSystem, later }: StudyResult) =>
  requestsOf(report, resultSystem).some((request) => later.includes(request));

/** Returns every request whose result a report contains or has replaced. */
export const requestsOf = (report: DiagnosticReport, resultSystem: string): string[] =>
  ours(report, resultSystem).flatMap(({ value }) => value ?? []);

function ours({ identifier = [] }: DiagnosticReport, resultSystem: string): Identifier[] {
  return identifier.filter(({ system }) => system === resultSystem);
}

/** The parts of the earlier run that the later run withdraws or supersedes. */
interface FormerRun {
  /**
   * The document that another run added to the report. The document of the next result replaces it.
   */
  document?: Reference<DocumentReference>;
  /**
   * Entries that withdraw the parts missing in the later run, and supersede the former document.
   */
  withdrawals: BundleEntry[];
}

/**
 * Compares the report at the receiver with the parts of the next result. Values missing in the next
 * result are withdrawn (`entered-in-error`), so that no chart shows them next to the new ones.
 * Parts that a person has verified at the receiver, and parts that are not ours, are left
 * unchanged.
 * @param next identifier values of the next result's parts.
 * @throws FhirFailure `ehr_already_verified` if a value verified by a person would be replaced.
 */
export async function formerRun(
  server: Pick<FhirServer, 'read' | 'search'>,
  former: FormerReport,
  { resultSystem, earlier, later, signedRevision, signed }: StudyResult,
  next: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<FormerRun> {
  const withdrawals: BundleEntry[] = [];
  for (const reference of partsOf(former)) {
    const part = await readPart(server, reference, signal);
    const ours = part?.identifier?.find(({ system }) => system === resultSystem)?.value;
    if (!part || !ours) continue;
    const again = next.has(ours);
    const at = part.issued ?? former.report.issued;
    const replaceable =
      isDraft(part, at, signed) || (signedRevision > 0 && isSigned(part, at, signed));
    if (again && !replaceable) {
      throw new FhirFailure(
        failureOf('ehr_already_verified', `${reference} has status "${part.status}"`),
      );
    }
    if (!again && replaceable) withdrawals.push(update({ ...part, status: 'entered-in-error' }));
  }
  const document = await formerDocument(
    server,
    former,
    { resultSystem, others: [...later, ...earlier] },
    signal,
  );
  const { docStatus, date } = document ?? {};
  const replaceable =
    docStatus === 'preliminary' || isSignedHere({ status: docStatus, at: date }, signed);
  if (document?.status === 'current' && replaceable) {
    withdrawals.push(update({ ...document, status: 'superseded' }));
  }
  return { document: referenceTo(document), withdrawals };
}

export function partsOf({ report }: Pick<FormerReport, 'report'>): string[] {
  const links = [...(report.result ?? []), ...(report.media ?? []).map(({ link }) => link)];
  return links.flatMap(({ reference }) => reference ?? []);
}

export async function readPart(
  server: Pick<FhirServer, 'read'>,
  reference: string,
  signal: AbortSignal,
): Promise<Observation | Media | null> {
  const [, type, id] =
    /(Observation|Media)\/([A-Za-z0-9.-]{1,64})(?:\/_history\/[^/]+)?$/.exec(reference) ?? [];
  if (id === undefined) return null;
  return type === 'Observation'
    ? server.read('Observation', id, signal)
    : server.read('Media', id, signal);
}

/**
 * Returns true if a part is a draft. `Media.status` has no value for a draft: a picture is
 * `completed` before and after the signature, and only its time shows whether it was signed.
 */
export function isDraft(
  part: Observation | Media,
  at: string | undefined,
  signed: readonly ResultSignature[],
): boolean {
  return part.resourceType === 'Media'
    ? part.status === 'completed' && !isSigned(part, at, signed)
    : part.status === 'preliminary' || part.status === 'registered';
}

/** Returns true if a part was signed in the gateway and nobody at the receiver has changed it. */
export function isSigned(
  part: Observation | Media,
  at: string | undefined,
  signed: readonly ResultSignature[],
): boolean {
  return part.resourceType === 'Media'
    ? part.status === 'completed' &&
        signed.some((signature) => isSameTime(at, signature.at.getTime()))
    : isSignedHere({ status: part.status, at }, signed);
}

/**
 * Returns a document that another run added to the report: the one that is current or, if none is,
 * that of the newest run.
 */
async function formerDocument(
  server: Pick<FhirServer, 'search'>,
  former: FormerReport,
  { resultSystem, others }: { resultSystem: string; others: readonly string[] },
  signal: AbortSignal,
): Promise<DocumentReference | undefined> {
  const documents: DocumentReference[] = [];
  for (const request of others) {
    if (!former.requests.includes(request)) continue;
    const identifier = resultIdentifier(resultSystem, request, 'DocumentReference');
    const [found] = await server.search(
      'DocumentReference',
      { identifier: searchToken(identifier), _count: '2' },
      signal,
    );
    if (found?.status === 'current') return found;
    if (found) documents.push(found);
  }
  return documents[0];
}

/** Returns an entry that changes a resource, unless somebody has changed it since it was read. */
export function update(
  resource: DiagnosticReport | Observation | Media | DocumentReference,
): BundleEntry {
  const reference = `${resource.resourceType}/${resource.id}`;
  const version = resource.meta?.versionId;
  return {
    fullUrl: resourceUrn(reference, 'former'),
    resource,
    request: { method: 'PUT', url: reference, ifMatch: version && `W/"${version}"` },
  };
}

function referenceTo(document?: DocumentReference): Reference<DocumentReference> | undefined {
  return document && { reference: `DocumentReference/${document.id}` };
}

const LOOK_EVERY_MS = 500;

/**
 * Waits for the report of a result that the receiver has accepted but not yet processed (202). The
 * report itself is searched for, because servers differ in what they return at the status URL of a
 * transaction.
 * @returns `DiagnosticReport/<id>`; null if the report does not appear in time, or if `signal`
 * aborts.
 */
export async function laterArrival(
  server: Pick<FhirServer, 'search'>,
  result: StudyResult,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<string | null> {
  const deadline = Date.now() + timeoutSeconds * 1000;
  while (Date.now() < deadline && !signal.aborted) {
    const found = await existingReport(server, result, signal);
    const isIt =
      found !== null &&
      typeof found === 'object' &&
      found.requests.includes(result.requestId) &&
      isSameTime(found.report.issued, Date.parse(result.generatedAt));
    if (isIt) return `DiagnosticReport/${found.report.id}`;
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
  return null;
}
