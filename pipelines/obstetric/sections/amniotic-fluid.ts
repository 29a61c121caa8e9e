import { cartMeasurements } from '../../result/cart-measurements.ts';
import { findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import { AFI_FROM_DAYS, AFI_HIGH, AFI_LOW, DVP_HIGH, DVP_LOW } from '../charts/amniotic-fluid.ts';
import { acrossCutOff } from '../cut-off.ts';
import {
  CATEGORY_TEXT,
  contradictions,
  FLUID_KEYS,
  type FluidKey,
  isConsistent,
  type Judged,
  judgeFluid,
} from '../fluid-judgement.ts';
import {
  deepest,
  INDEX_TOO_EARLY,
  type MeasuredPocket,
  MM_PER_CM,
  measureIndex,
  measurePocket,
} from '../fluid-pockets.ts';
import { MACHINE_UNUSED, ofSeveralFetuses, withMachineValues } from '../machine-values.ts';
import { format, standing } from '../measurement.ts';
import { isPlausible } from '../plausibility.ts';
import { NARROWEST_POCKET_MM } from '../read/amniotic-fluid.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';

const ID = 'amniotic-fluid';
const VIEW = 'calibrated images of the deepest pocket or of the four quadrants';
/** Where the category by the deepest pocket changes, mm. */
const POCKET_CUT_OFFS = [DVP_LOW, ...Object.values(DVP_HIGH)].map((cm) => cm * MM_PER_CM);

const CUT_OFFS = {
  'deepest-vertical-pocket': {
    low: `below ${DVP_LOW * MM_PER_CM} mm`,
    isLow: (cm: number) => cm < DVP_LOW,
    high: DVP_HIGH.mild,
    scheme: 'deepest vertical pocket: AIUM 2018, ACOG PB 229; SMFM Consult 46 (2018)',
  },
  'amniotic-fluid-index': {
    low: `at most ${AFI_LOW * MM_PER_CM} mm`,
    isLow: (cm: number) => cm <= AFI_LOW,
    high: AFI_HIGH.mild,
    scheme: 'amniotic fluid index: AIUM 2018, ACOG PB 229; SMFM Consult 46 (2018)',
  },
} as const;

function classification({ id, by, mm, category }: Judged): Result['classifications'][number] {
  const { low, isLow, high, scheme } = CUT_OFFS[by];
  const value = format(by, mm);
  const cm = mm / MM_PER_CM;
  return {
    id,
    section: ID,
    concept: findingConcept('amniotic-fluid-volume'),
    name: 'Amniotic fluid volume',
    value: category,
    scheme,
    criteria: [
      { name: `oligohydramnios: ${low}`, value, met: isLow(cm) },
      {
        name: `polyhydramnios: ${high * MM_PER_CM} mm or more`,
        value,
        met: cm >= high,
      },
    ],
  };
}

function finding({ id, by, mm, category }: Judged): Finding[] {
  if (category === 'normal') return [];
  const low = category === 'oligohydramnios' || category === 'anhydramnios';
  const { low: cutOff, high } = CUT_OFFS[by];
  const words = CATEGORY_TEXT[category];
  const rule = low ? cutOff : `${high * MM_PER_CM} mm or more`;
  return [
    {
      id,
      section: ID,
      concept: findingConcept(low ? 'oligohydramnios' : 'polyhydramnios'),
      text: `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${format(by, mm)} (cut-off ${rule}), on the images supplied.`,
      severity: category === 'anhydramnios' ? 'critical' : 'abnormal',
      confidence: null,
      evidence: [by],
    },
  ];
}

function notAssessed(code: string, detail: string): SectionOutcome {
  return { status: 'not_assessed', reason: { code, detail, needs: [VIEW] }, summary: detail };
}

function inadequate(detail: string): SectionOutcome {
  return {
    status: 'inadequate',
    reason: { code: 'low_confidence', detail, needs: [VIEW] },
    summary: detail,
  };
}

/** What was measured here, before the machine's values stand in or beside. */
interface Measured {
  measurements: Measurement[];
  /** A pocket that is deeper than the one measured runs out of the picture. */
  deeper: boolean;
  /** Why there is no index; null where there is one. */
  noIndex: string | null;
}

function measure(pockets: readonly MeasuredPocket[], gaDays: number | undefined): Measured {
  const whole = deepest(pockets.filter(({ cut }) => !cut));
  const cut = deepest(pockets.filter((pocket) => pocket.cut));
  const deeper = cut !== null && cut.measurement.value > (whole?.measurement.value ?? 0);
  const index = measureIndex(pockets, gaDays);
  return {
    measurements: [
      ...(whole ? [whole.measurement] : []),
      ...(deeper ? [{ ...cut.measurement, id: 'deepest-vertical-pocket-2' }] : []),
      ...(typeof index === 'string' ? [] : index),
    ],
    deeper,
    noIndex: typeof index === 'string' ? index : null,
  };
}

function assess(
  { measurements, deeper, noIndex }: Measured,
  machine: readonly Measurement[],
  gaDays: number | undefined,
): SectionOutcome {
  const values = withMachineValues(machine, measurements);
  const pocket = standing(values, 'deepest-vertical-pocket');
  const index = standing(values, 'amniotic-fluid-index');
  const cut = deeper && pocket?.source.provenance !== 'cart-sr';
  const judged = judgeFluid(cut ? null : pocket, index, gaDays);
  const missing = [
    pocket && !cut ? acrossCutOff(pocket.value, pocket.uncertainty, POCKET_CUT_OFFS) : null,
    cut
      ? 'A deeper pocket runs out of the picture, so the amount of fluid was not categorised by it.'
      : null,
    pocket ? null : 'The deepest vertical pocket was not measured.',
    index ? null : noIndex,
    index && gaDays === undefined
      ? 'Gestational age was not given, so the amniotic fluid index was not categorised.'
      : null,
    index && gaDays !== undefined && gaDays < AFI_FROM_DAYS ? INDEX_TOO_EARLY : null,
    isConsistent(pocket, index)
      ? null
      : 'The index and the deepest pocket contradict each other: the index lies outside one to four times the pocket; measure again.',
    ...contradictions(judged, values),
  ].filter((text) => text !== null);
  const shown = [pocket, index].flatMap((one) =>
    one ? `${one.label} ${format(one.concept.key as FluidKey, one.value)}` : [],
  );
  const words = new Set(judged.map(({ category }) => CATEGORY_TEXT[category]));
  const text = [shown.join(', '), [...words].join(' by the pocket, by the index ')];
  return {
    status: missing.length > 0 ? 'partial' : 'complete',
    reason:
      missing.length > 0
        ? { code: 'parts_missing', detail: missing.join(' '), needs: [VIEW] }
        : null,
    summary: [`${text.filter(Boolean).join(': ')}.`, ...missing].join(' '),
    data: {
      narrowest_pocket_mm: NARROWEST_POCKET_MM,
      cut_off_low_mm: DVP_LOW * MM_PER_CM,
      cut_off_high_mm: DVP_HIGH.mild * MM_PER_CM,
      colour_for_cord: 'not_assessed',
      limitation: SIMULATED_ONLY,
    },
    measurements: values,
    classifications: judged.map(classification),
    findings: judged.flatMap(finding),
  };
}

function outcomeOf(
  { views, options }: ObstetricEvidence,
  machine: readonly Measurement[],
): SectionOutcome {
  const view = views.amnioticFluid;
  const pockets =
    view?.frames?.flatMap((reading) => measurePocket(reading, view.uncertainty) ?? []) ?? [];
  const gaDays = options.dating?.ga_days;
  const whole = pockets.some(({ cut }) => !cut);
  const plausible = machine.some(({ concept, value }) =>
    isPlausible(concept.key as FluidKey, value),
  );
  if (whole || plausible) return assess(measure(pockets, gaDays), machine, gaDays);
  if (pockets.length > 0) {
    return inadequate('The deepest pocket was not measured: every pocket runs out of the picture.');
  }
  if (view?.frames === null) {
    return notAssessed('no_model', 'No model of the uterus is permitted by the configuration.');
  }
  if (!view?.frames?.length) {
    return notAssessed(
      'view_missing',
      'Amniotic fluid was not measured: no image of a pocket was found.',
    );
  }
  if (!view.frames.some(({ calibrated }) => calibrated)) {
    return notAssessed(
      'no_calibration',
      'Amniotic fluid was not measured: no physical scale was available.',
    );
  }
  return inadequate(
    `Amniotic fluid was not measured: no clear pocket at least ${NARROWEST_POCKET_MM} mm wide is on the images. Anhydramnios is not concluded from images that may miss the deepest pocket.`,
  );
}

function run(evidence: ObstetricEvidence): SectionOutcome {
  const machine = cartMeasurements(evidence.study.cart ?? [], ID, FLUID_KEYS);
  if (!ofSeveralFetuses(machine)) return outcomeOf(evidence, machine);
  // Each sac has its own fluid.
  const outcome = outcomeOf(evidence, []);
  return { ...outcome, summary: `${outcome.summary} ${MACHINE_UNUSED}` };
}

/** Deepest vertical pocket and amniotic fluid index (obstetric reference 4). */
export const amnioticFluid: ObstetricSection = {
  id: ID,
  title: 'Amniotic fluid',
  needs: [VIEW],
  reads: ['amnioticFluid'],
  run,
};
