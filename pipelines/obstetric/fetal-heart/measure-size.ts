import type { ObstetricConcept, ObstetricMethod } from '../../concepts/obstetric.ts';
import type { Ellipse, PixelScale, Point } from '../../contract/image.ts';
import { type Clip, scaleFor } from '../../contract/study.ts';
import { axisEnds, perimeter, toMillimetres } from '../../measure/ellipse.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import {
  createMeasurement,
  isPlausible,
  lineBetween,
  measuredOn,
  withMedian,
} from '../shared/measurement.ts';
import type { ChestReading, ChestUncertainty, LocatedChest, LocatedSeptum } from './evidence.ts';
import { cardiothoracicAreaRatio, cardiothoracicCircumferenceRatio } from './guideline.ts';
import { FETAL_HEART_SECTION } from './measure-rate.ts';

const FRAMES_PER_MEASUREMENT = 3;
const KEYS = [
  'cardiothoracic-area-ratio',
  'cardiothoracic-circumference-ratio',
  'cardiac-axis',
] as const satisfies readonly ObstetricConcept[];

const UNCERTAINTY_OF = {
  'cardiothoracic-area-ratio': 'areaRatio',
  'cardiothoracic-circumference-ratio': 'circumferenceRatio',
  'cardiac-axis': 'axisDegrees',
} as const satisfies Record<(typeof KEYS)[number], keyof ChestUncertainty>;

interface Value {
  key: (typeof KEYS)[number];
  method: ObstetricMethod;
  value: number;
  calipers: Caliper[];
  confidence: number;
  accepted: boolean;
}

const SQUARE: PixelScale = { x: 1, y: 1 };

/**
 * The scale of an outline. Without one, pixels are assumed to be square, which is enough for ratios
 * and angles (obstetric 0.4).
 */
const scaleOf = (clip: Clip, outline: Ellipse): PixelScale =>
  scaleFor(clip, axisEnds(outline))?.scale ?? SQUARE;

function outline(millimetres: Ellipse, scale: PixelScale): Caliper {
  return {
    type: 'ellipse',
    points: axisEnds(millimetres).map(({ x, y }) => [x / scale.x, y / scale.y]),
  };
}

function ratios({ heart, thorax, confidence, accepted }: LocatedChest, scale: PixelScale): Value[] {
  const inner = toMillimetres(heart, scale);
  const outer = toMillimetres(thorax, scale);
  const given = {
    method: 'heart-and-thorax-outlines' as const,
    calipers: [outline(inner, scale), outline(outer, scale)],
    confidence,
    accepted,
  };
  return [
    {
      ...given,
      key: 'cardiothoracic-area-ratio',
      value: cardiothoracicAreaRatio(inner.a * inner.b, outer.a * outer.b),
    },
    {
      ...given,
      key: 'cardiothoracic-circumference-ratio',
      value: cardiothoracicCircumferenceRatio(
        perimeter(inner.a, inner.b),
        perimeter(outer.a, outer.b),
      ),
    },
  ];
}

/**
 * Angle in degrees between the septum and the line from the spine through the middle of the thorax.
 */
export function axisOf(
  { spine, crux, apex }: LocatedSeptum,
  { centre }: Ellipse,
  scale: PixelScale = SQUARE,
): number {
  const direction = (from: Point, to: Point) =>
    Math.atan2((to.y - from.y) * scale.y, (to.x - from.x) * scale.x);
  const turn = direction(crux, apex) - direction(spine, centre);
  return Math.abs((Math.atan2(Math.sin(turn), Math.cos(turn)) * 180) / Math.PI);
}

function valuesOf({ clip, located }: ChestReading): Value[] {
  if (!located) return [];
  const scale = scaleOf(clip, located.thorax);
  const { septum, thorax } = located;
  return [
    ...ratios(located, scale),
    ...(septum
      ? [
          {
            key: 'cardiac-axis' as const,
            method: 'cardiac-axis-septum' as const,
            value: axisOf(septum, thorax, scale),
            calipers: [
              lineBetween(septum.crux, septum.apex),
              lineBetween(septum.spine, thorax.centre),
            ],
            confidence: Math.min(septum.confidence, located.confidence),
            accepted: septum.accepted && located.accepted,
          },
        ]
      : []),
  ];
}

function onFrame(reading: ChestReading, one: Value, index: number, halfWidth: number | null) {
  const { clip, frame } = reading;
  const plausible = isPlausible(one.key, one.value);
  return createMeasurement(`${one.key}-${index + 1}`, one.key, one.value, one.method, {
    section: FETAL_HEART_SECTION,
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'model', one.calipers),
    confidence: one.confidence,
    uncertainty: halfWidth,
    quality: !plausible ? 'inadequate' : one.accepted ? 'accepted' : 'low',
    remarks: [
      ...(plausible ? [] : [remark('obstetric.implausible', {})]),
      remark('method.without-reference', {}),
    ],
  });
}

const heartShare = ({ located }: ChestReading) =>
  located ? (located.heart.a * located.heart.b) / (located.thorax.a * located.thorax.b) : 0;

/**
 * The readings, with those of each cine sorted by size of the heart, largest first: the ratio is
 * defined at end diastole (ISUOG 2023), when the heart is largest. The order of the clips is kept.
 */
function endDiastoleFirst(readings: readonly ChestReading[]): ChestReading[] {
  const ofClips = Map.groupBy(readings, ({ clip }) => clip);
  for (const own of ofClips.values()) own.sort((a, b) => heartShare(b) - heartShare(a));
  return readings.flatMap(({ clip }) => ofClips.get(clip)?.shift() ?? []);
}

/**
 * Ratios of heart to thorax and the axis of the heart, on up to three frames each, and their
 * median. In a cine the frames nearest to end diastole are used; a still is used as it is, and in
 * systole its heart is smaller.
 */
export function measureChest(
  readings: readonly ChestReading[],
  uncertainty: ChestUncertainty | null,
): Measurement[] {
  const accepted = readings.filter(({ located }) => located?.accepted);
  const used = endDiastoleFirst(accepted.length > 0 ? accepted : readings).slice(
    0,
    FRAMES_PER_MEASUREMENT,
  );
  const values = used.map((reading) => ({ reading, own: valuesOf(reading) }));
  return KEYS.flatMap((key) =>
    withMedian(
      key,
      values.flatMap(({ reading, own }, index) =>
        own
          .filter((one) => one.key === key)
          .map((one) => onFrame(reading, one, index, uncertainty?.[UNCERTAINTY_OF[key]] ?? null)),
      ),
    ),
  );
}
