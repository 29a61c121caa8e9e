import { expect, it } from 'vitest';
import { drawText } from '../../../models/phantom/overlay.ts';
import type { Clip } from '../../../pipelines/contract/study.ts';
import { blankingOf } from '../../../pipelines/deidentify/screen.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { maskOutside } from '../../../pipelines/measure/picture.ts';
import { region, ultrasound } from '../input/dicom-sample.ts';
import { onDisk } from '../input/on-disk.ts';

const [WIDTH, HEIGHT] = [320, 240];
const AREA = region({ minX: 30, minY: 20, maxX: 290, maxY: 200 });
const NAME = { x: 100, y: 110, w: 2 * 6 * 11, h: 14 };

function inPicture(x: number, y: number): boolean {
  const [dx, dy] = [x - 160, y - 20];
  return Math.hypot(dx, dy) <= 170 && Math.abs(Math.atan2(dx, dy)) <= 0.7;
}

/**
 * Returns a frame with its own speckle. If `name` is given, a text starts there (upper left
 * corner).
 */
function frameOf(seed: number, name: { x: number; y: number } | null): Buffer {
  const pixels = Buffer.alloc(WIDTH * HEIGHT);
  let state = seed + 1;
  for (let i = 0; i < pixels.length; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    if (inPicture(i % WIDTH, Math.floor(i / WIDTH))) pixels[i] = 40 + (state >>> 26);
  }
  if (name) {
    drawText('ZUBIRI ALMA', (column, row) => {
      for (const dy of [0, 1]) {
        const at = (name.y + 2 * row + dy) * WIDTH + name.x + 2 * column;
        pixels.fill(255, at, at + 2);
      }
    });
  }
  return pixels;
}

async function cine(
  frames: number,
  nameIn: (frame: number) => { x: number; y: number } | null,
): Promise<Clip> {
  const pixels = Array.from({ length: frames }, (_, n) => frameOf(n, nameIn(n)));
  const image = ultrasound({
    columns: WIDTH,
    rows: HEIGHT,
    frames,
    regions: [AREA],
    pixels: ['7FE00010', 'OB', Buffer.concat(pixels)],
  });
  const { clips } = await readStudy(await onDisk({ image }));
  const [clip] = clips;
  if (!clip) throw new Error('the cine was refused');
  return clip;
}

/** Returns the brightest pixel at the place of the name in one frame, after de-identification. */
async function brightestSent(clip: Clip, frame: number): Promise<number> {
  const blanking = await blankingOf(clip, 'hold');
  if (typeof blanking === 'string') throw new Error(blanking);
  const image = await clip.frames[frame]?.rgb();
  if (!image) throw new Error(`the cine has no frame ${frame}`);
  const sent = maskOutside(image, blanking);
  let most = 0;
  for (let y = NAME.y; y < NAME.y + NAME.h; y += 1) {
    for (let x = NAME.x; x < NAME.x + NAME.w; x += 1)
      most = Math.max(most, sent.data[3 * (y * WIDTH + x)] ?? 0);
  }
  return most;
}

it('a name that three frames of a long cine show is blanked', async () => {
  const clip = await cine(60, (frame) => (frame >= 20 && frame <= 22 ? NAME : null));
  expect(await brightestSent(clip, 21)).toBe(0);
});

it('a bright line of spots that is at another place in the next frame is tissue', async () => {
  const places = new Map<number, { x: number; y: number }>([
    [12, NAME],
    [13, { x: NAME.x, y: 60 }],
  ]);
  const clip = await cine(26, (frame) => places.get(frame) ?? null);
  expect(await brightestSent(clip, 12)).toBe(255);
});
