import { centileText, zScoreText } from '../../result/centile-text.ts';
import { type FindingConceptKey, findingConcept } from '../../result/concepts.ts';
import type { Finding, Measurement, Result } from '../../result/envelope.ts';
import { weeksAndDays } from '../charts/dates.ts';
import { CENTILE_CROSSING, LATE_FORM_WEEKS } from '../charts/growth-restriction.ts';
import {
  MACROSOMIA_GRAMS,
  SIZE_CUTOFFS,
  SIZE_LABELS,
  type SizeCategory,
  sizeCategory,
} from '../charts/size-category.ts';
import {
  CHARTED,
  type Charted,
  type ChartedKey,
  chart,
  chartedValue,
  isCharted,
  type NotCharted,
  valueWithCentile,
} from '../growth-references.ts';
import { type GrowthSince, growthSince } from '../growth-since.ts';
import { BASIS_TEXT, type ObstetricOptions } from '../input.ts';
import { abbreviations, format, standing } from '../measurement.ts';
import { SOFT_Z } from '../plausibility.ts';
import type { Amendment, ObstetricEvidence, ObstetricSection, SectionOutcome } from '../section.ts';
import { smallFetus } from '../small-fetus.ts';

function notAssessed(code: string, detail: string, needs: string[]): SectionOutcome {
  return { status: 'not_assessed', reason: { code, detail, needs }, summary: detail };
}

function finding(
  id: string,
  concept: FindingConceptKey,
  text: string,
  evidence: readonly Charted[],
): Finding {
  return {
    id,
    section: 'growth',
    concept: findingConcept(concept),
    text,
    severity: 'abnormal',
    confidence: null,
    evidence: evidence.map(({ measurement }) => measurement.id),
  };
}

/** Head and femur by z-score (obstetric reference 3.8). */
function partFindings(charted: readonly Charted[]): Finding[] {
  const hc = chartedValue(charted, 'hc');
  const fl = chartedValue(charted, 'fl');
  const findings: Finding[] = [];
  if (hc && Math.abs(hc.z) > 2) {
    const word = hc.z > 2 ? 'Large head' : hc.z < -3 ? 'Microcephaly range' : 'Small head';
    const text = `${word}: ${valueWithCentile(hc, 'hc')}, z-score ${zScoreText(hc.z)}.`;
    findings.push(finding('head-size', 'head-size', text, [hc]));
  }
  if (fl && fl.z < -2) {
    const text = `Short femur: ${valueWithCentile(fl, 'fl')}, z-score ${zScoreText(fl.z)}.`;
    findings.push(finding('femur-size', 'femur-size', text, [fl]));
  }
  return findings;
}

interface Size {
  category: SizeCategory;
  by: Charted[];
}

/** Size needs a weight, or else an AC: a head or a femur alone gives none. */
function sizeOf(charted: readonly Charted[]): Size | null {
  const efw = chartedValue(charted, 'efw');
  const ac = chartedValue(charted, 'ac');
  if (efw) {
    const category = sizeCategory(efw.centile, ac?.centile ?? null);
    return { category, by: ac ? [efw, ac] : [efw] };
  }
  return ac ? { category: sizeCategory(ac.centile), by: [ac] } : null;
}

function sizeClassification({ category, by }: Size): Result['classifications'][number] {
  return {
    id: 'size-category',
    section: 'growth',
    concept: findingConcept('size-for-gestational-age'),
    name: 'Size for gestational age',
    value: category,
    scheme: 'ISUOG 2020; 10th and 90th centile',
    criteria: by.map(({ measurement, centile }) => ({
      name: `${measurement.label} centile`,
      value: centileText(centile),
      met: centile < SIZE_CUTOFFS.small || centile > SIZE_CUTOFFS.large,
    })),
  };
}

function sizeFinding(size: Size): Finding[] {
  const { category, by } = size;
  if (category === 'aga') return [];
  const label = SIZE_LABELS[category];
  const values = by
    .map((entry) => valueWithCentile(entry, entry.measurement.concept.key as ChartedKey))
    .join(', ');
  const text = `${label.charAt(0).toUpperCase()}${label.slice(1)}: ${values}.`;
  return [finding('size', 'size-for-gestational-age', text, by)];
}

function weightFinding(
  charted: readonly Charted[],
  measurements: readonly Measurement[],
): Finding[] {
  const efw = standing(measurements, 'efw');
  if (!efw || efw.value < MACROSOMIA_GRAMS) return [];
  const entry = chartedValue(charted, 'efw');
  const text = `Estimated weight ${format('efw', efw.value)}: macrosomia range (${MACROSOMIA_GRAMS} g or more).`;
  return [
    {
      ...finding('macrosomia', 'size-for-gestational-age', text, entry ? [entry] : []),
      evidence: [efw.id],
    },
  ];
}

function amendment(entry: Charted | NotCharted): Amendment {
  const { measurement } = entry;
  return isCharted(entry)
    ? {
        measurement: measurement.id,
        reference: entry.reference,
        interpretation: entry.interpretation,
        note: null,
      }
    : { measurement: measurement.id, reference: null, interpretation: null, note: entry.reason };
}

function datingFinding(doubtful: readonly Charted[]): Finding[] {
  if (doubtful.length === 0) return [];
  const names = doubtful.map(({ measurement }) => measurement.label).join(', ');
  const text = `${names}: more than ${SOFT_Z} standard deviations from the mean for the stated age; check the dating and the measurement. Size for gestational age was not judged.`;
  return [finding('dating-doubtful', 'size-for-gestational-age', text, doubtful)];
}

