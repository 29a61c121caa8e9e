import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createShownFrames } from '../../../pipelines/artifacts/previews/shown-frames.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { burnedInText } from '../../../pipelines/measure/burned-in-text.ts';
import { onDisk } from '../input/on-disk.ts';

const [WIDTH, HEIGHT] = [800, 600];

/** Returns speckle as smooth as in a real image: noise from `seed`, blurred along the lines. */
async function tissue(seed: number): Promise<Buffer> {
  const noise = Buffer.alloc(WIDTH * HEIGHT);
  let state = seed + 1;
  for (let i = 0; i < noise.length; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    noise[i] = state >>> 24;
  }
  return sharp(noise, { raw: { width: WIDTH, height: HEIGHT, channels: 1 } })
    .blur(2)
    .linear(2, -190)
    .toColourspace('b-w')
    .raw()
    .toBuffer();
}

/** Shape of the tissue: a sector, a curved array, a linear array, or the whole screen. */
const SHAPES = {
  sector: '<path d="M400 70 L120 480 A500 500 0 0 0 680 480 Z" fill="#fff"/>',
  curved: '<path d="M300 90 A160 160 0 0 0 500 90 L720 430 A480 480 0 0 1 80 430 Z" fill="#fff"/>',
  linear: '<rect x="150" y="80" width="500" height="440" fill="#fff"/>',
  whole: '<rect width="800" height="600" fill="#fff"/>',
} as const;

interface Bar {
  maker: string;
  shape: keyof typeof SHAPES;
  /** Colour behind the text. */
  ground: string;
  ink: string;
  font: string;
  size: number;
  lines: readonly string[];
  y: number;
  quality: number;
}

const GROUNDS: [name: string, fill: string, ink: string][] = [
  ['black', '<rect width="800" height="H" fill="#000"/>', '#ffffff'],
  ['dark blue', '<rect width="800" height="H" fill="#1c3055"/>', '#e8ecf4'],
  ['light grey', '<rect width="800" height="H" fill="#c8c8c8"/>', '#101010'],
  ['low contrast', '<rect width="800" height="H" fill="#40444c"/>', '#a0a4ac'],
  ['gradient across', '<rect width="800" height="H" fill="url(#across)"/>', '#ffffff'],
  ['gradient down', '<rect width="800" height="H" fill="url(#down)"/>', '#f6e27a'],
  [
    'a logo and lines',
    '<rect width="800" height="H" fill="#2a2a2a"/><circle cx="30" cy="20" r="15" fill="#3b6fd0"/><path d="M0 38 H800" stroke="#888"/>',
    '#dddddd',
  ],
  ['none, on the tissue', '', '#ffff40'],
];
const DEFINITIONS = `<defs>
  <linearGradient id="across"><stop offset="0" stop-color="#0a1830"/><stop offset="1" stop-color="#5a7aa8"/></linearGradient>
  <linearGradient id="down" x2="0" y2="1"><stop offset="0" stop-color="#70747c"/><stop offset="1" stop-color="#15171b"/></linearGradient>
</defs>`;
const FONTS = ['sans-serif', 'monospace', 'serif'] as const;
const NAMES: readonly (readonly string[])[] = [
  ['BEISPIEL, Zoe  *12.03.1994', 'ID 4711-20-33  Klinikum Muster'],
  ['Muster^Anna Maria', 'PID: 00815  18-AUG-2026 09:04'],
  ['DOE, JANE 34Y F', 'MON GENERAL HOSPITAL'],
  ['Nguyễn Thị Hoa', 'St. Elsewhere OB/GYN 2026/01/14'],
];

/** Every ground combined with every shape, cycling through fonts, sizes, places and compression. */
const BARS: Bar[] = GROUNDS.flatMap(([maker, ground, ink], g) =>
  (Object.keys(SHAPES) as (keyof typeof SHAPES)[]).map((shape, s) => ({
    maker,
    shape,
    ground,
    ink,
    font: FONTS[(g + s) % FONTS.length] ?? 'serif',
    size: [14, 17, 20, 24][(g + 2 * s) % 4] ?? 14,
    lines: (NAMES[(g + s) % NAMES.length] ?? []).slice(0, 1 + ((g + s) % 2)),
    y: maker.startsWith('none') ? 300 : ([0, HEIGHT - 56][(g + s) % 5 === 4 ? 1 : 0] ?? 0),
    quality: [95, 80, 70][(g + s) % 3] ?? 80,
  })),
);

