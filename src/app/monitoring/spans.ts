import type { RequestSource } from '../../core/requests/request.ts';
import { followRows } from '../../platform/database/follow-rows.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { OnEvent } from '../../platform/logging/logger.ts';
import type { Span } from '../../platform/tracing/otlp.ts';
import {
  callerOf,
  spanIdOf,
  type TraceContext,
  traceOfRequest,
  traceOfStudy,
} from '../../platform/tracing/trace-context.ts';

/** The reception of one revision of a study, as recorded in the tables. Times are Unix seconds. */
interface ReceivedStudy {
  objects: number;
  bytes: number;
  first: number;
  last: number;
  /** When the study became complete, and the signal that completed it. */
  complete: number | null;
  because: string | null;
}

/** Returns the span of one processing step, as a child of the trace's root span. */
function stepSpan(
  { traceId, spanId: root }: TraceContext,
  id: string,
  name: string,
  [start, end]: readonly [number, number],
  over: Partial<Span> = {},
): Span {
  return {
    traceId,
    spanId: spanIdOf(name, id),
    parentSpanId: root,
    name,
    kind: 'internal',
    start,
    // The two times may come from the clocks of different hosts, so the end may precede the start.
    end: Math.max(start, end),
    attributes: {},
    error: null,
    ...over,
  };
}

/**
 * Returns the spans of a revision, from the arrival of its first object until its rules acted.
 * @param acted when the rules acted, in Unix seconds.
 * @param rule names of the rules that acted.
 */
function receptionSpans(
  trace: TraceContext,
  id: string,
  { objects, bytes, first, last, complete, because }: ReceivedStudy,
  { acted, rule }: { acted: number; rule: string },
): Span[] {
  const counted = { 'sonogate.objects': objects, 'sonogate.bytes': bytes };
  const signed: Record<string, string> = because ? { 'sonogate.because': because } : {};
  const spans = [
    stepSpan(trace, id, 'intake', [first, last], { attributes: counted }),
    stepSpan(trace, id, 'completion', [last, complete ?? acted], { attributes: signed }),
  ];
  if (complete === null) return spans;
  const attributes = { 'sonogate.rule': rule };
  return [...spans, stepSpan(trace, id, 'routing', [complete, acted], { attributes })];
}

/** A revision on which rules acted without submitting a request. */
interface RoutedStudy {
  id: string;
  study: string;
  revision: number;
  rules: string[];
  ended: number;
  received: ReceivedStudy;
}

/**
 * Returns the spans of a routed study: the root span of its trace, and the steps before routing.
 * Deliveries of its objects join this trace.
 */
export function routedSpans(routed: RoutedStudy, ratio: number): Span[] {
  const { study, revision, rules, ended, received } = routed;
  const trace = traceOfStudy(study, revision, ratio);
  if (!trace.sampled) return [];
  const id = `${study} ${revision}`;
  const root = stepSpan(trace, id, 'study', [received.first, ended], {
    parentSpanId: null,
    kind: 'server',
    attributes: {
      'sonogate.door': 'dicom',
      'sonogate.study': study,
      'sonogate.revision': revision,
    },
  });
  return [root, ...receptionSpans(trace, id, received, { acted: ended, rule: rules.join(', ') })];
}

/** A delivery that has ended, as recorded in the tables. Times are Unix seconds. */
interface EndedDelivery {
  id: string;
  /** Id of the request; null for a forwarded object, whose `source` is its study. */
  request: string | null;
  source: RequestSource;
  kind: string;
  destination: string;
  object: string;
  state: string;
  code: string | null;
  attempts: number;
  created: number;
  ended: number;
}

/**
 * Returns the trace context for a delivery's outgoing HTTP requests, within the trace of its
 * request.
 */
export function deliveryContext(
  { id, request, source }: Pick<EndedDelivery, 'id' | 'request' | 'source'>,
  ratio: number,
): TraceContext {
  return { ...traceOfRequest(request ?? id, source, ratio), spanId: spanIdOf('delivery', id) };
}

