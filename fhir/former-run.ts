import type {
  BundleEntry,
  DocumentReference,
  Media,
  Observation,
  Reference,
} from '@medplum/fhirtypes';
import type { Draft, StudyResult } from './existing-report.ts';
import { resourceUrn, resultIdentifier, searchToken } from './identifiers.ts';
import { FhirFailure, failureOf } from './outcome.ts';
import type { FhirServer } from './server.ts';

/** What becomes of the parts of an earlier run that a later one does not replace in place. */
export interface FormerRun {
  /** The document of the newest earlier run; the new one replaces it. */
  document?: Reference<DocumentReference>;
  /** Entries that withdraw what the later run does not have, and end the former document. */
  withdrawals: BundleEntry[];
}

/**
 * Compares the draft at the receiver with the parts of the next result. Values that were not found
 * again are withdrawn (`entered-in-error`), so that no chart shows them beside the new ones; what a
 * person has verified, and what is not ours, is left alone.
 * @param next identifier values of the parts of the next result.
 * @throws FhirFailure `ehr_already_verified` when a value would be replaced that a person verified.
 */
export async function formerRun(
  server: Pick<FhirServer, 'read' | 'search'>,
  draft: Draft,
  { resultSystem, earlier }: Pick<StudyResult, 'resultSystem' | 'earlier'>,
  next: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<FormerRun> {
  const withdrawals: BundleEntry[] = [];
  for (const reference of partsOf(draft)) {
    const part = await readPart(server, reference, signal);
    const ours = part?.identifier?.find(({ system }) => system === resultSystem)?.value;
    if (!part || !ours) continue;
    const again = next.has(ours);
    if (again && !isDraft(part)) {
      throw new FhirFailure(
        failureOf('ehr_already_verified', `${reference} has status "${part.status}"`),
      );
    }
    if (!again && isDraft(part)) withdrawals.push(update({ ...part, status: 'entered-in-error' }));
  }
  const document = await formerDocument(server, draft, { resultSystem, earlier }, signal);
  if (document?.status === 'current' && document.docStatus === 'preliminary') {
    withdrawals.push(update({ ...document, status: 'superseded' }));
  }
  return { document: referenceTo(document), withdrawals };
}

/** References of the Observations and Media of a report. */
function partsOf({ report }: Draft): string[] {
  const links = [...(report.result ?? []), ...(report.media ?? []).map(({ link }) => link)];
  return links.flatMap(({ reference }) => reference ?? []);
}

async function readPart(
  server: Pick<FhirServer, 'read'>,
  reference: string,
  signal: AbortSignal,
): Promise<Observation | Media | null> {
  const [, type, id] = /(Observation|Media)\/([A-Za-z0-9.-]{1,64})$/.exec(reference) ?? [];
  if (id === undefined) return null;
  return type === 'Observation'
    ? server.read('Observation', id, signal)
    : server.read('Media', id, signal);
}

/** `Media.status` has no draft: a picture is ours to withdraw as long as it is `completed`. */
function isDraft(part: Observation | Media): boolean {
  return (
    part.status === 'preliminary' || part.status === 'registered' || part.resourceType === 'Media'
  );
}

async function formerDocument(
  server: Pick<FhirServer, 'search'>,
  draft: Draft,
  { resultSystem, earlier }: { resultSystem: string; earlier: readonly string[] },
  signal: AbortSignal,
): Promise<DocumentReference | undefined> {
  for (const request of earlier) {
    if (!draft.requests.includes(request)) continue;
    const identifier = resultIdentifier(resultSystem, request, 'DocumentReference');
    const [found] = await server.search(
      'DocumentReference',
      { identifier: searchToken(identifier), _count: '2' },
      signal,
    );
    if (found) return found;
  }
  return undefined;
}

function update(resource: Observation | Media | DocumentReference): BundleEntry {
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
