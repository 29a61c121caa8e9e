import { findingConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import { say } from '../../result/render/obstetric/nt.ts';
import {
  type ClassificationDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
  type GuidanceDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { bothValues, differ } from '../shared/measurement.ts';
import { finding } from '../shared/section.ts';
import { HIGH_NT, nuchalCategory, nuchalTranslucency95 } from './guideline.ts';

const KEY = 'nuchal-translucency';

const categoryOf = (nt: Measurement, crl: Measurement | null) =>
  nuchalCategory(nt.value, crl?.value ?? null);

const categoryOfInterval = (nt: Measurement, crl: Measurement | null) =>
  categoryWithin(nt, (mm) => nuchalCategory(mm, crl?.value ?? null));

/**
 * Returns the lowest category within the interval. The thickness is certainly in this category or a
 * higher one.
 */
function certainCategory(nt: Measurement, crl: Measurement | null) {
  const { category, between } = categoryOfInterval(nt, crl);
  return between === null ? category : between[0];
}

/** Returns the 95th centile for the CRL in mm; null without a CRL in the window. */
export const limitOf = (crl: Measurement | null): number | null =>
  crl && nuchalTranslucency95(crl.value);

/** Adds the 95th centile for the CRL as reference of the thickness. */
export function withReference(nt: Measurement, crl: Measurement | null): Measurement {
  const high = limitOf(crl);
  const { category } = categoryOfInterval(nt, crl);
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

/**
 * Returns the classification with its limits. Empty if the interval includes a cut-off, or if the
 * thickness is below `HIGH_NT` and there is no CRL in the window.
 */
export function nuchalClassification(
  nt: Measurement,
  crl: Measurement | null,
): ClassificationDraft[] {
  const { category: value } = categoryOfInterval(nt, crl);
  if (value === null) return [];
  const limit = limitOf(crl);
  const shown = { of: KEY, value: nt.value, cutOffs: limit === null ? [] : [limit] };
  return [
    {
      id: 'nuchal-translucency-category',
      concept: findingConcept('nuchal-translucency'),
      name: 'Nuchal translucency',
      value,
      scheme: 'FMF 95th centile by CRL; 99th centile of Snijders 1998',
      criteria: [
        ...(limit === null
          ? []
          : [
              criterion(
                `at least the 95th centile, ${limit.toFixed(2)} mm`,
                shown,
                nt.value >= limit,
              ),
            ]),
        criterion(`at least ${HIGH_NT} mm`, shown, nt.value >= HIGH_NT),
      ],
    },
  ];
}

/** Reports that the value may be on either side of a limit, with both categories. */
export function nuchalDoubt(nt: Measurement, crl: Measurement | null): Statement[] {
  const { between } = categoryOfInterval(nt, crl);
  return between === null
    ? []
    : [say.gap('nt.at-cut-off', { between: [...between], high: HIGH_NT }, [nt])];
}

const increased = ({ confidence }: Measurement, said: Statement, id = 'nuchal-translucency') =>
  finding(`increased-${id}`, KEY, said, 'abnormal', { confidence });

/** Returns true if a thickness is certainly at least `HIGH_NT`. */
export const isHigh = (nt: Measurement): boolean => certainCategory(nt, null) === 'high';

/** Returns the finding for a thickness that is certainly at or above one of its limits. */
export function nuchalFindings(nt: Measurement, crl: Measurement | null): FindingDraft[] {
  const category = certainCategory(nt, crl);
  if (category !== 'increased' && category !== 'high') return [];
  const limits = { cutOff: HIGH_NT, limit: limitOf(crl) };
  return [increased(nt, say.conclusion('nt.increased', { category, ...limits }, [nt]))];
}

/**
 * Assesses the thicknesses in a study of several fetuses: each thickness that the machine's reports
 * assign to a fetus, and the largest on the images, which may belong to any fetus. Returns a
 * finding for each thickness that is certainly high at any CRL, and a statement for each whose
 * interval includes the limit.
 */
export function highOfSeveral(measurements: readonly Measurement[]): {
  findings: FindingDraft[];
  doubts: Statement[];
} {
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  const [most] = accepted
    .filter(({ fetus }) => fetus === null)
    .toSorted((one, other) => other.value - one.value);
  const named = accepted.filter(({ fetus }) => fetus !== null);
  const judged = [...named, ...(most ? [most] : [])];
  return {
    findings: judged.filter(isHigh).map((one) => {
      const said = say.conclusion('nt.high-of-several', { cutOff: HIGH_NT }, [one]);
      return increased(one, said, one.fetus === null ? undefined : one.id);
    }),
    doubts: judged.flatMap((one) => nuchalDoubt(one, null)),
  };
}

interface NuchalDifference {
  statement: Statement;
  /** True if the two values are in different categories. */
  ofCategory: boolean;
}

/** Returns how the machine's thickness differs from ours; null if it does not. */
export function nuchalDifference(
  measurements: readonly Measurement[],
  crl: Measurement | null,
): NuchalDifference | null {
  const both = bothValues(measurements, KEY);
  if (!both) return null;
  const { machine, own } = both;
  const ofCategory = categoryOf(machine, crl) !== categoryOf(own, crl);
  if (!ofCategory && !differ(both)) return null;
  return {
    statement: say.gap('nt.differs', { ofCategory, limit: limitOf(crl) }, [machine, own]),
    ofCategory,
  };
}

/**
 * Returns the finding that the machine's thickness differs from ours. This must be reported because
 * one of them may be abnormal.
 */
export function differenceFinding(difference: NuchalDifference | null): FindingDraft[] {
  if (!difference) return [];
  const id = 'nuchal-translucency-differs';
  return [finding(id, 'repeatability', difference.statement, 'abnormal')];
}

export const HIGH_GUIDANCE: GuidanceDraft = {
  id: 'nuchal-translucency-high',
  statement: say.advice('nt.advice-high', { mm: HIGH_NT }),
  source: 'ISUOG 2023, Ultrasound Obstet Gynecol 61:127-143',
};
