import type { EchoConcept, EchoMethod } from '../../concepts/echo.ts';
import type { Point } from '../../contract/image.ts';
import { onAxis } from '../../measure/chamber.ts';
import type { BeatMean } from '../../measure/statistics.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import { measuredOn } from '../../result/measured.ts';
import { createMeasurement } from '../../result/measurement.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import type { Remark } from '../../result/statement.ts';
import type { JudgedChamber, OutlineFault } from '../locate/outline-faults.ts';
import { inadequate, withPlausibility } from '../shared/plausibility.ts';
import type { MeasuredClip } from './beats.ts';
import { irregularity } from './gaps.ts';
import type { AxialFigure, ChamberClip, FrameGeometry } from './geometry.ts';

const pair = ({ x, y }: Point): [number, number] => [x, y];

function inPixels(points: readonly Point[], { scale }: Pick<ChamberClip, 'scale'>): Point[] {
  return points.map(({ x, y }) => ({ x: x / (scale?.x ?? 1), y: y / (scale?.y ?? 1) }));
}

export function outlineCaliper(outline: readonly Point[], clip: ChamberClip): Caliper {
  return { type: 'polygon', points: inPixels(outline, clip).map(pair) };
}

export function lineCaliper(from: Point, to: Point, clip: ChamberClip): Caliper {
  return { type: 'line', points: inPixels([from, to], clip).map(pair) };
}

export const axisCaliper = ({ axis }: AxialFigure, clip: ChamberClip): Caliper =>
  lineCaliper(axis.base, axis.apex, clip);

/**
 * Returns a cut across the axis as a caliper. `share` is the position of the cut along the axis.
 */
export function cutCaliper(
  { axis }: AxialFigure,
  share: number,
  ends: { left: number; right: number },
  across: Point,
  clip: ChamberClip,
): Caliper {
  const at = onAxis(axis, share);
  const end = (along: number) => ({ x: at.x + along * across.x, y: at.y + along * across.y });
  return lineCaliper(end(ends.left), end(ends.right), clip);
}

interface Outlined {
  key: EchoConcept;
  section: string;
  method: EchoMethod;
  /** In the unit of the concept. No measurement is created if it is null. */
  value: BeatMean | null;
  on: MeasuredClip;
  /**
   * Frame on which the caliper is drawn as an example for all beats. Null if the value was measured
   * on several frames.
   */
  at?: FrameGeometry | null;
  calipers?: readonly Caliper[];
  inputs?: readonly string[];
  remarks?: readonly Remark[];
  /** Half width of the 95 % interval, in the unit of the value; null if not known. */
  uncertainty?: number | null;
}

/**
 * Minimum number of frames that show how the area changes over time. A shorter clip shows only
 * isolated phases.
 */
const COURSE_FRAMES = 8;

function timingRemark({ phases, clip: { framesInClip: frames } }: MeasuredClip): Remark[] {
  if (phases === 'ecg') return [];
  return [
    frames >= COURSE_FRAMES
      ? remarkOfEcho('outlines.phases-by-area', {})
      : remarkOfEcho('outlines.phases-of-few-frames', { frames }),
  ];
}

/** Returns a remark on how many beats were averaged, and on an irregular rhythm (echo 0.4). */
export function beatsRemark(on: Parameters<typeof irregularity>[0]): Remark {
  const irregular = irregularity(on);
  return irregular
    ? remarkOfEcho('outlines.irregular', irregular)
    : remarkOfEcho('outlines.beats', { beats: on.beats.length });
}

/**
 * Returns the id of a value measured on outlines. It differs from the id of the machine's value for
 * the same concept.
 */
export const outlinedId = (key: EchoConcept) => `${key}-outlined`;

/** Withholds the measurement if the averaged beats contradict each other. */
export function withAgreement(
  measurement: Measurement,
  key: EchoConcept,
  mean: BeatMean | null,
): Measurement {
  const [least, greatest] = mean?.contradicting ?? [];
  if (least === undefined || greatest === undefined) return measurement;
  return inadequate(
    measurement,
    remarkOfEcho('outlines.beats-contradict', { key, least, greatest }),
  );
}

/** Withholds the measurements if the outline of the chamber has a fault in every beat. */
export function withOutlineFault(
  measurements: Measurement[],
  chamber: JudgedChamber,
  fault: OutlineFault | null,
): Measurement[] {
  if (!fault) return measurements;
  const reason = remarkOfEcho('outlines.fault', { chamber, fault });
  return measurements.map((one) => (one.quality === 'inadequate' ? one : inadequate(one, reason)));
}

/**
 * Returns a list with the measurement made on the outlines of a clip; empty if its value could not
 * be calculated.
 */
export function outlined({
  key,
  section,
  method,
  value,
  on,
  at = null,
  calipers = [],
  inputs = [],
  remarks = [],
  uncertainty = null,
}: Outlined): Measurement[] {
  if (value === null || !Number.isFinite(value.value)) return [];
  const { clip, beats, confidence } = on;
  const { stride } = clip;
  const measurement = createMeasurement(outlinedId(key), key, value.value, method, {
    section,
    derivation: inputs.length > 0 ? 'calculated' : beats.length > 1 ? 'mean' : 'measured',
    source: measuredOn(clip, at ? at.frame : null, 'model', calipers),
    confidence,
    uncertainty,
    inputs: [...inputs],
    remarks: [
      ...remarks,
      beatsRemark(on),
      ...(stride > 1 ? [remarkOfEcho('outlines.every-nth-frame', { stride })] : []),
      ...timingRemark(on),
    ],
  });
  return [withAgreement(withPlausibility(measurement, key), key, value)];
}

export const SUFFIX = { A4C: '4c', A2C: '2c', A3C: '3c' } as const;
