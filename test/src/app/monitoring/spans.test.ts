import { describe, expect, test } from 'vitest';
import {
  associationSpans,
  commitmentSpan,
  deliverySpan,
  type EndedRequest,
  requestSpans,
  routedSpans,
} from '../../../../src/app/monitoring/spans.ts';
import type { Span } from '../../../../src/platform/tracing/otlp.ts';
import {
  formatTraceparent,
  parseTraceparent,
  traceOfRequest,
  traceOfStudy,
} from '../../../../src/platform/tracing/trace-context.ts';

const STUDY = '0b2f6c1e-0000-4000-8000-000000000001';
const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const ended: EndedRequest = {
  id: 'req_1',
  source: { kind: 'dicom', study: STUDY, revision: 2, rule: 'obstetric' },
  endpoint: 'us/obstetric/interpret',
  status: 'succeeded',
  code: null,
  attempts: 1,
  created: 120,
  started: 125,
  ended: 150,
  stages: [
    { name: 'received', at: 120 },
    { name: 'queued_gpu', at: 120 },
    { name: 'starting', at: 125 },
    { name: 'measuring', at: 130 },
    { name: 'completed', at: 150 },
  ],
  study: { objects: 12, bytes: 4096, first: 100, last: 110, complete: 118, because: 'quiet-time' },
};

const named = (spans: readonly Span[], name: string) => {
  const found = spans.filter((span) => span.name === name);
  expect(found, name).toHaveLength(1);
  return found[0] as Span;
};

