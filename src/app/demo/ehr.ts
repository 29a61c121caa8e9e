import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type {
  Bundle,
  BundleEntry,
  Identifier,
  OperationOutcome,
  OperationOutcomeIssue,
  Resource,
} from '@medplum/fhirtypes';

/**
 * The contents of the demo's EHR, by `Type/id`. Every change creates a new map, so that a
 * transaction is applied completely or not at all.
 */
type EhrStore = ReadonlyMap<string, Resource>;

type IssueType = OperationOutcomeIssue['code'];

class EhrRefusal extends Error {
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
 * Returns the resources of a type that match every parameter: `identifier` (a token) and `patient`.
 * Other parameters are rejected rather than ignored.
 */
function searchStore(store: EhrStore, type: string, parameters: URLSearchParams): Resource[] {
  const found = [...store.values()].filter((resource) => resource.resourceType === type);
  const count = Number(parameters.get('_count') ?? found.length);
  return [...parameters]
    .filter(([name]) => name !== '_count')
    .reduce((left, [name, value]) => left.filter(matcher(name, value)), found)
    .slice(0, count);
}

/**
 * Carries out a transaction (R4 3.1.0.11.2): conditional create, conditional update, update as
 * create, `urn:uuid:` references. Returns the next store and the response.
 * @throws EhrRefusal for the first entry that cannot be carried out; the old store stays unchanged.
 */
function applyTransaction(store: EhrStore, bundle: Bundle): { store: EhrStore; response: Bundle } {
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

/** Returns the resource that an entry refers to, and whether the entry writes it. */
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

export interface DemoEhr {
  /** FHIR base, without a trailing slash. */
  baseUrl: string;
  resources<Type extends Resource['resourceType']>(
    type: Type,
  ): Extract<Resource, { resourceType: Type }>[];
  close(): Promise<void>;
}

interface Answer {
  status: number;
  body: Resource;
}

const STATEMENT: Resource = {
  resourceType: 'CapabilityStatement',
  status: 'active',
  date: '2026-01-01',
  kind: 'instance',
  software: { name: 'Receiver of the Sonogate demo: in memory, loopback only, not a real EHR' },
  fhirVersion: '4.0.1',
  format: ['json'],
  rest: [{ mode: 'server', interaction: [{ code: 'transaction' }] }],
};

/**
 * Starts the demo's EHR: a small FHIR R4 endpoint on loopback that keeps received resources in
 * memory. It supports transactions with conditional entries, POST of a resource, read, and search
 * by identifier or patient; all other requests are refused. It does not validate resources; the
 * tests do.
 * @param port 0 for a free port.
 */
export async function startDemoEhr(port = 0): Promise<DemoEhr> {
  let store: EhrStore = new Map();

  function transact(bundle: Bundle): Bundle {
    const done = applyTransaction(store, bundle);
    store = done.store;
    return done.response;
  }

  function create(type: string, resource: Resource): Resource {
    const request = { method: 'POST' as const, url: type };
    const { entry } = transact({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource, request }],
    });
    const [key = ''] = entry?.[0]?.response?.location?.split('/_history') ?? [];
    return store.get(key) ?? resource;
  }

  async function handle(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://ehr');
    const [, base, type = '', id = ''] = pathname.split('/');
    if (base !== 'fhir') throw new EhrRefusal(404, 'not-found', 'No such address');
    switch (request.method) {
      case 'GET': {
        if (type === 'metadata') return { status: 200, body: STATEMENT };
        if (!id) return searchSet(searchStore(store, type, searchParams));
        const found = store.get(`${type}/${id}`);
        if (!found) throw new EhrRefusal(404, 'not-found', 'No such resource');
        return { status: 200, body: found };
      }
      case 'POST': {
        const body = await text(request);
        if (id === '_search') {
          return searchSet(searchStore(store, type, new URLSearchParams(body)));
        }
        const resource = parse(body);
        if (type) return { status: 201, body: create(type, resource) };
        if (resource.resourceType === 'Bundle' && resource.type === 'transaction') {
          return { status: 200, body: transact(resource) };
        }
        throw new EhrRefusal(400, 'invalid', 'Only a transaction can be posted to the base');
      }
      default:
        throw new EhrRefusal(405, 'not-supported', `${request.method} is not supported`);
    }
  }

  const server = createServer((request, response) => {
    void handle(request)
      .catch(refused)
      .then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/fhir+json' });
        response.end(JSON.stringify(body));
      });
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;

  return {
    baseUrl: `http://127.0.0.1:${bound}/fhir`,
    resources: (type) => [...store.values()].filter((resource) => isOfType(resource, type)),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function isOfType<Type extends Resource['resourceType']>(
  resource: Resource,
  type: Type,
): resource is Extract<Resource, { resourceType: Type }> {
  return resource.resourceType === type;
}

function searchSet(resources: Resource[]): Answer {
  const entry = resources.map((resource) => ({ resource }));
  return {
    status: 200,
    body: { resourceType: 'Bundle', type: 'searchset', total: resources.length, entry },
  };
}

function parse(body: string): Resource {
  try {
    return JSON.parse(body);
  } catch {
    throw new EhrRefusal(400, 'structure', 'The body is not JSON');
  }
}

function refused(error: unknown): Answer {
  const refusal =
    error instanceof EhrRefusal ? error : new EhrRefusal(500, 'exception', 'Unexpected error');
  const issue: OperationOutcome['issue'] = [
    { severity: 'error', code: refusal.code, details: { text: refusal.message } },
  ];
  return { status: refusal.status, body: { resourceType: 'OperationOutcome', issue } };
}
