import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ResultView } from '../../../../../../src/doors/console/contract.ts';
import type { Surroundings } from '../../../../../../src/doors/console/pages/page.ts';
import { openStudy, ruleChoice } from '../../../../../../src/doors/console/pages/study.ts';
import { shownText } from '../../shown-text.ts';
import { row } from './row.ts';

afterEach(() => vi.unstubAllGlobals());

const settled = () => new Promise((done) => setTimeout(done, 0));

/** Opens the page of a study with one finished request, whose result the test delivers. */
function open() {
  const streams: { url: string; open: boolean }[] = [];
  class Stream {
    readonly #entry: { url: string; open: boolean };
    constructor(url: string) {
      this.#entry = { url, open: true };
      streams.push(this.#entry);
    }
    addEventListener() {}
    close() {
      this.#entry.open = false;
    }
  }
  vi.stubGlobal('EventSource', Stream);
  vi.stubGlobal('location', { hash: '' });
  const result = Promise.withResolvers<ResultView>();
  const study = {
    row: row('study', 1),
    requests: [{ id: 'req_1', state: 'succeeded', artifacts: [] }],
    deliveries: [],
    earlier: [],
    timeline: [],
    actions: [],
    study: null,
  };
  const around = {
    api: {
      study: async () => study,
      result: () => result.promise,
      review: () => new Promise(() => {}),
    },
    session: { may: [], role: 'clinician', person: 'Ann' },
    redraw: () => {},
    say: () => {},
  } as unknown as Surroundings;
  const page = openStudy({ name: 'study', id: 'study', query: new URLSearchParams() }, around);
  return { page, streams, result };
}
const RESULT = { sections: [], measurements: [] } as unknown as ResultView;

describe('the page of a study', () => {
  it('announces its reader to others from the moment the result is shown until the page is left', async () => {
    const { page, streams, result } = open();
    await settled();
    result.resolve(RESULT);
    await settled();
    expect(streams).toEqual([{ url: '/console/api/requests/req_1/review/events', open: true }]);
    page.close?.();
    expect(streams.map(({ open }) => open)).toEqual([false]);
  });

  it('never calls a signed result a draft, also before its review has arrived', async () => {
    const { page, result } = open();
    await settled();
    const none = { impression: [], keyValues: [], findings: [], classifications: [], prior: null };
    result.resolve({ ...RESULT, ...none, draft: false } as unknown as ResultView);
    await settled();
    expect(shownText(page.view())).toContain('Signed');
    expect(shownText(page.view())).not.toContain('Draft, not verified');
  });

  it('announces nobody if it is left before its result has arrived', async () => {
    const { page, streams, result } = open();
    await settled();
    page.close?.();
    result.resolve(RESULT);
    await settled();
    expect(streams).toEqual([]);
  });
});

describe('the question to which rule a study is released', () => {
  it('shows the rule that was chosen before, because that one would be sent', () => {
    const options = ruleChoice(['obstetric', 'echo'], { rule: 'echo' }).values.find(Array.isArray);
    expect(options?.map(({ values }: { values: unknown[] }) => values)).toEqual([
      ['obstetric', false, 'obstetric'],
      ['echo', true, 'echo'],
    ]);
  });
});
