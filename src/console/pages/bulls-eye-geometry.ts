/**
 * The 17 segments of the left ventricle as a disc (AHA 2002; SEG02 of the echo reference): basal and
 * mid ring of six from anterior on, apical ring of four, and the apex. Angles in degrees, 0 right, 90
 * top; radii as shares of the whole. The documents draw the same disc (pipelines/artifacts).
 */
export interface Sector {
  inner: number;
  outer: number;
  from: number;
  to: number;
}

export const SEGMENTS = 17;

/** Pure: where segment 1 to 17 lies. */
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

/** Pure: a point of the disc of radius 1 about the origin, y downwards as in SVG. */
export function pointAt(share: number, degrees: number): [x: number, y: number] {
  const angle = (degrees * Math.PI) / 180;
  return [share * Math.cos(angle), -share * Math.sin(angle)];
}

/** Pure: a sector as an SVG path. */
export function sectorPath({ inner, outer, from, to }: Sector): string {
  const xy = (share: number, degrees: number) =>
    pointAt(share, degrees)
      .map((part) => part.toFixed(4))
      .join(' ');
  if (inner === 0) {
    return `M${xy(outer, 0)}A${outer} ${outer} 0 1 0 ${xy(outer, 180)}A${outer} ${outer} 0 1 0 ${xy(outer, 0)}Z`;
  }
  return `M${xy(outer, from)}A${outer} ${outer} 0 0 0 ${xy(outer, to)}L${xy(inner, to)}A${inner} ${inner} 0 0 1 ${xy(inner, from)}Z`;
}

/** Pure: the middle of a sector, where its value stands. */
export function middleOf({ inner, outer, from, to }: Sector): [x: number, y: number] {
  return inner === 0 ? [0, 0] : pointAt((inner + outer) / 2, (from + to) / 2);
}
