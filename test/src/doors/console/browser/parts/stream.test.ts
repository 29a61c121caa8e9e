import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStream } from '../../../../../../src/doors/console/pages/api.ts';

/** The browser's end of a stream; the test plays the network. */
class Source extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly CLOSED = 2;
  static all: Source[] = [];
  readyState = Source.CONNECTING;
  readonly url: string;
  constructor(url: string) {
    super();
    this.url = url;
    Source.all.push(this);
  }
  fail(readyState: number) {
    this.readyState = readyState;
    this.dispatchEvent(new Event('error'));
  }
  close() {
    this.readyState = Source.CLOSED;
  }
}

beforeEach(() => {
  Source.all = [];
  vi.stubGlobal('EventSource', Source);
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function open() {
  const calls: string[] = [];
  const stream = openStream('/events', {
    heard: { row: (data) => calls.push(data) },
    turned: () => calls.push(stream.connected() ? 'restored' : 'lost'),
    refused: () => calls.push('refused'),
    reopened: () => calls.push('reopened'),
  });
  return { stream, calls };
}

describe('a stream of events', () => {
  it('is left to the browser when the connection breaks, which resumes it', () => {
    const { calls } = open();
    Source.all[0]?.fail(Source.CONNECTING);
    vi.advanceTimersByTime(60_000);
    Source.all[0]?.dispatchEvent(new Event('open'));
    expect(Source.all).toHaveLength(1);
    expect(calls).toEqual(['lost', 'restored']);
  });

  it('is opened again 5 s after an error response, and reports that changes may be missing', () => {
    const { calls } = open();
    Source.all[0]?.fail(Source.CLOSED);
    vi.advanceTimersByTime(4999);
    expect(Source.all).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(Source.all).toHaveLength(2);
    Source.all[1]?.fail(Source.CLOSED);
    vi.advanceTimersByTime(5000);
    Source.all[2]?.dispatchEvent(new Event('open'));
    Source.all[2]?.dispatchEvent(new MessageEvent('row', { data: 'a row' }));
    expect(calls).toEqual(['lost', 'refused', 'refused', 'restored', 'reopened', 'a row']);
  });

  it('stays closed once it has been closed', () => {
    const { stream } = open();
    Source.all[0]?.fail(Source.CLOSED);
    stream.close();
    vi.advanceTimersByTime(60_000);
    expect(Source.all).toHaveLength(1);
  });
});
