import { z } from 'zod';
import type { Point } from '../../contract/image.ts';
import type { Result } from '../../result/envelope.ts';
import { DRAFT_NOTICE } from '../../result/render/statement.ts';
import { typeset } from '../../result/render/value-text.ts';
import { type Drawing, type Label, type Mark, rectangle } from './drawing.ts';

const strainSchema = z.looseObject({
  segments: z
    .array(z.looseObject({ segment: z.number().int().min(1).max(17), strain: z.number() }))
    .min(1),
});

/**
 * A segment of the bull's-eye: radii as shares of the outer radius, angles in degrees (0 is right,
 * 90 is up).
 */
interface Sector {
  inner: number;
  outer: number;
  from: number;
  to: number;
}

const SIXTH = 60;
const QUARTER = 90;

/**
 * Returns the position of a segment. The basal and mid rings begin with the anterior segment, at 60
 * to 120 degrees. The apical ring begins with its anterior segment, at 45 to 135 degrees (echo
 * 8.3).
 */
function sectorOf(segment: number): Sector {
  if (segment === 17) return { inner: 0, outer: 0.25, from: 0, to: 360 };
  if (segment > 12) {
    const from = 45 + QUARTER * (segment - 13);
    return { inner: 0.25, outer: 0.5, from, to: from + QUARTER };
  }
  const [inner, outer, first] = segment > 6 ? [0.5, 0.75, 7] : [0.75, 1, 1];
  const from = 60 + SIXTH * (segment - first);
  return { inner, outer, from, to: from + SIXTH };
}

const SIZE = { width: 600, height: 540 } as const;
const CENTRE: Point = { x: 300, y: 278 };
const RADIUS = 212;
/** Text size at which a value such as "−20.6" has a margin on both sides in the narrowest segment. */
const VALUE_SIZE = 14;
/** Distance in pixels between the outer ring and the name of a wall. */
const WALL_GAP = 10;
const INK = '#1f2933';
const ABSENT = '#d8dde3';

function at(share: number, degrees: number): Point {
  const angle = (degrees * Math.PI) / 180;
  const radius = share * RADIUS;
  return { x: CENTRE.x + radius * Math.cos(angle), y: CENTRE.y - radius * Math.sin(angle) };
}

const ARC_STEP = 3;

function outlineOf({ inner, outer, from, to }: Sector): Point[] {
  const steps = Math.ceil((to - from) / ARC_STEP);
  const arc = (share: number) =>
    Array.from({ length: steps + 1 }, (_, i) => at(share, from + (i / steps) * (to - from)));
  return inner === 0 ? arc(outer) : [...arc(outer), ...arc(inner).toReversed()];
}

/** Strain in per cent at which the colour is deepest. A greater strain has the same colour. */
const DEEPEST = 25;
const SHORTENING = [33, 102, 172] as const;
const LENGTHENING = [214, 96, 0] as const;

/**
 * Returns the colour of a strain: white for no change, blue for shortening, orange for lengthening.
 * Colour-blind readers can distinguish blue from orange.
 */
function colourOf(strain: number): string {
  const share = Math.min(1, Math.abs(strain) / DEEPEST);
  const full = strain < 0 ? SHORTENING : LENGTHENING;
  const hex = full.map((value) =>
    Math.round(255 + share * (value - 255))
      .toString(16)
      .padStart(2, '0'),
  );
  return `#${hex.join('')}`;
}

function label(text: string, at: Point, size: number, more: Partial<Label>): Label {
  return { kind: 'label', text, at, size, colour: INK, anchor: 'middle', ...more };
}

/** Name of each wall, beside the outer ring. */
const WALLS: readonly Label[] = [
  wall('anterior', { x: 0, y: -RADIUS - WALL_GAP }, 'middle'),
  wall('septal', { x: -RADIUS - WALL_GAP, y: 5 }, 'end'),
  wall('inferior', { x: 0, y: RADIUS + WALL_GAP + 12 }, 'middle'),
  wall('lateral', { x: RADIUS + WALL_GAP, y: 5 }, 'start'),
];

function wall(text: string, { x, y }: Point, anchor: NonNullable<Label['anchor']>): Label {
  return label(text, { x: CENTRE.x + x, y: CENTRE.y + y }, 17, { anchor, colour: '#52606d' });
}

function segmentMarks(segment: number, strain: number | undefined): Mark[] {
  const sector = sectorOf(segment);
  const points = outlineOf(sector);
  const middle =
    segment === 17 ? CENTRE : at((sector.inner + sector.outer) / 2, (sector.from + sector.to) / 2);
  const colour = strain === undefined ? ABSENT : colourOf(strain);
  const dark = strain !== undefined && strain < -0.6 * DEEPEST;
  const text = strain === undefined ? '–' : typeset(strain.toFixed(1));
  return [
    { kind: 'area', points, colour },
    { kind: 'path', points, closed: true, colour: INK, width: 0.8 },
    label(text, { x: middle.x, y: middle.y + 5 }, VALUE_SIZE, { colour: dark ? '#ffffff' : INK }),
  ];
}

/**
 * Draws longitudinal strain by segment as a bull's-eye of 17 segments (SEG02; echo 8.3). Segments
 * not shown in any view are grey. Returns null if the result has no strain by segment.
 */
export function bullsEye({
  sections,
  draft = true,
}: Pick<Result, 'sections'> & Partial<Pick<Result, 'draft'>>): Drawing | null {
  const section = sections.find(({ id }) => id === 'lv-strain');
  const parsed = strainSchema.safeParse(section?.data);
  if (!parsed.success) return null;
  const notice = draft ? `${DRAFT_NOTICE}. ` : '';
  const strains = new Map(parsed.data.segments.map(({ segment, strain }) => [segment, strain]));
  return {
    ...SIZE,
    marks: [
      rectangle({ x: 0, y: 0 }, SIZE.width, SIZE.height, '#ffffff'),
      label('Longitudinal contour strain, smoothed, % (17 segments)', { x: CENTRE.x, y: 26 }, 17, {
        bold: true,
      }),
      ...Array.from({ length: 17 }, (_, i) => segmentMarks(i + 1, strains.get(i + 1))).flat(),
      ...WALLS,
      label(`${notice}Contour strain, not speckle tracking.`, { x: CENTRE.x, y: 534 }, 14, {
        colour: '#52606d',
      }),
    ],
  };
}
