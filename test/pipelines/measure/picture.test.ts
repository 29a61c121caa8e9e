import { existsSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { renderPreview } from '../../../pipelines/artifacts/previews/preview.ts';
import { createShownFrames } from '../../../pipelines/artifacts/previews/shown-frames.ts';
import type { Clip, RgbImage } from '../../../pipelines/contract/study.ts';
import { colourMask, showsColourFlow } from '../../../pipelines/input/colour-flow.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { shownPictureOf } from '../../../pipelines/measure/picture.ts';
import { rectanglePolygon } from '../../../pipelines/measure/polygon.ts';
import { type Element, region, ultrasound } from '../input/dicom-sample.ts';
import { onDisk } from '../input/on-disk.ts';

const WIDTH = 640;
const HEIGHT = 480;

/** Returns true inside the sector, whose apex is at (320, 60): 300 pixels long, ± 40°. */
function inSector(x: number, y: number): boolean {
  const [dx, dy] = [x - 320, y - 60];
  return Math.hypot(dx, dy) <= 300 && Math.abs(Math.atan2(dx, dy)) <= (40 * Math.PI) / 180;
}

function speckle(seed: number): Buffer {
  const pixels = Buffer.alloc(WIDTH * HEIGHT);
  let state = seed;
  for (let i = 0; i < pixels.length; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    if (inSector(i % WIDTH, Math.floor(i / WIDTH))) pixels[i] = 40 + (state >>> 24) / 2;
  }
  return pixels;
}

const TEXT = 'font-family="sans-serif" fill="#ffffff"';
const NAME = `<text x="12" y="34" font-size="24" ${TEXT}>BEISPIEL, ZOE</text>`;
const BESIDE_SECTOR = `<text x="12" y="100" font-size="20" ${TEXT}>PID 4711 1994</text>`;
const TITLE_BAR = `<rect width="640" height="40" fill="#405060"/>${NAME}`;
/**
 * A title with full lines of letters, as on clips from some manufacturers, where only a few rows
 * show the bare background.
 */
const LETTERED_BAR = `<rect width="640" height="48" fill="#2c2c2c"/>${[16, 40]
  .map(
    (y) =>
      `<text x="2" y="${y}" font-size="19" textLength="636" ${TEXT}>BEISPIEL ZOE 4711 1994 HERZKLINIK MUSTERSTADT ECHO 12:34:39 S5-1 MI 1.4</text>`,
  )
  .join('')}`;
const PANEL = `<rect x="470" y="90" width="160" height="60" fill="#303030"/>
  <text x="476" y="128" font-size="22" ${TEXT}>ZOE 4711</text>`;

/** Burns text and graphics into the frame. Returns it with the positions of the ink. */
async function burnIn(frame: Buffer, drawing: string): Promise<{ frame: Buffer; ink: number[] }> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480">${drawing}</svg>`;
  const raw = { width: WIDTH, height: HEIGHT, channels: 1 } as const;
  const burned = await sharp(frame, { raw })
    .composite([{ input: Buffer.from(svg) }])
    .toColourspace('b-w')
    .extractChannel(0)
    .raw()
    .toBuffer();
  const ink = [...burned.keys()].filter((i) => Math.abs((burned[i] ?? 0) - (frame[i] ?? 0)) > 60);
  return { frame: burned, ink };
}

interface Screen {
  drawing: string;
  frames?: number;
  regions?: Element[][];
  burnedIn?: 'YES' | 'NO';
}

/**
 * Creates a DICOM screen and reads it as a study. Returns it with the pixels that were burned in.
 */
async function screen({ drawing, frames = 1, regions = [], burnedIn }: Screen) {
  const drawn = await Promise.all(
    Array.from({ length: frames }, (_, n) => burnIn(speckle(n + 1), drawing)),
  );
  const image = ultrasound({
    columns: WIDTH,
    rows: HEIGHT,
    frames,
    regions,
    extra: burnedIn ? [['00280301', 'CS', burnedIn]] : [],
    pixels: ['7FE00010', 'OB', Buffer.concat(drawn.map(({ frame }) => frame))],
  });
  const { clips } = await readStudy(await onDisk({ image }));
  const [clip] = clips;
  if (!clip) throw new Error('the screen was refused');
  return { clip, ink: drawn[0]?.ink ?? [] };
}

