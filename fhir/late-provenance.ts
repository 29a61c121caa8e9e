import type { Bundle, Provenance, Resource } from '@medplum/fhirtypes';
import { withReferences } from './references.ts';
import type { FhirServer, TransactionReceipt } from './server.ts';

/**
 * The Provenance taken out of a transaction, for a receiver that refuses ids chosen by the client
 * (interop 1.6): it has no identifier to be conditional on, so it must follow by itself.
 */
export function detachProvenance(bundle: Bundle): { rest: Bundle; provenance: Provenance | null } {
  const entries = bundle.entry ?? [];
  const isProvenance = (resource?: Resource): resource is Provenance =>
    resource?.resourceType === 'Provenance';
  const provenance = entries.map(({ resource }) => resource).find(isProvenance) ?? null;
  const entry = entries.filter(({ resource }) => !isProvenance(resource));
  return { rest: { ...bundle, entry }, provenance };
}

/**
 * Creates the Provenance of a committed transaction, once: one of the same recording that already
 * has the report as its target is the one of an earlier attempt.
 * @returns false where the receiver did not say where its resources are, so that none can be made.
 */
export async function addProvenance(
  server: FhirServer,
  provenance: Provenance,
  committed: { bundle: Bundle; receipt: TransactionReceipt },
  signal: AbortSignal,
): Promise<boolean> {
  const resolved = resolve(provenance, committed.bundle, committed.receipt);
  const [target] = resolved?.target ?? [];
  if (!resolved || !target?.reference) return false;
  const earlier = await server.search('Provenance', { target: target.reference }, signal);
  const recorded = Date.parse(provenance.recorded);
  if (earlier.some((one) => Date.parse(one.recorded) === recorded)) return true;
  await server.create(resolved, signal);
  return true;
}

/** With the receiver's references instead of those of the bundle, and without an id. */
function resolve(
  { id: _, ...provenance }: Provenance,
  { entry = [] }: Bundle,
  { locations }: TransactionReceipt,
): Provenance | null {
  const targets = new Map<string, string>();
  for (const [index, { fullUrl = '' }] of entry.entries()) {
    const location = locations[index];
    if (!location) return null;
    targets.set(fullUrl, location);
  }
  return withReferences(provenance, targets);
}
