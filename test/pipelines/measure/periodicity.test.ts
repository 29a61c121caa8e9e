import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../models/phantom/random.ts';
import type { GrayImage } from '../../../pipelines/contract/image.ts';
import { cardiacActivity } from '../../../pipelines/measure/periodicity.ts';

const SIZE = { width: 200, height: 160 } as const;

interface Cine {
  frames: number;
  framesPerSecond: number;
  beatsPerMinute: number;
  /** Excursion of the wall, pixels. */
  swing: number;
  seed?: number;
  /** The whole picture brightens by this many grey levels in step with the beat. */
  flicker?: number;
}

/**
 * Yields a dark cavity whose wall moves with two harmonics. The speckle is different in each frame.
 */
function* beatingCavity(cine: Cine): Generator<GrayImage> {
  const { frames, framesPerSecond, beatsPerMinute, swing, seed = 1, flicker = 0 } = cine;
  const random = createRandom(seed);
  const { width, height } = SIZE;
  for (let frame = 0; frame < frames; frame++) {
    const phase = (2 * Math.PI * beatsPerMinute * frame) / (60 * framesPerSecond);
    const radius = 12 + swing * (Math.sin(phase) + 0.4 * Math.sin(2 * phase + 1));
    const gain = flicker * Math.sin(phase);
    const data = new Uint8Array(width * height);
    for (let i = 0; i < data.length; i++) {
      const inside = Math.hypot((i % width) - 90, Math.floor(i / width) - 80) < radius;
      const speckle = Math.sqrt(-2 * Math.log(1 - random.unit())) / 1.25;
      data[i] = Math.max(0, Math.min(255, (inside ? 25 : 90) * (0.4 + 0.6 * speckle) + gain));
    }
    yield { width, height, data };
  }
}

const timesOf = ({ frames, framesPerSecond }: Cine) =>
  Array.from({ length: frames }, (_, i) => i / framesPerSecond);

const judge = (cine: Cine) => cardiacActivity(beatingCavity(cine), timesOf(cine));

describe('cardiac activity from the periodicity of a cine', () => {
  it.each([
    { beatsPerMinute: 90, framesPerSecond: 12, frames: 36 },
    { beatsPerMinute: 110, framesPerSecond: 25, frames: 50 },
    { beatsPerMinute: 140, framesPerSecond: 25, frames: 50 },
    { beatsPerMinute: 180, framesPerSecond: 30, frames: 60 },
    { beatsPerMinute: 220, framesPerSecond: 30, frames: 60 },
  ])(
    'gives $beatsPerMinute beats per minute within 3 at $framesPerSecond frames a second',
    async (cine) => {
      const activity = await judge({ ...cine, swing: 3 });
      expect(activity).toMatchObject({ status: 'beating' });
      if (activity.status !== 'beating') return;
      expect(Math.abs(activity.beatsPerMinute - cine.beatsPerMinute)).toBeLessThan(3);
    },
  );

  it.each([1, 2, 3, 4])(
    'sees nothing beat in speckle over a still cavity (seed %i)',
    async (seed) => {
      const still = { frames: 50, framesPerSecond: 25, beatsPerMinute: 140, swing: 0, seed };
      expect(await judge(still)).toMatchObject({ status: 'not-seen' });
    },
  );

  it.each([
    { frames: 41, status: 'not-assessable' },
    { frames: 42, status: 'not-seen' },
  ])('says of a still cavity in $frames frames at 25 a second: $status', async (length) => {
    const still = { framesPerSecond: 25, beatsPerMinute: 140, swing: 0, seed: 1, ...length };
    expect((await judge(still)).status).toBe(length.status);
  });

  it('does not mistake a picture that brightens as a whole for a heart', async () => {
    const video = { frames: 50, framesPerSecond: 25, beatsPerMinute: 140, swing: 0, flicker: 15 };
    expect(await judge(video)).toEqual({
      status: 'not-assessable',
      reason: 'whole-picture-moves',
    });
  });

  const beating = { beatsPerMinute: 140, swing: 3 };

  it('needs a second and a half', async () => {
    const short = { ...beating, frames: 37, framesPerSecond: 25 };
    expect(await judge(short)).toEqual({ status: 'not-assessable', reason: 'too-short' });
    expect(await judge({ ...short, frames: 38 })).toMatchObject({ status: 'beating' });
  });

  it('needs ten frames a second', async () => {
    const slow = { ...beating, beatsPerMinute: 80, frames: 40 };
    expect(await judge({ ...slow, framesPerSecond: 9.9 })).toEqual({
      status: 'not-assessable',
      reason: 'too-slow',
    });
    expect(await judge({ ...slow, framesPerSecond: 10 })).toMatchObject({ status: 'beating' });
  });

  it('finds nothing in a still or in frames without times', async () => {
    const cine = { ...beating, frames: 50, framesPerSecond: 25 };
    expect(await cardiacActivity(beatingCavity(cine), [0])).toEqual({
      status: 'not-assessable',
      reason: 'still',
    });
    const none = Array.from({ length: 50 }, () => 0);
    expect(await cardiacActivity(beatingCavity(cine), none)).toEqual({
      status: 'not-assessable',
      reason: 'no-frame-times',
    });
  });
});
