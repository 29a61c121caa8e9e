import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createShownFrames } from '../../../../pipelines/artifacts/previews/shown-frames.ts';
import { renderViewOverview } from '../../../../pipelines/artifacts/previews/view-overview.ts';
import {
  type Clip,
  type RgbImage,
  UNDESCRIBED,
  UnreadableInput,
} from '../../../../pipelines/contract/study.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';

const SIZE = { width: 240, height: 180 };
const white = async (): Promise<RgbImage> => ({
  ...SIZE,
  data: new Uint8Array(3 * SIZE.width * SIZE.height).fill(255),
});

/** Returns a clip whose region covers the whole picture, without a burned-in name. */
function clipOf(file: string, rgb: () => Promise<RgbImage>): Clip {
  const gray = async () => ({ ...SIZE, data: new Uint8Array(SIZE.width * SIZE.height) });
  const area = { minX: 0, minY: 0, maxX: SIZE.width - 1, maxY: SIZE.height - 1 };
  return {
    ...UNDESCRIBED,
    ...SIZE,
    file,
    mode: '2d',
    frames: [{ index: 0, time: 0, gray, rgb }],
    regions: [],
    ultrasoundAreas: [area],
    burnedInAnnotation: false,
    calibrationRefused: null,
  };
}

async function sheetOf(clips: Clip[]) {
  const listed = clips.map(({ file }) => ({
    ...{ file, mode: '2D', view: 'A4C', source: 'model', confidence: 0.9 },
  }));
  const sections = [{ id: 'views', data: { clips: listed } }] as unknown as Result['sections'];
  const study = { clips, refused: [], files: clips.length, series: 1 };
  const png = await renderViewOverview({ sections }, study, createShownFrames());
  return sharp(png ?? Buffer.alloc(0))
    .raw()
    .toBuffer({ resolveWithObject: true });
}

describe('the contact sheet of the views', () => {
  it('shows the middle frame of each clip, even if another clip is damaged', async () => {
    const damaged = async () => {
      throw new UnreadableInput('the file is cut short');
    };
    const { data, info } = await sheetOf([clipOf('a', damaged), clipOf('b', white)]);
    expect(info.width).toBe(2 * SIZE.width);
    const at = (x: number, y: number) => data[(y * info.width + x) * info.channels];
    expect(at(60, 90)).toBeLessThan(60);
    expect(at(SIZE.width + 60, 90)).toBe(255);
  });

  it('does not hide an error other than a damaged file', async () => {
    const broken = async () => {
      throw new TypeError('no such thing');
    };
    await expect(sheetOf([clipOf('a', broken)])).rejects.toThrow('no such thing');
  });
});
