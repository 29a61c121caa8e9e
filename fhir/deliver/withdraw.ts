import type { BundleEntry, DiagnosticReport, DocumentReference } from '@medplum/fhirtypes';
import type { Withdrawal } from '../../pipelines/contract/withdrawal.ts';
import type { Deliverer } from '../../src/core/outbox/delivery.ts';
import { NOT_PRESENT } from '../../src/core/outbox/withdrawals.ts';
import type { ResultSignature } from '../../src/core/studies/signed-results.ts';
import type { DeliveryMode } from '../client/delivery-mode.ts';
import { type Failure, FhirFailure, failureOf } from '../client/outcome.ts';
import type { FhirServer } from '../client/server.ts';
import { buildWithdrawalProvenance } from '../resources/diagnostic-report.ts';
import { resourceUrn, resultIdentifier, searchToken } from '../resources/identifiers.ts';
import { attemptLimits, type EhrDeps, noteSimplerMode, outcome, receiversOf } from './deliver.ts';
import {
  DRAFT,
  isDraft,
  isSameTime,
  isSigned,
  isSignedHere,
  partsOf,
  readPart,
  requestsOf,
  update,
} from './existing-report.ts';
import { postReport } from './post-report.ts';
import { nextAttempt } from './send-report.ts';

interface FhirWithdrawerDeps extends EhrDeps {
  /** Returns the withdrawal of a request's result. */
  withdrawalOf: (requestId: string) => Promise<Withdrawal>;
}

/** Creates the outbox deliverer that withdraws results from the configured EHRs. */
export function createFhirWithdrawer(deps: FhirWithdrawerDeps): Deliverer<'fhir-withdrawal'> {
  const receivers = receiversOf(deps);
  const limits = attemptLimits();
  return {
    kind: 'fhir-withdrawal',
    async send({ id, requestId, destination: name }, signal) {
      const receiver = receivers.get(name);
      if (!receiver) {
        const detail = `There is no EHR named "${name}".`;
        return outcome(failureOf('destination_not_configured', detail));
      }
      const { destination, server, mode } = receiver;
      const earlier = await deps.earlierRequests(requestId);
      const later = await deps.laterRequests(requestId);
      const draft = await deps.results.result(requestId, 0);
      try {
        const done = await withdrawReport(
          {
            resultSystem: destination.resultSystem,
            requestId,
            withdrawal: await deps.withdrawalOf(requestId),
            later,
            draftMadeAt: generatedAt(draft),
            own: await deps.signatures([requestId]),
            signed: await deps.signatures([...later, requestId, ...earlier]),
          },
          {
            server,
            mode: await mode.current(signal),
            learn: noteSimplerMode(id, receiver, deps),
            signal,
          },
        );
        limits.delivered(id);
        if (done === 0) return NOT_PRESENT;
        return { outcome: 'delivered', detail: `${done} resources are entered-in-error` };
      } catch (error) {
        if (!(error instanceof FhirFailure)) throw error;
        return outcome(limits.apply(id, error.reason));
      }
    },
  };
}

/** Returns `generated_at` of a stored result; null if the result was purged. */
function generatedAt(result: unknown): string | null {
  return typeof result === 'object' &&
    result !== null &&
    'generated_at' in result &&
    typeof result.generated_at === 'string'
    ? result.generated_at
    : null;
}

interface WithdrawnReport {
  resultSystem: string;
  requestId: string;
  withdrawal: Withdrawal;
  /** Later requests of the same study and endpoint. */
  later: readonly string[];
  /** When the draft was made, ISO 8601; null if it was purged. */
  draftMadeAt: string | null;
  /** The signatures of the withdrawn result. */
  own: readonly ResultSignature[];
  /** The signatures of all results of the study. */
  signed: readonly ResultSignature[];
}

interface Sending {
  server: FhirServer;
  mode: DeliveryMode;
  learn: (mode: DeliveryMode) => void;
  signal: AbortSignal;
}

/**
 * Sets the report of a result, its values, pictures and document to `entered-in-error`. Each
 * resource is written as it was read, so that what the EHR has changed or added is kept, and only
 * if the EHR still has that version. A resource that no longer exists is withdrawn already. The
 * ImagingStudy is left alone: it describes the images, and other reports may refer to it. A Provenance
 * says who withdrew the result and why.
 * @returns the number of resources that are `entered-in-error`; 0 if the EHR has nothing of the
 * result, or has replaced it by a later one.
 * @throws FhirFailure `ehr_already_verified` if people at the EHR have verified a part. Everything
 * else is withdrawn.
 */
