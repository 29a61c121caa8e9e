import type {
  DrawnMeasurement,
  OverlayClip,
  Position,
  Shape,
} from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import { nothing, svg, type TemplateResult } from './html.ts';

/** The layers over a picture, which can be switched on and off. */
export const LAYERS = {
  calipers: { text: 'Calipers', key: 'd' },
  contours: { text: 'Outlines', key: 'o' },
  masks: { text: 'Masks', key: 'm' },
  traces: { text: 'Trace', key: 't' },
} as const;
export type Layer = keyof typeof LAYERS;

/** Height of a label as a share of the rows of the frame. */
const LABEL_SHARE = 0.032;
const CALIPER_COLOURS = 6;

/** Pure: the layers that have content on any frame of a clip. */
export function layersOf(clip: OverlayClip): Layer[] {
  return (Object.keys(LAYERS) as Layer[]).filter((layer) => clip[layer].length > 0);
}

/** Pure: an SVG path through pixel centres. */
export function pathOf(points: readonly Position[], closed: boolean): string {
  const line = points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
  return closed && line ? `${line}Z` : line;
}

/**
 * Pure: the ellipse through the ends of two axes that bisect each other, as an SVG ellipse rotated
 * by degrees about its centre. Null unless it has four points.
 */
export function ellipseOf(points: readonly Position[]) {
  const [a, b, c, d] = points;
  if (!a || !b || !c || !d) return null;
  const half = (p: Position, q: Position) => Math.hypot(q[0] - p[0], q[1] - p[1]) / 2;
  return {
    cx: (a[0] + b[0]) / 2,
    cy: (a[1] + b[1]) / 2,
    rx: half(a, b),
    ry: half(c, d),
    turn: (Math.atan2(b[1] - a[1], b[0] - a[0]) * 180) / Math.PI,
  };
}

/** Pure: runs of pixels as one path. Each pixel extends half a unit to every side of its centre. */
export function runsPath(runs: readonly (readonly [number, number, number])[]): string {
  return runs
    .map(
      ([row, first, last]) =>
        `M${first - 0.5} ${row - 0.5}h${last - first + 1}v1h${first - last - 1}z`,
    )
    .join('');
}

function endMark([x, y]: Position, size: number): TemplateResult {
  return svg`<path class="end" d=${`M${x - size} ${y}H${x + size}M${x} ${y - size}V${y + size}`} />`;
}

function shapeView({ type, points }: Shape, size: number): TemplateResult | typeof nothing {
  if (type !== 'ellipse') {
    const ends = type === 'line' ? points : [];
    return svg`<path d=${pathOf(points, type === 'polygon')} />${ends.map((end) => endMark(end, size))}`;
  }
  const found = ellipseOf(points);
  if (!found) return nothing;
  const { cx, cy, rx, ry, turn } = found;
  return svg`<ellipse cx=${cx} cy=${cy} rx=${rx} ry=${ry} transform=${`rotate(${turn} ${cx} ${cy})`} />
    ${points.map((end) => endMark(end, size))}`;
}

interface PlacedLabel {
  text: string;
  x: number;
  y: number;
  anchor: 'start' | 'end';
}

/** Offsets in lines at which a label is tried: the nearest first, and below before above. */
const LINES = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5];

/**
 * Pure: a label for each measurement beside its rightmost point, inside the frame, moved by whole
 * lines when it would cover another.
 */
export function placeLabels(
  calipers: readonly Pick<DrawnMeasurement, 'text' | 'shapes'>[],
  { columns, rows }: { columns: number; rows: number },
): PlacedLabel[] {
  const height = rows * LABEL_SHARE;
  const placed: PlacedLabel[] = [];
  for (const { text, shapes } of calipers) {
    const points = shapes.flatMap((shape) => shape.points);
    const [x, y] = points.reduce<Position>(
      (right, one) => (one[0] > right[0] ? one : right),
      [0, 0],
    );
    const width = widthOf(text, height);
    const anchor = x + height + width > columns ? 'end' : 'start';
    const place = (line: number): PlacedLabel => ({
      text,
      x: anchor === 'start' ? x + height * 0.6 : Math.max(x - height * 0.6, width),
      y: Math.min(Math.max(y + line * height * 1.2, height), rows - height * 0.5),
      anchor,
    });
    const isFree = (label: PlacedLabel) => !placed.some((other) => covers(label, other, height));
    placed.push(LINES.map(place).find(isFree) ?? place(0));
  }
  return placed;
}

const widthOf = (text: string, height: number): number => text.length * height * 0.6;

/** Whether two labels of this height overlap. */
function covers(one: PlacedLabel, other: PlacedLabel, height: number): boolean {
  const [left, right] = [one, other].map(({ text, x, anchor }) => {
    const width = widthOf(text, height);
    return anchor === 'start' ? [x, x + width] : [x - width, x];
  }) as [[number, number], [number, number]];
  return Math.abs(one.y - other.y) < height * 1.15 && left[0] < right[1] && right[0] < left[1];
}

export interface Drawing {
  clip: OverlayClip;
  frame: number;
  on: ReadonlySet<Layer>;
  /** The measurement to highlight; null for none. */
  chosen: string | null;
}

/** The measurements of a frame, drawn over its picture. */
export function overlayView({ clip, frame, on, chosen }: Drawing): TemplateResult {
  const { columns, rows } = clip;
  const here = <One extends { frame: number }>(layer: Layer, all: readonly One[]) =>
    on.has(layer) ? all.filter((one) => one.frame === frame) : [];
  const calipers = here('calipers', clip.calipers);
  const labels = placeLabels(calipers, clip);
  const size = rows * 0.012;
  return svg`<svg
    class="overlay"
    viewBox=${`-0.5 -0.5 ${columns} ${rows}`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${here('masks', clip.masks).map((mask, index) => svg`<path class=${`mask colour-${index % CALIPER_COLOURS}`} d=${runsPath(mask.runs)} />`)}
    ${here('contours', clip.contours).map(
      ({ structure, points, measured }) =>
        svg`<path class=${`contour ${structure} ${measured ? '' : 'doubted'}`} d=${pathOf(points, true)} />`,
    )}
    ${here('traces', clip.traces).map(
      ({ points }) => svg`<path class="trace" d=${pathOf(points, false)} />`,
    )}
    ${calipers.map(
      ({ shapes, quality, measurement }, index) => svg`<g
        class=${`caliper colour-${index % CALIPER_COLOURS} ${quality === 'accepted' ? '' : 'doubted'} ${measurement === chosen ? 'chosen' : ''}`}
        data-measurement=${measurement}
      >${shapes.map((shape) => shapeView(shape, size))}</g>`,
    )}
    ${labels.map(
      ({ text, x, y, anchor }, index) =>
        svg`<text class=${`colour-${index % CALIPER_COLOURS}`} x=${x} y=${y} text-anchor=${anchor} font-size=${rows * LABEL_SHARE}>${text}</text>`,
    )}
  </svg>`;
}
