import { findingConcept } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { acrossCutOff } from '../../result/obstetric/limits.ts';
import { formatValue } from '../../result/render/number-text.ts';
import type { FindingDraft, GuidanceDraft } from '../../result/section-outcome.ts';
import { bothValues, differ } from '../shared/machine-values.ts';
import { HIGH_NT, nuchalCategory, nuchalTranslucency95 } from './guideline.ts';
import { NUCHAL_SECTION } from './measure.ts';

const KEY = 'nuchal-translucency';

/** What a thickness of `HIGH_NT` or more is called in a sentence. */
const HIGH_RULE = `${HIGH_NT} mm or more`;

const categoryOf = (nt: Measurement, crl: Measurement | null) =>
  nuchalCategory(nt.value, crl?.value ?? null);

/** A thickness as every sentence shows it: on its side of the limits. */
export function nuchalText(nt: Measurement, crl: Measurement | null): string {
  const limit = crl && nuchalTranslucency95(crl.value);
  return formatValue(KEY, nt.value, limit === null ? [] : [limit]);
}

/** The thickness with its 95th centile by CRL. */
export function withReference(nt: Measurement, crl: Measurement | null): Measurement {
  const high = crl ? nuchalTranslucency95(crl.value) : null;
  const category = nuchalCategory(nt.value, crl?.value ?? null);
  return {
    ...nt,
    reference:
      high === null
        ? null
        : { low: null, high, centile: null, z_score: null, chart: 'fmf-nuchal-translucency' },
    interpretation: category === null ? null : category === 'normal' ? 'N' : 'H',
    inputs: [...nt.inputs, ...(crl ? [crl.id] : [])],
  };
}

/** The category with its limits; none below `HIGH_NT` without a CRL. */
export function nuchalClassification(
  nt: Measurement,
  crl: Measurement | null,
): Result['classifications'] {
  const value = nuchalCategory(nt.value, crl?.value ?? null);
  if (value === null) return [];
  const limit = crl ? nuchalTranslucency95(crl.value) : null;
  const shown = nuchalText(nt, crl);
  return [
    {
      id: 'nuchal-translucency-category',
      section: NUCHAL_SECTION,
      concept: findingConcept('nuchal-translucency'),
      name: 'Nuchal translucency',
      value,
      scheme: 'FMF 95th centile by CRL; 99th centile of Snijders 1998',
      criteria: [
        ...(limit === null
          ? []
          : [
              {
                name: `at least the 95th centile, ${limit.toFixed(2)} mm`,
                value: shown,
                met: nt.value >= limit,
              },
            ]),
        { name: `at least ${HIGH_NT} mm`, value: shown, met: nt.value >= HIGH_NT },
      ],
    },
  ];
}

/** Where the value is on neither side of a limit for sure; the finding stands, to be looked at. */
export function nuchalDoubt(nt: Measurement, crl: Measurement | null): string | null {
  const limit = crl ? nuchalTranslucency95(crl.value) : null;
  const limits = [...(limit === null ? [] : [Number(limit.toFixed(2))]), HIGH_NT];
  return acrossCutOff(nt.value, nt.uncertainty, limits);
}

function finding(nt: Measurement, text: readonly (string | null)[]): FindingDraft {
  return {
    id: 'increased-nuchal-translucency',
    section: NUCHAL_SECTION,
    concept: findingConcept(KEY),
    text: text.filter(Boolean).join(' '),
    severity: 'abnormal',
    confidence: nt.confidence,
    evidence: [nt.id],
  };
}

/** A thickness at or above one of its limits. */
export function nuchalFindings(nt: Measurement, crl: Measurement | null): FindingDraft[] {
  const value = categoryOf(nt, crl);
  if (value !== 'increased' && value !== 'high') return [];
  const limit = value === 'high' ? HIGH_RULE : 'at or above the 95th centile';
  const text = `Nuchal translucency ${nuchalText(nt, crl)}, ${limit}.`;
  return [finding(nt, [text, nuchalDoubt(nt, crl)])];
}

/** Of several fetuses: whichever it is of, a thickness that is high at any CRL is told. */
export function highOfSeveral(measurements: readonly Measurement[]): FindingDraft[] {
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  const [most] = accepted.toSorted((one, other) => other.value - one.value);
  if (!most || most.value < HIGH_NT) return [];
  const text = `Nuchal translucency ${nuchalText(most, null)}, ${HIGH_RULE}, on an image of one of several fetuses.`;
  return [finding(most, [text, nuchalDoubt(most, null)])];
}

/** How the machine's thickness and ours differ, and whether in their category; null: they do not. */
export function nuchalDifference(
  measurements: readonly Measurement[],
  crl: Measurement | null,
): { text: string; ofCategory: boolean; evidence: string[] } | null {
  const both = bothValues(measurements, KEY);
  if (!both) return null;
  const { machine, own } = both;
  const ofCategory = categoryOf(machine, crl) !== categoryOf(own, crl);
  if (!ofCategory && !differ(both)) return null;
  const values = `Nuchal translucency ${nuchalText(machine, crl)} by the ultrasound machine, ${nuchalText(own, crl)} as measured here`;
  const text = ofCategory
    ? `${values}: of different categories, so that none is given; measure by hand.`
    : `${values}: measure by hand.`;
  return { text, ofCategory, evidence: [machine.id, own.id] };
}

/** That the machine's thickness and ours differ, of which one may be abnormal. */
export function differenceFinding(difference: ReturnType<typeof nuchalDifference>): FindingDraft[] {
  if (!difference) return [];
  const { text, evidence } = difference;
  return [
    {
      id: 'nuchal-translucency-differs',
      section: NUCHAL_SECTION,
      concept: findingConcept('repeatability'),
      text,
      severity: 'abnormal',
      confidence: null,
      evidence,
    },
  ];
}

export const HIGH_GUIDANCE: GuidanceDraft = {
  id: 'nuchal-translucency-high',
  section: NUCHAL_SECTION,
  text: `NT of ${HIGH_RULE}: diagnostic testing, detailed anatomy and fetal echocardiography are usually offered.`,
  source: 'ISUOG 2023, Ultrasound Obstet Gynecol 61:127-143',
};
