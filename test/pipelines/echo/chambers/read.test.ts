import { describe, expect, it } from 'vitest';
import { type Clip, UNDESCRIBED } from '../../../../pipelines/contract/study.ts';
import { apicalReader } from '../../../../pipelines/echo/chambers/read.ts';
import type { ChamberMasks } from '../../../../pipelines/echo/locate/chambers.ts';
import type { HeartLocator } from '../../../../pipelines/echo/locate/heart-locator.ts';
import { CHAMBERS, type Chamber } from '../../../../pipelines/echo/locate/names.ts';
import type { ClipView } from '../../../../pipelines/echo/locate/reader.ts';

const SIZE = 96;
const AREA = { minX: 0, minY: 0, maxX: SIZE - 1, maxY: SIZE - 1 };
const FRAMES_PER_SECOND = 60;
const BEAT_FRAMES = 60;

/** Creates a clip whose frames contain their own number, for the fake network. */
function clipOf(file: string, count: number, more: Partial<Clip> = {}): ClipView {
  const frames = Array.from({ length: count }, (_, index) => ({
    index,
    time: index / FRAMES_PER_SECOND,
    gray: async () => {
      const data = new Uint8Array(SIZE * SIZE).fill(1);
      new DataView(data.buffer).setUint16(0, index);
      return { width: SIZE, height: SIZE, data };
    },
    rgb: async () => ({ width: SIZE, height: SIZE, data: new Uint8Array(3 * SIZE * SIZE) }),
  }));
  const clip: Clip = {
    ...UNDESCRIBED,
    file,
    width: SIZE,
    height: SIZE,
    frames,
    regions: [],
    calibrationRefused: null,
    mode: '2d',
    ...more,
  };
  return {
    clip,
    view: 'A4C',
    source: 'model',
    confidence: 0.9,
    belowGate: null,
    unseparated: false,
    underStress: false,
    fan: AREA,
  };
}

const SURE = Object.fromEntries(CHAMBERS.map((chamber) => [chamber, 0.9])) as Record<
  Chamber,
  number
>;

/** Returns a cavity within its muscle, above an atrium. It is smallest in the middle of a beat. */
function heartAt(frame: number): ChamberMasks {
  const phase = (2 * Math.PI * frame) / BEAT_FRAMES;
  const half = 13 + 3 * Math.cos(phase);
  const labels = new Uint8Array(SIZE * SIZE).map((_, pixel) => {
    const [x, y] = [(pixel % SIZE) - 48, Math.floor(pixel / SIZE) - 62];
    if (y > 0) return y < 18 && Math.abs(x) < 12 ? 3 : 0;
    const cavity = Math.hypot(x / half, y / (46 + 2 * Math.cos(phase)));
    const outer = Math.hypot(x / (half + 7), y / 54);
    return cavity < 1 ? 1 : outer < 1 ? 2 : 0;
  });
  return {
    area: AREA,
    width: SIZE,
    height: SIZE,
    labels,
    confidence: SURE,
    accepted: true,
  };
}

/** Outlines the chambers of these clips and counts the frames that the network was given. */
async function read(views: readonly ClipView[]) {
  let seen = 0;
  const locator: HeartLocator = {
    nameView: null,
    contradictingView: null,
    isMirrored: null,
    segment: async (images) => {
      seen += images.length;
      return images.map(({ data }) =>
        heartAt(new DataView(data.buffer, data.byteOffset).getUint16(0)),
      );
    },
    ejectionFraction: null,
    parasternal: null,
    models: [],
    close: async () => {},
  };
  const study = { clips: [], refused: [], files: 1, series: 1 };
  const { signal } = new AbortController();
  const { clips } = await apicalReader.read({ study, views, locator, signal });
  return { clips: clips ?? [], seen };
}

describe('the frames of an apical clip that are outlined', () => {
  it('are all frames of the clip that is measured, each of them once', async () => {
    const { clips, seen } = await read([clipOf('long', 130)]);
    expect(clips[0]).toMatchObject({ stride: 1, framesInClip: 130 });
    expect(clips[0]?.frames.map(({ frame }) => frame)).toEqual(
      Array.from({ length: 130 }, (_, index) => index),
    );
    expect(seen).toBe(130);
  });
  it('are about 64 of a second clip of the view, which is not measured', async () => {
    const { clips } = await read([clipOf('first', 130), clipOf('second', 130)]);
    expect(clips.map(({ stride }) => stride)).toEqual([1, 2]);
  });
  it('are at most about 300, evenly spread, of a clip of many seconds', async () => {
    const { clips } = await read([clipOf('very long', 600)]);
    expect(clips[0]?.stride).toBe(2);
    expect(clips[0]?.frames).toHaveLength(300);
    expect(clips[0]?.frames[1]?.frame).toBe(2);
  });
  it('do not include those of a clip recorded under stress', async () => {
    const { clips } = await read([
      { ...clipOf('peak', 60), underStress: true, source: 'header' },
      clipOf('rest', 60),
    ]);
    expect(clips.map(({ file }) => file)).toEqual(['rest']);
  });
  it('are all frames of a short clip', async () => {
    const { clips, seen } = await read([clipOf('short', 60)]);
    expect(clips[0]?.frames).toHaveLength(60);
    expect(seen).toBe(60);
  });
});
