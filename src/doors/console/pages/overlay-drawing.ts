import type {
  DrawnMeasurement,
  OverlayClip,
  Position,
  Shape,
} from '../../../../pipelines/artifacts/display/overlay-contract.ts';
import { nothing, svg, type TemplateResult } from './html.ts';
import { handlesOf, insideFrame } from './shape-editing.ts';

export const LAYERS = {
  calipers: { text: 'Calipers', key: 'd' },
  contours: { text: 'Outlines', key: 'o' },
  masks: { text: 'Masks', key: 'm' },
  traces: { text: 'Trace', key: 't' },
} as const;
export type Layer = keyof typeof LAYERS;

/** Height of a caliper's number as a fraction of the frame's rows. */
const LABEL_SHARE = 0.032;
const CALIPER_COLOURS = 6;
/** Radius of a handle as a fraction of the frame's rows. */
const HANDLE_SHARE = 0.013;

/** Returns the layers that have content on at least one frame of a clip. */
export function layersOf(clip: OverlayClip): Layer[] {
  return (Object.keys(LAYERS) as Layer[]).filter((layer) => clip[layer].length > 0);
}

/** Returns an SVG path through pixel centres. */
export function pathOf(points: readonly Position[], closed: boolean): string {
  const line = points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');
  return closed && line ? `${line}Z` : line;
}

/**
 * Returns the ellipse through the ends of two axes that bisect each other, as an SVG ellipse
 * rotated by `turn` degrees about its centre; null if there are fewer than four points.
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

/**
 * Returns runs of pixels as one SVG path. A run is the row, the first column and the last column.
 * Each pixel extends half a unit from its centre on every side.
 */
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

/** A measurement's number next to its caliper. The list below the image uses the same number. */
interface PlacedMark {
  number: number;
  x: number;
  y: number;
}

const centreOf = (points: readonly Position[]): Position => [
  points.reduce((sum, [x]) => sum + x, 0) / points.length,
  points.reduce((sum, [, y]) => sum + y, 0) / points.length,
];

function covers({ type, points }: Shape, [x, y]: Position): boolean {
  if (type === 'ellipse') {
    const found = ellipseOf(points);
    if (!found) return false;
    const turn = (found.turn * Math.PI) / 180;
    const [dx, dy] = [x - found.cx, y - found.cy];
    const along = dx * Math.cos(turn) + dy * Math.sin(turn);
    const across = dy * Math.cos(turn) - dx * Math.sin(turn);
    return (along / found.rx) ** 2 + (across / found.ry) ** 2 < 1;
  }
  if (type !== 'polygon') return false;
  return points.reduce((inside, [ax, ay], index) => {
    const [bx, by] = points.at(index - 1) ?? [ax, ay];
    const crosses = ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax;
    return crosses ? !inside : inside;
  }, false);
}

function distanceFrom({ points }: Shape, [x, y]: Position): number {
  const [[ax, ay] = [0, 0], [bx, by] = [0, 0]] = points;
  const [dx, dy] = [bx - ax, by - ay];
  const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(x - ax - share * dx, y - ay - share * dy);
}

/**
 * Returns two positions for a line's number, one on either side of its middle. The positions beyond
 * the ends of the line may be unsuitable, because another line often begins there.
 */
function asideOf({ type, points: [a, b] }: Shape, distance: number): Position[] {
  if (type !== 'line' || !a || !b) return [];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  const [x, y] = centreOf([a, b]);
  const across = [
    ((b[1] - a[1]) / length) * distance,
    ((a[0] - b[0]) / length) * distance,
  ] as const;
  return [
    [x + across[0], y + across[1]],
    [x - across[0], y - across[1]],
  ];
}

/**
 * Returns the points next to which a number may be placed: every point of a line or ellipse, but
 * only the outermost points of any other shape.
 */
function endsOf({ type, points }: Shape): Position[] {
  if (type === 'line' || type === 'ellipse') return [...points];
  const extremes = [
    (p: Position) => p[0],
    (p: Position) => -p[0],
    (p: Position) => -p[1],
    (p: Position) => p[1],
  ];
  return extremes.flatMap((key) => [...points].sort((p, q) => key(q) - key(p)).slice(0, 1));
}

/**
 * Places a number next to each caliper, beyond one of its ends or at its side. If possible, the
 * place is outside every outline on the frame, off every line, inside the image and apart from the
 * other numbers.
 */
export function placeMarks(
  calipers: readonly Pick<DrawnMeasurement, 'shapes'>[],
  { columns, rows }: { columns: number; rows: number },
): PlacedMark[] {
  const size = rows * LABEL_SHARE;
  const all = calipers.flatMap(({ shapes }) => shapes);
  const lines = all.filter(({ type }) => type === 'line');
  const placed: PlacedMark[] = [];
  const flawsAt = ([x, y]: Position): number =>
    (x < size || y < size || x > columns - size || y > rows - size ? 4 : 0) +
    (placed.some((other) => Math.hypot(other.x - x, other.y - y) < size * 1.3) ? 2 : 0) +
    (all.some((shape) => covers(shape, [x, y])) ? 1 : 0) +
    (lines.some((line) => distanceFrom(line, [x, y]) < size * 0.7) ? 1 : 0);
  calipers.forEach(({ shapes }, index) => {
    const places = shapes.flatMap((shape) => {
      const centre = centreOf(shape.points);
      const beyond = endsOf(shape).map(([x, y]): Position => {
        const distance = Math.hypot(x - centre[0], y - centre[1]) || 1;
        const further = (size * 1.1) / distance;
        return [x + (x - centre[0]) * further, y + (y - centre[1]) * further];
      });
      return [...beyond, ...asideOf(shape, size * 1.1)];
    });
    const [best] = places.sort((one, other) => flawsAt(one) - flawsAt(other));
    if (best) placed.push({ number: index + 1, x: best[0], y: best[1] });
  });
  return placed;
}

