import type { ObstetricConcept, ObstetricMethod } from '../../concepts/obstetric.ts';
import type { Ellipse, PixelScale, Point } from '../../contract/image.ts';
import { type CalibratedRegion, type Clip, scaleFor } from '../../contract/study.ts';
import { axisEnds, distance, perimeter, toMillimetres } from '../../measure/ellipse.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import {
  ellipsePlace,
  type LocatedStructure,
  lineBetween,
  linePlace,
  locatedOn,
  measuredOn,
} from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { type PlaneExclusion, remarkOfBiometry } from '../../result/render/obstetric/biometry.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import { distinctRemarks, type Remark } from '../../result/statement.ts';
import {
  createMeasurement,
  FRAMES_PER_MEASUREMENT,
  isShapeOf,
  withMedian,
} from '../shared/measurement.ts';
import type { FramePlane, FrameReading, Plane, Structure } from '../shared/plane.ts';
import { BPD_PLANES, excludedBy, MEASURING_PLANES } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/**
 * HC in mm below which the separate 95 % interval of small heads applies. A head reaches this size
 * at about 14 weeks; until then the skull is faint.
 */
export const SMALL_HEAD_MM = 100;

/**
 * Half width of the 95 % interval of each length. For an outlined structure it is a percentage of
 * the length, because the error increases with size.
 */
export interface LengthUncertainty {
  hcPercent: number | null;
  /** Percentage for an HC below `SMALL_HEAD_MM`; missing in evidence stored by earlier versions. */
  smallHcPercent?: number | null;
  acPercent: number | null;
  flMm: number | null;
}

export interface BiometryEvidence extends SectionEvidence {
  /** Null if no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  readings: readonly FrameReading[];
  /** Structures whose lengths need review and are therefore left out of `readings`. */
  held?: readonly Structure[];
  /** Structures that no permitted model locates. */
  withoutModel: readonly Structure[];
  uncertainty: LengthUncertainty;
}

interface Length {
  key: ObstetricConcept;
  method: ObstetricMethod;
  mm: number;
  caliper: Caliper;
}

interface ReadLengths {
  lengths: Length[];
  calibration: CalibratedRegion['source'];
  /** True if the fitted ellipse extends beyond the calibrated region. */
  extrapolated: boolean;
}

/**
 * Maximum distance by which a fitted ellipse may extend beyond the calibrated region, as a share of
 * the ellipse's longer axis. It applies only to an image with a single region.
 */
const OVERHANG = 0.05;

/**
 * Returns the calibrated region that contains the axes of an outline (obstetric 0.4). If the image
 * has only one region, the axes may extend beyond it by `OVERHANG`. Null if there is no such
 * region.
 */
function outlineRegion(clip: Clip, points: readonly Point[]): CalibratedRegion | null {
  const containing = scaleFor(clip, points);
  const [only, ...others] = clip.regions;
  if (containing || !only || others.length > 0) return containing;
  const [first, second, third, fourth] = points;
  if (!first || !second || !third || !fourth) return null;
  const longest = Math.max(
    Math.hypot(second.x - first.x, second.y - first.y),
    Math.hypot(fourth.x - third.x, fourth.y - third.y),
  );
  const { minX, minY, maxX, maxY } = only.area;
  const beyond = points.map((p) => Math.max(minX - p.x, p.x - maxX, minY - p.y, p.y - maxY));
  return Math.max(...beyond) <= OVERHANG * longest ? only : null;
}

/**
 * Returns the ends of the axes of an ellipse, in pixels. The axes are perpendicular in mm, but not
 * necessarily on the screen.
 */
function axesInPixels(millimetres: Ellipse, scale: PixelScale): [Point, Point, Point, Point] {
  const [a1, a2, b1, b2] = axisEnds(millimetres);
  const toPixels = (point: Point) => ({ x: point.x / scale.x, y: point.y / scale.y });
  return [toPixels(a1), toPixels(a2), toPixels(b1), toPixels(b2)];
}

