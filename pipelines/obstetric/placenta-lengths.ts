import { scaleFor } from '../contract/study.ts';
import { distance } from '../measure/distance.ts';
import { median } from '../measure/statistics.ts';
import type { Measurement } from '../result/envelope.ts';
import { lineBetween, measuredOn } from '../result/source.ts';
import { createMeasurement, NO_FRAME } from './measurement.ts';
import { implausibleNote, isPlausible } from './plausibility.ts';
import type { BodyReading, EdgeReading } from './read/placenta.ts';
import { SIMULATED_ONLY } from './simulated-only.ts';

const SECTION = 'placenta';
/** Median of up to three images. */
const FRAMES = 3;

/**
 * Signed distance of the lower edge to the internal os on up to three transvaginal images and their
 * median under the plain id; a single one has the plain id itself. Empty without a scale.
 */
export function measureEdges(
  edges: readonly EdgeReading[],
  uncertainty: number | null,
): Measurement[] {
  const single = edges
    .flatMap((reading) => {
      const { clip, located } = reading;
      if (!located?.accepted) return [];
      const ends = [located.edge, located.internalOs] as const;
      const scale = scaleFor(clip, ends)?.scale;
      if (!scale) return [];
      const straight = distance(located.edge, located.internalOs, scale);
      const value = located.overlaps ? -straight : straight;
      const plausible = isPlausible('placenta-to-os', value);
      return createMeasurement('placenta-to-os', 'placenta-to-os', value, 'edge-to-os', {
        section: SECTION,
        derivation: 'measured',
        source: measuredOn(reading.clip, reading.frame.index, 'model', [lineBetween(...ends)]),
        confidence: located.confidence,
        uncertainty,
        quality: plausible ? 'accepted' : 'inadequate',
        note: plausible
          ? SIMULATED_ONLY
          : `${implausibleNote('placenta-to-os')}; ${SIMULATED_ONLY}`,
      });
    })
    .slice(0, FRAMES);
  const [first] = single;
  if (!first || single.length === 1) return single;
  const numbered = single.map((one, index) => ({ ...one, id: `placenta-to-os-${index + 1}` }));
  const accepted = numbered.filter(({ quality }) => quality === 'accepted');
  if (accepted.length === 0) return numbered;
  return [
    ...numbered,
    {
      ...first,
      quality: 'accepted',
      value: median(accepted.map(({ value }) => value)),
      derivation: 'median',
      source: NO_FRAME,
      confidence: median(accepted.map(({ confidence }) => confidence ?? 0)),
      inputs: accepted.map(({ id }) => id),
      note: SIMULATED_ONLY,
    },
  ];
}

/** The largest thickness that an accepted image shows; none without a scale. */
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
        note: `descriptive, no cut-off; an oblique plane shows more; ${SIMULATED_ONLY}`,
      },
    );
  });
  return measured.toSorted((a, b) => b.value - a.value).slice(0, 1);
}