/**
 * Returns the span from the creation of a delivery to the peer's response, or to the last attempt;
 * null if it is not traced.
 */
export function deliverySpan(delivery: EndedDelivery, ratio: number): Span | null {
  const { id, request, source, kind, created, ended } = delivery;
  const root = traceOfRequest(request ?? id, source, ratio);
  if (!root.sampled) return null;
  return {
    ...deliveryContext(delivery, ratio),
    parentSpanId: root.spanId,
    name: `delivery ${kind}`,
    kind: 'client',
    start: created,
    end: Math.max(created, ended),
    attributes: {
      'sonogate.delivery': delivery.id,
      'sonogate.destination': delivery.destination,
      'sonogate.object': delivery.object,
      'sonogate.state': delivery.state,
      'sonogate.attempts': delivery.attempts,
    },
    error: delivery.state === 'delivered' ? null : (delivery.code ?? delivery.state),
  };
}

/** A PACS's report on whether it commits to keeping an accepted object. */
interface AnsweredCommitment extends Pick<EndedDelivery, 'request' | 'source'> {
  id: string;
  delivery: string;
  destination: string;
  committed: boolean;
  asked: number;
  ended: number;
}

/**
 * Returns the span from the request for commitment to the PACS's report; null if it is not traced.
 */
export function commitmentSpan(answered: AnsweredCommitment, ratio: number): Span | null {
  const { id, delivery, request, source, destination, committed, asked, ended } = answered;
  const parent = deliveryContext({ id: delivery, request, source }, ratio);
  if (!parent.sampled) return null;
  return stepSpan(parent, id, 'commitment', [asked, ended], {
    kind: 'client',
    attributes: { 'sonogate.delivery': delivery, 'sonogate.destination': destination },
    error: committed ? null : 'commitment_refused',
  });
}

/** A request that has ended, as recorded in the tables. Times are Unix seconds. */
export interface EndedRequest {
  id: string;
  source: RequestSource;
  endpoint: string;
  status: string;
  code: string | null;
  attempts: number;
  created: number;
  started: number | null;
  ended: number;
  stages: { name: string; at: number }[];
  /** Reception of the revision that the request interprets; null for a request without a study. */
  study: ReceivedStudy | null;
}

/** Stages before the pipeline, which are covered by the spans `queue` and `routing`. */
const BEFORE_RUN = new Set(['received', 'queued_gpu']);

/**
 * Returns the spans of a request, from its first object or its submission to its end; empty if the
 * request is not traced.
 */
export function requestSpans(request: EndedRequest, ratio: number): Span[] {
  const { id, source, study, created, started, ended } = request;
  const trace = traceOfRequest(id, source, ratio);
  if (!trace.sampled) return [];
  const span = (name: string, time: readonly [number, number], over: Partial<Span> = {}): Span =>
    stepSpan(trace, id, name, time, over);
  const root = span(study ? 'study' : 'request', [study?.first ?? created, ended], {
    spanId: trace.spanId,
    parentSpanId: callerOf(source),
    kind: 'server',
    attributes: {
      'sonogate.request': id,
      'sonogate.endpoint': request.endpoint,
      'sonogate.status': request.status,
      'sonogate.door': source.kind,
      ...(source.kind === 'dicom' && {
        'sonogate.study': source.study,
        'sonogate.revision': source.revision,
      }),
    },
    error: request.status === 'succeeded' ? null : request.code,
  });
  const spans = [root];
  if (study) {
    const rule = source.kind === 'dicom' ? source.rule : '';
    spans.push(...receptionSpans(trace, id, study, { acted: created, rule }));
  }
  spans.push(span('submit', [created, created]), span('queue', [created, started ?? ended]));
  if (started === null) return spans;
  const run = span('run', [started, ended], {
    attributes: { 'sonogate.attempts': request.attempts },
    error: root.error,
  });
  return [...spans, run, ...stageSpans(request, run)];
}

