import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WorklistPage } from '../../../../../../src/doors/console/contract.ts';
import type { Surroundings } from '../../../../../../src/doors/console/pages/page.ts';
import { openWorklist } from '../../../../../../src/doors/console/pages/worklist.ts';
import { shownText } from '../../shown-text.ts';
import { row } from './row.ts';

afterEach(() => vi.unstubAllGlobals());

/** Opens the worklist with an API whose responses the test gives, in the order of the questions. */
function open() {
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('ResizeObserver', class {});
  const asked: PromiseWithResolvers<WorklistPage>[] = [];
  const worklist = () => {
    asked.push(Promise.withResolvers());
    return asked.at(-1)?.promise;
  };
  const around = {
    api: { worklist, facets: () => new Promise(() => {}) },
    session: { may: [], role: 'viewer' },
    redraw: () => {},
    say: () => {},
  } as unknown as Surroundings;
  return {
    page: openWorklist({ name: 'worklist', id: '', query: new URLSearchParams() }, around),
    asked,
  };
}

describe('the worklist while a newer query is loading', () => {
  it('ignores the failure of the query before it', async () => {
    const { page, asked } = open();
    page.changed?.({ type: 'reset' } as never);
    asked[0]?.reject(new Error('the first query failed'));
    await new Promise((done) => setTimeout(done, 0));
    expect(asked).toHaveLength(2);
    expect(shownText(page.view())).not.toContain('failed');
    asked[1]?.reject(new Error('the second query failed'));
    await new Promise((done) => setTimeout(done, 0));
    expect(shownText(page.view())).toContain('failed');
  });
});

describe('the worklist whose next page cannot be loaded', () => {
  afterEach(() => vi.useRealTimers());

  it('states the problem, and asks again after 5 s rather than with each redraw', async () => {
    vi.stubGlobal('innerHeight', 900);
    vi.stubGlobal('document', { documentElement: {} });
    vi.stubGlobal('getComputedStyle', () => ({ getPropertyValue: () => '3', fontSize: '16px' }));
    vi.useFakeTimers({ toFake: ['Date'] });
    const { page, asked } = open();
    const redraw = async () => {
      const text = shownText(page.view());
      await new Promise((done) => setTimeout(done, 0));
      return text;
    };
    asked[0]?.resolve({ critical: [], rows: [row('a', 1)], nextCursor: 'next' });
    await redraw();
    await redraw();
    expect(asked).toHaveLength(2);
    asked[1]?.reject(new Error('too many requests'));
    await redraw();
    expect(await redraw()).toContain('too many requests');
    vi.advanceTimersByTime(4999);
    await redraw();
    expect(asked).toHaveLength(2);
    vi.advanceTimersByTime(1);
    await redraw();
    expect(asked).toHaveLength(3);
    asked[2]?.resolve({ critical: [], rows: [], nextCursor: null });
    await redraw();
    expect(await redraw()).not.toContain('too many requests');
  });
});

describe('a row that changes while its page is being fetched', () => {
  it('is not replaced by the older row of the page', async () => {
    vi.stubGlobal('innerHeight', 900);
    vi.stubGlobal('document', { documentElement: {} });
    vi.stubGlobal('getComputedStyle', () => ({ getPropertyValue: () => '3', fontSize: '16px' }));
    const { page, asked } = open();
    const settled = () => new Promise((done) => setTimeout(done, 0));
    asked[0]?.resolve({ critical: [], rows: [row('a', 2)], nextCursor: 'next' });
    await settled();
    page.view();
    await settled();
    const failed = { ...row('b', 1), state: 'failed' as const };
    page.changed?.({ type: 'row', data: { row: failed } } as never);
    asked[1]?.resolve({ critical: [], rows: [row('b', 1)], nextCursor: null });
    await settled();
    expect(shownText(page.view())).toContain('Failed');
  });
});
