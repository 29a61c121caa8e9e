import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { say } from '../../result/render/obstetric/amniotic-fluid.ts';
import { type SeveralFetusesSource, SIMULATED_ONLY } from '../../result/render/obstetric/shared.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  listedForFetuses,
  machineUnused,
  ofNamedFetuses,
  withMachineValues,
} from '../shared/measurement.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { FluidEvidence } from './evidence.ts';
import { NARROWEST_POCKET_MM } from './evidence.ts';
import { AFI_FROM_DAYS, DVP_HIGH, DVP_LOW, MM_PER_CM } from './guideline.ts';
import {
  contradictionFinding,
  contradictions,
  disagreement,
  FLUID_KEYS,
  FLUID_SECTION,
  type FluidKey,
  type FluidValues,
  findingsAtCutOff,
  fluidAtCutOff,
  fluidClassification,
  fluidFinding,
  judgeFluid,
} from './judge.ts';
import {
  deepest,
  INDEX_TOO_EARLY,
  type MeasuredPocket,
  measureIndex,
  measurePocket,
} from './measure.ts';

const VIEW = 'calibrated images of the deepest pocket or of the four quadrants';

/** Values measured on the images; machine values are not included. */
interface Measured {
  measurements: Measurement[];
  /**
   * The deepest pocket that reaches the edge of the picture; null if an uncut pocket is at least as
   * deep.
   */
  cut: Measurement | null;
  /** Reason why there is no index; null if there is one. */
  noIndex: Statement | null;
}

function measure(
  pockets: readonly MeasuredPocket[],
  gaDays: number | undefined,
  named: ReadonlySet<number>,
): Measured {
  const whole = deepest(pockets.filter(({ cut }) => !cut))?.measurement ?? null;
  const running = deepest(pockets.filter((pocket) => pocket.cut))?.measurement ?? null;
  const deeper = running && running.value > (whole?.value ?? 0) ? running : null;
  const cut = deeper && {
    ...deeper,
    id: 'deepest-vertical-pocket-2',
    standing: 'repeat' as const,
  };
  const index = measureIndex(pockets, gaDays, named);
  return {
    measurements: [
      ...(whole ? [whole] : []),
      ...(cut ? [cut] : []),
      ...('measurements' in index ? index.measurements : []),
    ],
    cut,
    noIndex: 'gap' in index ? index.gap : null,
  };
}

/**
 * Returns the values from which the fluid is classified, machine values included. A pocket at the
 * edge of the picture is ignored if a person rejected it.
 */
function countingValues(values: readonly Measurement[], cut: Measurement | null): FluidValues {
  const pocket = acceptedValue(values, 'deepest-vertical-pocket');
  return {
    pocket,
    index: acceptedValue(values, 'amniotic-fluid-index'),
    deeper: cut && cut.quality !== 'inadequate' && cut.value > (pocket?.value ?? 0) ? cut : null,
  };
}

function assess(
  { measurements, cut, noIndex }: Measured,
  machine: readonly Measurement[],
  gaDays: number | undefined,
): SectionOutcome {
  const values = withMachineValues(machine, measurements);
  const counting = countingValues(values, cut);
  const { pocket, index, deeper } = counting;
  const drawn = judgeFluid(counting, gaDays);
  const against = contradictions(counting, drawn, values);
  const judged = against.length > 0 ? [] : drawn;
  const atCutOff = fluidAtCutOff(counting, gaDays);
  const undecided = new Set(atCutOff.flatMap(({ about }) => about));
  const missing = [
    ...atCutOff,
    deeper && !(pocket && isOfMachine(pocket)) ? say.gap('fluid.deeper-pocket-cut', {}) : null,
    pocket ? null : say.gap('fluid.no-pocket', {}),
    index ? null : noIndex,
    index && gaDays === undefined ? say.gap('fluid.no-age', {}) : null,
    index && gaDays !== undefined && gaDays < AFI_FROM_DAYS ? INDEX_TOO_EARLY : null,
    disagreement(judged),
    against.length > 0 ? say.gap('fluid.not-categorised', {}) : null,
    ...against,
  ].filter((gap) => gap !== null);
  // A value whose interval contains a cut-off has a separate statement with the categories on both
  // sides. The statement on the amount of fluid therefore leaves it out.
  const shown = [pocket, index]
    .filter((one) => one !== null)
    .filter(({ id }) => !undecided.has(id));
  const categories = judged.map(({ category }) => category);
  const involved = [pocket, index, deeper].filter((one) => one !== null);
  return {
    status: missing.length > 0 ? 'partial' : 'complete',
    reason: missing.length > 0 ? { code: 'parts_missing', gaps: missing, needs: [VIEW] } : null,
    statements: [
      ...(shown.length > 0 ? [say.value('fluid.amount', { categories }, shown)] : []),
      ...missing,
    ],
    data: DATA,
    measurements: values,
    classifications: judged.map(fluidClassification),
    findings: [
      ...judged.flatMap(fluidFinding),
      ...(against.length > 0 ? [] : findingsAtCutOff(counting, gaDays)),
      ...contradictionFinding(against, involved),
    ],
  };
}

