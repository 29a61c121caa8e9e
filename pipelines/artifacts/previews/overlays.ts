import type { Measurement } from '../../result/envelope.ts';

/** A preview of one measured frame, with the name of its artifact. */
export interface PreviewOverlay {
  name: string;
  section: string;
  file: string;
  /** 1-based. */
  frame: number;
  measurements: Measurement[];
}

/**
 * Returns the previews of a result: one for every frame with calipers, numbered within its section
 * in the order of the measurements. The names depend on the result only, so that a later reader of
 * the stored artifacts finds each of them.
 */
export function overlaysOf(measurements: readonly Measurement[]): PreviewOverlay[] {
  const overlays = new Map<string, PreviewOverlay>();
  const counts = new Map<string, number>();
  for (const measurement of measurements) {
    const { section } = measurement;
    const { file, frame, calipers } = measurement.source;
    if (file === null || frame === null || calipers.length === 0) continue;
    const key = JSON.stringify([section, file, frame]);
    const known = overlays.get(key);
    if (known) {
      known.measurements.push(measurement);
      continue;
    }
    const number = (counts.get(section) ?? 0) + 1;
    counts.set(section, number);
    const name = `overlay-${section}-${number}.png`;
    overlays.set(key, { name, section, file, frame, measurements: [measurement] });
  }
  return [...overlays.values()];
}

/**
 * Returns the overlays for a report. Each shows a quantity that no earlier overlay in the list
 * shows.
 */
export function keyOverlays<Shown extends Pick<PreviewOverlay, 'measurements'>>(
  overlays: readonly Shown[],
): Shown[] {
  const seen = new Set<string>();
  return overlays.filter(({ measurements }) => {
    const shown = measurements
      .filter(({ quality }) => quality === 'accepted')
      .map(({ concept, fetus }) => JSON.stringify([concept.key, fetus]));
    const fresh = shown.some((quantity) => !seen.has(quantity));
    for (const quantity of shown) seen.add(quantity);
    return fresh;
  });
}
