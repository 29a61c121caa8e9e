import { findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement, Result } from '../result/envelope.ts';
import { weeksAndDays } from './charts/dates.ts';
import { embryonicRateBand, type ViabilityCategory } from './charts/early-pregnancy.ts';
import { EARLY_SECTION } from './early-lengths.ts';
import type { EarlySight, EarlyViability } from './early-viability.ts';
import { format, standing } from './measurement.ts';

/** How the report says each category. */
export const CATEGORY_TEXT: Readonly<Record<ViabilityCategory, string>> = {
  'diagnostic-of-pregnancy-loss': 'a criterion diagnostic of early pregnancy loss is met',
  'suspicious-for-pregnancy-loss':
    'concerning for early pregnancy loss, not diagnostic; pregnancy of uncertain viability',
  'uncertain-viability': 'pregnancy of uncertain viability',
  'embryo-with-cardiac-activity': 'embryo with cardiac activity',
  'not-assessable': 'viability not assessable from these images',
};

/** A category that must be acted on: looked at again, by a person. */
const OPEN: ReadonlySet<ViabilityCategory> = new Set([
  'diagnostic-of-pregnancy-loss',
  'suspicious-for-pregnancy-loss',
  'uncertain-viability',
]);

function viabilityFinding(
  { category }: EarlyViability,
  seen: EarlySight,
  measurements: readonly Measurement[],
): Finding[] {
  if (!OPEN.has(category)) return [];
  const values = (['mean-sac-diameter', 'crl'] as const).flatMap(
    (key) => standing(measurements, key) ?? [],
  );
  const numbers = values.map(
    ({ label, value, concept }) =>
      `${label} ${format(concept.key === 'crl' ? 'crl' : 'mean-sac-diameter', value)}`,
  );
  const silent = seen.silentSeconds === null ? [] : [silentSentence(seen.silentSeconds)];
  const head = CATEGORY_TEXT[category];
  const text = [
    `${[`${head[0]?.toUpperCase()}${head.slice(1)}`, ...numbers].join('; ')}.`,
    ...silent,
  ].join(' ');
  return [
    {
      id: 'viability',
      section: EARLY_SECTION,
      concept: findingConcept('pregnancy-viability'),
      text,
      // Told at once: an empty sac or an embryo without cardiac activity where one was to be seen.
      severity: category === 'diagnostic-of-pregnancy-loss' ? 'critical' : 'abnormal',
      confidence: null,
      evidence: values.map(({ id }) => id),
    },
  ];
}

function silentSentence(seconds: number): string {
  return `No cardiac activity was seen during the recorded clip of ${seconds.toFixed(1)} s; confirmation by a second observer is required.`;
}

function rateFinding(measurements: readonly Measurement[]): Finding[] {
  const rate = measurements.find(({ id }) => id === 'embryonic-heart-rate');
  const age = standing(measurements, 'ga-by-crl');
  const band = rate && age ? embryonicRateBand(Math.round(age.value), rate.value) : null;
  if (!rate || !age || (band !== 'slow' && band !== 'fast')) return [];
  return [
    {
      id: 'embryonic-heart-rate',
      section: EARLY_SECTION,
      concept: findingConcept('cardiac-activity'),
      text: `Embryonic heart rate ${format('fetal-heart-rate', rate.value)}: ${band} at ${weeksAndDays(age.value)} weeks by CRL.`,
      severity: 'abnormal',
      confidence: rate.confidence,
      evidence: [rate.id, age.id],
    },
  ];
}

/** The category where it must be acted on, and a heart rate that is slow or fast for the CRL. */
export function earlyFindings(
  judged: EarlyViability,
  seen: EarlySight,
  measurements: readonly Measurement[],
): Finding[] {
  return [...viabilityFinding(judged, seen, measurements), ...rateFinding(measurements)];
}

/** What to do next where viability is in doubt or lost. */
export function earlyGuidance({ category }: EarlyViability): Result['guidance'] {
  if (!OPEN.has(category)) return [];
  return [
    {
      id: 'repeat-early-scan',
      section: EARLY_SECTION,
      text:
        category === 'diagnostic-of-pregnancy-loss'
          ? 'Consider a second opinion and a repeat scan per local protocol before any diagnosis.'
          : 'Consider a repeat scan per local protocol.',
      source: 'NICE NG126 (2019)',
    },
  ];
}
