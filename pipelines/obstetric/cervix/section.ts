import type { Measurement } from '../../result/envelope.ts';
import { acrossCutOff } from '../../result/obstetric/limits.ts';
import { acceptedValue } from '../../result/render/number-text.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import { ifPlausible, withMachineValues } from '../shared/machine-values.ts';
import { implausibleNote, isPlausible } from '../shared/plausibility.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import { SIMULATED_ONLY } from '../shared/simulated-only.ts';
import type { CervixEvidence } from './evidence.ts';
import { CERVIX_MM, cervixCategory } from './guideline.ts';
import {
  CATEGORY_TEXT,
  CERVIX_SECTION,
  cervixClassification,
  cervixFindings,
  cervixGuidance,
  contradiction,
  lengthText,
  withoutCategory,
} from './judge.ts';
import { type MeasuredCervix, measureCervix, NEEDS_TRANSVAGINAL } from './measure.ts';

const KEY = 'cervical-length';
const VIEW = 'calibrated transvaginal sagittal images of the cervix';
/** ISUOG 2022: at least three, the shortest technically best is reported. */
const MEASUREMENTS = 3;

const gaps = (missing: (string | null)[]) => missing.filter((text) => text !== null);

/** The shortest first, each under an id of its own. */
function inOrder(used: readonly MeasuredCervix[]): MeasuredCervix[] {
  return used
    .toSorted((a, b) => a.length.value - b.length.value)
    .map((one, index) => (index === 0 ? one : numbered(one, index + 1)));
}

function numbered(one: MeasuredCervix, number: number): MeasuredCervix {
  const { length, funnel } = one;
  const id = `${length.id}-${number}`;
  const own = funnel?.measurements.map((part) => ({
    ...part,
    inputs: part.inputs.map((input) => (input === length.id ? id : input)),
  }));
  return {
    ...one,
    length: { ...length, id },
    funnel: funnel && own ? { ...funnel, measurements: own } : null,
  };
}

/** Of the machine's length without an image of the canal: the report does not name the route. */
const UNKNOWN_ROUTE =
  'Only the ultrasound machine gave the length, without its route: a category needs a transvaginal measurement.';

/** Of images whose names do not say how they were taken; the plane itself is a transvaginal one. */
const UNNAMED_ROUTE = `The images do not name their route; ${NEEDS_TRANSVAGINAL}.`;

const TRANSABDOMINAL = `The cervix was shown on transabdominal images only; ${NEEDS_TRANSVAGINAL}.`;

const IMPLAUSIBLE = `A length of the ultrasound machine is ${implausibleNote(KEY)}.`;

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

/** The lengths of the machine, which an operator measured: of the mother, however many fetuses there are. */
interface MachineLengths {
  /** The shortest first, which is the one to report. */
  plausible: readonly Measurement[];
  /** Beyond the hard limits: kept, and used for nothing. */
  implausible: readonly Measurement[];
}

function ofMachine({ machine }: CervixEvidence): MachineLengths {
  const lengths = (where: (mm: number) => boolean) =>
    machine
      .values(CERVIX_SECTION, [KEY], ({ value }) => where(value))
      .map((one) => ifPlausible({ ...one, fetus: null }));
  return {
    plausible: lengths((mm) => isPlausible(KEY, mm)).toSorted(
      (one, other) => one.value - other.value,
    ),
    implausible: lengths((mm) => !isPlausible(KEY, mm)),
  };
}

