import { centileText, zScoreText } from '../result/centile-text.ts';
import { type FindingConceptKey, findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement } from '../result/envelope.ts';
import { CENTILE_CROSSING, LATE_FORM_WEEKS } from './charts/growth-restriction.ts';
import { MACROSOMIA_GRAMS } from './charts/size-category.ts';
import { type Charted, chartedValue, valueWithCentile } from './growth-references.ts';
import type { GrowthSince } from './growth-since.ts';
import { abbreviations, format, standing } from './measurement.ts';
import { SOFT_Z } from './plausibility.ts';

export function growthFinding(
  id: string,
  concept: FindingConceptKey,
  text: string,
  evidence: readonly Charted[],
  severity: Finding['severity'] = 'abnormal',
): Finding {
  return {
    id,
    section: 'growth',
    concept: findingConcept(concept),
    text,
    severity,
    confidence: null,
    evidence: evidence.map(({ measurement }) => measurement.id),
  };
}

/** z-scores beyond which a part is called small or large (obstetric reference 3.8). */
const PART_Z = { microcephaly: -3, low: -2, high: 2 } as const;

/** Head and femur by z-score; a small BPD beside a head of its size is a matter of shape. */
export function partFindings(charted: readonly Charted[]): Finding[] {
  const [hc, fl, bpd] = (['hc', 'fl', 'bpd'] as const).map((key) => chartedValue(charted, key));
  const findings: Finding[] = [];
  if (hc && (hc.z > PART_Z.high || hc.z < PART_Z.low)) {
    const word =
      hc.z > PART_Z.high
        ? 'Large head'
        : hc.z < PART_Z.microcephaly
          ? 'Microcephaly range'
          : 'Small head';
    const text = `${word}: ${valueWithCentile(hc, 'hc')}, z-score ${zScoreText(hc.z)}.`;
    findings.push(growthFinding('head-size', 'head-size', text, [hc]));
  }
  if (bpd && hc && bpd.z < PART_Z.low && hc.z >= PART_Z.low) {
    const text = `${valueWithCentile(bpd, 'bpd')}, z-score ${zScoreText(bpd.z)}, with an HC that is not small: an effect of the shape of the head.`;
    findings.push(growthFinding('bpd-shape', 'head-shape', text, [bpd, hc], 'info'));
  }
  if (fl && fl.z < PART_Z.low) {
    const text = `Short femur: ${valueWithCentile(fl, 'fl')}, z-score ${zScoreText(fl.z)}.`;
    findings.push(growthFinding('femur-size', 'femur-size', text, [fl]));
  }
  return findings;
}

/** Macrosomia is a matter of grams, with or without a centile (ACOG Practice Bulletin 216). */
export function weightFinding(
  charted: readonly Charted[],
  measurements: readonly Measurement[],
): Finding[] {
  const efw = standing(measurements, 'efw');
  const reached = MACROSOMIA_GRAMS.find((grams) => efw !== null && efw.value >= grams);
  if (!efw || reached === undefined) return [];
  const entry = chartedValue(charted, 'efw');
  const text = `Estimated weight ${format('efw', efw.value)}: macrosomia range (${reached} g or more).`;
  return [
    {
      ...growthFinding('macrosomia', 'size-for-gestational-age', text, entry ? [entry] : []),
      evidence: [efw.id],
    },
  ];
}

export function datingFinding(doubtful: readonly Charted[]): Finding[] {
  if (doubtful.length === 0) return [];
  const names = doubtful.map(({ measurement }) => measurement.label).join(', ');
  const text = `${names}: more than ${SOFT_Z} standard deviations from the mean for the stated age; check the dating and the measurement. Size for gestational age was not judged.`;
  return [growthFinding('dating-doubtful', 'size-for-gestational-age', text, doubtful)];
}

/** A fall of the centile counts in the late form only (Delphi 2016). */
export function crossingFinding({ fall }: GrowthSince, gaDays: number): Finding[] {
  if (!fall || gaDays / 7 < LATE_FORM_WEEKS || fall.points <= CENTILE_CROSSING) return [];
  const { key, before, now, daysBefore } = fall;
  const text = `${abbreviations([key])} crossed more than two quartiles since the scan ${daysBefore} days before: centile ${centileText(before.centile)} then, ${centileText(now.centile)} now.`;
  return [growthFinding('centile-crossing', 'size-for-gestational-age', text, [now])];
}
