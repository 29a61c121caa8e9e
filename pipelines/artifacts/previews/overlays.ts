import { readFile } from 'node:fs/promises';
import type { Measurement, Result } from '../../result/envelope.ts';
import { isShown } from '../../result/render/statement.ts';
import { signedPreview } from './preview.ts';

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
 * Returns the previews of a result: one for every frame with calipers and section that measured on
 * it, numbered within its section in the order of the measurements. The names depend only on the
 * result, so each preview can later be found among the stored artifacts.
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

/** Returns the caption of a preview, such as `Biparietal diameter; Head circumference`. */
export function captionOf({ measurements }: Pick<PreviewOverlay, 'measurements'>): string {
  return [...new Set(measurements.map(({ label }) => label))].join('; ');
}

const placeOf = ({ section, file, frame }: PreviewOverlay) =>
  JSON.stringify([section, file, frame]);

/** Returns the values and calipers that a preview shows, as a string for comparison. */
export const drawnOn = ({ measurements }: PreviewOverlay) =>
  JSON.stringify(
    measurements.map(({ concept, value, source }) => [concept.key, value, source.calipers]),
  );

interface StoredPreview extends PreviewOverlay {
  /** Returns the picture with this result's values; null if it does not exist. */
  png(): Promise<Buffer | null>;
}

/**
 * Returns the stored pictures that agree with the result. They were drawn for the draft, so a
 * picture is left out if a reviewer changed one of its values or calipers. For a signed result, the
 * strip below each picture is redrawn without the draft notice.
 * @param artifactPath returns the path of a stored artifact by its name.
 */
export async function storedPreviews(
  result: Pick<Result, 'draft' | 'measurements'>,
  artifactPath: (name: string) => Promise<string | null>,
): Promise<StoredPreview[]> {
  const overlays = overlaysOf(result.measurements);
  const read = async (name: string) => {
    const path = await artifactPath(name);
    return path === null ? null : readFile(path);
  };
  if (result.draft) return overlays.map((one) => ({ ...one, png: () => read(one.name) }));
  const text = await read('result.json');
  if (text === null) return [];
  const draft: Pick<Result, 'measurements'> = JSON.parse(text.toString('utf8'));
  const drawn = new Map(overlaysOf(draft.measurements).map((one) => [placeOf(one), one]));
  return overlays.flatMap((one) => {
    const before = drawn.get(placeOf(one));
    if (!before || drawnOn(before) !== drawnOn(one)) return [];
    const png = async () => {
      const bytes = await read(before.name);
      return bytes && signedPreview(bytes, before.measurements, one.measurements);
    };
    return [{ ...one, name: before.name, png }];
  });
}

const quantityOf = ({ concept, laterality, fetus }: Measurement) =>
  JSON.stringify([concept.key, laterality, fetus]);

/** Returns true for a value that is used for its quantity or is an input of the value that is used. */
const isUsed = ({ standing }: Measurement) => standing !== 'repeat' && standing !== 'comparison';

/**
 * Returns the previews for a report: each shows a quantity that no earlier preview shows. A value that
 * was passed over represents its quantity only if no preview shows one that is used: the table would
 * otherwise state another number than the picture.
 */
export function keyOverlays<Shown extends Pick<PreviewOverlay, 'measurements'>>(
  overlays: readonly Shown[],
): Shown[] {
  const all = overlays.flatMap(({ measurements }) => measurements.filter(isShown));
  const used = new Set(all.filter(isUsed).map(quantityOf));
  const seen = new Set<string>();
  return overlays.filter(({ measurements }) => {
    const shown = measurements
      .filter((one) => isShown(one) && (isUsed(one) || !used.has(quantityOf(one))))
      .map(quantityOf);
    const fresh = shown.some((quantity) => !seen.has(quantity));
    for (const quantity of shown) seen.add(quantity);
    return fresh;
  });
}