/** Returns the luminance of the preview at the size of the frame. */
async function previewOf(clip: Clip): Promise<Uint8Array> {
  const frame = await createShownFrames().frame(clip, 1);
  if (!frame) throw new Error('no frame');
  const png = sharp(await renderPreview(frame, []));
  const { width: shown = 0 } = await png.metadata();
  const scale = shown / WIDTH;
  return png
    .extract({ left: 0, top: 0, width: shown, height: HEIGHT * scale })
    .resize(WIDTH, HEIGHT, { kernel: 'cubic' })
    .toColourspace('b-w')
    .extractChannel(0)
    .raw()
    .toBuffer();
}

const lit = (pixels: Uint8Array, at: readonly number[]) =>
  at.filter((i) => (pixels[i] ?? 0) > 20).length;
const sectorPixels = Array.from({ length: WIDTH * HEIGHT }, (_, i) => i).filter((i) =>
  inSector(i % WIDTH, Math.floor(i / WIDTH)),
);

/** The rectangle around the sector as carts write it; the next region covers the whole screen. */
const aroundSector = region({ minX: 100, minY: 56, maxX: 540, maxY: 370 });
const wholeScreen = region({ maxX: WIDTH - 1, maxY: HEIGHT - 1 });

const SCREENS: [string, Screen][] = [
  ['above a region', { drawing: NAME, regions: [aroundSector] }],
  [
    'above a region of a header that says YES',
    { drawing: NAME, regions: [aroundSector], burnedIn: 'YES' },
  ],
  ['in a region over the whole screen', { drawing: NAME + BESIDE_SECTOR, regions: [wholeScreen] }],
  ['without any region', { drawing: NAME + BESIDE_SECTOR }],
  ['in a title bar', { drawing: TITLE_BAR }],
  ['in a title bar full of letters', { drawing: LETTERED_BAR }],
  ['in a title bar full of letters over a cine', { drawing: LETTERED_BAR, frames: 4 }],
  ['on a panel that stands still in a cine', { drawing: NAME + PANEL, frames: 4 }],
];

describe('a burned-in name', () => {
  it.each(SCREENS)('%s is not in the preview, but the picture is', async (_, given) => {
    const { clip, ink } = await screen(given);
    expect(ink.length).toBeGreaterThan(300);
    const shown = await previewOf(clip);
    expect(lit(shown, ink)).toBe(0);
    expect(lit(shown, sectorPixels)).toBeGreaterThan(0.985 * sectorPixels.length);
  });

  it.each(SCREENS)('%s is not in what is measured, but all of the sector is', async (_, given) => {
    const { clip, ink } = await screen(given);
    const measured = await clip.frames[0]?.gray();
    if (!measured) throw new Error('no frame');
    const far = ink.filter((i) => Math.floor(i / WIDTH) < 40 || i % WIDTH > 560);
    expect(lit(measured.data, given.regions ? ink.filter((i) => i < 56 * WIDTH) : far)).toBe(0);
    expect(lit(measured.data, sectorPixels)).toBe(sectorPixels.length);
  });

  it('in a corner of the region outside the sector is not in the preview', async () => {
    const corner = `<text x="104" y="90" font-size="18" ${TEXT}>ZOE 4711</text>`;
    const { clip, ink } = await screen({ drawing: corner, regions: [aroundSector] });
    expect(lit(await previewOf(clip), ink)).toBe(0);
  });

  it('is not in the preview even if the header states Burned In Annotation NO', async () => {
    const given: Screen = { drawing: BESIDE_SECTOR, regions: [wholeScreen], burnedIn: 'NO' };
    const { clip, ink } = await screen(given);
    expect(lit(await previewOf(clip), ink)).toBe(0);
  });

  it('is shown if the site requires whole frames', async () => {
    const { clip, ink } = await screen({ drawing: NAME });
    const frame = await createShownFrames(true).frame(clip, 1);
    const shown = frame && Uint8Array.from(frame.data.filter((_, i) => i % 3 === 0));
    expect(shown && lit(shown, ink)).toBe(ink.length);
  });

  it('stated by the header hides everything if nothing separates the picture from its surroundings', async () => {
    const pixels: Element = ['7FE00010', 'OB', Buffer.alloc(WIDTH * HEIGHT, 0)];
    const extra: Element[] = [['00280301', 'CS', 'YES']];
    const image = ultrasound({ columns: WIDTH, rows: HEIGHT, extra, pixels });
    const { clips } = await readStudy(await onDisk({ image }));
    const [clip] = clips;
    expect(clip && (await shownPictureOf(clip))).toEqual({ areas: [], known: false, text: [] });
  });
});

