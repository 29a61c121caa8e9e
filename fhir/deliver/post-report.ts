import type { Bundle, BundleEntry, Provenance, Resource, ResourceType } from '@medplum/fhirtypes';
import type { DeliveryMode } from '../client/delivery-mode.ts';
import { FhirFailure, failureOf } from '../client/outcome.ts';
import type { FhirServer, TransactionReceipt } from '../client/server.ts';
import { identifiersOf, searchToken } from '../resources/identifiers.ts';
import { isSameTime } from './existing-report.ts';

/** Returns every `reference` in a value, at any depth. */
export function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) =>
    member === 'reference' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

function withReferences<Of extends Resource>(
  resource: Of,
  targets: ReadonlyMap<string, string>,
): Of {
  return JSON.parse(JSON.stringify(resource), (member, value) =>
    member === 'reference' ? (targets.get(value) ?? value) : value,
  );
}

/**
 * Removes the Provenance from a transaction, for a receiver that rejects ids chosen by the client
 * (exchange 1.6). It is then sent after the transaction, because it has no identifier that a
 * conditional create could use.
 */
function detachProvenance(bundle: Bundle): { rest: Bundle; provenance: Provenance | null } {
  const entries = bundle.entry ?? [];
  const isProvenance = (resource?: Resource): resource is Provenance =>
    resource?.resourceType === 'Provenance';
  const provenance = entries.map(({ resource }) => resource).find(isProvenance) ?? null;
  const entry = entries.filter(({ resource }) => !isProvenance(resource));
  return { rest: { ...bundle, entry }, provenance };
}

/**
 * Creates the Provenance of a committed transaction, unless an earlier attempt has done so. A
 * Provenance that has the same recording time, and the report as its target, comes from such an
 * attempt.
 * @returns false if the receiver did not return the locations of its resources, so that no
 * Provenance can be created.
 */
async function addProvenance(
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
  if (earlier.some((one) => isSameTime(one.recorded, recorded))) return true;
  await server.create(resolved, signal);
  return true;
}

/**
 * Replaces references within the bundle with those at the receiver, and removes the id. Returns
 * null if the receiver did not return the location of every resource.
 */
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

/**
 * Number of identifiers per search. A POST could contain many, but servers limit the size of the
 * response.
 */
const AT_A_TIME = 20;

/**
 * Rewrites a bundle without conditional entries, for a receiver that does not support them. Each
 * resource is searched for. If a resource to be created already exists, its entry is dropped and
 * references point to the existing resource. An update is addressed to the id that was found. This
 * is not safe against a concurrent sender, but the outbox sends one delivery at a time to each
 * destination.
 * @throws FhirFailure `ehr_rejected` if two resources have the same identifier.
 */
async function withoutConditions(
  server: Pick<FhirServer, 'search'>,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<Bundle> {
  const entries = bundle.entry ?? [];
  const found = await existing(server, entries, signal);
  const referred = new Map<string, string>();
  const left = entries.flatMap((entry): BundleEntry[] => {
    const key = keyOf(entry);
    if (key === null || !entry.request) return [entry];
    const { type, token } = key;
    const id = found.get(`${type} ${token}`);
    const { ifNoneExist, ...request } = entry.request;
    if (id === undefined) return [{ ...entry, request: { method: 'POST', url: type } }];
    if (ifNoneExist !== undefined) {
      referred.set(entry.fullUrl ?? '', `${type}/${id}`);
      return [];
    }
    return [{ ...entry, request: { ...request, url: `${type}/${id}` } }];
  });
  return {
    ...bundle,
    entry: left.map(({ resource, ...entry }) => ({
      ...entry,
      resource: resource && withReferences(identified(resource, entry), referred),
    })),
  };
}

/** Adds the id to a resource: an update by id requires it in the resource too (R4 3.1.0.4). */
function identified(resource: Resource, { request }: BundleEntry): Resource {
  const [, id] = request?.method === 'PUT' ? (request.url?.split('/') ?? []) : [];
  return id === undefined ? resource : { ...resource, id };
}

/**
 * Returns the type and the search token in the condition of an entry; null if there is no
 * condition.
 */
function keyOf({ request }: BundleEntry): { type: ResourceType; token: string } | null {
  const [type = '', query] = (request?.url ?? '').split('?');
  const condition = request?.ifNoneExist ?? query;
  const token = condition && new URLSearchParams(condition).get('identifier');
  return token ? { type: type as ResourceType, token } : null;
}

/** Returns the ids of existing resources, by condition (`Type token`). */
async function existing(
  server: Pick<FhirServer, 'search'>,
  entries: readonly BundleEntry[],
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const keys = entries.flatMap((entry) => keyOf(entry) ?? []);
  const found = new Map<string, string>();
  for (const [type, ofType] of Map.groupBy(keys, (key) => key.type)) {
    const wanted = new Set(ofType.map(({ token }) => token));
    for (const tokens of chunks([...wanted], AT_A_TIME)) {
      const query = { identifier: tokens.join(), _count: String(AT_A_TIME * 2) };
      for (const resource of await server.search(type, query, signal)) {
        for (const token of identifiersOf(resource).map(searchToken)) {
          if (!wanted.has(token) || !resource.id) continue;
          const key = `${type} ${token}`;
          if ((found.get(key) ?? resource.id) !== resource.id) throw twice(type);
          found.set(key, resource.id);
        }
      }
    }
  }
  return found;
}

function twice(type: string): FhirFailure {
  return new FhirFailure(
    failureOf('ehr_rejected', `Two resources of type ${type} share one identifier`),
  );
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/**
 * Sends the entries of a transaction one by one, for a receiver without transactions. Each entry is
 * sent after the entries it refers to, so the report follows its parts. Entries sent before a
 * failure remain at the receiver. Every entry is conditional or has an id, so the next attempt
 * finds them.
 * @throws FhirFailure for the first entry that is rejected.
 */
async function sendInOrder(
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

/**
 * Orders entries so that each follows the entries it refers to; otherwise keeps the order of the
 * bundle.
 */
export function inOrder(entries: readonly BundleEntry[]): BundleEntry[] {
  const byUrl = new Map(entries.map((entry) => [entry.fullUrl, entry]));
  const placed = new Set<BundleEntry>();
  const place = (entry: BundleEntry): void => {
    if (placed.has(entry)) return;
    // The entry is marked before its references are followed, so that circular references end here.
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

export interface ReportReceipt {
  /** The report at the receiver, `DiagnosticReport/<id>`. */
  report: string;
  entries: number;
  provenance: boolean;
}

/**
 * Sends the bundle of a report, using the interactions that the receiver supports.
 * @throws FhirFailure if the receiver rejects a resource.
 */
export async function postReport(
  server: FhirServer,
  bundle: Bundle,
  mode: DeliveryMode,
  signal: AbortSignal,
): Promise<ReportReceipt> {
  const whole = mode.conditional ? bundle : await withoutConditions(server, bundle, signal);
  const { rest, provenance } = detachProvenance(whole);
  const sent = mode.transaction && mode.updateAsCreate ? whole : rest;
  const receipt = mode.transaction
    ? await server.transaction(sent, signal)
    : await sendInOrder(server, sent, signal);
  const added =
    sent === whole ||
    (provenance !== null &&
      (await addProvenance(server, provenance, { bundle: sent, receipt }, signal)));
  return {
    report: receipt.locations.find(isReport) ?? 'DiagnosticReport',
    entries: receipt.locations.length,
    provenance: added,
  };
}

function isReport(location: string | null): boolean {
  return location?.startsWith('DiagnosticReport/') ?? false;
}
