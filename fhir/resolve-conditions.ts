import type { Bundle, BundleEntry, Identifier, Resource, ResourceType } from '@medplum/fhirtypes';
import { searchToken } from './identifiers.ts';
import { FhirFailure, failureOf } from './outcome.ts';
import { withReferences } from './references.ts';
import type { FhirServer } from './server.ts';

/** Identifiers of one search: an address-free POST takes many, but servers limit the answer. */
const AT_A_TIME = 20;

/**
 * The same bundle without conditional entries, for a receiver that has none: what is there already
 * is searched for, then referred to (create) or replaced by its id (update). Not safe against a
 * second sender at the same moment; the outbox sends to a destination one by one.
 * @throws FhirFailure `ehr_rejected` when two resources bear the identifier of one.
 */
export async function withoutConditions(
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

/** An update by id needs the id in the resource as well (R4 3.1.0.4). */
function identified(resource: Resource, { request }: BundleEntry): Resource {
  const [, id] = request?.method === 'PUT' ? (request.url?.split('/') ?? []) : [];
  return id === undefined ? resource : { ...resource, id };
}

/** Type and search token that an entry is conditional on; null for one without a condition. */
function keyOf({ request }: BundleEntry): { type: ResourceType; token: string } | null {
  const [type = '', query] = (request?.url ?? '').split('?');
  const condition = request?.ifNoneExist ?? query;
  const token = condition && new URLSearchParams(condition).get('identifier');
  return token ? { type: type as ResourceType, token } : null;
}

/** `Type token` → id of the one resource that bears the identifier. */
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

function identifiersOf(resource: Resource): Identifier[] {
  return 'identifier' in resource && Array.isArray(resource.identifier) ? resource.identifier : [];
}

function twice(type: string): FhirFailure {
  return new FhirFailure(
    failureOf('ehr_rejected', `Two resources of type ${type} bear the identifier of one`),
  );
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
