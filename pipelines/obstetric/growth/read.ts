import type { Clip, PriorReport, RefusedFile, Study } from '../../contract/study.ts';
import { readStructures } from '../biometry/read.ts';
import { surveyPlanes } from '../planes/read.ts';
import type { Locator } from '../shared/locator.ts';
import type { FrameReading } from '../shared/section.ts';

const SECONDS_PER_DAY = 86_400;

/** One earlier examination: what its images show of head, abdomen and femur, and its reports. */
export interface EarlierScan {
  /** Whole days from it to this study; null: its files do not say when it was made. */
  daysBefore: number | null;
  /** All images, also those of which nothing is read: their names may tell of several fetuses. */
  clips: readonly Clip[];
  readings: readonly FrameReading[];
  reports: readonly PriorReport[];
}

const daysBefore = ({ instant }: Pick<Clip | PriorReport, 'instant'>) =>
  instant === null ? null : Math.round(-instant / SECONDS_PER_DAY);

/**
 * Reads the earlier examinations that came with a study, newest first: what was made on one day is
 * one examination. Their images are read by the same models as those of the study, so that both
 * ends of a change were measured alike.
 */
export async function readEarlierScans(
  { priors = [], priorReports = [], ...study }: Study,
  locator: Locator,
  signal: AbortSignal,
): Promise<{ scans: EarlierScan[]; refused: RefusedFile[] }> {
  const clips = Map.groupBy(priors, daysBefore);
  const reports = Map.groupBy(priorReports, daysBefore);
  const days = [...new Set([...clips.keys(), ...reports.keys()])].toSorted(
    (one, other) => (one ?? Infinity) - (other ?? Infinity),
  );
  const scans: EarlierScan[] = [];
  const refused: RefusedFile[] = [];
  for (const day of days) {
    const own = clips.get(day) ?? [];
    const survey =
      locator.planes &&
      (await surveyPlanes({ ...study, clips: own }, null, locator, signal, () => {}));
    const { readings } = await readStructures(survey?.planes ?? [], locator, signal, () => {});
    scans.push({ daysBefore: day, clips: own, readings, reports: reports.get(day) ?? [] });
    refused.push(...(survey?.refused ?? []));
  }
  return { scans, refused };
}
