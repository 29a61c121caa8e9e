import { scaleFor } from '../contract/study.ts';
import type { Measurement } from '../result/envelope.ts';
import { lineBetween, measuredOn } from '../result/source.ts';
import { createMeasurement } from './measurement.ts';
import { failedCriteria, NUCHAL_SECTION } from './nuchal-plane.ts';
import { implausibleNote, isPlausible } from './plausibility.ts';
import type { MidsagittalReading } from './read/nuchal.ts';

/** "Calibration of 0.1 mm or better" (FMF protocol), millimetres per pixel. */
const COARSEST_MM_PER_PIXEL = 0.1;
const FRAMES_PER_MEASUREMENT = 3;

/** Half width in mm that held 37 of 39 phantoms (seeds 9800 to 9839); model card. */
export const NUCHAL_UNCERTAINTY = 0.75;

/** No real image at hand has a scale: only on phantoms is the thickness known. */
const ON_PHANTOMS =
  'thickness checked on simulated images only; not validated in millimetres on real ones';

function problemsOf(reading: MidsagittalReading, coarse: boolean): string[] {
  const failed = failedCriteria(reading);
  return [
    ...(coarse
      ? [`the image is calibrated more coarsely than ${COARSEST_MM_PER_PIXEL} mm per pixel`]
      : []),
    ...(failed.length > 0 ? [`not met: ${failed.join(', ')}`] : []),
  ];
}

function onFrame(reading: MidsagittalReading, index: number): Measurement[] {
  const { clip, frame, lines, located } = reading;
  const region = lines && scaleFor(clip, lines.ends);
  if (!lines || !region) return [];
  const coarse = Math.max(region.scale.x, region.scale.y) > COARSEST_MM_PER_PIXEL + 1e-9;
  const problems = problemsOf(reading, coarse);
  const plausible = isPlausible('nuchal-translucency', lines.thickness);
  const doubt = plausible ? [] : [implausibleNote('nuchal-translucency')];
  const id = `nuchal-translucency-${index + 1}`;
  return [
    createMeasurement(id, 'nuchal-translucency', lines.thickness, 'nt-inner-inner', {
      section: NUCHAL_SECTION,
      derivation: 'measured',
      source: measuredOn(clip, frame.index, 'image-analysis', [lineBetween(...lines.ends)]),
      confidence: (located['nuchal-translucency']?.confidence ?? 0) * lines.seen,
      uncertainty: NUCHAL_UNCERTAINTY,
      quality: !plausible ? 'inadequate' : problems.length > 0 ? 'low' : 'accepted',
      note: [...doubt, ...problems, ON_PHANTOMS].join('; '),
    }),
  ];
}

/** Frames whose plane meets the criteria first: "the maximum that meets the criteria" counts. */
const adequateFirst = (readings: readonly MidsagittalReading[]) =>
  readings.toSorted((one, other) => failedCriteria(one).length - failedCriteria(other).length);

/** Thickness in mm on every frame on which the lines were seen, numbered, the adequate planes first. */
export const measureNuchalApart = (readings: readonly MidsagittalReading[]): Measurement[] =>
  adequateFirst(readings.filter(({ lines }) => lines !== null)).flatMap(onFrame);

/**
 * Thickness in mm on up to three frames; the largest of those that meet the criteria stands under
 * the plain id (FMF protocol). One on a plane that fails them is named and feeds nothing.
 */
export function measureNuchal(readings: readonly MidsagittalReading[]): Measurement[] {
  const withLines = readings.filter(({ lines }) => lines !== null);
  const single = measureNuchalApart(adequateFirst(withLines).slice(0, FRAMES_PER_MEASUREMENT));
  const accepted = single.filter(({ quality }) => quality === 'accepted');
  const largest = accepted.toSorted((one, other) => other.value - one.value)[0];
  return single.map((one) => (one === largest ? { ...one, id: 'nuchal-translucency' } : one));
}
