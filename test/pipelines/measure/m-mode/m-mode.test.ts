import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sizesAt } from '../../../../models/phantom/sizes.ts';
import { fetalHeartMMode } from '../../../../models/phantom/views/m-mode.ts';
import type { SweepRegion } from '../../../../pipelines/contract/study.ts';
import { readDicomClip } from '../../../../pipelines/input/dicom/clip.ts';
import { mModeRhythm } from '../../../../pipelines/measure/m-mode/heart-rate.ts';
import { withEraseBar } from '../erase-bar.ts';

function sweepOf(seed: number, anatomy: Record<string, number>) {
  const [frame] = fetalHeartMMode.simulate({
    gaDays: 154,
    sizes: sizesAt(154),
    seed,
    frames: 1,
    anatomy,
  });
  if (!frame) throw new Error('a view without a frame');
  const at = (name: string) => frame.truth.values?.[name] ?? Number.NaN;
  const sweep: SweepRegion = {
    kind: 'm-mode',
    area: {
      minX: at('leftPixel'),
      minY: at('topPixel'),
      maxX: at('rightPixel'),
      maxY: at('bottomPixel'),
    },
    secondsPerPixel: at('secondsPerColumn'),
    valuePerPixel: at('cmPerRow'),
    unit: 'cm',
    zeroRow: at('topPixel'),
    yDirection: 'down',
    correctionAngle: null,
  };
  return { image: { width: frame.columns, height: frame.rows, data: frame.gray }, sweep };
}

describe('the rate of an M-mode sweep', () => {
  it.each([95, 120, 145, 170, 200])('%i beats per minute within 3', (beatsPerMinute) => {
    const { image, sweep } = sweepOf(beatsPerMinute, { beatsPerMinute });
    const rhythm = mModeRhythm(image, sweep);
    if (rhythm.status !== 'beating') throw new Error(rhythm.status);
    expect(Math.abs(rhythm.beatsPerMinute - beatsPerMinute)).toBeLessThan(3);
  });

  it.each([1, 2, 3, 4])('nothing beats if nothing moves (seed %i)', (seed) => {
    const { image, sweep } = sweepOf(seed, { still: 1 });
    expect(mModeRhythm(image, sweep).status).toBe('not-seen');
  });

  it.each([
    { seconds: 1.65, status: 'not-assessable' },
    { seconds: 1.7, status: 'not-seen' },
  ])(
    'a sweep of $seconds s on which nothing moves is $status: 2.5 beats of 90 per minute take 1.67 s',
    ({ seconds, status }) => {
      const { image, sweep } = sweepOf(3, { still: 1, seconds });
      expect(mModeRhythm(image, sweep).status).toBe(status);
    },
  );

  it('a sweep of 1.4 s is too short for 80 beats per minute, and says so', () => {
    const { image, sweep } = sweepOf(3, { beatsPerMinute: 80, seconds: 1.4 });
    expect(mModeRhythm(image, sweep)).toEqual({ status: 'not-assessable', reason: 'too-short' });
  });

  it.each([1, 2, 3])('an erase bar does not make the beats look irregular (seed %i)', (seed) => {
    const { image, sweep } = sweepOf(seed, { beatsPerMinute: 140, seconds: 4, irregularity: 0 });
    const rhythm = mModeRhythm(withEraseBar(image, sweep.area), sweep);
    if (rhythm.status !== 'beating') throw new Error(rhythm.status);
    expect(Math.abs(rhythm.beatsPerMinute - 140)).toBeLessThan(3);
    expect(rhythm.variation).toBeLessThan(0.05);
  });

  it('needs the scale of time', () => {
    const { image, sweep } = sweepOf(1, {});
    expect(mModeRhythm(image, { ...sweep, secondsPerPixel: null })).toEqual({
      status: 'not-assessable',
      reason: 'no-scale',
    });
  });
});

const REAL = '../shared/data/dicom/doppler';

describe.skipIf(!existsSync(REAL))('rates printed on real screens (needs ../shared/data)', () => {
  it.each([
    { file: 'tte47_40_mmode-a4ch-rv', printed: 69 },
    { file: 'tte47_42_mmode-plax-av', printed: 92 },
  ])('$file: $printed beats per minute within 2', async ({ file, printed }) => {
    const { clip } = await readDicomClip(file, `${REAL}/${file}.dcm`, null);
    const [sweep] = clip.sweeps;
    const image = await clip.frames[0]?.gray();
    if (!sweep || !image) throw new Error('no sweep was read');
    const rhythm = mModeRhythm(image, sweep);
    if (rhythm.status !== 'beating') throw new Error(rhythm.status);
    expect(Math.abs(rhythm.beatsPerMinute - printed)).toBeLessThan(2);
  });
});