/** What an accepted length comes to: the shortest of ours, else the machine's. */
function assess(
  length: Measurement,
  lengths: readonly Measurement[],
  used: readonly MeasuredCervix[],
  machine: MachineLengths,
  evidence: CervixEvidence,
): SectionOutcome {
  const mm = length.value;
  const ours = used.length > 0;
  const days = evidence.options.dating?.ga_days;
  const noCategory = ours ? withoutCategory(days) : UNKNOWN_ROUTE;
  const category = noCategory === null ? cervixCategory(mm) : null;
  const unnamed = used.some(({ route }) => route === null);
  const bladder = used.some(({ reading }) => reading.located?.bladder);
  // A cervix changes under the eye: a funnel counts on whichever image it was seen.
  const funnel = used.find((one) => one.funnel)?.funnel ?? null;
  const missing = gaps([
    noCategory,
    unnamed ? UNNAMED_ROUTE : null,
    category && acrossCutOff(mm, length.uncertainty, [CERVIX_MM.short]),
    contradiction(category, machine.plausible[0] ?? null),
    machine.implausible.length > 0 ? IMPLAUSIBLE : null,
    ours ? repeatsGap(used) : null,
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
    summary: `Cervical length ${lengthText(mm)}${text}. ${seen} ${missing.join(' ')}`.trim(),
    data: {
      measurements: used.length,
      route: ours && !unnamed ? 'transvaginal' : 'not_known',
      funnel_shape: funnel?.shape ?? 'not_seen',
      bladder_seen: bladder,
      category_cut_off_mm: CERVIX_MM.short,
      symptoms: 'not_known',
      fundal_pressure: 'not_known',
      limitation: SIMULATED_ONLY,
    },
    measurements: [...lengths, ...machine.implausible, ...(funnel?.measurements ?? [])],
    classifications: category ? [cervixClassification(category, mm)] : [],
    findings: cervixFindings(length, funnel, category),
    guidance: cervixGuidance(category, mm),
  };
}

/** Why no length is accepted. */
function withoutLength(
  view: CervixEvidence['views']['cervix'],
  measured: readonly MeasuredCervix[],
): SectionOutcome {
  if (view?.frames === null) {
    const detail = 'No model of the cervix is permitted by the configuration.';
    return notAssessed('no_model', detail, [VIEW]);
  }
  if (!view?.frames?.length) {
    const detail = `The cervix was not assessed: ${NEEDS_TRANSVAGINAL}.`;
    return notAssessed('view_missing', detail, [VIEW]);
  }
  if (measured.length === 0 && view.frames.some(({ located }) => located !== null)) {
    const detail = 'Cervical length was not measured: no physical scale was available.';
    return notAssessed('no_calibration', detail, [VIEW]);
  }
  const best = measured.slice(0, 1).map(({ length }) => ({ ...length, id: `${KEY}-1` }));
  if (measured.length > 0 && measured.every(({ route }) => route === 'transabdominal')) {
    return { ...notAssessed('view_missing', TRANSABDOMINAL, [VIEW]), measurements: best };
  }
  const detail =
    'Cervical length was not measured: the canal from the external to the internal os is not clearly seen.';
  return inadequate('low_confidence', detail, [VIEW], best);
}

/** An outcome without a length, with what the machine gave that cannot be. */
function besideImplausible(
  outcome: SectionOutcome,
  { implausible }: MachineLengths,
): SectionOutcome {
  const { reason, measurements = [] } = outcome;
  if (implausible.length === 0 || !reason) return outcome;
  const detail = `${reason.detail} ${IMPLAUSIBLE}`;
  return {
    ...outcome,
    reason: { ...reason, detail },
    summary: detail,
    measurements: [...measurements, ...implausible],
  };
}

function run(evidence: CervixEvidence): SectionOutcome {
  const view = evidence.views.cervix;
  const machine = ofMachine(evidence);
  const measured = (view?.frames ?? []).flatMap(
    (reading) => measureCervix(reading, view?.uncertainty ?? null) ?? [],
  );
  const accepted = measured.filter(({ length }) => length.quality === 'accepted');
  const used = inOrder(accepted.slice(0, MEASUREMENTS));
  const lengths = withMachineValues(
    machine.plausible,
    used.map(({ length }) => length),
  );
  const length = acceptedValue(lengths, KEY);
  return length
    ? assess(length, lengths, used, machine, evidence)
    : besideImplausible(withoutLength(view, measured), machine);
}

/** Transvaginal cervical length and funnelling (obstetric 10). */
export const cervix: ObstetricSection<CervixEvidence> = {
  id: CERVIX_SECTION,
  title: 'Cervix',
  needs: [VIEW, 'gestational age for the category'],
  reads: ['cervix'],
  run,
};
