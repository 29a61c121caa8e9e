import { randomUUID } from 'node:crypto';
import type {
  Bundle,
  BundleEntry,
  Identifier,
  OperationOutcomeIssue,
  Resource,
} from '@medplum/fhirtypes';

/** What the demo's EHR holds, by `Type/id`. Never changed in place, so a transaction is all or nothing. */
export type EhrStore = ReadonlyMap<string, Resource>;

type IssueType = OperationOutcomeIssue['code'];

/** A refusal in terms of HTTP and OperationOutcome. */
export class EhrRefusal extends Error {
  override name = 'EhrRefusal';
  readonly status: number;
  readonly code: IssueType;

  constructor(status: number, code: IssueType, text: string) {
    super(text);
    this.status = status;
    this.code = code;
  }
}

/**
 * Resources of a type that match every parameter: `identifier` (a token) and `patient`; others are
 * refused rather than ignored.
 */
export function searchStore(
  store: EhrStore,
  type: string,
  parameters: URLSearchParams,
): Resource[] {
  const found = [...store.values()].filter((resource) => resource.resourceType === type);
  const count = Number(parameters.get('_count') ?? found.length);
  return [...parameters]
    .filter(([name]) => name !== '_count')
    .reduce((left, [name, value]) => left.filter(matcher(name, value)), found)
    .slice(0, count);
}

/**
 * Carries out a transaction (R4 3.1.0.11.2): conditional create, conditional update, update as
 * create, `urn:uuid:` references. Returns the next store and the answer.
 * @throws EhrRefusal for the first entry that cannot be carried out; the old store is untouched.
 */
export function applyTransaction(
  store: EhrStore,
  bundle: Bundle,
): { store: EhrStore; response: Bundle } {
  const plans = (bundle.entry ?? []).map((entry) => plan(store, entry));
  const targets = new Map(plans.map(({ fullUrl, key }) => [fullUrl, key]));
  const next = new Map(store);
  const entry = plans.map(({ key, resource, write }): BundleEntry => {
    const before = store.get(key);
    if (write) next.set(key, versioned(key, withReferences(resource, targets), before));
    const version = next.get(key)?.meta?.versionId;
    return {
      response: {
        status: before ? '200 OK' : '201 Created',
        location: `${key}/_history/${version}`,
        etag: `W/"${version}"`,
      },
    };
  });
  return { store: next, response: { resourceType: 'Bundle', type: 'transaction-response', entry } };
}

interface Plan {
  fullUrl: string;
  key: string;
  resource: Resource;
  write: boolean;
}

/** Which resource an entry is about, and whether it is written. */
function plan(store: EhrStore, { fullUrl = '', resource, request }: BundleEntry): Plan {
  if (!resource || !request) throw new EhrRefusal(400, 'required', 'An entry is incomplete');
  const [path = '', query] = (request.url ?? '').split('?');
  const [type = '', id] = path.split('/');
  if (type !== resource.resourceType) throw new EhrRefusal(400, 'invalid', 'The type differs');
  const condition = request.method === 'POST' ? request.ifNoneExist : query;
  const existing =
    condition === undefined ? undefined : unique(store, type, new URLSearchParams(condition));
  if (request.method === 'POST') {
    return { fullUrl, key: existing ?? `${type}/${randomUUID()}`, resource, write: !existing };
  }
  if (request.method !== 'PUT') {
    throw new EhrRefusal(405, 'not-supported', `${request.method} is not supported`);
  }
  const key = existing ?? `${type}/${id ?? randomUUID()}`;
  const version = store.get(key)?.meta?.versionId;
  if (request.ifMatch && request.ifMatch !== `W/"${version}"`) {
    throw new EhrRefusal(412, 'conflict', 'The version has changed');
  }
  return { fullUrl, key, resource, write: true };
}

function unique(store: EhrStore, type: string, condition: URLSearchParams): string | undefined {
  const hits = searchStore(store, type, condition);
  if (hits.length > 1) throw new EhrRefusal(412, 'multiple-matches', 'More than one match');
  return hits[0] && `${type}/${hits[0].id}`;
}

function versioned(key: string, resource: Resource, before: Resource | undefined): Resource {
  const versionId = String(Number(before?.meta?.versionId ?? 0) + 1);
  const meta = { ...resource.meta, versionId, lastUpdated: new Date().toISOString() };
  return { ...resource, id: key.split('/')[1], meta };
}

function withReferences(resource: Resource, targets: ReadonlyMap<string, string>): Resource {
  return JSON.parse(JSON.stringify(resource), (member, value) =>
    member === 'reference' ? (targets.get(value) ?? value) : value,
  );
}

function matcher(name: string, value: string): (resource: Resource) => boolean {
  switch (name) {
    case 'identifier': {
      const [last = '', ...system] = value.split('|').reverse();
      return (resource) =>
        identifiersOf(resource).some(
          (identifier) =>
            identifier.value === last && (system.length === 0 || identifier.system === system[0]),
        );
    }
    case 'patient':
      return (resource) =>
        'subject' in resource &&
        typeof resource.subject === 'object' &&
        'reference' in resource.subject &&
        resource.subject.reference === value;
    default:
      throw new EhrRefusal(400, 'not-supported', `The search parameter ${name} is not supported`);
  }
}

function identifiersOf(resource: Resource): Identifier[] {
  return 'identifier' in resource && Array.isArray(resource.identifier) ? resource.identifier : [];
}