interface Axis {
  mm: number;
  caliper: Caliper;
  /** True if the axis is closer to the beam direction (down the image) than to the horizontal. */
  alongBeam: boolean;
}

function axisBetween(from: Point, to: Point, scale: PixelScale): Axis {
  const alongBeam = Math.abs((to.y - from.y) * scale.y) >= Math.abs((to.x - from.x) * scale.x);
  return { mm: distance(from, to, scale), caliper: lineBetween(from, to), alongBeam };
}

function headAxes(longer: Axis, shorter: Axis): Length[] {
  return [
    { key: 'ofd', method: 'ofd-outer-outer', ...longer },
    { key: 'bpd', method: 'bpd-outer-outer', ...shorter },
  ];
}

/**
 * Returns TAD and APAD from the axes of an abdomen; either may be the longer. The abdomen is
 * scanned with the spine at the side, so the axis along the beam is the transverse one. This holds
 * for 151 of the 160 landmarked images of FETAL_PLANES_DB (Burgos-Artizzu 2020).
 */
function abdomenAxes(one: Axis, other: Axis): Length[] {
  const [transverse, anteroposterior] = one.alongBeam ? [one, other] : [other, one];
  return [
    { key: 'tad', method: 'tad-outer-outer', ...transverse },
    { key: 'apad', method: 'apad-outer-outer', ...anteroposterior },
  ];
}

function outlineLengths(
  clip: Clip,
  structure: 'head' | 'abdomen',
  ellipse: Ellipse,
): ReadLengths | null {
  const unscaled = axisEnds(ellipse);
  const region = outlineRegion(clip, unscaled);
  if (!region) return null;
  const { scale } = region;
  const millimetres = toMillimetres(ellipse, scale);
  const [a1, a2, b1, b2] = axesInPixels(millimetres, scale);
  const circumference = {
    mm: perimeter(millimetres.a, millimetres.b),
    caliper: {
      type: 'ellipse' as const,
      points: [a1, a2, b1, b2].map(({ x, y }): [number, number] => [x, y]),
    },
  };
  const longer = axisBetween(a1, a2, scale);
  const shorter = axisBetween(b1, b2, scale);
  const lengths: Length[] =
    structure === 'head'
      ? [{ key: 'hc', method: 'hc-ellipse', ...circumference }, ...headAxes(longer, shorter)]
      : [{ key: 'ac', method: 'ac-ellipse', ...circumference }, ...abdomenAxes(longer, shorter)];
  const cut = scaleFor(clip, unscaled) === null;
  return {
    lengths,
    calibration: region.source,
    extrapolated: cut,
  };
}

/**
 * Returns the lengths in mm of the structure located on a frame. Null if no structure was located,
 * or if no calibrated region contains it.
 */
export function lengthsOf(reading: FrameReading): ReadLengths | null {
  const { clip, located, structure } = reading;
  if (!located) return null;
  if (structure !== 'femur') return outlineLengths(clip, structure, located.ellipse);
  const [from, to] = located.ends;
  const region = scaleFor(clip, [from, to]);
  if (!region) return null;
  const mm = distance(from, to, region.scale);
  const length: Length = {
    key: 'fl',
    method: 'fl-outer-outer',
    mm,
    caliper: lineBetween(from, to),
  };
  return { lengths: [length], calibration: region.source, extrapolated: false };
}

/**
 * Ratio of the outer-inner to the outer-outer BPD, for example 89 mm to 92 mm (obstetric 2.2). The
 * difference is the far skull bone. The ratio is an estimate, because the bone is not measured.
 */
const OUTER_INNER = 0.97;

/** Remark that the head was measured on the least preferred permitted plane. */
const ON_LAST_RESORT = remarkOfBiometry('biometry.last-resort-plane', {});

/** Returns true if a value was measured on a plane that is only a substitute for the proper one. */
export const isOfLastResort = ({ remarks }: Measurement) =>
  remarks.some(({ code }) => code === ON_LAST_RESORT.code);