async function withdrawReport(
  withdrawn: WithdrawnReport,
  { server, mode: first, learn, signal }: Sending,
): Promise<number> {
  let attempt = { mode: first, inlineBytes: -1, rebuilt: 0 };
  for (;;) {
    const found = await partsOfResult(server, withdrawn, signal);
    const entries = found.ours.map((resource) =>
      update(
        resource.resourceType === 'DocumentReference'
          ? { ...resource, status: 'entered-in-error', docStatus: 'entered-in-error' }
          : { ...resource, status: 'entered-in-error' },
      ),
    );
    try {
      if (entries.length > 0) {
        const entry = [...entries, provenanceEntry(withdrawn, found.ours)];
        const bundle = { resourceType: 'Bundle' as const, type: 'transaction' as const, entry };
        await postReport(server, bundle, attempt.mode, signal);
      }
    } catch (error) {
      if (!(error instanceof FhirFailure)) throw error;
      const next = nextAttempt(attempt, afterDeletion(error.reason));
      if (next === null) throw error;
      if (error.reason.simpler) learn(next.mode);
      attempt = next;
      continue;
    }
    const { verified } = found;
    if (verified.length === 0) return found.already + entries.length;
    const places = verified.join(', ');
    throw new FhirFailure(
      failureOf('ehr_already_verified', `Verified by people there, so not withdrawn: ${places}`),
    );
  }
}

/** If a resource was deleted after it was read (404, 410), the EHR is read again. */
const afterDeletion = (failure: Failure): Failure =>
  failure.status === 404 || failure.status === 410 ? { ...failure, rebuilds: 1 } : failure;

/** Returns the entry that records the withdrawal of these parts. The report comes first. */
function provenanceEntry(
  { requestId, withdrawal }: Pick<WithdrawnReport, 'requestId' | 'withdrawal'>,
  parts: readonly Part[],
): BundleEntry {
  const isReport = ({ resourceType }: Part) => resourceType === 'DiagnosticReport';
  const targets = [...parts.filter(isReport), ...parts.filter((part) => !isReport(part))];
  const resource = buildWithdrawalProvenance(
    requestId,
    withdrawal,
    targets.map(({ resourceType, id }) => ({ reference: `${resourceType}/${id}` })),
  );
  return {
    fullUrl: resourceUrn(requestId, 'Provenance/withdrawal'),
    resource,
    request: { method: 'PUT', url: `Provenance/${resource.id}` },
  };
}

type Part =
  | NonNullable<Awaited<ReturnType<typeof readPart>>>
  | DiagnosticReport
  | DocumentReference;

interface FoundParts {
  /** Parts that the EHR still has with the content that was sent. */
  ours: Part[];
  /** Number of resources that are `entered-in-error` already. */
  already: number;
  /** References of resources that people at the EHR have verified. */
  verified: string[];
}

async function partsOfResult(
  server: FhirServer,
  { resultSystem, requestId, later, draftMadeAt, own, signed }: WithdrawnReport,
  signal: AbortSignal,
): Promise<FoundParts> {
  const found: FoundParts = { ours: [], already: 0, verified: [] };
  const add = (part: Part, isOurs: boolean) => {
    if (part.status === 'entered-in-error') found.already += 1;
    else if (isOurs) found.ours.push(part);
    else found.verified.push(`${part.resourceType}/${part.id}`);
  };
  const isOwn = (at: string | undefined) =>
    [...own.map(({ at }) => at.getTime()), ...(draftMadeAt ? [Date.parse(draftMadeAt)] : [])].some(
      (time) => isSameTime(at, time),
    );
  const identifier = searchToken(resultIdentifier(resultSystem, requestId));
  for (const report of await server.search('DiagnosticReport', { identifier }, signal)) {
    const requests = requestsOf(report, resultSystem);
    if (!requests.includes(requestId)) continue;
    // A later result has replaced this one in the same report.
    if (!isOwn(report.issued) && requests.some((request) => later.includes(request))) continue;
    for (const reference of partsOf({ report })) {
      const part = await readPart(server, reference, signal);
      if (!part?.identifier?.some(({ system }) => system === resultSystem)) continue;
      const at = part.issued ?? report.issued;
      add(part, isDraft(part, at, signed) || isSigned(part, at, signed));
    }
    const { status, issued } = report;
    add(report, DRAFT.has(status) || isSignedHere({ status, at: issued }, signed));
  }
  const document = searchToken(resultIdentifier(resultSystem, requestId, 'DocumentReference'));
  for (const each of await server.search('DocumentReference', { identifier: document }, signal)) {
    const { docStatus, date } = each;
    // `status` is not tested: a superseded document is not current, but can still be read, so it is
    // withdrawn too.
    const isUnsigned = docStatus === undefined || docStatus === 'preliminary';
    add(each, isUnsigned || isSignedHere({ status: docStatus, at: date }, signed));
  }
  return found;
}
