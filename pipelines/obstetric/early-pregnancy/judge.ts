import type { Measurement } from '../../result/envelope.ts';
import { say } from '../../result/render/obstetric/early-pregnancy.ts';
import {
  categoryWithin,
  type FindingDraft,
  type GuidanceDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  bothValues,
  differ,
  EARLY_LENGTHS,
  judgedRate,
  judgedValue,
  type MachineValues,
  redatingDays,
} from '../shared/measurement.ts';
import { finding, type Gap } from '../shared/section.ts';
import type { EarlyClip, EarlyEvidence } from './evidence.ts';
import { DATING_CRL } from './guideline.ts';
import { type EarlySight, type EarlyViability, IN_DOUBT } from './viability.ts';

const SAC_DIAMETERS = ['sac-length', 'sac-height', 'sac-width'] as const;

function viabilityFinding(
  { category, doubts, nearMsd: msd }: EarlyViability,
  { silentSeconds, embryo, yolkSac }: EarlySight,
  measurements: readonly Measurement[],
): FindingDraft[] {
  if (!IN_DOUBT.has(category)) return [];
  const values = (['mean-sac-diameter', 'crl'] as const).flatMap(
    (key) => judgedValue(measurements, key) ?? [],
  );
  const unprovenSac = embryo === false && !yolkSac;
  const given = { category, silentSeconds, unprovenSac, doubts, msd };
  const said = say.conclusion('early.viability', given, values);
  return [finding('viability', 'pregnancy-viability', said, 'abnormal')];
}

function rateFinding(
  measurements: readonly Measurement[],
  {
    dating,
    embryonicRate,
  }: Pick<EarlyEvidence['options'], 'dating'> & Pick<EarlyEvidence, 'embryonicRate'>,
): FindingDraft[] {
  const rate = judgedRate(measurements);
  if (!rate) return [];
  const age = acceptedValue(measurements, 'ga-by-crl');
  const stated = age ? null : (dating?.ga_days ?? null);
  const gaDays = age ? Math.round(age.value) : stated;
  const { category, between } = categoryWithin(
    rate,
    (value) => embryonicRate(gaDays, value)?.band ?? null,
  );
  const ends = between ?? [category];
  const bands = ends.flatMap((band) => (band === null || band === 'usual' ? [] : [band]));
  if (bands.length < ends.length) return [];
  const recalled = embryonicRate(gaDays, rate.value)?.recalled ?? null;
  const about = age ? [rate, age] : [rate];
  const said = say.conclusion('early.heart-rate', { bands, recalled, stated }, about);
  const severity = bands.includes('borderline') ? 'info' : 'abnormal';
  const given = { confidence: rate.confidence };
  return [finding('embryonic-heart-rate', 'cardiac-activity', said, severity, given)];
}

/**
 * Returns a finding if the age by CRL and the given age by last menstrual period differ by more
 * than is accepted. The given age remains in use.
 */
function datingFinding(
  measurements: readonly Measurement[],
  dating: EarlyEvidence['options']['dating'],
): FindingDraft[] {
  const age = acceptedValue(measurements, 'ga-by-crl');
  const crl = judgedValue(measurements, 'crl');
  if (!age || !crl || dating?.basis !== 'lmp') return [];
  const apart = Math.abs(Math.round(age.value) - dating.ga_days);
  const limit = redatingDays(dating.ga_days);
  if (apart <= limit) return [];
  const said = say.gap('early.age-by-crl', { apart, stated: dating.ga_days, limit }, [age]);
  const given = { evidence: [age.id, crl.id] };
  return [finding('age-by-crl', 'gestational-age', said, 'info', given)];
}

/** Reports each machine value that differs from ours by more than the uncertainty of ours. */
export const differences = (measurements: readonly Measurement[]): Statement[] =>
  EARLY_LENGTHS.flatMap((key) => bothValues(measurements, key) ?? [])
    .filter(differ)
    .map(({ machine, own }) => say.gap('early.values-differ', {}, [machine, own]));

function differenceFinding(measurements: readonly Measurement[]): FindingDraft[] {
  const said = differences(measurements);
  return said.length > 0 ? [finding('early-values-differ', 'repeatability', said, 'abnormal')] : [];
}

/**
 * Returns the findings: a viability category that needs action, values that differ, a heart rate
 * unusual for the age, and an age that contradicts the CRL.
 */
