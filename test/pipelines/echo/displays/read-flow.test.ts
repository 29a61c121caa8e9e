import { describe, expect, it } from 'vitest';
import { readFlow } from '../../../../pipelines/echo/displays/read-flow.ts';
import type { SpectralTrace } from '../../../../pipelines/measure/doppler/envelope.ts';
import { wavesOf } from '../../../../pipelines/measure/waves.ts';

const SECONDS = 0.005;
const BEAT = 1;
const BEATS = 4;

/** Velocity in cm/s at a time given as a share of the flow time, 0 to 1. */
type Shape = (share: number) => number;

const ejection =
  (peak: number): Shape =>
  (share) =>
    peak * Math.sin(Math.PI * share);
/** Rises at once and falls slowly, like an AR jet. */
const decay =
  (peak: number): Shape =>
  (share) =>
    peak * Math.min(1, share / 0.05, (1 - share) / 0.05) * (1 - 0.3 * share);

function trace(side: 'above' | 'below', seconds: number, shape: Shape): SpectralTrace {
  const curve = Float64Array.from({ length: (BEATS * BEAT) / SECONDS }, (_, column) => {
    const since = ((column * SECONDS) % BEAT) - 0.2;
    return since > 0 && since < seconds ? shape(since / seconds) : 0;
  });
  const top = Math.max(...curve);
  const waves =
    top > 0
      ? wavesOf(curve, { prominence: 0.2 * top, floor: 0.1 * top, shortest: 0.04 / SECONDS })
      : [];
  return {
    side,
    curve,
    leading: curve,
    dense: curve,
    waves,
    skirt: 0,
    clear: 1,
    brightness: 100,
    filled: 0.5,
    atEnd: [],
    limit: 600,
    wrapped: false,
  };
}

const NOTHING: Shape = () => 0;

function peaksRead(above: SpectralTrace, below: SpectralTrace) {
  const spectrum = {
    left: 0,
    top: 0,
    columns: (BEATS * BEAT) / SECONDS,
    rows: 300,
    zeroRow: 150,
    velocityPerRow: 4,
    secondsPerColumn: SECONDS,
  };
  const { side, quantities } = readFlow(
    'aortic-valve',
    { spectrum, above, below, tissueScale: false },
    true,
  );
  const peaks = quantities.find(({ key }) => key === 'av-vmax')?.beats ?? [];
  return { side, fastest: Math.max(0, ...peaks.map(({ value }) => value)) };
}

describe('a CW display at the aortic valve', () => {
  it('is read below the baseline', () => {
    const { side, fastest } = peaksRead(
      trace('above', 0.55, decay(400)),
      trace('below', 0.3, ejection(150)),
    );
    expect(side).toBe('below');
    expect(fastest).toBeCloseTo(1.5, 1);
  });

  it('is read above where the machine turned it and the jet lasts as long as an ejection', () => {
    const { side, fastest } = peaksRead(
      trace('above', 0.32, ejection(420)),
      trace('below', 0.32, NOTHING),
    );
    expect(side).toBe('above');
    expect(fastest).toBeCloseTo(4.2, 1);
  });

  it('is not read above where the jet lasts a diastole: AR is not stenosis', () => {
    const faint = trace('below', 0.3, ejection(100));
    const { side, fastest } = peaksRead(trace('above', 0.55, decay(420)), faint);
    expect(side).toBe('below');
    expect(fastest).toBeCloseTo(1, 1);
    expect(peaksRead(trace('above', 0.55, decay(420)), trace('below', 0.3, NOTHING))).toEqual({
      side: 'below',
      fastest: 0,
    });
  });
});