function planeRemarks(key: ObstetricConcept, plane: Plane): Remark[] {
  if (plane === 'transcerebellar') return [ON_LAST_RESORT];
  return plane === 'transventricular' && key === 'bpd'
    ? [remarkOfBiometry('biometry.bpd-on-transventricular', {})]
    : [];
}

/** The located structures, and the uncertainties of the models that located them. */
export type Measured = Pick<BiometryEvidence, 'readings' | 'uncertainty'>;

interface Read {
  reading: FrameReading;
  length: Length;
  extrapolated: boolean;
  calibration: CalibratedRegion['source'];
  /**
   * Sign that the frame does not show a plane on which the structure is measured; null if there is
   * no such sign.
   */
  excluded: PlaneExclusion | null;
  /** Reason why no length of this outline or line is used; null if all lengths are plausible. */
  implausible: Remark | null;
}

/**
 * Returns the half width of the 95 % interval of a length, mm; null if unknown. The error of an
 * outlined structure increases with its size, but less than in proportion: a small head has a
 * larger error in per cent.
 */
function uncertaintyOf({ key, mm }: Length, { uncertainty }: Measured): number | null {
  const { hcPercent, smallHcPercent = hcPercent, acPercent, flMm } = uncertainty;
  if (key === 'fl') return flMm;
  const ofHead = mm < SMALL_HEAD_MM ? smallHcPercent : hcPercent;
  const percent = key === 'hc' ? ofHead : key === 'ac' ? acPercent : null;
  return percent === null ? null : (percent / 100) * mm;
}

/** Returns remarks that contain the length itself. A median must not copy them from its inputs. */
const placementRemarks = (key: ObstetricConcept, mm: number): Remark[] =>
  key === 'bpd'
    ? [remarkOfBiometry('biometry.bpd-placement', { outerInner: OUTER_INNER * mm })]
    : [];

function remarksOn(key: ObstetricConcept, read: Read): Remark[] {
  const { reading, extrapolated, calibration, excluded } = read;
  return [
    ...(extrapolated ? [remarkOfBiometry('biometry.extrapolated', {})] : []),
    ...(excluded === null
      ? planeRemarks(key, reading.estimate.label)
      : [remarkOfBiometry('biometry.not-used', { by: excluded })]),
    // The scale comes from the request instead of the image (obstetric 0.4).
    ...(calibration === 'user' ? [remarkOfBiometry('biometry.scale-of-request', {})] : []),
    ...(key === 'tad' || key === 'apad' ? [remarkOfBiometry('biometry.abdomen-axes', {})] : []),
    ...placementRemarks(key, read.length.mm),
    ...(read.implausible ? [read.implausible] : []),
  ];
}

/**
 * Returns why an outline is implausible; null if it is plausible. One implausible length rejects
 * all lengths of the outline, because the outline is probably that of another structure.
 */
function implausibility(structure: Structure, lengths: readonly Length[]): Remark | null {
  const outside = lengths.find(({ key, mm }) => !isPlausible(key, mm));
  if (outside) return remark('obstetric.implausible-by', { key: outside.key });
  const [, one, other] = lengths;
  if (structure === 'femur' || !one || !other) return null;
  return isShapeOf(structure, one.mm, other.mm)
    ? null
    : remarkOfBiometry('biometry.wrong-shape', { structure });
}

function fromFrame(id: string, read: Read, evidence: Measured): Measurement {
  const { reading, length } = read;
  const { clip, frame, located } = reading;
  const { key } = length;
  const { implausible, excluded } = read;
  const usable = located?.accepted && excluded === null;
  return createMeasurement(key, length.mm, length.method, {
    id,
    section: 'biometry',
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'model', [length.caliper]),
    confidence: located?.confidence ?? null,
    uncertainty: uncertaintyOf(length, evidence),
    quality: implausible ? 'inadequate' : usable ? 'accepted' : 'low',
    remarks: remarksOn(key, read),
  });
}

/**
 * Returns the remarks on a median: the spread of its values, the remarks that depend on the median
 * itself (`placementRemarks`), and the other remarks on its values.
 */
