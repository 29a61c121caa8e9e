import type { Measurement } from '../../result/envelope.ts';
import { asRepeat } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { say } from '../../result/render/obstetric/cervix.ts';
import { SIMULATED_ONLY } from '../../result/render/obstetric/shared.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  ifPlausible,
  ofEveryClip,
  withMachineValues,
} from '../shared/measurement.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { CervixEvidence } from './evidence.ts';
import { CERVIX_MM } from './guideline.ts';
import {
  CERVIX_SECTION,
  cervixClassification,
  cervixFindings,
  cervixGuidance,
  judgeCervix,
  withoutCategory,
} from './judge.ts';
import { type MeasuredCervix, measureCervix } from './measure.ts';

const KEY = 'cervical-length';
const VIEW = 'calibrated transvaginal sagittal images of the cervix';
/**
 * Minimum number of measurements. ISUOG 2022 asks for at least three and reports the shortest of
 * the technically best ones.
 */
const MEASUREMENTS = 3;

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
    length: asRepeat({ ...length, id }),
    funnel: funnel && own ? { ...funnel, measurements: own } : null,
  };
}

/**
 * Returns the gap if there are fewer than three measurements, or if they are not from three clips
 * (ISUOG 2022); otherwise null.
 */
function repeatsGap(used: readonly MeasuredCervix[]): Statement | null {
  if (used.length < MEASUREMENTS) {
    return say.gap('cervix.fewer-repeats', { used: used.length, wanted: MEASUREMENTS });
  }
  const clips = new Set(used.map(({ reading }) => reading.clip));
  return clips.size < MEASUREMENTS ? say.gap('cervix.same-clip', {}) : null;
}

/** The machine's cervical lengths, measured by an operator. */
interface MachineLengths {
  /** In ascending order. The shortest one is reported. */
  plausible: readonly Measurement[];
  /** Values beyond the hard limits. They are listed but never used. */
  implausible: readonly Measurement[];
}

function ofMachine({ machine }: CervixEvidence): MachineLengths {
  const lengths = (where: (mm: number) => boolean) =>
    machine.values(CERVIX_SECTION, [KEY], ({ value }) => where(value)).map(ifPlausible);
  return {
    plausible: lengths((mm) => isPlausible(KEY, mm)).toSorted(
      (one, other) => one.value - other.value,
    ),
    implausible: lengths((mm) => !isPlausible(KEY, mm)),
  };
}

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
  const several = evidence.severalFetuses !== null;
  const unnamed = used.some(({ reading }) => reading.route === null);
  // Only a person can have accepted a length on a transabdominal image.
  const abdominal = used.some(({ reading }) => reading.route === 'transabdominal');
  const noCategory = ours ? withoutCategory(days) : say.gap('cervix.route-of-machine', {});
  const judged =
    noCategory === null && !unnamed && !abdominal
      ? judgeCervix(length, machine.plausible[0] ?? null, several)
      : null;
  const category = judged?.category ?? null;
  const bladder = used.some(({ reading }) => reading.located?.bladder);
  // The cervix changes during the examination, so a funnel on one of the images is enough.
  const funnels = used.flatMap((one) => one.funnel ?? []);
  const funnel = funnels.find((one) => one.used) ?? null;
  const listed = funnel ?? funnels[0];
  const held = funnels.some(({ measurements }) =>
    measurements.some(({ quality }) => quality === 'review'),
  );
  const missing = [
    noCategory,
    unnamed ? say.gap('cervix.route-not-named', {}) : null,
    abdominal ? say.gap('cervix.length-transabdominal', {}) : null,
    judged?.between
      ? say.gap('cervix.at-cut-off', { between: [...judged.between] }, [length])
      : null,
    judged?.ofSeveral ?? null,
    judged?.contradiction ?? null,
    machine.implausible[0]
      ? say.gap('cervix.machine-implausible', {}, [machine.implausible[0]])
      : null,
    ours ? repeatsGap(used) : null,
    bladder ? say.gap('cervix.bladder', {}) : null,
  ].filter((gap) => gap !== null);
  return {
    status: missing.length > 0 ? 'partial' : 'complete',
    reason: missing.length > 0 ? { code: 'parts_missing', gaps: missing, needs: [VIEW] } : null,
    statements: [
      say.value('cervix.length', { category }, [length]),
      ...(funnel ? [say.conclusion('cervix.funnel', { shape: funnel.shape })] : []),
      // A funnel that needs review was seen.
      ...(funnel || held ? [] : [say.limitation('cervix.no-funnel', {})]),
      ...missing,
    ],
    data: {
      measurements: used.length,
      route: !ours || unnamed ? 'not_known' : abdominal ? 'transabdominal' : 'transvaginal',
      funnel_shape: funnel?.shape ?? (held ? 'needs_review' : 'not_seen'),
      bladder_seen: bladder,
      category_cut_off_mm: CERVIX_MM.short,
      symptoms: 'not_known',
      fundal_pressure: 'not_known',
      limitation: SIMULATED_ONLY,
    },
    measurements: [...lengths, ...machine.implausible, ...(listed?.measurements ?? [])],
    classifications:
      judged && category ? [cervixClassification(category, length, judged.longest, several)] : [],
    findings: cervixFindings(length, funnel, category),
    guidance: cervixGuidance(category, mm, several),
  };
}

function withoutLength(
  view: CervixEvidence['views']['cervix'],
  measured: readonly MeasuredCervix[],
): SectionOutcome {
  if (view?.frames === null) return notAssessed('no_model', say.gap('cervix.no-model', {}), [VIEW]);
  if (!view?.frames?.length) {
    return notAssessed('view_missing', say.gap('cervix.no-view', {}), [VIEW]);
  }
  if (measured.length === 0 && view.frames.some(({ located }) => located !== null)) {
    return notAssessed('no_calibration', say.gap('cervix.no-scale', {}), [VIEW]);
  }
  const best = measured.slice(0, 1).map(({ length }) => ({ ...length, id: `${KEY}-1` }));
  if (measured.length > 0 && measured.every(({ reading }) => reading.route === 'transabdominal')) {
    const gap = say.gap('cervix.transabdominal', {});
    return { ...notAssessed('view_missing', gap, [VIEW]), measurements: best };
  }
  return inadequate('low_confidence', say.gap('cervix.not-clear', {}), [VIEW], best);
}

function besideImplausible(
  outcome: SectionOutcome,
  { implausible }: MachineLengths,
): SectionOutcome {
  const { reason, statements = [], measurements = [] } = outcome;
  const [first] = implausible;
  if (!first || !reason) return outcome;
  const gap = say.gap('cervix.machine-implausible', {}, [first]);
  return {
    ...outcome,
    reason: { ...reason, gaps: [...(reason.gaps ?? []), gap] },
    statements: [...statements, gap],
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
  const used = inOrder(ofEveryClip(accepted, ({ reading }) => reading.clip.file, MEASUREMENTS));
  const lengths = withMachineValues(
    machine.plausible,
    used.map(({ length }) => length),
  );
  const length = acceptedValue(lengths, KEY);
  return length
    ? assess(length, lengths, used, machine, evidence)
    : besideImplausible(withoutLength(view, measured), machine);
}

/** The section on transvaginal cervical length and funnelling (obstetric 10). */
export const cervix: ObstetricSection<CervixEvidence> = {
  id: CERVIX_SECTION,
  title: 'Cervix',
  needs: [VIEW, 'gestational age for the category'],
  reads: ['cervix'],
  run,
};
