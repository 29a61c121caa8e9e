import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Bundle, OperationOutcome, Resource } from '@medplum/fhirtypes';
import { applyTransaction, EhrRefusal, type EhrStore, searchStore } from './ehr-store.ts';

export interface DemoEhr {
  /** FHIR base, without a trailing slash. */
  baseUrl: string;
  /** What it holds now, of one type. */
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
 * The receiving EHR of the demo: a small FHIR R4 endpoint on the loopback that keeps what it gets in
 * memory. Transactions with conditional entries, POST of a resource, read, and search by identifier;
 * whatever else is asked is refused. It does not validate; the tests do.
 * @param port 0 for a free one.
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
