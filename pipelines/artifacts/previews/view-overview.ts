import sharp from 'sharp';
import { z } from 'zod';
import { freeMemory } from '../../../src/platform/free-memory.ts';
import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { Study } from '../../contract/study.ts';
import type { Result } from '../../result/envelope.ts';
import { DRAFT_NOTICE } from '../../result/render/statement.ts';
import { toSvg } from '../drawing/draw.ts';
import { label, type Mark } from '../drawing/drawing.ts';
import { PICTURES_AT_ONCE } from './raster.ts';
import type { ShownFrames } from './shown-frames.ts';

const viewsSchema = z.looseObject({
  clips: z
    .array(
      z.looseObject({
        file: z.string(),
        mode: z.string(),
        view: z.string().nullable(),
        source: z.string().nullable(),
        confidence: z.number().nullable(),
      }),
    )
    .min(1),
});
type ListedClip = z.infer<typeof viewsSchema>['clips'][number];

const COLUMNS = 6;
/** Maximum number of clips on the sheet, which would be illegible with more. */
const MOST = 60;
const TILE = { width: 240, height: 180, caption: 26 } as const;
const FOOTER = 26;
/** Grey level behind the tiles. */
const GROUND = 0x1b;

function captionOf({ view, source, confidence, mode }: ListedClip): string {
  if (view === null) return mode.includes('2D') ? `view not named, ${mode}` : mode;
  const by =
    source === 'header' || confidence === null ? 'header' : `${Math.round(100 * confidence)} %`;
  return `${view} (${by})`;
}

async function tileOf(
  study: Study,
  { file }: ListedClip,
  shown: ShownFrames,
): Promise<Buffer | null> {
  const clip = study.clips.find((one) => one.file === file);
  if (!clip || clip.frames.length === 0) return null;
  const middle = 1 + Math.floor(clip.frames.length / 2);
  const image = await shown.frame(clip, middle);
  if (!image) return null;
  const { width, height, data } = image;
  const tile = await sharp(data, { raw: { width, height, channels: 3 } })
    .resize(TILE.width, TILE.height, { fit: 'contain', background: '#000000' })
    .raw()
    .toBuffer();
  freeMemory([data]);
  return tile;
}

/**
 * Renders a contact sheet of the clips in the order of the study, each with its view and the
 * confidence in that view. Returns a PNG; null if the result lists no clip.
 */
export async function renderViewOverview(
  { sections }: Pick<Result, 'sections'>,
  study: Study,
  shown: ShownFrames,
): Promise<Buffer | null> {
  const parsed = viewsSchema.safeParse(sections.find(({ id }) => id === 'views')?.data);
  if (!parsed.success) return null;
  const clips = parsed.data.clips.slice(0, MOST);
  const columns = Math.min(COLUMNS, clips.length);
  const rowHeight = TILE.height + TILE.caption;
  const width = columns * TILE.width;
  const height = Math.ceil(clips.length / columns) * rowHeight + FOOTER;
  const corner = (index: number) => ({
    left: (index % columns) * TILE.width,
    top: Math.floor(index / columns) * rowHeight,
  });
  const sheet = Buffer.alloc(3 * width * height, GROUND);
  await inParallel([...clips.entries()], PICTURES_AT_ONCE, async ([index, clip]) => {
    const tile = await tileOf(study, clip, shown);
    if (!tile) return;
    const { left, top } = corner(index);
    for (let row = 0; row < TILE.height; row += 1) {
      const from = 3 * row * TILE.width;
      tile.copy(sheet, 3 * ((top + row) * width + left), from, from + 3 * TILE.width);
    }
  });
  const marks: Mark[] = [
    ...clips.map((clip, index): Mark => {
      const { left, top } = corner(index);
      const place = { x: left + 6, y: top + TILE.height + 17 };
      return label(captionOf(clip), place, 12, '#f2f2f2');
    }),
    label(DRAFT_NOTICE, { x: 6, y: height - 8 }, 12, '#ffb000', { bold: true }),
  ];
  return sharp(sheet, { raw: { width, height, channels: 3 } })
    .composite([{ input: Buffer.from(toSvg({ width, height, marks })) }])
    .png()
    .toBuffer();
}