function stageSpans({ id, stages, ended }: EndedRequest, run: Span): Span[] {
  return stages.flatMap(({ name, at }, index) => {
    if (BEFORE_RUN.has(name) || at >= ended) return [];
    return {
      ...run,
      spanId: spanIdOf(`stage ${index}`, id),
      parentSpanId: run.spanId,
      name: `stage ${name}`,
      start: at,
      end: Math.max(at, stages[index + 1]?.at ?? ended),
      attributes: { 'sonogate.stage': name },
      error: null,
    };
  });
}

const UNIX = (time: string) => `EXTRACT(EPOCH FROM ${time})::float8`;

/** SQL for a ReceivedStudy: the reception of a revision, whose rules were evaluated at `judged`. */
const received = (study: string, revision: string, judged: string) => `(
  SELECT jsonb_build_object('objects', count(*), 'bytes', COALESCE(sum(i.bytes), 0),
    'first', COALESCE(${UNIX('min(i.received_at)')}, ${UNIX(judged)}),
    'last', COALESCE(${UNIX('max(i.received_at)')}, ${UNIX(judged)}),
    'complete', (SELECT ${UNIX('max(c.at)')} FROM study_history c WHERE c.study_id = ${study}
      AND c.state = 'complete' AND c.revision = ${revision} AND c.at <= ${judged}),
    'because', (SELECT max(c.complete_because) FROM study_history c WHERE c.study_id = ${study}
      AND c.state = 'complete' AND c.revision = ${revision}))
  FROM instances i WHERE i.study_id = ${study} AND i.revision = ${revision})`;

/** SQL for the source of the delivery `d`; `r` is the request of the delivery, if it has one. */
const SOURCE = `COALESCE(r.source, CASE WHEN d.request_id IS NULL AND d.study IS NOT NULL
  THEN jsonb_build_object('kind', 'dicom', 'study', d.study, 'revision', d.revision) END)`;

const ENDED_REQUESTS = `
  SELECT r.id, r.source, r.endpoint, r.status, r.fault ->> 'code' AS code, r.attempts,
    ${UNIX('r.created_at')} AS created, ${UNIX('r.started_at')} AS started,
    ${UNIX('r.ended_at')} AS ended,
    COALESCE((SELECT jsonb_agg(jsonb_build_object('name', e.data ->> 'name', 'at', ${UNIX('e.at')})
        ORDER BY e.seq)
      FROM request_events e WHERE e.request_id = r.id AND e.name = 'stage'), '[]') AS stages,
    CASE WHEN r.source ->> 'kind' = 'dicom' THEN
      ${received("(r.source ->> 'study')::uuid", "(r.source ->> 'revision')::int", 'r.created_at')}
    END AS study
  FROM requests r WHERE r.ended_at > to_timestamp($1) ORDER BY r.ended_at LIMIT $2`;

// A refused commitment has its own span; the span of its delivery was exported when it was sent.
const ENDED_DELIVERIES = `
  SELECT d.id, d.request_id AS request, ${SOURCE} AS source, d.kind, d.destination, d.object, d.state, d.code,
    d.attempt AS attempts, ${UNIX('d.created_at')} AS created, ${UNIX('d.ended_at')} AS ended
  FROM deliveries d LEFT JOIN requests r ON r.id = d.request_id
  WHERE d.ended_at > to_timestamp($1) AND ${SOURCE} IS NOT NULL
    AND d.code IS DISTINCT FROM 'commitment_refused' ORDER BY d.ended_at LIMIT $2`;

const ANSWERED_COMMITMENTS = `
  SELECT o.delivery_id || ' ' || o.sop_instance_uid AS id, o.delivery_id AS delivery,
    d.request_id AS request, ${SOURCE} AS source, o.destination,
    o.failure_reason IS NULL AS committed,
    ${UNIX('o.asked_at')} AS asked, ${UNIX('o.answered_at')} AS ended
  FROM delivered_objects o JOIN deliveries d ON d.id = o.delivery_id
    LEFT JOIN requests r ON r.id = d.request_id
  WHERE o.answered_at > to_timestamp($1) AND ${SOURCE} IS NOT NULL
  ORDER BY o.answered_at LIMIT $2`;

