import { describe, expect, it } from 'vitest';
import { REQUEST_STATUS } from '../../../../src/core/requests/request.ts';
import { COMPLETION_SIGNAL } from '../../../../src/core/studies/completion.ts';
import { STUDY_STATE } from '../../../../src/core/studies/study-store.ts';
import { type Traces, timelineOf } from '../../../../src/doors/console/timeline.ts';
import { catalogueEntry } from '../../../../src/platform/errors/catalogue.ts';

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 8, 0, second));

const state = (
  second: number,
  to: string,
  more: Partial<Traces['history'][number]> = {},
): Traces['history'][number] => ({
  at: at(second),
  state: to,
  revision: 1,
  complete_because: 'quiet-time',
  reason: null,
  ...more,
});

const delivery = (more: Partial<Traces['deliveries'][number]>): Traces['deliveries'][number] => ({
  request_id: 'req_1',
  object: 'sr-tid1500',
  destination: 'pacs',
  state: 'delivered',
  code: null,
  detail: 'C-STORE 0000H',
  not_sent: false,
  result_revision: 0,
  created_at: at(20),
  ended_at: at(21),
  committed_at: null,
  ...more,
});

const NOTHING: Traces = {
  study: {
    calling_ae_title: 'VOLUSON',
    called_ae_title: 'SONOGATE',
    source: 'cart-1',
    first_received_at: at(0),
  },
  history: [],
  submitted: [],
  rules: [],
  events: [],
  deliveries: [],
  holds: [],
  acknowledged: [],
  changes: [],
  signatures: [],
  audit: [],
};

const told = (traces: Partial<Traces>) =>
  timelineOf({ ...NOTHING, ...traces }).map(({ kind, title }) => [kind, title]);

