import { describe, expect, it } from 'vitest';
import { type Clip, UNDESCRIBED } from '../../../../pipelines/contract/study.ts';
import type { HeartLocator } from '../../../../pipelines/echo/locate/heart-locator.ts';
import {
  PARASTERNAL_STRUCTURES,
  type ParasternalStructure,
} from '../../../../pipelines/echo/locate/names.ts';
import type { ParasternalMasks } from '../../../../pipelines/echo/locate/parasternal.ts';
import type { ClipView } from '../../../../pipelines/echo/locate/reader.ts';
import { parasternalReader } from '../../../../pipelines/echo/parasternal/read.ts';

const SIZE = 64;
const AREA = { minX: 0, minY: 0, maxX: SIZE - 1, maxY: SIZE - 1 };
const gray = async () => ({ width: SIZE, height: SIZE, data: new Uint8Array(SIZE * SIZE) });

function seen(
  view: ClipView['view'],
  file: string,
  confidence: number,
  mode: Clip['mode'] = '2d',
): ClipView {
  const frames = Array.from({ length: 8 }, (_, index) => ({
    index,
    time: index / 30,
    gray,
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
    mode,
  };
  return {
    clip,
    view,
    source: 'model',
    confidence,
    belowGate: null,
    unseparated: false,
    underStress: false,
    fan: AREA,
  };
}

const SURE = Object.fromEntries(PARASTERNAL_STRUCTURES.map((name) => [name, 0.9])) as Record<
  ParasternalStructure,
  number
>;

/** Returns a round cavity within its muscle, as the model would outline it. */
function ringed(): ParasternalMasks {
  const labels = new Uint8Array(SIZE * SIZE).map((_, pixel) => {
    const out = Math.hypot((pixel % SIZE) - 32, Math.floor(pixel / SIZE) - 32);
    return out < 14 ? 1 : out < 20 ? 2 : 0;
  });
  return { area: AREA, width: SIZE, height: SIZE, labels, confidence: SURE, accepted: true };
}

const locator: HeartLocator = {
  nameView: null,
  contradictingView: null,
  isMirrored: null,
  segment: null,
  ejectionFraction: null,
  parasternal: async (frames) => frames.map(ringed),
  models: [],
  close: async () => {},
};

const read = async (views: readonly ClipView[]) =>
  (
    await parasternalReader.read({
      study: { clips: [], refused: [], files: 1, series: 1 },
      views,
      locator,
      signal: new AbortController().signal,
    })
  ).clips ?? [];

describe('the parasternal clips that are outlined', () => {
  it('include one short axis at the papillary and one at the apical level before more certain ones of others', async () => {
    const clips = await read([
      seen('PSAX-MV', 'mitral', 0.99),
      seen('PSAX-PM', 'papillary', 0.8),
      seen('PSAX-PM', 'papillary again', 0.9),
      seen('PSAX-AP', 'apical', 0.7),
    ]);
    expect(clips.map(({ file }) => file)).toEqual(['papillary again', 'apical']);
  });
  it('are at most two of a family, the more certain ones first', async () => {
    const clips = await read([
      seen('PLAX', 'first', 0.7),
      seen('PLAX', 'second', 0.9),
      seen('PLAX', 'third', 0.8),
    ]);
    expect(clips.map(({ file }) => file)).toEqual(['second', 'third']);
  });
  it('exclude those in colour, under stress, of a vessel, or without a view', async () => {
    const clips = await read([
      { ...seen('PLAX', 'peak', 0.9), underStress: true },
      seen('PSAX-PM', 'colour', 0.9, 'colour'),
      seen('SUBCOSTAL-IVC', 'vessel', 0.9),
      seen(null, 'unknown', 0.9),
    ]);
    expect(clips).toEqual([]);
  });
  it('have a wall around the cavity at the levels that are scored, but at no other', async () => {
    const [papillary] = await read([seen('PSAX-PM', 'papillary', 0.9)]);
    const [mitral] = await read([seen('PSAX-MV', 'mitral', 0.9)]);
    expect(papillary?.frames[0]?.wall?.rays).toHaveLength(72);
    expect(mitral?.frames[0]?.wall).toBeNull();
  });
});
