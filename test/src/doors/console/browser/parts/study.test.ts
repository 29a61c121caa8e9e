import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ResultView } from '../../../../../../src/doors/console/contract.ts';
import type { Surroundings } from '../../../../../../src/doors/console/pages/page.ts';
import { openStudy } from '../../../../../../src/doors/console/pages/study.ts';
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

  it('announces nobody if it is left before its result has arrived', async () => {
    const { page, streams, result } = open();
    await settled();
    page.close?.();
    result.resolve(RESULT);
    await settled();
    expect(streams).toEqual([]);
  });
});
