import { cutOffsOf } from '../../concepts/cut-offs.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { acrossCutOff } from '../../result/obstetric/limits.ts';
import { acceptedValue, formatValue } from '../../result/render/number-text.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import { machineUnused, withMachineValues } from '../shared/machine-values.ts';
import { isPlausible } from '../shared/plausibility.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import { SIMULATED_ONLY } from '../shared/simulated-only.ts';
import type { FluidEvidence } from './evidence.ts';
import { NARROWEST_POCKET_MM } from './evidence.ts';
import { AFI_FROM_DAYS, DVP_HIGH, DVP_LOW, MM_PER_CM } from './guideline.ts';
import {
  CATEGORY_TEXT,
  contradictionFinding,
  contradictions,
  disagreement,
  FLUID_KEYS,
  FLUID_SECTION,
  type FluidKey,
  type FluidValues,
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

/** Depths at which the category of a pocket changes, mm; that of no fluid is no side of one. */
const DEPTHS = cutOffsOf('deepest-vertical-pocket').filter((mm) => mm > 0);

const VIEW = 'calibrated images of the deepest pocket or of the four quadrants';

/** What was measured here, before the machine's values stand in or beside. */
interface Measured {
  measurements: Measurement[];
  /** The deepest pocket that runs out of the picture, where no whole one is as deep. */
  cut: Measurement | null;
  /** Why there is no index; null where there is one. */
  noIndex: string | null;
}

function measure(pockets: readonly MeasuredPocket[], gaDays: number | undefined): Measured {
  const whole = deepest(pockets.filter(({ cut }) => !cut))?.measurement ?? null;
  const running = deepest(pockets.filter((pocket) => pocket.cut))?.measurement ?? null;
  const cut = running && running.value > (whole?.value ?? 0) ? running : null;
  const index = measureIndex(pockets, gaDays);
  return {
    measurements: [
      ...(whole ? [whole] : []),
      ...(cut ? [{ ...cut, id: 'deepest-vertical-pocket-2' }] : []),
      ...(typeof index === 'string' ? [] : index),
    ],
    cut,
    noIndex: typeof index === 'string' ? index : null,
  };
}

/** The values that stand, once those of the machine are known. */
function standingValues(values: readonly Measurement[], cut: Measurement | null): FluidValues {
  const pocket = acceptedValue(values, 'deepest-vertical-pocket');
  return {
    pocket,
    index: acceptedValue(values, 'amniotic-fluid-index'),
    deeper: cut && cut.value > (pocket?.value ?? 0) ? cut : null,
  };
}

function assess(
  { measurements, cut, noIndex }: Measured,
  machine: readonly Measurement[],
  gaDays: number | undefined,
): SectionOutcome {
  const values = withMachineValues(machine, measurements);
  const standingOnes = standingValues(values, cut);
  const { pocket, index, deeper } = standingOnes;
  const drawn = judgeFluid(standingOnes, gaDays);
  const against = contradictions(standingOnes, drawn, values);
  const judged = against.length > 0 ? [] : drawn;
  const missing = [
    pocket && !deeper ? acrossCutOff(pocket.value, pocket.uncertainty, DEPTHS) : null,
    deeper && !(pocket && isOfMachine(pocket))
      ? 'A deeper pocket runs out of the picture, so the amount of fluid was not categorised by it.'
      : null,
    pocket ? null : 'The deepest vertical pocket was not measured.',
    index ? null : noIndex,
    index && gaDays === undefined
      ? 'Gestational age was not given, so the amniotic fluid index was not categorised.'
      : null,
    index && gaDays !== undefined && gaDays < AFI_FROM_DAYS ? INDEX_TOO_EARLY : null,
    disagreement(judged),
    against.length > 0 ? 'The amount of amniotic fluid was not categorised.' : null,
    ...against,
  ].filter((text) => text !== null);
  const shown = [pocket, index].flatMap((one) => {
    if (!one) return [];
    const whose = isOfMachine(one) ? ' (ultrasound machine)' : '';
    return `${one.label} ${formatValue(one.concept.key as FluidKey, one.value)}${whose}`;
  });
  const words = new Set(judged.map(({ category }) => CATEGORY_TEXT[category]));
  const text = [shown.join(', '), [...words].join(' by the pocket, by the index ')];
  return {
    status: missing.length > 0 ? 'partial' : 'complete',
    reason:
      missing.length > 0
        ? { code: 'parts_missing', detail: missing.join(' '), needs: [VIEW] }
        : null,
    summary: [`${text.filter(Boolean).join(': ')}.`, ...missing].join(' '),
    data: DATA,
    measurements: values,
    classifications: judged.map(fluidClassification),
    findings: [
      ...judged.flatMap(fluidFinding),
      ...contradictionFinding(
        against,
        [pocket, index, deeper && { ...deeper, id: 'deepest-vertical-pocket-2' }].filter(
          (one) => one !== null,
        ),
      ),
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
  const plausible = machine.some(({ concept, value }) =>
    isPlausible(concept.key as FluidKey, value),
  );
  if (whole || plausible) return assess(measure(pockets, gaDays), machine, gaDays);
  if (pockets.length > 0) {
    const detail = 'The deepest pocket was not measured: every pocket runs out of the picture.';
    return inadequate('low_confidence', detail, [VIEW]);
  }
  if (view?.frames === null) {
    const detail = 'No model of the uterus is permitted by the configuration.';
    return notAssessed('no_model', detail, [VIEW]);
  }
  if (!view?.frames?.length) {
    const detail = 'Amniotic fluid was not measured: no image of a pocket was found.';
    return notAssessed('view_missing', detail, [VIEW]);
  }
  if (!view.frames.some(({ calibrated }) => calibrated)) {
    const detail = 'Amniotic fluid was not measured: no physical scale was available.';
    return notAssessed('no_calibration', detail, [VIEW]);
  }
  const detail = `Amniotic fluid was not measured: no clear pocket at least ${NARROWEST_POCKET_MM} mm wide is on the images. Anhydramnios is not concluded from images that may miss the deepest pocket.`;
  return inadequate('low_confidence', detail, [VIEW]);
}

/** Each sac has its own fluid (obstetric 4), and no image says whose it shows. */
function apart(pockets: readonly MeasuredPocket[], why: string): SectionOutcome {
  const detail = `Each pocket stands by itself, without an index or a category: ${why}.`;
  return {
    status: 'partial',
    reason: { code: 'several_fetuses', detail, needs: ['a study of each sac by itself'] },
    summary: detail,
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
  const unused = machineUnused(machine, several);
  const pockets = pocketsOf(evidence);
  const outcome =
    several && pockets.length > 0
      ? apart(pockets, several)
      : outcomeOf(evidence, unused ? [] : machine);
  return unused ? { ...outcome, summary: `${outcome.summary} ${unused}` } : outcome;
}

/** Deepest vertical pocket and amniotic fluid index (obstetric 4). */
export const amnioticFluid: ObstetricSection<FluidEvidence> = {
  id: FLUID_SECTION,
  title: 'Amniotic fluid',
  needs: [VIEW],
  reads: ['amnioticFluid'],
  run,
};