describe('traceparent (W3C Trace Context)', () => {
  test('is formatted as it was parsed', () => {
    const context = parseTraceparent(CALLER);
    expect(context && formatTraceparent(context)).toBe(CALLER);
  });

  test.each([
    ['another version', CALLER.replace(/^00/, '01')],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['a span id of zeros', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['capitals', CALLER.toUpperCase()],
    ['nothing', ''],
    ['further text at its end', `${CALLER}-x`],
  ])('%s is not a valid traceparent', (_what, text) => {
    expect(parseTraceparent(text)).toBeNull();
  });
});

describe('the trace of a revision of a study', () => {
  const spans = requestSpans(ended, 1);

  test('has a span for each step, from end to start, below one root', () => {
    const times = (name: string) => {
      const { start, end } = named(spans, name);
      return [start, end];
    };
    expect(times('study')).toEqual([100, 150]);
    expect(times('intake')).toEqual([100, 110]);
    expect(times('completion')).toEqual([110, 118]);
    expect(times('routing')).toEqual([118, 120]);
    expect(times('submit')).toEqual([120, 120]);
    expect(times('queue')).toEqual([120, 125]);
    expect(times('run')).toEqual([125, 150]);
    expect(times('stage starting')).toEqual([125, 130]);
    expect(times('stage measuring')).toEqual([130, 150]);
    expect(spans.map(({ name }) => name)).not.toContain('stage completed');
    const root = named(spans, 'study');
    expect(root.parentSpanId).toBeNull();
    for (const { name, parentSpanId } of spans.slice(1)) {
      const parent = name.startsWith('stage ') ? named(spans, 'run') : root;
      expect(parentSpanId, name).toBe(parent.spanId);
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  });

  test('can be found by another process from the ids alone: delivery and association join it', () => {
    const delivery = deliverySpan(
      {
        id: 'dlv_1',
        request: 'req_1',
        source: ended.source,
        kind: 'fhir',
        destination: 'ehr',
        object: 'fhir-bundle',
        state: 'delivered',
        code: null,
        attempts: 3,
        created: 150,
        ended: 160,
      },
      1,
    );
    const associations: Span[] = [];
    let clock = 99;
    const onEvent = associationSpans(
      1,
      (span) => associations.push(span),
      () => clock,
    );
    onEvent('association_accepted', { association: 'a' });
    clock = 111;
    onEvent('association_ended', { association: 'a' });
    const studies = [{ study: STUDY, revision: 2 }];
    onEvent('association_studies', { association: 'a', studies, end: 'released' });
    const root = named(spans, 'study');
    for (const span of [delivery, associations[0]]) {
      expect(span).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId });
    }
    expect(associations).toMatchObject([{ start: 99, end: 111 }]);
  });

  test('contains the forwarded objects, and below them the commitment of the PACS', () => {
    const forwarded = deliverySpan(
      {
        id: 'dlv_2',
        request: null,
        source: { kind: 'dicom', study: STUDY, revision: 2, rule: '' },
        kind: 'forward',
        destination: 'pacs',
        object: 'ins_1',
        state: 'delivered',
        code: null,
        attempts: 1,
        created: 119,
        ended: 121,
      },
      1,
    );
    const root = named(spans, 'study');
    expect(forwarded).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId });
    const answered = {
      id: 'dlv_2 1.2',
      delivery: 'dlv_2',
      request: null,
      source: ended.source,
      destination: 'pacs',
      committed: true,
      asked: 123,
      ended: 130,
    };
    expect(commitmentSpan(answered, 1)).toMatchObject({
      name: 'commitment',
      traceId: root.traceId,
      parentSpanId: forwarded?.spanId,
      start: 123,
      end: 130,
      error: null,
    });
    expect(commitmentSpan({ ...answered, committed: false }, 1)?.error).toBe('commitment_refused');
    expect(commitmentSpan(answered, 0)).toBeNull();
  });

  test('has its root even if rules only forwarded the study, up to the moment they acted', () => {
    const { study: received } = ended;
    if (!received) throw new Error('the example came without a study');
    const routed = { id: '7', study: STUDY, revision: 2, rules: ['archive'], ended: 120, received };
    const root = named(routedSpans(routed, 1), 'study');
    expect(root).toMatchObject({ spanId: named(spans, 'study').spanId, start: 100, end: 120 });
    const routing = named(routedSpans(routed, 1), 'routing');
    expect(routing).toMatchObject({ start: 118, end: 120, parentSpanId: root.spanId });
    expect(routing.attributes).toEqual({ 'sonogate.rule': 'archive' });
    expect(routedSpans(routed, 0)).toEqual([]);
  });

  test('differs for the next revision', () => {
    expect(traceOfStudy(STUDY, 3, 1).traceId).not.toBe(traceOfStudy(STUDY, 2, 1).traceId);
  });

  test('states the code of a request that failed', () => {
    const failed = requestSpans({ ...ended, status: 'failed', code: 'pipeline_crashed' }, 1);
    expect(named(failed, 'study').error).toBe('pipeline_crashed');
    expect(named(failed, 'run').error).toBe('pipeline_crashed');
  });

  test('ends with the wait of a request that never ran', () => {
    const canceled = requestSpans({ ...ended, status: 'canceled', started: null, stages: [] }, 1);
    expect(named(canceled, 'queue').end).toBe(150);
    expect(canceled.map(({ name }) => name)).not.toContain('run');
  });

  test('never ends before it begins, whatever the clocks say', () => {
    const odd = requestSpans({ ...ended, created: 90, started: 80, ended: 70 }, 1);
    expect(odd.every(({ start, end }) => end >= start)).toBe(true);
  });
});

describe("the trace of a client's request", () => {
  const request = (traceparent?: string): EndedRequest => ({
    ...ended,
    study: null,
    source: { kind: 'api', ...(traceparent && { traceparent }) },
  });

  test('has the span of a caller that sent a traceparent as its parent', () => {
    const root = named(requestSpans(request(CALLER), 0), 'request');
    expect(root).toMatchObject({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: '00f067aa0ba902b7',
    });
  });

  test('is not exported if the caller does not sample it', () => {
    expect(requestSpans(request(CALLER.replace(/01$/, '00')), 1)).toEqual([]);
  });

  test('is otherwise a root span', () => {
    expect(named(requestSpans(request(), 1), 'request').parentSpanId).toBeNull();
  });
});

test.each([0, 0.3, 1])(
  'a sampling ratio of %d is kept, and decided identically in every process',
  (ratio) => {
    const ids = Array.from({ length: 2000 }, (_, index) => `req_${index}`);
    const sampled = ids.filter((id) => traceOfRequest(id, { kind: 'api' }, ratio).sampled).length;
    expect(sampled / ids.length).toBeGreaterThanOrEqual(ratio - 0.05);
    expect(sampled / ids.length).toBeLessThanOrEqual(ratio + 0.05);
  },
);
