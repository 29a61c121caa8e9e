import {
  ellipsePlace,
  type LocatedStructure,
  linePlace,
  locatedOn,
  rectanglePlace,
} from '../result/located-structure.ts';
import { lengthsOf } from './lengths.ts';
import { type LocatedOutline, MIDSAGITTAL_STRUCTURES } from './locator.ts';
import { LOWEST_AXIS_RATIO } from './plausibility.ts';
import type { MidsagittalReading } from './read/nuchal.ts';
import type { FrameReading } from './section.ts';

/** The shape needs no scale: what is no head is none in pixels either. */
function shapely(structure: 'head' | 'abdomen', { ellipse }: LocatedOutline): boolean {
  const ratio = Math.min(ellipse.a, ellipse.b) / Math.max(ellipse.a, ellipse.b);
  return ratio >= LOWEST_AXIS_RATIO[structure];
}

/**
 * What was found of head, abdomen and femur on frames that give no millimetres, in pixels. Frames with
 * a scale have calipers.
 */
export function structuresWithoutScale(readings: readonly FrameReading[]): LocatedStructure[] {
  return readings.flatMap((reading) => {
    if (!reading.located || lengthsOf(reading) !== null) return [];
    if (reading.structure === 'femur') {
      const { located } = reading;
      return [locatedOn(reading, 'fetal-femur', located, linePlace(located.ends))];
    }
    const { located, structure } = reading;
    const { confidence } = located;
    const accepted = located.accepted && shapely(structure, located);
    const place = ellipsePlace(located.ellipse);
    return [locatedOn(reading, `fetal-${structure}`, { confidence, accepted }, place)];
  });
}

/** The boxes of the structures of mid-sagittal frames, measured or not. */
export function midsagittalBoxes(
  readings: readonly MidsagittalReading[] | null | undefined,
): LocatedStructure[] {
  return (readings ?? []).flatMap((reading) =>
    MIDSAGITTAL_STRUCTURES.flatMap((structure) => {
      const found = reading.located[structure];
      return found ? [locatedOn(reading, structure, found, rectanglePlace(found.box))] : [];
    }),
  );
}
