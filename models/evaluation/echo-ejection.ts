import { type ChamberMasks, labelOf } from '../../pipelines/echo/locate/chambers.ts';
import {
  estimateEjectionFraction,
  jointEjectionFraction,
} from '../../pipelines/echo/locate/ejection-fraction.ts';
import type { Chamber } from '../../pipelines/echo/locate/names.ts';
import { shapeFaults, ventriclePose } from '../../pipelines/echo/locate/ventricle-pose.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { chamberAxis, discDiameters } from '../../pipelines/measure/chamber.ts';
import { outlineOf } from '../../pipelines/measure/outline.ts';
import { mean, round } from './agreement.ts';
import type { HeartCase } from './echo-cases.ts';
import { segmentPair } from './echo-chambers.ts';

/**
 * One patient with the reference and both estimates, per cent. An estimate that was not possible is
 * null.
 */
export interface Estimated {
  patient: string;
  reference: number;
  byDiscs: number | null;
  byNetwork: number | null;
  joint: number | null;
  /** True if both estimates exist and agree, and the shapes are plausible for a ventricle. */
  accepted: boolean;
}

/**
 * Returns every patient's LVEF as the product calculates it: from the masks and from the second
 * network.
 */
export async function estimateEjectionFractions(
  chambers: ModelSession,
  network: ModelSession | null,
  cases: readonly HeartCase[],
): Promise<Estimated[]> {
  const estimates: Estimated[] = [];
  for (const one of cases) {
    const { ed, es } = await segmentPair(chambers, one);
    const volumes = { ed: discVolume(ed), es: discVolume(es) };
    const byDiscs =
      volumes.ed === null || volumes.es === null ? null : 100 * (1 - volumes.es / volumes.ed);
    const pose = ventriclePose(ed);
    const byNetwork =
      network && pose
        ? await estimateEjectionFraction(network, one.ed.image, one.es.image, pose)
        : null;
    const joint =
      network && byDiscs !== null && byNetwork !== null
        ? jointEjectionFraction(byDiscs, byNetwork, network.model)
        : null;
    const sound = [ed, es].every((masks) => masks.accepted && shapeFaults(masks).length === 0);
    estimates.push({
      patient: one.patient,
      reference: one.ejectionFraction,
      byDiscs,
      byNetwork,
      joint: joint?.percent ?? null,
      accepted: sound && (joint?.accepted ?? byDiscs !== null),
    });
  }
  return estimates;
}

/**
 * Returns the volume by single-plane discs, in cubic pixels. Null if the masks contain no ventricle
 * with a base.
 */
function discVolume(masks: ChamberMasks): number | null {
  const outline = (chamber: Chamber) => {
    const label = labelOf(chamber);
    const own = masks.labels.map((value) => (value === label ? 1 : 0));
    return outlineOf(own, masks.width);
  };
  const cavity = outline('lv');
  const axis =
    cavity && chamberAxis(cavity, { across: outline('la'), wall: outline('myocardium') });
  if (!cavity || !axis) return null;
  const diameters = discDiameters(cavity, axis);
  const squares = diameters.reduce((sum, diameter) => sum + diameter * diameter, 0);
  return ((Math.PI / 4) * squares * axis.length) / diameters.length;
}

/** Returns the errors of one kind of estimate against the reference, in percentage points. */
function errors(estimates: readonly Estimated[], of: (one: Estimated) => number | null) {
  const found = estimates.flatMap((one) => {
    const value = of(one);
    return value === null ? [] : [{ value, reference: one.reference }];
  });
  const differences = found.map(({ value, reference }) => value - reference);
  const sizes = differences.map(Math.abs).toSorted((a, b) => a - b);
  return {
    patients: found.length,
    meanAbsoluteErrorPoints: round(mean(sizes), 2),
    biasPoints: round(mean(differences), 2),
    centile95Points: round(sizes[Math.ceil(0.95 * sizes.length) - 1] ?? Number.NaN, 1),
    r: round(
      correlation(
        found.map(({ value }) => value),
        found.map(({ reference }) => reference),
      ),
      3,
    ),
  };
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  const sum = (f: (x: number, y: number) => number) =>
    a.reduce((total, x, i) => total + f(x - meanA, (b[i] ?? 0) - meanB), 0);
  return sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y));
}

/** Bands of LVEF, per cent, in which the bias is reported. */
const BANDS = [
  { name: 'below 40', from: 0, to: 40 },
  { name: '40 to 59', from: 40, to: 60 },
  { name: '60 and more', from: 60, to: Number.POSITIVE_INFINITY },
] as const;

/**
 * Returns the bias of the combined LVEF in bands of the reference and in bands of the reported
 * LVEF. An imperfect estimate is always biased in at least one of these groupings. The bands of the
 * reference show what is missed, and the bands of the reported LVEF show how wrong a reported value
 * is.
 */
export function biasInBands(estimates: readonly Pick<Estimated, 'reference' | 'joint'>[]) {
  const found = estimates.flatMap(({ reference, joint }) =>
    joint === null ? [] : [{ reference, joint }],
  );
  const by = (key: 'reference' | 'joint') =>
    Object.fromEntries(
      BANDS.flatMap(({ name, from, to }) => {
        const own = found.filter((one) => one[key] >= from && one[key] < to);
        const bias = round(mean(own.map(({ reference, joint }) => joint - reference)), 2);
        return own.length > 0 ? [[name, { patients: own.length, biasPoints: bias }]] : [];
      }),
    );
  return { byReference: by('reference'), byReported: by('joint') };
}

/**
 * Returns the agreement of the LVEF with the reference. For comparison, it also returns the
 * agreement of a constant answer, `median`.
 */
export function ejectionAgreement(estimates: readonly Estimated[], median: number) {
  const accepted = estimates.filter((one) => one.accepted);
  const hasNetwork = estimates.some((one) => one.byNetwork !== null);
  return {
    patients: estimates.length,
    withheld: estimates.length - accepted.length,
    alwaysTheMedian: errors(estimates, () => median).meanAbsoluteErrorPoints,
    byDiscs: errors(estimates, (one) => one.byDiscs),
    ...(hasNetwork && {
      byNetwork: errors(estimates, (one) => one.byNetwork),
      jointAll: errors(estimates, (one) => one.joint),
      jointAccepted: errors(accepted, (one) => one.joint),
      jointAcceptedBias: biasInBands(accepted),
    }),
  };
}

/**
 * Returns the straight line for `recalibration` in the registry. With this line, the mean of both
 * estimates has the same mean and standard deviation as the reference. Without a second estimate,
 * only the discs are used. A least-squares line would have a smaller mean error but would shrink
 * the spread: low values would become too high, and high values too low.
 */
export function recalibrationOf(estimates: readonly Estimated[]) {
  const points = estimates.flatMap(({ reference, byDiscs, byNetwork }) =>
    byDiscs === null ? [] : [{ x: (byDiscs + (byNetwork ?? byDiscs)) / 2, y: reference }],
  );
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const xx = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const yy = points.reduce((sum, { y }) => sum + (y - meanY) ** 2, 0);
  const slope = Math.sqrt(yy / xx);
  return { slope: round(slope, 3), offset: round(meanY - slope * meanX, 2) };
}
