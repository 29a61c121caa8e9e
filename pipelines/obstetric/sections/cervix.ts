import { cartMeasurements } from '../../result/cart-measurements.ts';
import { findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import { type MeasuredCervix, measureCervix } from '../cervix-lengths.ts';
import {
  CERVIX_CATEGORY_DAYS,
  CERVIX_MM,
  type CervixCategory,
  cervixCategory,
  PROGESTERONE_MM,
} from '../charts/cervix.ts';
import { weeksAndDays } from '../charts/dates.ts';
import { acrossCutOff } from '../cut-off.ts';
import { withMachineValues } from '../machine-values.ts';
import { format, standing } from '../measurement.ts';
import { isPlausible } from '../plausibility.ts';
import type { ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { SIMULATED_ONLY } from '../simulated-only.ts';

const ID = 'cervix';
const VIEW = 'calibrated transvaginal sagittal images of the cervix';
/** ISUOG 2022: at least three, the shortest technically best is reported. */
const MEASUREMENTS = 3;

/** Why no category is given; null where one is. */
function withoutCategory(gaDays: number | undefined): string | null {
  if (gaDays === undefined) {
    return 'Gestational age was not given, so the length was not categorised.';
  }
  const { from, to } = CERVIX_CATEGORY_DAYS;
  return gaDays < from || gaDays > to
    ? `The length is categorised between ${weeksAndDays(from)} and ${weeksAndDays(to)} weeks only.`
    : null;
}

const CATEGORY_TEXT: Readonly<Record<CervixCategory, string>> = {
  long: 'long',
  normal: 'normal length',
  short: 'short',
  'very-short': 'very short',
  'extremely-short': 'extremely short',
};

function classification(category: CervixCategory, mm: number): Result['classifications'][number] {
  const value = format('cervical-length', mm);
  return {
    id: 'cervical-length-category',
    section: ID,
    concept: findingConcept('short-cervix'),
    name: 'Cervical length',
    value: category,
    scheme: 'singleton, asymptomatic, 16 to 24 weeks: SMFM Consult 70 (2024), ISUOG 2022, FMF',
    criteria: [
      {
        name: `at most ${CERVIX_MM.extremelyShort} mm`,
        value,
        met: mm <= CERVIX_MM.extremelyShort,
      },
      { name: `at most ${CERVIX_MM.veryShort} mm`, value, met: mm <= CERVIX_MM.veryShort },
      { name: `at most ${PROGESTERONE_MM} mm`, value, met: mm <= PROGESTERONE_MM },
      { name: `at most ${CERVIX_MM.short} mm`, value, met: mm <= CERVIX_MM.short },
    ],
  };
}

function findings(
  length: Measurement,
  funnel: MeasuredCervix['funnel'],
  category: CervixCategory | null,
): Finding[] {
  const base = { section: ID, severity: 'abnormal' as const, confidence: length.confidence };
  const short = category !== null && length.value <= CERVIX_MM.short;
  return [
    ...(short
      ? [
          {
            ...base,
            id: 'short-cervix',
            concept: findingConcept('short-cervix'),
            text: `Short cervix: ${format('cervical-length', length.value)} (cut-off ${CERVIX_MM.short} mm).`,
            evidence: [length.id],
          },
        ]
      : []),
    ...(funnel
      ? [
          {
            ...base,
            id: 'cervical-funnelling',
            concept: findingConcept('cervical-funnelling'),
            text: `Funnelling of the internal os, shape ${funnel.shape}.`,
            evidence: funnel.measurements.map(({ id }) => id),
          },
        ]
      : []),
  ];
}

function guidance(category: CervixCategory | null, mm: number): Result['guidance'] {
  if (category === null || mm > CERVIX_MM.short) return [];
  return [
    {
      id: 'short-cervix',
      section: ID,
      text: 'Consider the local protocol for a short cervix; the risk of preterm birth rises as the length falls.',
      source: 'SMFM Consult Series 70, 2024; ISUOG 2022, Ultrasound Obstet Gynecol 60:435-456',
    },
  ];
}

function notAssessed(code: string, detail: string): SectionOutcome {
  return { status: 'not_assessed', reason: { code, detail, needs: [VIEW] }, summary: detail };
}

const gaps = (missing: (string | null)[]) => missing.filter((text) => text !== null);

/** The shortest first, each under an id of its own. */
function inOrder(used: readonly MeasuredCervix[]): MeasuredCervix[] {
  return used
    .toSorted((a, b) => a.length.value - b.length.value)
    .map((one, index) => (index === 0 ? one : numbered(one, index + 1)));
}

function numbered({ reading, length, funnel }: MeasuredCervix, number: number): MeasuredCervix {
  const id = `${length.id}-${number}`;
  const own = funnel?.measurements.map((one) => ({
    ...one,
    inputs: one.inputs.map((input) => (input === length.id ? id : input)),
  }));
  return {
    reading,
    length: { ...length, id },
    funnel: funnel && own ? { ...funnel, measurements: own } : null,
  };
}

/** Of the machine's length without an image of the canal: the report does not name the route. */
const UNKNOWN_ROUTE =
  'Only the ultrasound machine gave the length, without its route: a category needs a transvaginal measurement.';

/** What the repeats lack of three that were taken one after the other (ISUOG 2022). */
function repeatsGap(used: readonly MeasuredCervix[]): string | null {
  if (used.length < MEASUREMENTS) {
    return `The shortest of ${used.length}, not of ${MEASUREMENTS} measurements.`;
  }
  const clips = new Set(used.map(({ reading }) => reading.clip));
  return clips.size < MEASUREMENTS
    ? 'Measured on frames of the same clip, which are no repeated measurements.'
    : null;
}

/** Said where the machine's value falls into another category than ours. */
function contradiction(category: CervixCategory | null, machine: Measurement | null) {
  if (category === null || machine === null) return null;
  const other = cervixCategory(machine.value);
  return other === category
    ? null
    : `By the value of the ultrasound machine, ${format('cervical-length', machine.value)}, the length is ${CATEGORY_TEXT[other]}: measure by hand.`;
}

function assess(
  used: readonly MeasuredCervix[],
  machine: readonly Measurement[],
  evidence: ObstetricEvidence,
): SectionOutcome {
  const sorted = inOrder(used);
  const lengths = withMachineValues(
    machine,
    sorted.map(({ length }) => length),
  );
  const length = standing(lengths, 'cervical-length') as Measurement;
  const beside = lengths.find(({ id }) => id === 'cart-cervical-length') ?? null;
  const mm = length.value;
  const days = evidence.options.dating?.ga_days;
  const noCategory = used.length > 0 ? withoutCategory(days) : UNKNOWN_ROUTE;
  const category = noCategory === null ? cervixCategory(mm) : null;
  const bladder = used.some(({ reading }) => reading.located?.bladder);
  // A cervix changes under the eye: a funnel counts on whichever image it was seen.
  const funnel = sorted.find((one) => one.funnel)?.funnel ?? null;
  const missing = gaps([
    noCategory,
    category && acrossCutOff(mm, length.uncertainty, [CERVIX_MM.short]),
    contradiction(category, beside?.quality === 'accepted' ? beside : null),
    used.length > 0 ? repeatsGap(used) : null,
    bladder ? 'The bladder is not empty, which lengthens the cervix and hides a funnel.' : null,
  ]);
  const text = category ? `, ${CATEGORY_TEXT[category]}` : '';
  const seen = funnel
    ? `Funnelling, shape ${funnel.shape}.`
    : 'A funnel of the internal os was not seen, which does not exclude one.';
  return {
    status: missing.length > 0 ? 'partial' : 'complete',
    reason:
      missing.length > 0
        ? { code: 'parts_missing', detail: missing.join(' '), needs: [VIEW] }
        : null,
    summary:
      `Cervical length ${format('cervical-length', mm)}${text}. ${seen} ${missing.join(' ')}`.trim(),
    data: {
      measurements: used.length,
      funnel_shape: funnel?.shape ?? 'not_seen',
      bladder_seen: bladder,
      category_cut_off_mm: CERVIX_MM.short,
      symptoms: 'not_known',
      fundal_pressure: 'not_known',
      limitation: SIMULATED_ONLY,
    },
    measurements: [...lengths, ...(funnel?.measurements ?? [])],
    classifications: category ? [classification(category, mm)] : [],
    findings: findings(length, funnel, category),
    guidance: guidance(category, mm),
  };
}

/** The machine's length, which an operator measured: of the mother, however many fetuses there are. */
function ofMachine({ study }: ObstetricEvidence): Measurement[] {
  return cartMeasurements(study.cart ?? [], ID, ['cervical-length']);
}

function run(evidence: ObstetricEvidence): SectionOutcome {
  const view = evidence.views.cervix;
  const machine = ofMachine(evidence);
  const located = view?.frames?.filter((reading) => reading.located !== null) ?? [];
  const measured = located.flatMap(
    (reading) => measureCervix(reading, view?.uncertainty ?? null) ?? [],
  );
  const accepted = measured.filter(({ length }) => length.quality === 'accepted');
  const plausible = machine.some(({ value }) => isPlausible('cervical-length', value));
  if (accepted.length > 0 || plausible) {
    return assess(accepted.slice(0, MEASUREMENTS), machine, evidence);
  }
  if (view?.frames === null) {
    return notAssessed('no_model', 'No model of the cervix is permitted by the configuration.');
  }
  if (!view?.frames?.length) {
    return notAssessed(
      'view_missing',
      'The cervix was not assessed: cervical length needs a transvaginal measurement.',
    );
  }
  if (located.length > 0 && measured.length === 0) {
    return notAssessed(
      'no_calibration',
      'Cervical length was not measured: no physical scale was available.',
    );
  }
  const detail =
    'Cervical length was not measured: the canal from the external to the internal os is not clearly seen.';
  return {
    status: 'inadequate',
    reason: { code: 'low_confidence', detail, needs: [VIEW] },
    summary: detail,
    measurements: measured
      .slice(0, 1)
      .map(({ length }) => ({ ...length, id: 'cervical-length-1' })),
  };
}

/** Transvaginal cervical length and funnelling (obstetric reference 10). */
export const cervix: ObstetricSection = {
  id: ID,
  title: 'Cervix',
  needs: [VIEW, 'gestational age for the category'],
  reads: ['cervix'],
  run,
};
