import { scaleFor } from '../../contract/study.ts';
import { distance } from '../../measure/ellipse.ts';
import type { Measurement } from '../../result/envelope.ts';
import { asRepeat, lineBetween, measuredOn } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { remarkOfPlacenta } from '../../result/render/obstetric/placenta.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import {
  createMeasurement,
  FRAMES_PER_MEASUREMENT,
  ofEveryClip,
  withMedian,
} from '../shared/measurement.ts';
import type { BodyReading, EdgeReading } from './evidence.ts';
import { placentaCategory } from './guideline.ts';

const SECTION = 'placenta';

/**
 * Returns true if the machine labels the view as transabdominal. An unlabelled view counts as
 * transvaginal, because the classifier learned this view from simulated transvaginal images.
 */
export const isTransabdominal = ({ route }: EdgeReading) => route === 'transabdominal';

interface EdgeDistance {
  measurement: Measurement;
  /**
   * True if the distance may have a category. A transabdominal distance never has one (obstetric
   * 9.2).
   */
  judged: boolean;
}

function edgeToOs(reading: EdgeReading, uncertainty: number | null): EdgeDistance[] {
  const { clip, frame, located } = reading;
  if (!located?.accepted) return [];
  const ends = [located.edge, located.internalOs] as const;
  const scale = scaleFor(clip, ends)?.scale;
  if (!scale) return [];
  const straight = distance(located.edge, located.internalOs, scale);
  const value = located.overlaps ? -straight : straight;
  const plausible = isPlausible('placenta-to-os', value);
  const abdominal = isTransabdominal(reading);
  const remarks = [
    ...(plausible ? [] : [remark('obstetric.implausible', {})]),
    ...(abdominal ? [remarkOfPlacenta('placenta.not-transvaginal', {})] : []),
    remark('method.simulated-only', {}),
  ];
  const measurement = createMeasurement('placenta-to-os', value, 'edge-to-os', {
    section: SECTION,
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'model', [lineBetween(...ends)]),
    confidence: located.confidence,
    uncertainty,
    quality: !plausible ? 'inadequate' : abdominal ? 'low' : 'accepted',
    remarks,
  });
  return [{ measurement, judged: !abdominal && isAccepted(measurement) }];
}

/** Returns the category of a distance, assuming an age at which there are categories. */
const categoryOf = ({ value }: Measurement) => placentaCategory(value, Number.POSITIVE_INFINITY);

/** Returns true if the distances on several images fall into different categories. */
export const edgesDisagree = (distances: readonly Measurement[]) =>
  new Set(distances.map(categoryOf)).size > 1;

const isAccepted = ({ quality }: Measurement) => quality === 'accepted';

/**
 * Measures the signed distance in mm from the lower edge to the internal os. One image of every
 * clip is measured, because the edge may overlap the os on any of them, and at least three images
 * if there are as many. Images whose distance may have a category come first. Empty without a
 * scale. The plain id is given to the median of the distances that may have a category. If these
 * fall into different categories, the shortest takes the plain id instead, because an image beside
 * the lowest part of the edge can miss an overlap.
 */
export function measureEdges(
  edges: readonly EdgeReading[],
  uncertainty: number | null,
): Measurement[] {
  const measured = edges.flatMap((reading) => edgeToOs(reading, uncertainty));
  const chosen = ofEveryClip(
    measured.filter((one) => one.judged),
    ({ measurement }) => measurement.source.file,
    FRAMES_PER_MEASUREMENT,
  );
  const single = [
    ...chosen,
    ...measured
      .filter((one) => !one.judged)
      .slice(0, Math.max(0, FRAMES_PER_MEASUREMENT - chosen.length)),
  ].map(({ measurement, judged }, index) => ({
    measurement: { ...measurement, id: `placenta-to-os-${index + 1}` },
    judged,
  }));
  const valuesOf = (some: readonly EdgeDistance[]) => some.map(({ measurement }) => measurement);
  const judged = valuesOf(single.filter((one) => one.judged));
  const others = valuesOf(single.filter((one) => !one.judged));
  if (!edgesDisagree(judged)) return [...withMedian('placenta-to-os', judged), ...others];
  const shortest = judged.toSorted((one, other) => one.value - other.value)[0];
  const named = judged.map((one) =>
    one === shortest ? { ...one, id: 'placenta-to-os' } : asRepeat(one),
  );
  return [...named, ...others];
}

/**
 * Returns the largest thickness on the accepted images; empty without a scale. Values that a person
 * removed are considered only if there are no others.
 */
export function measureThickness(
  bodies: readonly BodyReading[],
  uncertainty: number | null,
): Measurement[] {
  const measured = bodies.flatMap((reading) => {
    const { clip, located } = reading;
    if (!located?.accepted) return [];
    const scale = scaleFor(clip, located.thickness)?.scale;
    if (!scale) return [];
    return createMeasurement(
      'placental-thickness',
      distance(located.thickness[0], located.thickness[1], scale),
      'placental-thickness',
      {
        section: SECTION,
        derivation: 'measured',
        source: measuredOn(reading.clip, reading.frame.index, 'model', [
          lineBetween(...located.thickness),
        ]),
        confidence: located.confidence,
        uncertainty,
        remarks: [remarkOfPlacenta('placenta.thickness', {}), remark('method.simulated-only', {})],
      },
    );
  });
  return measured
    .toSorted((a, b) => Number(isAccepted(b)) - Number(isAccepted(a)) || b.value - a.value)
    .slice(0, 1);
}