const DATA = {
  narrowest_pocket_mm: NARROWEST_POCKET_MM,
  cut_off_low_mm: DVP_LOW * MM_PER_CM,
  cut_off_high_mm: DVP_HIGH.mild * MM_PER_CM,
  colour_for_cord: 'not_assessed',
  limitation: SIMULATED_ONLY,
};

function pocketsOf({ views }: FluidEvidence): MeasuredPocket[] {
  const view = views.amnioticFluid;
  return view?.frames?.flatMap((reading) => measurePocket(reading, view.uncertainty) ?? []) ?? [];
}

function outcomeOf(evidence: FluidEvidence, machine: readonly Measurement[]): SectionOutcome {
  const view = evidence.views.amnioticFluid;
  const pockets = pocketsOf(evidence);
  const gaDays = evidence.options.dating?.ga_days;
  const whole = pockets.some(({ cut }) => !cut);
  const named = new Set(view?.frames?.flatMap(({ quadrant }) => quadrant ?? []) ?? []);
  const plausible = machine.some(({ concept, value }) =>
    isPlausible(concept.key as FluidKey, value),
  );
  if (whole || plausible) return assess(measure(pockets, gaDays, named), machine, gaDays);
  const cut = deepest(pockets)?.measurement;
  if (cut) {
    const gap = say.gap('fluid.every-pocket-cut', {});
    const shown = { ...cut, id: 'deepest-vertical-pocket-1' };
    return inadequate('low_confidence', gap, [VIEW], [shown]);
  }
  if (view?.frames === null) return notAssessed('no_model', say.gap('fluid.no-model', {}), [VIEW]);
  if (!view?.frames?.length) {
    return notAssessed('view_missing', say.gap('fluid.no-view', {}), [VIEW]);
  }
  if (!view.frames.some(({ calibrated }) => calibrated)) {
    return notAssessed('no_calibration', say.gap('fluid.no-scale', {}), [VIEW]);
  }
  const gap = say.gap('fluid.no-clear-pocket', { mm: NARROWEST_POCKET_MM });
  return inadequate('low_confidence', gap, [VIEW]);
}

/**
 * Returns the outcome for several fetuses: each pocket separately, without categories. Each sac has
 * its own fluid (obstetric 4), and the images do not show which sac belongs to which fetus.
 */
function apart(pockets: readonly MeasuredPocket[], source: SeveralFetusesSource): SectionOutcome {
  const gap = say.gap('fluid.pockets-apart', { source });
  return {
    status: 'partial',
    reason: { code: 'several_fetuses', gaps: [gap], needs: ['a study of each sac by itself'] },
    statements: [gap],
    data: DATA,
    measurements: pockets.map(({ measurement }, index) => ({
      ...measurement,
      id: `${measurement.id}-${index + 1}`,
    })),
  };
}

function run(evidence: FluidEvidence): SectionOutcome {
  const machine = evidence.machine.values(FLUID_SECTION, FLUID_KEYS);
  const several = evidence.severalFetuses;
  const unused = machineUnused(machine, evidence);
  const pockets = pocketsOf(evidence);
  const outcome =
    several && pockets.length > 0
      ? apart(pockets, several)
      : outcomeOf(evidence, unused ? [] : machine);
  if (!unused) return outcome;
  const { statements = [], measurements = [] } = outcome;
  const listed = ofNamedFetuses(machine);
  return {
    ...outcome,
    statements: [...statements, unused, ...listedForFetuses(listed)],
    measurements: [...measurements, ...listed],
  };
}

/**
 * The section on amniotic fluid: deepest vertical pocket and amniotic fluid index (obstetric 4).
 */
export const amnioticFluid: ObstetricSection<FluidEvidence> = {
  id: FLUID_SECTION,
  title: 'Amniotic fluid',
  needs: [VIEW],
  reads: ['amnioticFluid'],
  run,
};