function remarksOnMedian(
  key: ObstetricConcept,
  value: number,
  accepted: readonly Measurement[],
): Remark[] {
  const values = accepted.map((one) => one.value);
  const spread = remarkOfBiometry('biometry.spread', {
    frames: accepted.length,
    low: Math.min(...values),
    high: Math.max(...values),
  });
  const placement = placementRemarks(key, value);
  const shared = accepted
    .flatMap(({ remarks }) => remarks)
    .filter(({ code }) => placement.every((one) => one.code !== code));
  return distinctRemarks([spread, ...placement, ...shared]);
}

/**
 * Returns up to three accepted readings to measure. They come from the first tier of planes that
 * has an accepted reading. If no tier has one, returns up to three other readings, which are listed
 * but not used.
 */
function measuredReadings(
  structure: Structure,
  key: ObstetricConcept,
  readings: readonly Read[],
): Read[] {
  const accepted = readings.filter(
    ({ reading, implausible, excluded }) =>
      reading.located?.accepted && !implausible && excluded === null,
  );
  const wanted = key === 'bpd' ? BPD_PLANES : MEASURING_PLANES[structure];
  const tiers = wanted.map((planes) =>
    accepted.filter(({ reading }) => planes.includes(reading.estimate.label)),
  );
  const chosen = tiers.find((tier) => tier.length > 0) ?? readings;
  return chosen.slice(0, FRAMES_PER_MEASUREMENT);
}

function measureFrames(
  structure: Structure,
  evidence: Measured,
): Map<ObstetricConcept, Measurement[]> {
  const reads = evidence.readings
    .filter((reading) => reading.structure === structure)
    .flatMap((reading) => {
      const read = lengthsOf(reading);
      return read ? [{ reading, ...read }] : [];
    });
  const byKey = new Map<ObstetricConcept, Read[]>();
  for (const { reading, lengths, extrapolated, calibration } of reads) {
    const excluded = excludedBy(reading);
    const implausible = implausibility(structure, lengths);
    for (const length of lengths) {
      const before = byKey.get(length.key) ?? [];
      const read = { reading, length, extrapolated, calibration, excluded, implausible };
      byKey.set(length.key, [...before, read]);
    }
  }
  return new Map(
    [...byKey].map(([key, read]) => [
      key,
      measuredReadings(structure, key, read).map((one, index) =>
        fromFrame(`${key}-${index + 1}`, one, evidence),
      ),
    ]),
  );
}

/**
 * Measures every length of a structure. Returns one measurement per frame (`hc-1` to `hc-3`) and
 * their median under the plain id (`hc`). If only one measurement is accepted, it takes the plain
 * id.
 */
export function measureStructure(structure: Structure, evidence: Measured): Measurement[] {
  return [...measureFrames(structure, evidence)].flatMap(([key, single]) =>
    withMedian(key, single, (value, accepted) => remarksOnMedian(key, value, accepted)),
  );
}

/**
 * Measures every length of a structure on frames that may show different fetuses. Returns one
 * measurement per frame, without a median.
 */
export function measureApart(structure: Structure, evidence: Measured): Measurement[] {
  return [...measureFrames(structure, evidence).values()].flat();
}

/**
 * Returns the positions, in pixels, of heads, abdomens and femurs on frames without a scale. On
 * frames with a scale, the calipers already show them.
 */
export function structuresWithoutScale(readings: readonly FrameReading[]): LocatedStructure[] {
  return readings.flatMap((reading) => {
    if (!reading.located || lengthsOf(reading) !== null) return [];
    if (reading.structure === 'femur') {
      const { located } = reading;
      return [locatedOn(reading, 'fetal-femur', located, linePlace(located.ends))];
    }
    const { located, structure } = reading;
    const { confidence, ellipse } = located;
    // The shape is checked in pixels, because the frame has no scale.
    const accepted = located.accepted && isShapeOf(structure, ellipse.a, ellipse.b);
    const place = ellipsePlace(axisEnds(ellipse));
    return [locatedOn(reading, `fetal-${structure}`, { confidence, accepted }, place)];
  });
}