/** Returns a frame's calipers, in the order of their numbers. */
export function calipersOn(clip: OverlayClip, frame: number): DrawnMeasurement[] {
  return clip.calipers.filter((one) => one.frame === frame);
}

/** Returns a caliper's colour class. The list below the image uses the same class. */
export const colourOf = (index: number): string => `colour-${index % CALIPER_COLOURS}`;

interface Drawing {
  clip: OverlayClip;
  frame: number;
  on: ReadonlySet<Layer>;
  /** The measurement to highlight; null to highlight nothing. */
  chosen: string | null;
  /**
   * The measurement that a person is correcting, with its current shapes; null if none is being
   * corrected.
   */
  edited: { measurement: string; shapes: Shape[] } | null;
}

/** Draws a frame's measurements over its image; their values are in the list below it. */
export function overlayView({ clip, frame, on, chosen, edited }: Drawing): TemplateResult {
  const { columns, rows } = clip;
  const here = <One extends { frame: number }>(layer: Layer, all: readonly One[]) =>
    on.has(layer) ? all.filter((one) => one.frame === frame) : [];
  const calipers = (on.has('calipers') || edited ? calipersOn(clip, frame) : []).map((one) =>
    one.measurement === edited?.measurement ? { ...one, shapes: edited.shapes } : one,
  );
  const size = rows * 0.012;
  return svg`<svg
    class="overlay"
    viewBox=${`-0.5 -0.5 ${columns} ${rows}`}
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    ${here('masks', clip.masks).map((mask, index) => svg`<path class=${`mask ${colourOf(index)}`} d=${runsPath(mask.runs)} />`)}
    ${here('contours', clip.contours).map(
      ({ structure, points, measured }) =>
        svg`<path class=${`contour ${structure} ${measured ? '' : 'doubted'}`} d=${pathOf(points, true)} />`,
    )}
    ${here('traces', clip.traces).map(
      ({ points }) => svg`<path class="trace" d=${pathOf(points, false)} />`,
    )}
    ${calipers.map(
      ({ shapes, quality, measurement }, index) => svg`<g
        class=${`caliper ${colourOf(index)} ${quality === 'accepted' ? '' : 'doubted'} ${measurement === chosen ? 'chosen' : ''}`}
        data-measurement=${measurement}
      >${shapes.map((shape) => shapeView(shape, size))}</g>`,
    )}
    ${placeMarks(calipers, clip).map(
      ({ number, x, y }) =>
        svg`<text class=${colourOf(number - 1)} x=${x} y=${y} text-anchor="middle" dominant-baseline="central" font-size=${rows * LABEL_SHARE}>${number}</text>`,
    )}
  </svg>`;
}

interface Handles {
  clip: OverlayClip;
  shapes: readonly Shape[];
  /** Called when a handle is moved to a position; `done` is true when it is released. */
  move(shape: number, point: number, to: Position, done: boolean): void;
}

/** Frame pixels by which an arrow key moves a handle: alone (`fine`) and with Shift (`coarse`). */
const KEY_STEPS = { fine: 1, coarse: 10 } as const;
const ARROWS: Readonly<Record<string, Position>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Draws handles for a measurement's points, which can be dragged or moved with the arrow keys. */
export function handlesView({ clip, shapes, move }: Handles): TemplateResult {
  const { columns, rows } = clip;
  const positionOf = ({ clientX, clientY }: PointerEvent, box: DOMRect): Position =>
    insideFrame(
      [
        ((clientX - box.left) / box.width) * columns - 0.5,
        ((clientY - box.top) / box.height) * rows - 0.5,
      ],
      clip,
    );
  const pointed = (shape: number, point: number, done: boolean) => (event: PointerEvent) => {
    const { currentTarget: handle } = event;
    if (!(handle instanceof SVGElement) || !handle.hasPointerCapture(event.pointerId)) return;
    // Without this call, dragging the handle would also move the enlarged image below it.
    event.stopPropagation();
    const box = handle.ownerSVGElement?.getBoundingClientRect();
    if (box) move(shape, point, positionOf(event, box), done);
  };
  const grab = (event: PointerEvent) => {
    if (event.button !== 0 || !(event.currentTarget instanceof SVGElement)) return;
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const nudge =
    (shape: number, point: number, [x, y]: Position) =>
    (event: KeyboardEvent) => {
      const arrow = ARROWS[event.key];
      if (!arrow) return;
      event.preventDefault();
      const step = event.shiftKey ? KEY_STEPS.coarse : KEY_STEPS.fine;
      move(shape, point, insideFrame([x + arrow[0] * step, y + arrow[1] * step], clip), true);
    };
  return svg`<svg class="overlay handles" viewBox=${`-0.5 -0.5 ${columns} ${rows}`} preserveAspectRatio="none">
    ${shapes.flatMap((shape, s) =>
      handlesOf(shape).map((p, index) => {
        const at = shape.points[p] ?? [0, 0];
        return svg`<circle
          role="button"
          tabindex="0"
          aria-label=${`Point ${index + 1}; move it with the arrow keys`}
          cx=${at[0]}
          cy=${at[1]}
          r=${rows * HANDLE_SHARE}
          @pointerdown=${grab}
          @pointermove=${pointed(s, p, false)}
          @pointerup=${pointed(s, p, true)}
          @keydown=${nudge(s, p, at)}
        />`;
      }),
    )}
  </svg>`;
}