describe('the timeline of a study', () => {
  it('begins with the first object even if the clock of the database is slow', () => {
    const study = NOTHING.study && { ...NOTHING.study, first_received_at: at(3) };
    const history = [state(1, 'receiving'), state(2, 'complete')];
    expect(told({ study, history }).map(([kind]) => kind)).toEqual(['received', 'completed']);
  });

  it('does not say of a released study that a person ended its wait', () => {
    const released = state(4, 'complete', { complete_because: 'command' });
    const history = [state(1, 'receiving'), state(2, 'complete'), state(3, 'held'), released];
    expect(told({ history }).map(([kind]) => kind)).toEqual(['received', 'completed', 'held']);
  });

  it('shows the changes of a review at one sitting, the signature, and what it sends', () => {
    const [request_id, author] = ['req_1', 'Dr Ada Reader'];
    const late = { at: new Date(at(6).getTime() + 2 * 3_600_000), author, request_id };
    const entries = timelineOf({
      ...NOTHING,
      changes: [{ at: at(6), author, request_id }, { at: at(8), author, request_id }, late],
      signatures: [{ at: at(9), observer: author, statement: 'Images reviewed.' }],
      deliveries: [delivery({ result_revision: 1, created_at: at(10), ended_at: at(11) })],
    });
    expect(entries.map(({ title }) => title).slice(1)).toEqual([
      'Reviewed: 2 changes',
      'Signed',
      'Structured report (measurements, TID 1500), signed, is waiting for delivery to pacs',
      'Structured report (measurements, TID 1500), signed, accepted by pacs',
      'Reviewed: 1 change',
    ]);
    expect(entries.find(({ title }) => title === 'Signed')).toMatchObject({
      actor: author,
      detail: 'Images reviewed.',
    });
  });

  it("goes from the first object to the PACS's commitment in chronological order", () => {
    const entries = timelineOf({
      ...NOTHING,
      history: [
        state(0, 'receiving'),
        state(5, 'complete', { complete_because: 'association-release' }),
        state(7, 'submitted'),
      ],
      submitted: [
        {
          at: at(6),
          rule: 'obstetric',
          endpoint: 'us/obstetric/interpret',
        },
      ],
      rules: [
        {
          rule: 'obstetric',
          matches: true,
          acts: true,
          conditions: [{ condition: 'modality', wanted: 'US', found: 'US', holds: true }],
        },
      ],
      events: [
        {
          at: at(8),
          name: 'status',
          data: { status: 'running', previous: 'preparing', at: '' },
        },
        {
          at: at(15),
          name: 'status',
          data: { status: 'succeeded', previous: 'running', at: '' },
        },
      ],
      deliveries: [delivery({ committed_at: at(30) })],
    });
    expect(entries.map(({ at: time, title }) => `${time.slice(17, 19)} ${title}`)).toEqual([
      '00 First object received',
      '05 Complete: the sender released its association',
      '06 Rule obstetric requested the obstetric interpretation',
      '08 Interpretation started',
      '15 Result ready',
      '20 Structured report (measurements, TID 1500) is waiting for delivery to pacs',
      '21 Structured report (measurements, TID 1500) accepted by pacs',
      '30 pacs committed to storing Structured report (measurements, TID 1500)',
    ]);
    expect(entries[0]).toMatchObject({
      actor: 'VOLUSON',
      detail: expect.stringContaining('cart-1'),
    });
    expect(entries[2]).toMatchObject({ detail: 'Modality: US' });
    expect(entries[6]).toMatchObject({ actor: 'pacs', detail: 'C-STORE 0000H' });
  });

  it.each(COMPLETION_SIGNAL)('has words for the signal %s', (complete_because) => {
    const [, complete] = told({ history: [state(5, 'complete', { complete_because })] });
    expect(complete?.[1]).toMatch(/^Complete: \w+ \w+/);
  });

  it.each(STUDY_STATE.filter((name) => !['receiving', 'complete', 'submitted'].includes(name)))(
    'has words for a study that is %s, and states why',
    (name) => {
      const history = [state(5, name, { reason: 'because of it' })];
      const [, entry] = timelineOf({ ...NOTHING, history });
      expect(entry?.title).not.toBe(name);
      expect(entry?.detail).toBe('because of it');
    },
  );

  it.each(REQUEST_STATUS)('has words for a request that is %s', (status) => {
    const data = { status, previous: null, at: '' };
    const [, entry] = told({ events: [{ at: at(5), name: 'status', data }] });
    expect(entry?.[1]).toMatch(/^[A-Z]/);
  });

  it('lists objects that arrived late once for each revision', () => {
    const history = [
      state(0, 'receiving'),
      state(5, 'submitted'),
      state(60, 'receiving', { revision: 2 }),
      state(61, 'receiving', { revision: 2, reason: 'x' }),
    ];
    expect(told({ history }).map(([, title]) => title)).toEqual([
      'First object received',
      'Further objects received: revision 2',
    ]);
  });

  it('states why a complete study could not continue, not that it is complete again', () => {
    const history = [
      state(5, 'complete'),
      state(6, 'complete', { reason: 'the queue is away' }),
      state(20, 'complete'),
    ];
    expect(told({ history }).slice(1)).toEqual([
      ['completed', 'Complete: nothing more arrived during the quiet time of its source'],
      ['failed', 'Could not be processed, will be tried again'],
    ]);
  });

  it.each([
    [
      'dead',
      'failed',
      `Structured report (measurements, TID 1500) to pacs: ${catalogueEntry('peer_unreachable').title}`,
    ],
    [
      'closed',
      'failed',
      `Structured report (measurements, TID 1500) to pacs: ${catalogueEntry('peer_unreachable').title}`,
    ],
    ['diverted', 'changed', 'Structured report (measurements, TID 1500) diverted from pacs'],
  ])('lists a delivery that is %s', (name, kind, title) => {
    const [, , end] = told({ deliveries: [delivery({ state: name, code: 'peer_unreachable' })] });
    expect(end).toEqual([kind, title]);
  });

  it('does not say that a report was accepted which was not sent', () => {
    const [, , end] = told({
      deliveries: [delivery({ object: 'fhir-bundle', destination: 'ehr', not_sent: true })],
    });
    expect(end).toEqual(['delivery', 'FHIR report not sent to ehr']);
  });

  it('lists a person who looks repeatedly once an hour', () => {
    const look = (second: number, actor: string) => ({
      at: at(second),
      action: 'identity.view',
      actor,
      where: 'console study',
      changed: null,
      reason: null,
      destination: null,
      under: null,
    });
    const audit = [
      look(1, 'Anne'),
      look(2, 'Anne'),
      look(3, 'Ben'),
      look(3599, 'Anne'),
      look(3601, 'Anne'),
    ];
    const looked = timelineOf({ ...NOTHING, audit }).filter(({ kind }) => kind === 'looked');
    expect(looked.map(({ actor }) => actor)).toEqual(['Anne', 'Ben', 'Anne']);
  });

  it('lists what people did, but not what programs read', () => {
    const entry = (action: string) => ({
      at: at(9),
      action,
      actor: 'Anne',
      where: null,
      changed: null,
      reason: null,
      destination: null,
      under: null,
    });
    expect(told({ audit: [entry('study.rerun'), entry('request.read')] }).slice(1)).toEqual([
      ['changed', 'Another interpretation requested'],
    ]);
  });

  it('states who closed a delivery, and why', () => {
    const entries = timelineOf({
      ...NOTHING,
      audit: [
        {
          at: at(9),
          action: 'delivery.close',
          actor: 'Sam',
          where: null,
          changed: null,
          reason: 'The PACS was replaced',
          destination: 'pacs',
          under: null,
        },
      ],
    });
    expect(entries.at(-1)).toMatchObject({
      kind: 'changed',
      title: 'Delivery to pacs closed',
      actor: 'Sam',
      detail: 'The PACS was replaced',
    });
  });

  it('of a request without a study begins with the request', () => {
    const data = { status: 'queued', previous: null, at: '' } as const;
    const events = [{ at: at(1), name: 'status' as const, data }];
    expect(told({ study: null, events })).toEqual([['status', 'Queued']]);
  });
});