/** Returns a grey image with a square of one colour from (10, 10) to (10 + side, 10 + side). */
function coloured(side: number, colour: [number, number, number], tint = [1, 1, 1]): RgbImage {
  const [width, height] = [100, 80];
  const data = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i += 1) {
    const [x, y] = [i % width, Math.floor(i / width)];
    const inside = x >= 10 && y >= 10 && x < 10 + side && y < 10 + side;
    const grey = 60 + ((i * 7919) % 120);
    data.set(inside ? colour : tint.map((part) => grey * part), i * 3);
  }
  return { width, height, data };
}

describe('colour Doppler is distinguished from tissue', () => {
  const whole = [rectanglePolygon({ minX: 0, minY: 0, maxX: 99, maxY: 79 })];
  const count = (image: RgbImage) => colourMask(image).reduce((sum, flow) => sum + flow, 0);

  it.each([
    ['red, towards', [200, 20, 10]],
    ['blue, away', [10, 30, 190]],
    ['yellow, aliased', [220, 200, 40]],
    ['green, turbulent', [30, 180, 60]],
  ] as [string, [number, number, number]][])('%s: each of its pixels', (_, colour) => {
    expect(count(coloured(12, colour))).toBe(144);
    expect(showsColourFlow(coloured(12, colour), whole)).toBe(true);
  });

  it.each([
    ['grey', [1, 1, 1]],
    ['sepia', [1, 0.8, 0.45]],
    ['blue map', [0.4, 0.6, 1]],
  ])('a %s map alone is tissue', (_, tint) => {
    expect(showsColourFlow(coloured(0, [0, 0, 0], tint), whole)).toBe(false);
  });

  it('blue flow on a sepia map is flow, the map is not', () => {
    expect(count(coloured(12, [10, 30, 190], [1, 0.8, 0.45]))).toBe(144);
  });

  it('a line, such as an ECG, is not flow; nor is flow outside of the picture', () => {
    const line = coloured(0, [0, 0, 0]);
    for (let x = 0; x < 100; x += 1) line.data.set([20, 220, 30], (40 * 100 + x) * 3);
    expect(showsColourFlow(line, whole)).toBe(false);
    const elsewhere = [rectanglePolygon({ minX: 50, minY: 40, maxX: 99, maxY: 79 })];
    expect(showsColourFlow(coloured(12, [200, 20, 10]), elsewhere)).toBe(false);
  });

  it('makes the mode of an image whose header leaves it open', async () => {
    const image = await sharp(Buffer.from(coloured(12, [200, 20, 10]).data), {
      raw: { width: 100, height: 80, channels: 3 },
    })
      .png()
      .toBuffer();
    expect((await readStudy(await onDisk({ image }))).clips[0]?.mode).toBe('colour');
  });
});

const CLIPS = '../shared/data/echo-clips';
/** Number of rows of the title above the volunteer's clips. */
const TITLE_ROWS = 48;

describe.skipIf(!existsSync(CLIPS))('a real clip with a title of letters', () => {
  it.each([
    'Apical4chVolunteer.mov',
    'SA_MitralVolunteer.mov',
    'SA_PapilaryVolunteer.mov',
    'SA_ApexVolunteer.mov',
  ])('%s: nothing of the title is measured, but the fan is', async (name) => {
    const { clips } = await readStudy([{ name, path: join(CLIPS, name) }]);
    const image = await clips[0]?.frames[0]?.gray();
    if (!image) throw new Error('the clip was not read');
    const lines = Array.from({ length: image.height }, (_, y) =>
      image.data.subarray(y * image.width, (y + 1) * image.width).some((value) => value > 20),
    );
    expect(lines.slice(0, TITLE_ROWS)).not.toContain(true);
    // Only the depth that every clip shows is checked.
    expect(lines.slice(120, 400)).not.toContain(false);
  });
});
