import type { Bundle, BundleEntry } from '@medplum/fhirtypes';
import { referencesIn, withReferences } from './references.ts';
import type { FhirServer, TransactionReceipt } from './server.ts';

/**
 * Sends the entries of a transaction one by one, for a receiver that takes none: each after those it
 * refers to, so that the report comes after all that it tells of. What was sent before a failure
 * stays; every entry is conditional or has an id, so that the next attempt finds it.
 * @throws FhirFailure of the first entry that is refused.
 */
export async function sendInOrder(
  server: Pick<FhirServer, 'write'>,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<TransactionReceipt> {
  const entries = bundle.entry ?? [];
  const written = new Map<string, string>();
  for (const entry of inOrder(entries)) {
    const resource = entry.resource && withReferences(entry.resource, written);
    const reference = await server.write({ ...entry, resource }, signal);
    written.set(entry.fullUrl ?? '', reference);
  }
  return { locations: entries.map(({ fullUrl = '' }) => written.get(fullUrl) ?? null) };
}

/** Each entry after those it refers to; otherwise in the order of the bundle. */
export function inOrder(entries: readonly BundleEntry[]): BundleEntry[] {
  const byUrl = new Map(entries.map((entry) => [entry.fullUrl, entry]));
  const placed = new Set<BundleEntry>();
  const place = (entry: BundleEntry): void => {
    if (placed.has(entry)) return;
    // Marked before its references are followed: a circle ends here instead of never.
    placed.add(entry);
    for (const reference of referencesIn(entry.resource)) {
      const target = byUrl.get(reference);
      if (target) place(target);
    }
    ordered.push(entry);
  };
  const ordered: BundleEntry[] = [];
  entries.forEach(place);
  return ordered;
}
