import type { ResultView } from '../contract.ts';
import { html, nothing, svg, type TemplateResult } from './html.ts';

/**
 * One of the 17 segments of the left ventricle on a disc (AHA 2002; SEG02, echo 0.2). From the
 * outside in, the disc consists of the basal ring and the mid ring (six segments each, starting
 * with the anterior one), the apical ring (four segments), and the apex. Angles are in degrees,
 * with 0 on the right and 90 at the top. Radii are fractions of the disc's radius. The PDF report
 * has the same drawing (pipelines/artifacts/drawing/bulls-eye.ts).
 */
interface Sector {
  inner: number;
  outer: number;
  from: number;
  to: number;
}

export const SEGMENTS = 17;

export function sectorOf(segment: number): Sector {
  if (segment === SEGMENTS) return { inner: 0, outer: 0.25, from: 0, to: 360 };
  if (segment > 12) {
    const from = 45 + 90 * (segment - 13);
    return { inner: 0.25, outer: 0.5, from, to: from + 90 };
  }
  const [inner, outer, first] = segment > 6 ? [0.5, 0.75, 7] : [0.75, 1, 1];
  const from = 60 + 60 * (segment - first);
  return { inner, outer, from, to: from + 60 };
}

/** Returns a point on a disc of radius 1 centred on the origin; y points down, as in SVG. */
function pointAt(share: number, degrees: number): [x: number, y: number] {
  const angle = (degrees * Math.PI) / 180;
  return [share * Math.cos(angle), -share * Math.sin(angle)];
}

function sectorPath({ inner, outer, from, to }: Sector): string {
  const xy = (share: number, degrees: number) =>
    pointAt(share, degrees)
      .map((part) => part.toFixed(4))
      .join(' ');
  if (inner === 0) {
    return `M${xy(outer, 0)}A${outer} ${outer} 0 1 0 ${xy(outer, 180)}A${outer} ${outer} 0 1 0 ${xy(outer, 0)}Z`;
  }
  return `M${xy(outer, from)}A${outer} ${outer} 0 0 0 ${xy(outer, to)}L${xy(inner, to)}A${inner} ${inner} 0 0 1 ${xy(inner, from)}Z`;
}

/** Returns the middle of a sector, where its value is written. */
export function middleOf({ inner, outer, from, to }: Sector): [x: number, y: number] {
  return inner === 0 ? [0, 0] : pointAt((inner + outer) / 2, (from + to) / 2);
}

interface SegmentValue {
  segment: number;
  name: string;
  value: number;
}

/** The sections with a value for each segment, and how to read and colour these values. */
const MAPS = [
  {
    section: 'lv-strain',
    field: 'strain',
    title: 'Longitudinal contour strain, %',
    note: 'Strain from contours, smoothed, not from speckle tracking. Blue: shortening; orange: lengthening.',
    decimals: 1,
    /**
     * Colour depth from -1 to 1, negative for shortening. A strain of 25 % has the deepest colour.
     */
    depth: (strain: number) => strain / 25,
  },
  {
    section: 'wall-motion',
    field: 'score',
    title: 'Wall motion score',
    note: '1 normal, 2 hypokinetic, 3 akinetic, 4 dyskinetic. The apex is not scored.',
    decimals: 0,
    depth: (score: number) => (score - 1) / 3,
  },
] as const;

/**
 * Returns the segments in a section's data that have a number in the given field. Anything else in
 * the data is ignored.
 */
export function segmentValues(data: Record<string, unknown>, field: string): SegmentValue[] {
  if (!Array.isArray(data.segments)) return [];
  return data.segments.flatMap((one: unknown) => {
    if (typeof one !== 'object' || one === null) return [];
    const { segment, name, [field]: value } = one as Record<string, unknown>;
    if (typeof segment !== 'number' || typeof value !== 'number') return [];
    return [{ segment, name: typeof name === 'string' ? name : `segment ${segment}`, value }];
  });
}

/** Colours from neutral to the deepest: blue for a negative depth, orange for a positive one. */
const BLUES = ['#f4f6f8', '#d5e3f0', '#b1cce4', '#8fb6d9', '#6b9fcd', '#5190c6'] as const;
const ORANGES = ['#f4f6f8', '#fae3cd', '#f5c79b', '#efab69', '#e79545', '#e0852b'] as const;

function colourOf(depth: number): string {
  const colours = depth < 0 ? BLUES : ORANGES;
  const last = colours.length - 1;
  return colours[Math.min(last, Math.round(Math.abs(depth) * last))] ?? colours[0];
}

const WALLS = [
  ['anterior', 90],
  ['septal', 180],
  ['inferior', 270],
  ['lateral', 0],
] as const;

/** Draws one disc. A segment without a value is hatched and shows a dash. */
function discView(map: (typeof MAPS)[number], values: readonly SegmentValue[]): TemplateResult {
  const bySegment = new Map(values.map((one) => [one.segment, one]));
  const told = values.map(({ name, value }) => `${name} ${value.toFixed(map.decimals)}`).join(', ');
  return html`<figure>
    <svg class="bulls-eye" viewBox="-1.2 -1.16 2.4 2.32" role="img" aria-label=${`${map.title}: ${told}`}>
      ${Array.from({ length: SEGMENTS }, (_, index) => {
        const segment = index + 1;
        const sector = sectorOf(segment);
        const found = bySegment.get(segment);
        const [x, y] = middleOf(sector);
        const fill = found ? colourOf(map.depth(found.value)) : nothing;
        return svg`<g class=${found ? nothing : 'absent'}><path fill=${fill} d=${sectorPath(sector)} /><text x=${x} y=${y}>${found ? found.value.toFixed(map.decimals) : '–'}</text></g>`;
      })}
      ${WALLS.map(([text, degrees]) => {
        const [x, y] = pointAt(1.08, degrees);
        const turn =
          degrees === 180 ? `rotate(-90 ${x} ${y})` : degrees === 0 ? `rotate(90 ${x} ${y})` : '';
        return svg`<text class="wall" x=${x} y=${y} transform=${turn}>${text}</text>`;
      })}
    </svg>
    <figcaption class="small">${map.title}. <span class="soft">${map.note}</span></figcaption>
  </figure>`;
}

/** Renders the values of the left ventricle's segments, if the result has them. */
export function bullsEyeView({
  sections,
}: Pick<ResultView, 'sections'>): TemplateResult | typeof nothing {
  const discs = MAPS.flatMap((map) => {
    const section = sections.find(({ id }) => id === map.section);
    const values = section ? segmentValues(section.data, map.field) : [];
    return values.length > 0 ? [discView(map, values)] : [];
  });
  if (discs.length === 0) return nothing;
  return html`<section class="panel" id="segments" aria-labelledby="segments-head">
    <header><h2 id="segments-head">Segments of the left ventricle</h2></header>
    <div class="plots discs">${discs}</div>
  </section>`;
}