async function screenOf(bar: Bar, seed: number, withText: boolean): Promise<Buffer> {
  const height = 12 + Math.round(1.3 * bar.size * bar.lines.length);
  const text = bar.lines.map(
    (line, n) =>
      `<text x="${60 + 40 * n}" y="${Math.round(bar.size * (1.15 + 1.3 * n))}" font-family="${bar.font}"
        font-size="${bar.size}" fill="${bar.ink}">${line}</text>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">${DEFINITIONS}
    <g transform="translate(0 ${bar.y})">${bar.ground.replaceAll('"H"', `"${height}"`)}${withText ? text.join('') : ''}</g></svg>`;
  const mask = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><rect width="800" height="600" fill="#000"/>${SHAPES[bar.shape]}</svg>`;
  const size = { width: WIDTH, height: HEIGHT } as const;
  const picture = await sharp(await tissue(seed), { raw: { ...size, channels: 1 } })
    .toColourspace('srgb')
    .raw()
    .toBuffer();
  const shaped = await sharp(picture, { raw: { ...size, channels: 3 } })
    .composite([{ input: Buffer.from(mask), blend: 'multiply' }])
    .removeAlpha()
    .raw()
    .toBuffer();
  return sharp(shaped, { raw: { ...size, channels: 3 } })
    .composite([{ input: Buffer.from(svg) }])
    .removeAlpha()
    .jpeg({ quality: bar.quality, chromaSubsampling: '4:4:4' })
    .toBuffer();
}

const rgbOf = (jpeg: Buffer) => sharp(jpeg).removeAlpha().raw().toBuffer();

/** Returns the ink of the bar's text: the pixels of `screen` that it changed clearly. */
async function inkOf(screen: Buffer, bar: Bar, seed: number): Promise<number[]> {
  const [bare, written] = await Promise.all([
    screenOf(bar, seed, false).then(rgbOf),
    rgbOf(screen),
  ]);
  const ink: number[] = [];
  for (let i = 0; i < WIDTH * HEIGHT; i += 1) {
    let changed = false;
    for (let p = 3 * i; p < 3 * i + 3; p += 1) {
      if (Math.abs((bare[p] ?? 0) - (written[p] ?? 0)) > 50) changed = true;
    }
    if (changed) ink.push(i);
  }
  return ink;
}

/** Returns 1 for each pixel that the detector covers as text. */
async function coveredOf(picture: Buffer): Promise<Uint8Array> {
  const frame = { width: WIDTH, height: HEIGHT, data: await rgbOf(picture) };
  const covered = new Uint8Array(WIDTH * HEIGHT);
  for (const { minX, minY, maxX, maxY } of burnedInText(frame)) {
    for (let y = minY; y <= maxY; y += 1) covered.fill(1, y * WIDTH + minX, y * WIDTH + maxX + 1);
  }
  return covered;
}

describe('the header bars of many manufacturers', () => {
  it.each(BARS.map((bar, seed) => ({ ...bar, seed })))(
    '$maker over a $shape picture, $font of $size: no legible letter is shown',
    async ({ seed, ...bar }) => {
      const jpeg = await screenOf(bar, seed, true);
      const ink = await inkOf(jpeg, bar, seed);
      expect(ink.length).toBeGreaterThan(200);
      const { clips } = await readStudy(await onDisk({ 'screen.jpg': jpeg }));
      const [clip] = clips;
      const shown = clip && (await createShownFrames().frame(clip, 1));
      if (!shown) throw new Error('the screen was refused');
      const seen = ink.filter((i) => shown.data.subarray(3 * i, 3 * i + 3).some((v) => v > 20));
      expect(seen.length / ink.length).toBeLessThan(0.03);
    },
  );

  it.each(Object.keys(SHAPES) as (keyof typeof SHAPES)[])(
    'a %s picture without text is shown',
    async (shape) => {
      const bar = { ...BARS[0], shape, ground: '', y: 0 } as Bar;
      const jpeg = await screenOf(bar, 5, false);
      const covered = await coveredOf(jpeg);
      expect(covered.reduce((sum, one) => sum + one, 0) / covered.length).toBeLessThan(0.02);
    },
  );

  it('streaks of speckle, as walls show in an M-mode, are rarely text', async () => {
    const noise = await tissue(11);
    const pixels = Buffer.alloc(3 * WIDTH * HEIGHT);
    for (let i = 0; i < WIDTH * HEIGHT; i += 1) {
      const [x, y] = [i % WIDTH, Math.floor(i / WIDTH)];
      const wall = 60 * Math.floor(y / 60) + 30 + 6 * Math.sin(x / 40);
      const light = 0.45 + 0.75 * Math.exp(-(((y - wall) / 5) ** 2));
      pixels.fill(Math.min(255, Math.round(light * (noise[i] ?? 0))), 3 * i, 3 * i + 3);
    }
    expect(burnedInText({ width: WIDTH, height: HEIGHT, data: pixels }).length).toBeLessThan(10);
  });

  it('lines of few letters are covered together with their block', async () => {
    const block = ['2.Trim.', '97', 'Gn -2', 'LI Y', 'C6 / M7', 'F 2'];
    const text = block.map(
      (line, n) =>
        `<text x="790" y="${24 + 16 * n}" text-anchor="end" font-family="sans-serif" font-size="13" fill="#ddd">${line}</text>`,
    );
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">${text.join('')}</svg>`;
    const bare = await screenOf({ ...BARS[0], shape: 'sector', ground: '', y: 0 } as Bar, 7, false);
    const written = await sharp(bare)
      .composite([{ input: Buffer.from(svg) }])
      .jpeg({ quality: 90 })
      .toBuffer();
    const covered = await coveredOf(written);
    const pixels = [await rgbOf(bare), await rgbOf(written)] as const;
    const ink = [...covered.keys()].filter(
      (i) => Math.abs((pixels[0][3 * i] ?? 0) - (pixels[1][3 * i] ?? 0)) > 50,
    );
    expect(ink.length).toBeGreaterThan(200);
    expect(ink.filter((i) => !covered[i]).length / ink.length).toBeLessThan(0.02);
  });
});