type Dating = NonNullable<ObstetricOptions['dating']>;

interface Judgement {
  charted: Charted[];
  notCharted: NotCharted[];
  /** So far from the mean that the dating or the measurement must be wrong. */
  doubtful: Charted[];
  /** Null where it cannot be judged. */
  size: Size | null;
}

function judge(measured: readonly Measurement[], gaDays: number): Judgement {
  const entries = measured.map((measurement) => chart(measurement, gaDays / 7));
  const charted = entries.filter(isCharted);
  const notCharted = entries.filter((entry): entry is NotCharted => !isCharted(entry));
  const doubtful = charted.filter(({ z }) => Math.abs(z) > SOFT_Z);
  return { charted, notCharted, doubtful, size: doubtful.length === 0 ? sizeOf(charted) : null };
}

function summaryOf({ charted, size }: Judgement, dating: Dating, since: GrowthSince): string {
  const values = CHARTED.flatMap((key) => {
    const entry = chartedValue(charted, key);
    return entry ? [valueWithCentile(entry, key)] : [];
  });
  return [
    `At ${weeksAndDays(dating.ga_days)} weeks (${BASIS_TEXT[dating.basis]}):`,
    size ? `${SIZE_LABELS[size.category]}.` : 'size for gestational age was not judged.',
    ...(values.length > 0 ? [`${values.join(', ')}.`] : []),
    since.sentence,
  ].join(' ');
}

function reasonOf({ notCharted, doubtful, size }: Judgement): SectionOutcome['reason'] {
  const parts = [
    ...notCharted.map(({ measurement, reason }) => `${measurement.label}: ${reason}`),
    ...(doubtful.length > 0 ? ['values do not fit the stated age'] : []),
    ...(size || doubtful.length > 0 ? [] : ['the size category needs a weight or an AC']),
  ];
  if (parts.length === 0) return null;
  const text = parts.join('; ');
  return {
    code: doubtful.length > 0 ? 'dating_doubtful' : (notCharted[0]?.code ?? 'no_weight'),
    detail: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    needs: size ? [] : ['AC, or HC, AC and FL'],
  };
}

/** A fall of the centile counts in the late form only (Delphi 2016). */
function crossingFinding({ fall }: GrowthSince, gaDays: number): Finding[] {
  if (!fall || gaDays / 7 < LATE_FORM_WEEKS || fall.points <= CENTILE_CROSSING) return [];
  const { key, before, now, daysBefore } = fall;
  const text = `${abbreviations([key])} crossed more than two quartiles since the scan ${daysBefore} days before: centile ${centileText(before.centile)} then, ${centileText(now.centile)} now.`;
  return [finding('centile-crossing', 'size-for-gestational-age', text, [now])];
}

function run(
  evidence: ObstetricEvidence,
  before: readonly Measurement[],
  classified: Result['classifications'] = [],
): SectionOutcome {
  const { dating } = evidence.options;
  if (!dating) {
    const detail = 'Gestational age was not given, so size for age was not assessed.';
    return notAssessed('no_gestational_age', detail, ['options.dating']);
  }
  const measured = CHARTED.flatMap((key) => standing(before, key) ?? []);
  if (measured.length === 0) {
    const detail = 'Nothing was measured that could be compared with a growth chart.';
    return { ...notAssessed('no_biometry', detail, ['biometry']), data: { dating } };
  }
  const judgement = judge(measured, dating.ga_days);
  const { charted, notCharted, doubtful, size } = judgement;
  const gaDays = dating.ga_days;
  const since = growthSince(evidence, doubtful.length > 0 ? [] : charted, gaDays);
  const small = smallFetus({
    charted: size ? charted : [],
    gaDays,
    basis: dating.basis,
    since,
    measurements: before,
    classified,
  });
  const reason = reasonOf(judgement);
  return {
    status: charted.length === 0 ? 'not_assessed' : reason ? 'partial' : 'complete',
    reason,
    summary: summaryOf(judgement, dating, since),
    data: {
      dating,
      fetuses: 'singleton charts',
      fgr: small.data,
      earlier: since.earlier,
      change: since.change && {
        days_before: since.change.daysBefore,
        values: since.change.values.map(({ key, zPerWeek, before: earlier, now }) => ({
          concept: key,
          z_score_per_week: zPerWeek,
          centile_then: earlier.centile,
          centile_now: now.centile,
        })),
      },
      not_charted: notCharted.map(({ measurement, code, reason: why }) => ({
        measurement: measurement.id,
        code,
        reason: why,
      })),
    },
    amendments: [...charted, ...notCharted].map(amendment),
    classifications: [...(size ? [sizeClassification(size)] : []), ...small.classifications],
    findings: [
      ...datingFinding(doubtful),
      ...(size ? sizeFinding(size) : []),
      ...(doubtful.length > 0 ? [] : partFindings(charted)),
      ...weightFinding(charted, before),
      ...crossingFinding(since, gaDays),
      ...small.findings,
    ],
    guidance: small.guidance,
  };
}

export const growth: ObstetricSection = {
  id: 'growth',
  title: 'Growth',
  needs: ['gestational age from a source other than this biometry', 'biometry'],
  concludes: true,
  run,
};
