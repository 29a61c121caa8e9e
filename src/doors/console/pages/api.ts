import type * as Contract from '../contract.ts';
import type { ConsoleEvent } from '../contract.ts';

/** An error response from the server, with its problem details. */
export class ProblemError extends Error {
  readonly problem: Contract.Problem;

  constructor(problem: Contract.Problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
  }
}

export const API = '/console/api';

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** Adds the non-empty parts of a query to a path. */
export function withQuery(path: string, query: Query): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) asked.append(name, String(one));
  }
  return asked.size > 0 ? `${path}?${asked}` : path;
}

function at(...parts: readonly string[]): string {
  return `${API}/${parts.map(encodeURIComponent).join('/')}`;
}

export function artifactUrl(requestId: string, name: string): string {
  return at('requests', requestId, 'artifacts', name);
}

async function problemOf(response: Response): Promise<Contract.Problem> {
  const unreadable: Contract.Problem = {
    type: 'about:blank',
    title: "The gateway's response was not understood",
    status: response.status,
    detail: `${response.status} ${response.statusText}`,
    code: 'unreadable_answer',
  };
  if (!response.headers.get('content-type')?.includes('json')) return unreadable;
  return response.json().catch(() => unreadable);
}

interface CallParts {
  /** Returns the session's token; '' before there is one. */
  csrf(): string;
  /** Called when the server no longer accepts the session. */
  signedOut(): void;
}

/**
 * Creates the functions that send a call and read its response. They reject with ProblemError, or
 * with TypeError if the gateway cannot be reached.
 */
