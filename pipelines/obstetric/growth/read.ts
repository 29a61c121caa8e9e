import type { Clip, PriorReport, RefusedFile, Study } from '../../contract/study.ts';
import { cartMeasurements } from '../../result/cart-values.ts';
import { deriveBiometry } from '../biometry/derive.ts';
import { contradictions, withoutContradicted } from '../biometry/judge.ts';
import { type Measured, measureStructure } from '../biometry/measure.ts';
import type { StructureModels } from '../biometry/read.ts';
import { readStructures } from '../biometry/read.ts';
import type { PlaneModels } from '../planes/read.ts';
import { surveyPlanes } from '../planes/read.ts';
import { isChosen } from '../shared/measurement.ts';
import type { FrameReading } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';
import { severalFetuses } from '../shared/several-fetuses.ts';
import type { EarlierLength, EarlierScan } from './measure.ts';

const SECONDS_PER_DAY = 86_400;

/**
 * One earlier examination: the head, abdomen and femur readings of its images, and the contents of
 * its reports.
 */
export interface ScanRead {
  /** Whole days from the earlier examination to this study; null if its files contain no date. */
  daysBefore: number | null;
  /**
   * All images, including those without a measurement, because their labels may indicate several
   * fetuses.
   */
  clips: readonly Clip[];
  readings: readonly FrameReading[];
  reports: readonly PriorReport[];
}

/**
 * Returns the calendar days from a prior to this study. Times of day are ignored, because
 * gestational age is counted in days too (obstetric 16.2).
 */
const daysBefore = ({ instant }: Pick<Clip | PriorReport, 'instant'>) =>
  instant === null ? null : 0 - Math.floor(instant / SECONDS_PER_DAY);

/**
 * Reads the earlier examinations in the request, newest first. All files from one day count as one
 * examination. Earlier images are read by the same models as those of the current study, so that
 * growth is calculated from lengths measured in the same way.
 */
export async function readEarlierScans(
  { priors = [], priorReports = [], ...study }: Study,
  locator: PlaneModels & StructureModels,
  signal: AbortSignal,
): Promise<{ scans: ScanRead[]; refused: RefusedFile[] }> {
  const clips = Map.groupBy(priors, daysBefore);
  const reports = Map.groupBy(priorReports, daysBefore);
  const days = [...new Set([...clips.keys(), ...reports.keys()])].toSorted(
    (one, other) => (one ?? Infinity) - (other ?? Infinity),
  );
  const scans: ScanRead[] = [];
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

/**
 * Lengths used from the machine's reports. The BPD is left out, because it may be outer to inner,
 * for which this section has no chart.
 */
const OF_MACHINE = ['ofd', 'hc', 'ac', 'fl'] as const;
const OF_DRAFT = ['bpd', ...OF_MACHINE] as const;

function reportedLengths({ draft, values }: PriorReport): EarlierLength[] {
  const found = cartMeasurements(values, 'growth', draft ? OF_DRAFT : OF_MACHINE);
  return found.flatMap((one) => {
    const key = OF_DRAFT.find((length) => length === one.concept.key);
    if (!key || one.quality !== 'accepted') return [];
    const source = draft ? 'unreviewed-draft' : 'machine-report';
    return [{ measurement: { ...one, id: key }, source }];
  });
}

/**
 * Returns each length from the first source that has an accepted value: images, machine reports,
 * then drafts of this gateway. Lengths on the images that contradict each other are withheld, as
 * they are in the current study.
 */
function lengthsOf(
  { readings, reports }: ScanRead,
  uncertainty: Measured['uncertainty'],
  gaDays: number | null,
): EarlierLength[] {
  const measured = (['head', 'abdomen', 'femur'] as const).flatMap((structure) =>
    measureStructure(structure, { readings, uncertainty }),
  );
  const kept = withoutContradicted(measured, contradictions(measured, gaDays)).map(
    (measurement): EarlierLength => ({ measurement, source: 'images' }),
  );
  const machineFirst = reports.toSorted((one, other) => Number(one.draft) - Number(other.draft));
  for (const one of machineFirst.flatMap(reportedLengths)) {
    const known = kept.some(
      ({ measurement }) =>
        isChosen(measurement) &&
        measurement.quality === 'accepted' &&
        measurement.concept.key === one.measurement.concept.key,
    );
    if (!known) kept.push(one);
  }
  return kept;
}

/** Returns an earlier examination. Its lengths are measured like those of the current study. */
export function measureEarlierScan(
  scan: ScanRead,
  {
    uncertainty,
    options: { dating },
  }: Pick<Measured, 'uncertainty'> & Pick<SectionEvidence, 'options'>,
): EarlierScan {
  const { daysBefore: days, clips, reports } = scan;
  const gaDays = days === null || !dating ? null : dating.ga_days - days;
  const lengths = lengthsOf(scan, uncertainty, gaDays);
  const several = severalFetuses({
    study: { clips, cart: reports.flatMap(({ values }) => values) },
    views: {},
  });
  return {
    daysBefore: days,
    severalFetuses: several !== null,
    lengths,
    derived:
      gaDays === null
        ? []
        : deriveBiometry(
            lengths.map(({ measurement }) => measurement),
            gaDays,
          ),
  };
}
