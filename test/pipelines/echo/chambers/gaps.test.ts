import { describe, expect, it } from 'vitest';
import { type MeasuredClip, measuredClip } from '../../../../pipelines/echo/chambers/beats.ts';
import {
  irregularity,
  irregularRhythm,
  isUnequalRhythm,
  outlineGap,
} from '../../../../pipelines/echo/chambers/gaps.ts';
import { ECHO_SENTENCES } from '../../../../pipelines/result/render/echo/shared.ts';
import { BEAT, beatingClip, HEALTHY } from '../ventricle-sample.ts';

const EVEN = [0, 1, 2, 3, 4, 5, 6, 7].map((beat) => beat * BEAT);
/** All intervals are 0.9 s except for the last, which comes after the beats of the clip. */
const UNEVEN = [...EVEN, 7.6 * BEAT];

const clip = (rWaves: readonly number[], beats: number) =>
  measuredClip(beatingClip('A4C', HEALTHY, { rWaves }, beats));

const regular = clip(EVEN, 4);
const irregular = clip(UNEVEN, 6);
const short = clip(UNEVEN, 2);

describe('the beats that are averaged', () => {
  it('are three of an even rhythm, and of one that is not known', () => {
    expect(regular).toMatchObject({ regular: true, beats: { length: 3 } });
    expect(clip([], 4)).toMatchObject({ regular: null, beats: { length: 3 } });
  });
  it('are five in an irregular rhythm, which is reported', () => {
    expect(irregular).toMatchObject({ regular: false, beats: { length: 5 } });
    expect(irregularity(irregular)).toEqual({ beats: 5, few: false });
  });
  it('are fewer than advised where the clip holds no more', () => {
    expect(irregularity(short)?.few).toBe(true);
    expect([2, 3]).toContain(irregularity(short)?.beats);
  });
});

const heart = (A4C: MeasuredClip | null, A2C: MeasuredClip | null, trusted = true) => ({
  clips: { A4C, A2C, A3C: null },
  trusted,
});

const withIntervals = (interval: number | null): MeasuredClip => {
  return { ...regular, beats: regular.beats.map((beat) => ({ ...beat, interval })) };
};

describe('an irregular rhythm', () => {
  it('limits where either view has fewer than five beats', () => {
    expect(irregularRhythm(heart(irregular, irregular))?.few).toBe(false);
    expect(irregularRhythm(heart(irregular, short))?.few).toBe(true);
  });
  it('is not reported for an even one, nor where the volumes are withheld', () => {
    expect(irregularRhythm(heart(regular, null))).toBeNull();
    expect(irregularRhythm(heart(irregular, null, false))).toBeNull();
  });
});

describe('two views', () => {
  it.each([
    [1, 0.9, false],
    [1, 0.89, true],
    [0.89, 1, true],
    [1, null, false],
  ])('with RR intervals of %d and %s s are of unlike beats: %s', (four, two, unlike) => {
    const both = heart(withIntervals(four), withIntervals(two));
    expect(isUnequalRhythm(both)).toBe(unlike);
  });
});

describe('the reason why no apical clip was measured', () => {
  const none = { A4C: null, A2C: null, A3C: null };
  const clip = {
    view: null,
    belowGate: null,
    confidence: 0.4,
    unseparated: false,
    underStress: false,
  };
  const gap = (
    clips: Parameters<typeof outlineGap>[0]['clips'],
    wanted: Parameters<typeof outlineGap>[1] = ['A4C'],
  ) => {
    const heart = { clips: none };
    const said = outlineGap({ clips, views: { apical: { clips: [] } }, heart }, wanted);
    return said && ECHO_SENTENCES['outlines.no-clip'](said.params as never);
  };

  it('is that no clip was found where every clip is of another view, or a display', () => {
    const display = { ...clip, confidence: null };
    expect(gap([{ ...clip, view: 'PLAX' }, display])).toBe('Not assessed: no A4C clip was found.');
  });

  it('is that a clip was not recognised, where it may be the wanted one', () => {
    expect(gap([{ ...clip, belowGate: 'A4C' }, clip])).toBe(
      'Not assessed: no clip was reliably recognised as A4C, and the view of 2 clips is unknown (1 may show A4C).',
    );
    expect(gap([{ ...clip, belowGate: 'A4C' }], ['A4C', 'A2C'])).toContain('(1 may show');
  });

  it('is that none was recorded at rest', () => {
    const stressed = { ...clip, view: 'A4C', underStress: true };
    const code = (clips: Parameters<typeof gap>[0]) =>
      outlineGap({ clips, views: { apical: { clips: [] } }, heart: { clips: none } }, ['A4C'])
        ?.code;
    expect(code([stressed, stressed])).toBe('outlines.under-stress');
    expect(code([stressed, { ...clip, view: 'A4C' }])).toBe('outlines.no-beat');
  });

  it('says that the picture was not found on the screen', () => {
    expect(gap([{ ...clip, unseparated: true }])).toContain(
      'in 1 the picture fills the whole frame or could not be distinguished from the rest of the screen',
    );
  });
});