function createCalls({ csrf, signedOut }: CallParts) {
  async function accepted(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(path, init);
    if (response.ok) return response;
    if (response.status === 401) signedOut();
    throw new ProblemError(await problemOf(response));
  }

  async function call<Answer>(
    method: string,
    path: string,
    body?: unknown,
    etag?: string,
  ): Promise<Answer> {
    const headers = new Headers({ Accept: 'application/json' });
    if (etag !== undefined) headers.set('If-Match', etag);
    if (method !== 'GET') headers.set('X-CSRF-Token', csrf());
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    const response = await accepted(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    return response.status === 204 ? (undefined as Answer) : await response.json();
  }

  /**
   * Reads a path. If the connection broke, for example after a change of network, the request is
   * repeated once.
   */
  const get = <Answer>(path: string, query: Query = {}) =>
    call<Answer>('GET', withQuery(path, query)).catch((error) => {
      if (!(error instanceof TypeError)) throw error;
      return call<Answer>('GET', withQuery(path, query));
    });
  const post = <Answer>(path: string, body?: unknown) => call<Answer>('POST', path, body);

  async function upload(body: Blob, boundary: string): Promise<Contract.UploadOutcome> {
    const type = `multipart/related; type="application/dicom"; boundary=${boundary}`;
    const headers = { Accept: 'application/json', 'X-CSRF-Token': csrf(), 'Content-Type': type };
    const response = await accepted(at('instances'), { method: 'POST', headers, body });
    return response.json();
  }

  return { call, get, post, upload };
}

export type Api = ReturnType<typeof createApi>;

/** Creates a function for each API call in contract.ts. */
export function createApi(parts: CallParts) {
  const { call, get, post, upload } = createCalls(parts);

  return {
    upload,
    signIn: () => get<Contract.SignIn>(at('sign-in')),
    session: () => get<Contract.Session>(at('session')),
    signInByKey: (key: string) =>
      post<Contract.Session>(at('session'), { key } satisfies Contract.NewSession),
    signOut: () => call<void>('DELETE', at('session')),
    signOutEverywhere: () => call<void>('DELETE', at('sessions')),

    worklist: (query: Contract.WorklistQuery) =>
      get<Contract.WorklistPage>(at('worklist'), { ...query }),
    facets: () => get<Contract.Facets>(at('worklist', 'facets')),
    display: (query: Record<string, string>) => get<Contract.InvokedDisplay>(at('display'), query),
    study: (key: string) => get<Contract.StudyPage>(at('worklist', key)),
    result: (request: string) => get<Contract.ResultView>(at('requests', request, 'result')),
    artifact: <Content>(request: string, name: string) => get<Content>(artifactUrl(request, name)),

    review: (request: string) => get<Contract.ReviewView>(at('requests', request, 'review')),
    changeReview: (request: string, etag: string, body: Contract.ChangeReview) =>
      call<Contract.ReviewView>('PATCH', at('requests', request, 'review'), body, etag),
    signReview: (request: string, etag: string, body: Contract.SignReview) =>
      call<Contract.ReviewView>('POST', at('requests', request, 'sign'), body, etag),

    withdraw: (request: string, body: Contract.WithdrawResult) =>
      post<Contract.WorklistRow>(at('requests', request, 'withdraw'), body),
    cancel: (request: string) => post<Contract.WorklistRow>(at('requests', request, 'cancel')),
    acknowledge: (request: string) =>
      post<Contract.WorklistRow>(at('requests', request, 'acknowledge')),
    complete: (study: string) => post<Contract.WorklistRow>(at('studies', study, 'complete')),
    rerun: (study: string) => post<Contract.WorklistRow>(at('studies', study, 'rerun')),
    hold: (study: string, body: Contract.HoldStudy) =>
      post<Contract.WorklistRow>(at('studies', study, 'hold'), body),
    release: (study: string, body: Contract.ReleaseStudy) =>
      post<Contract.WorklistRow>(at('studies', study, 'release'), body),

    destinations: () => get<Contract.Destination[]>(at('destinations')),
    deliveries: (query: Contract.DeliveryQuery) =>
      get<Contract.Page<Contract.Delivery>>(at('deliveries'), { ...query }),
    replay: (delivery: string) => post<Contract.Delivery>(at('deliveries', delivery, 'replay')),
    sendToAlternate: (delivery: string, body: Contract.AlternateDestination) =>
      post<Contract.Delivery>(at('deliveries', delivery, 'alternate'), body),
    closeDelivery: (delivery: string, body: Contract.CloseDelivery) =>
      post<Contract.Delivery>(at('deliveries', delivery, 'close'), body),

    holds: () => get<Contract.Hold[]>(at('holds')),
    heldReport: (id: string) => get<Contract.HoldWithIdentity>(at('holds', id)),
    confirmHold: (id: string, body: Contract.ConfirmHold) =>
      post<Contract.Hold>(at('holds', id, 'confirm'), body),
    rejectHold: (id: string, body: Contract.RejectHold) =>
      post<Contract.Hold>(at('holds', id, 'reject'), body),

    quarantine: () => get<Contract.Quarantined[]>(at('quarantine')),
    registerQuarantined: (id: string) => post<void>(at('quarantine', id, 'register')),
    removeQuarantined: (id: string) => post<void>(at('quarantine', id, 'remove')),

    rules: () => get<Contract.Rules>(at('rules')),
    saveRules: (body: Contract.SaveRules) => call<Contract.SavedRules>('PUT', at('rules'), body),
    dryRunFile: (body: Contract.FileDryRun) =>
      post<Contract.FileOutcome>(at('rules', 'dry-run-file'), body),
    dryRun: (body: Contract.DryRunQuery) => post<Contract.DryRun>(at('rules', 'dry-run'), body),
    peers: () => get<Contract.Peer[]>(at('peers')),
    doctor: (body: Contract.DoctorQuery) => post<Contract.DoctorFinding[]>(at('doctor'), body),

    keys: () => get<Contract.Key[]>(at('keys')),
    createKey: (body: Contract.NewKey) => post<Contract.CreatedKey>(at('keys'), body),
    revokeKey: (id: string) => call<Contract.Key>('DELETE', at('keys', id)),
    webhookSecret: () => get<Contract.WebhookSecret>(at('webhooks', 'secret')),
    rotateWebhookSecret: () => post<Contract.NewWebhookSecret>(at('webhooks', 'secret', 'rotate')),
    webhookDeliveries: (query: Contract.CursorQuery) =>
      get<Contract.Page<Contract.WebhookDelivery>>(at('webhooks', 'deliveries'), { ...query }),
    redeliver: (id: string) =>
      post<Contract.WebhookDelivery>(at('webhooks', 'deliveries', id, 'redeliver')),
    usage: () => get<Contract.Usage[]>(at('usage')),
    retention: () => get<Contract.Retention>(at('retention')),
  };
}

/** Milliseconds before a stream that ended with an error response is opened again. */
const REOPEN_MS = 5000;

export interface LiveStream {
  /** False while the stream is interrupted. */
  connected(): boolean;
  close(): void;
}

interface StreamParts {
  /** The events that the server sends on this stream, each with a function that receives its data. */
  heard: Readonly<Record<string, (data: string) => void>>;
  /** Called when the stream is lost or restored. */
  turned?(): void;
  /** Called when the server responded with an error. The browser does not reveal which error. */
  refused?(): void;
  /** Called when the stream was opened again without `Last-Event-ID`: changes may be missing. */
  reopened(): void;
}

/**
 * Opens a stream of server-sent events and keeps it open until it is closed. If the connection
 * breaks, the browser reconnects by itself and sends `Last-Event-ID`, so that no change is missed.
 * If the response is an error, for example from a proxy while the gateway restarts, the browser
 * gives up (WHATWG HTML 9.2.3), and the stream is opened again here.
 */
export function openStream(
  path: string,
  { heard, turned, refused, reopened }: StreamParts,
): LiveStream {
  let connected = true;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const turn = (now: boolean) => {
    if (now === connected) return;
    connected = now;
    turned?.();
  };
  function open(again: boolean): void {
    source = new EventSource(path);
    let isNew = again;
    source.addEventListener('open', () => {
      turn(true);
      if (isNew) reopened();
      isNew = false;
    });
    source.addEventListener('error', () => {
      turn(false);
      if (source.readyState !== EventSource.CLOSED) return;
      waiting = setTimeout(open, REOPEN_MS, true);
      refused?.();
    });
    for (const [type, receive] of Object.entries(heard)) {
      source.addEventListener(type, ({ data }: MessageEvent<string>) => receive(data));
    }
  }
  open(false);
  return {
    connected: () => connected,
    close() {
      clearTimeout(waiting);
      source.close();
    },
  };
}

const TYPES = [
  'hello',
  'reset',
  'row',
  'delivery',
  'session',
] as const satisfies readonly ConsoleEvent['type'][];

/**
 * Follows the gateway's changes. A `reset` event means that changes may have been missed.
 */
export function followChanges({
  changed,
  ...parts
}: Pick<StreamParts, 'turned' | 'refused'> & { changed(event: ConsoleEvent): void }): LiveStream {
  const receive = (type: string) => (data: string) =>
    changed({ type, data: JSON.parse(data) } as ConsoleEvent);
  return openStream(`${API}/events`, {
    heard: Object.fromEntries(TYPES.map((type) => [type, receive(type)])),
    ...parts,
    reopened: () => changed({ type: 'reset', data: { at: new Date().toISOString() } }),
  });
}
