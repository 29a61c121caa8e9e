import { findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement, Result } from '../result/envelope.ts';
import { isOfMachine } from '../result/of-machine.ts';
import { weeksAndDays } from './charts/dates.ts';
import { embryonicRateBand, redatingDays } from './charts/early-pregnancy.ts';
import { EARLY_SECTION } from './early-lengths.ts';
import { bothValues, differ, EARLY_LENGTHS, judgedRate, judgedValue } from './early-machine.ts';
import type { EarlySight, EarlyViability, JudgedViability } from './early-viability.ts';
import { bandsRemark } from './fetal-rate-judgement.ts';
import { format, standing } from './measurement.ts';
import type { ObstetricEvidence } from './section.ts';

/** How the report says each category. */
export const CATEGORY_TEXT: Readonly<Record<JudgedViability, string>> = {
  'suspicious-for-pregnancy-loss':
    'concerning for early pregnancy loss, not diagnostic; pregnancy of uncertain viability',
  'uncertain-viability': 'pregnancy of uncertain viability',
  'embryo-with-cardiac-activity': 'embryo with cardiac activity',
  'not-assessable': 'viability not assessable from these images',
};

/** A category that must be acted on: looked at again, by a person. */
const OPEN: ReadonlySet<JudgedViability> = new Set([
  'suspicious-for-pregnancy-loss',
  'uncertain-viability',
]);

/** An echo-free area is a gestational sac for sure only with a yolk sac or an embryo in it. */
const UNPROVEN =
  'Neither yolk sac nor embryo was seen in the outlined echo-free area: that it is a gestational sac within the uterus, and no bladder or cyst, was not assessed.';

function viabilityFinding(
  { category, unsure }: EarlyViability,
  seen: EarlySight,
  measurements: readonly Measurement[],
): Finding[] {
  if (!OPEN.has(category)) return [];
  const keys = ['mean-sac-diameter', 'crl'] as const;
  const values = keys.flatMap((key) => judgedValue(measurements, key) ?? []);
  const numbers = keys.flatMap((key) => {
    const one = judgedValue(measurements, key);
    const whose = one && isOfMachine(one) ? ' (ultrasound machine)' : '';
    return one ? `${one.label} ${format(key, one.value)}${whose}` : [];
  });
  const silent = seen.silentSeconds === null ? [] : [silentSentence(seen.silentSeconds)];
  const unproven = seen.embryo === false && !seen.yolkSac ? [UNPROVEN] : [];
  const head = CATEGORY_TEXT[category];
  const text = [
    `${[`${head[0]?.toUpperCase()}${head.slice(1)}`, ...numbers].join('; ')}.`,
    ...silent,
    ...unproven,
    ...unsure,
  ].join(' ');
  return [
    {
      id: 'viability',
      section: EARLY_SECTION,
      concept: findingConcept('pregnancy-viability'),
      text,
      severity: 'abnormal',
      confidence: null,
      evidence: values.map(({ id }) => id),
    },
  ];
}

function silentSentence(seconds: number): string {
  return `No cardiac activity was seen during the recorded clip of ${seconds.toFixed(1)} s; confirmation by a second observer is required.`;
}

function rateFinding(measurements: readonly Measurement[]): Finding[] {
  const rate = judgedRate(measurements);
  const age = standing(measurements, 'ga-by-crl');
  if (!rate || !age) return [];
  const gaDays = Math.round(age.value);
  const band = embryonicRateBand(gaDays, rate.value);
  if (!band || band === 'usual') return [];
  const remark = bandsRemark(gaDays);
  return [
    {
      id: 'embryonic-heart-rate',
      section: EARLY_SECTION,
      concept: findingConcept('cardiac-activity'),
      text: `Embryonic heart rate ${format('fetal-heart-rate', rate.value)}${isOfMachine(rate) ? ' (ultrasound machine)' : ''}: ${band} at ${weeksAndDays(age.value)} weeks by CRL.${remark ? ` ${remark}` : ''}`,
      severity: band === 'borderline' ? 'info' : 'abnormal',
      confidence: rate.confidence,
      evidence: [rate.id, age.id],
    },
  ];
}

/** That the age by CRL differs from the one given by more than is let stand; it re-dates nothing. */
function datingFinding(
  measurements: readonly Measurement[],
  dating: ObstetricEvidence['options']['dating'],
): Finding[] {
  const age = standing(measurements, 'ga-by-crl');
  const crl = judgedValue(measurements, 'crl');
  if (!age || !crl || dating?.basis !== 'lmp') return [];
  const apart = Math.abs(Math.round(age.value) - dating.ga_days);
  const limit = redatingDays(dating.ga_days);
  if (apart <= limit) return [];
  return [
    {
      id: 'age-by-crl',
      section: EARLY_SECTION,
      concept: findingConcept('gestational-age'),
      text: `Age by CRL ${weeksAndDays(age.value)} weeks, ${apart} days from the ${weeksAndDays(dating.ga_days)} weeks by last menstrual period: beyond ${limit} days dating by ultrasound is advised (ACOG Committee Opinion 700). The age given was kept.`,
      severity: 'info',
      confidence: null,
      evidence: [age.id, crl.id],
    },
  ];
}

/** Where the machine and the images are further apart than ours is uncertain, a sentence each. */
export function differences(measurements: readonly Measurement[]): string[] {
  return EARLY_LENGTHS.flatMap((key) => {
    const both = bothValues(measurements, key);
    if (!both || !differ(both)) return [];
    const { machine, own } = both;
    return `${own.label} ${format(key, machine.value)} by the ultrasound machine, ${format(key, own.value)} as measured here: measure by hand.`;
  });
}

function differenceFinding(measurements: readonly Measurement[]): Finding[] {
  const sentences = differences(measurements);
  if (sentences.length === 0) return [];
  const pairs = EARLY_LENGTHS.flatMap((key) => bothValues(measurements, key) ?? []).filter(differ);
  return [
    {
      id: 'early-values-differ',
      section: EARLY_SECTION,
      concept: findingConcept('repeatability'),
      text: sentences.join(' '),
      severity: 'abnormal',
      confidence: null,
      evidence: pairs.flatMap(({ machine, own }) => [machine.id, own.id]),
    },
  ];
}

/** The category where it must be acted on, a heart rate and an age that do not fit the CRL. */
export function earlyFindings(
  judged: EarlyViability,
  seen: EarlySight,
  measurements: readonly Measurement[],
  dating: ObstetricEvidence['options']['dating'],
): Finding[] {
  return [
    ...viabilityFinding(judged, seen, measurements),
    ...differenceFinding(measurements),
    ...rateFinding(measurements),
    ...datingFinding(measurements, dating),
  ];
}

/** Days before a repeat scan (NICE NG126): by a transvaginal one, and by a transabdominal one only. */
const REPEAT_DAYS = { transvaginal: 7, other: 14 } as const;

/** What to do next where viability is in doubt. */
export function earlyGuidance(
  { category, seemsLost }: EarlyViability,
  { transvaginal }: EarlySight,
): Result['guidance'] {
  if (!OPEN.has(category)) return [];
  const days = transvaginal ? REPEAT_DAYS.transvaginal : REPEAT_DAYS.other;
  const when = `a repeat scan after at least ${days} days`;
  return [
    {
      id: 'repeat-early-scan',
      section: EARLY_SECTION,
      text: seemsLost
        ? `Consider a second opinion and ${when} per local protocol before any diagnosis.`
        : `Consider ${when} per local protocol.`,
      source: 'NICE NG126 (2019)',
    },
  ];
}