export function earlyFindings(
  judged: EarlyViability,
  seen: EarlySight,
  measurements: readonly Measurement[],
  { options: { dating }, embryonicRate }: Pick<EarlyEvidence, 'options' | 'embryonicRate'>,
): FindingDraft[] {
  return [
    ...viabilityFinding(judged, seen, measurements),
    ...differenceFinding(measurements),
    ...rateFinding(measurements, { dating, embryonicRate }),
    ...datingFinding(measurements, dating),
  ];
}

/** Days until a repeat scan (NICE NG126), after a transvaginal scan or after any other scan. */
const REPEAT_DAYS = { transvaginal: 7, other: 14 } as const;

/** Returns guidance on the next steps if viability is in doubt. */
export function earlyGuidance(
  { category, seemsLost }: EarlyViability,
  { transvaginal }: EarlySight,
): GuidanceDraft[] {
  if (!IN_DOUBT.has(category)) return [];
  const days = transvaginal ? REPEAT_DAYS.transvaginal : REPEAT_DAYS.other;
  return [
    {
      id: 'repeat-early-scan',
      statement: say.advice('early.advice-repeat', { days, secondOpinion: seemsLost }),
      source: 'NICE NG126 (2019)',
    },
  ];
}

interface Known {
  seen: EarlySight;
  measurements: readonly Measurement[];
  clips: readonly EarlyClip[];
  machine: MachineValues;
  /** Texts for the `need` of a gap: the view and the cine that the section needs. */
  view: string;
  cine: string;
}

function cardiacGap({ clips, cine }: Known): Gap {
  const moving = clips.some(({ clip }) => clip.frames.length > 1);
  const held = clips.some(({ cardiac }) => cardiac?.status === 'needs-review');
  return {
    code: 'cine_missing',
    said: say.gap('early.no-cine', {
      reason: held ? 'needs-review' : moving ? 'no-long-clip' : 'still',
    }),
    need: cine,
  };
}

/**
 * Returns true if both planes of the sac were measured, but no mean was calculated, because they
 * contradict each other.
 */
const planesContradict = (measurements: readonly Measurement[]): boolean =>
  SAC_DIAMETERS.every((key) => acceptedValue(measurements, key)) &&
  !measurements.some(({ concept }) => concept.key === 'mean-sac-diameter');

function sizeGaps({ measurements, machine, view }: Known): Gap[] {
  const gaps: Gap[] = [];
  if (!judgedValue(measurements, 'mean-sac-diameter')) {
    const contradict = planesContradict(measurements);
    gaps.push({
      code: contradict ? 'values_differ' : 'planes_missing',
      said: say.gap('early.no-msd', { contradict }),
      need: 'sagittal and transverse images of the sac, named by the cart',
    });
  }
  const crl = judgedValue(measurements, 'crl');
  const { from, to } = DATING_CRL;
  if (crl && (crl.value < from || crl.value > to)) {
    const said = say.gap('early.crl-outside', { from, to }, [crl]);
    gaps.push({ code: 'outside_chart_range', said, need: view });
  }
  for (const said of differences(measurements)) {
    gaps.push({ code: 'values_differ', said, need: view });
  }
  if (machine.unused) {
    const need = 'one report for each fetus';
    gaps.push({ code: 'several_fetuses', said: machine.unused, need });
  }
  return gaps;
}

/**
 * Returns all gaps, most important first. The last one, the location of the pregnancy, is always
 * included.
 */
export function earlyGaps(known: Known): Gap[] {
  const { seen, view } = known;
  const gaps: Gap[] = [];
  const add = (code: string, said: Statement, need: string) => gaps.push({ code, said, need });
  if (!seen.sac) add('view_missing', say.gap('early.sac-not-found', {}), view);
  gaps.push(...sizeGaps(known));
  if (seen.cardiacActivity === null) gaps.push(cardiacGap(known));
  if (!seen.transvaginal) {
    const need = 'the route of the examination in the view name';
    add('route_unknown', say.gap('early.route', {}), need);
  }
  if (seen.embryo === false) {
    const need = 'a sweep through the whole sac, looked at by the examiner';
    add('two_planes_only', say.gap('early.two-planes', {}), need);
  }
  if (seen.cardiacActivity !== true) {
    add('history_not_applied', say.gap('early.history', {}), 'the findings of an earlier scan');
  }
  const need = 'confirmation of the location by the examiner';
  add('location_not_assessed', say.gap('early.location', {}), need);
  return gaps;
}