const ROUTED_STUDIES = `
  SELECT h.id::text, h.study_id AS study, h.revision, s.acting_rules AS rules,
    ${UNIX('h.at')} AS ended, ${received('h.study_id', 'h.revision', 'h.at')} AS received
  FROM study_history h JOIN studies s ON s.id = h.study_id
  WHERE h.state = 'routed' AND h.at > to_timestamp($1) ORDER BY h.at LIMIT $2`;

/**
 * The first call also exports work that ended at most this many seconds earlier, because no process
 * may have been running when it ended.
 */
const LOOK_BACK_SECONDS = 3600;

/**
 * Returns a function that reads, from the tables, the spans of all work that has ended since its
 * last call.
 */
export function followEndedSpans(database: Queryable, ratio: number): () => Promise<Span[]> {
  let found: Span[] = [];
  const follow = <Row extends { id: string; ended: number }>(
    query: string,
    spansOf: (row: Row, ratio: number) => Span | Span[] | null,
  ) => {
    const keep = (row: Row) => found.push(...[spansOf(row, ratio) ?? []].flat());
    return followRows<Row>(database, query, keep, LOOK_BACK_SECONDS);
  };
  const followed = [
    follow<EndedRequest>(ENDED_REQUESTS, requestSpans),
    follow<EndedDelivery>(ENDED_DELIVERIES, deliverySpan),
    follow<AnsweredCommitment>(ANSWERED_COMMITMENTS, commitmentSpan),
    follow<RoutedStudy>(ROUTED_STUDIES, routedSpans),
  ];
  return async () => {
    for (const readEnded of followed) await readEnded();
    const spans = found;
    found = [];
    return spans;
  };
}

/** Claims those spans that no process has exported yet. */
export async function claimSpans(database: Queryable, spans: readonly Span[]): Promise<Span[]> {
  if (spans.length === 0) return [];
  const { rows } = await database.query<{ span_id: string }>(
    `INSERT INTO trace_exports (span_id) SELECT DISTINCT unnest($1::text[])
     ON CONFLICT DO NOTHING RETURNING span_id`,
    [spans.map(({ spanId }) => spanId)],
  );
  const ours = new Set(rows.map(({ span_id }) => span_id));
  return spans.filter(({ spanId }) => ours.delete(spanId));
}

export async function forgetClaims(database: Queryable): Promise<void> {
  await database.query(
    'DELETE FROM trace_exports WHERE at < now() - make_interval(secs => $1 * 2)',
    [LOOK_BACK_SECONDS],
  );
}

/**
 * Maximum number of associations to remember. The oldest ones, most of which sent no objects, are
 * forgotten first.
 */
const MOST_REMEMBERED = 10_000;

/**
 * Creates spans for associations from the log events of their beginning and end. If an association
 * sent objects of several studies, it has a span in the trace of each study.
 */
export function associationSpans(
  ratio: number,
  onSpan: (span: Span) => void,
  now: () => number = () => Date.now() / 1000,
): OnEvent {
  const accepted = new Map<string, number>();
  return (event, { association, studies, end, callingAeTitle }) => {
    if (typeof association !== 'string') return;
    if (event === 'association_accepted') {
      accepted.set(association, now());
      const [oldest] = accepted.keys();
      if (accepted.size > MOST_REMEMBERED && oldest) accepted.delete(oldest);
    }
    if (event === 'association_studies' && Array.isArray(studies)) {
      const start = accepted.get(association);
      accepted.delete(association);
      if (start === undefined) return;
      for (const { study, revision } of studies as { study: string; revision: number }[]) {
        const { traceId, spanId, sampled } = traceOfStudy(study, revision, ratio);
        if (!sampled) continue;
        onSpan({
          traceId,
          spanId: spanIdOf('association', `${association} ${study}`),
          parentSpanId: spanId,
          name: 'association',
          kind: 'server',
          start,
          end: now(),
          attributes: {
            'sonogate.association': association,
            'sonogate.end': String(end),
            ...(typeof callingAeTitle === 'string' && { 'dicom.calling_ae_title': callingAeTitle }),
          },
          error: null,
        });
      }
    }
  };
}
