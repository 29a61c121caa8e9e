import type { AcceptedEvidence } from '../../config/schema.ts';
import {
  type EvidenceInput,
  evidenceEntry,
  evidenceFor,
  halfWidth95,
  type ReviewReason,
  reviewReason,
} from '../concepts/method-evidence.ts';
import type { Decisions } from './decisions.ts';
import type { Measurement } from './envelope.ts';
import { isConfirmed, isOfMachine, isSummary } from './measured.ts';
import { remark } from './render/remarks.ts';
import { sayOfRun } from './render/shared.ts';
import { isConclusive, type SectionOutcome } from './section-outcome.ts';
import type { Statement } from './statement.ts';

/**
 * Excludes values that need review from every conclusion. The sections run twice: once on the
 * values that need no review, and once on all measured values. The conclusions come from the first
 * run, which has no access to the other values. The second run only contributes the other
 * measurements, marked as `review`.
 */

interface TwoRuns<Outcome extends SectionOutcome> {
  counting: Outcome;
  whole: Outcome;
}

/** Properties of the study, and the evidence accepted without review. */
export interface ReviewSetting {
  accept: AcceptedEvidence;
  gaDays: number | null;
  /** Ids of the models in use. */
  models: ReadonlySet<string>;
}

const inputOf = (
  { gaDays, models }: Omit<ReviewSetting, 'accept'>,
  one: Pick<Measurement, 'concept' | 'value'>,
): EvidenceInput => ({ gaDays, models, sizes: { [one.concept.key]: one.value } });

/** Returns true if a value was measured by this software on an image of the study. */
const isMeasuredByUs = (one: Measurement): boolean => one.origin === 'image' && !isOfMachine(one);

/**
 * Returns why a measured value needs review; null if it does not. Values from the machine, the
 * request or a person never need review.
 */
export function reviewOf(one: Measurement, setting: ReviewSetting): ReviewReason | null {
  if (!isMeasuredByUs(one) || isConfirmed(one)) return null;
  const key = evidenceFor(one.method, one.concept.key, setting.models);
  return reviewReason(key && evidenceEntry(key), inputOf(setting, one), setting.accept);
}

/**
 * Returns a person's decisions for the run that draws the conclusions. In this run, values that
 * still need review are left out, except calculated values whose formula has no recorded evidence:
 * the sections calculate these only from values that are used.
 */
export const forConclusions = (
  decisions: Decisions | null,
  setting: ReviewSetting,
): Decisions | null =>
  decisions && {
    ...decisions,
    needsReview: (one) => {
      const reason = reviewOf(one, setting);
      return reason !== null && !(reason === 'no-evidence' && one.inputs.length > 0);
    },
  };

/**
 * Returns an outcome without the values that need review. These are excluded from the run that
 * draws the conclusions (decisions.ts).
 */
function withoutReview<Outcome extends SectionOutcome>(outcome: Outcome): Outcome {
  if (!outcome.measurements?.some(({ quality }) => quality === 'review')) return outcome;
  const measurements = outcome.measurements.filter(({ quality }) => quality !== 'review');
  return { ...outcome, measurements };
}

/** Adds to a measurement the key of the evidence for its method. */
export function withEvidence(one: Measurement, models: ReadonlySet<string>): Measurement {
  const key = isMeasuredByUs(one) ? evidenceFor(one.method, one.concept.key, models) : null;
  return key === null ? one : { ...one, evidence: key };
}

/** Adds to a measurement the 95 % interval that the evidence for its method states. */
export function withInterval(one: Measurement, models: ReadonlySet<string>): Measurement {
  if (one.uncertainty !== null || !isMeasuredByUs(one)) return one;
  const key = evidenceFor(one.method, one.concept.key, models);
  return key === null ? one : { ...one, uncertainty: halfWidth95(key, one.concept.key, one.value) };
}

/**
 * Returns the identity of a measurement, which does not depend on the values it was compared with.
 */
const identity = ({ section, concept, value, method, source, laterality, fetus }: Measurement) =>
  JSON.stringify([
    section,
    concept.key,
    value,
    method,
    source.file,
    source.frame,
    laterality,
    fetus,
  ]);

const measurementsOf = (outcomes: readonly SectionOutcome[]): Measurement[] =>
  outcomes.flatMap(({ measurements = [] }) => measurements);

/**
 * Returns why a value from the second run needs review. For a calculated value, the reason is that
 * its inputs need review.
 */
function reasonFor(one: Measurement, setting: ReviewSetting): ReviewReason {
  const reason = reviewOf(one, setting);
  return reason === null || (reason === 'no-evidence' && one.inputs.length > 0)
    ? 'rests-on-review'
    : reason;
}

/** Turns a value that the second run accepted into a proposal. */
function proposal(one: Measurement, setting: ReviewSetting): Measurement {
  if (one.quality !== 'accepted') return one;
  const reason = reasonFor(one, setting);
  return {
    ...one,
    quality: 'review',
    standing: one.standing === 'repeat' ? 'repeat' : 'proposed',
    reference: null,
    interpretation: null,
    remarks: [
      // This remark is left out because the reason for the review has the same content.
      ...one.remarks.filter(({ code }) => code !== 'method.simulated-only'),
      remark('value.needs-review', { reason }),
    ],
  };
}

/** Returns one statement for each reason, with the values that it applies to. */
function reviewGaps(proposals: readonly Measurement[], setting: ReviewSetting): Statement[] {
  const parts = new Set(proposals.filter(isSummary).flatMap(({ inputs }) => inputs));
  const shown = proposals.filter(
    ({ id, quality, standing }) => quality === 'review' && standing !== 'repeat' && !parts.has(id),
  );
  const byReason = Map.groupBy(shown, (one) => reasonFor(one, setting));
  return [...byReason].map(([reason, values]) =>
    sayOfRun.gap('run.needs-review', { reason }, values),
  );
}

const isGap = ({ kind }: Statement) => kind === 'gap';

/** Returns the gaps that both runs have, in the wording of the second run. */
function commonGaps({ counting, whole }: TwoRuns<SectionOutcome>): Statement[] {
  const codes = new Set(counting.statements.filter(isGap).map(({ code }) => code));
  const known = new Set(measurementsOf([counting]).map(({ id }) => id));
  return whole.statements.filter(
    (one) => isGap(one) && codes.has(one.code) && one.about.every((id) => known.has(id)),
  );
}

/** What a section needs while its values are under review. */
const CONFIRMATION = 'a person who confirms the values';

/** Combines the two runs of a section in which values, or readings of images, need review. */
function joined<Outcome extends SectionOutcome>(
  runs: TwoRuns<Outcome>,
  proposals: readonly Measurement[],
  setting: ReviewSetting,
): Outcome {
  const { counting, whole } = runs;
  const measurements = [...(counting.measurements ?? []), ...proposals];
  const own = reviewGaps(proposals, setting);
  const isSilent = JSON.stringify(counting.statements) === JSON.stringify(whole.statements);
  if (counting.status === 'failed' || (own.length === 0 && isSilent)) {
    return { ...counting, measurements };
  }
  if (own.length === 0 && !isConclusive(whole) && !isConclusive(counting)) {
    // If neither run concludes anything, the reason comes from the second run, which has more
    // evidence.
    const { findings, classifications, guidance } = counting;
    return { ...whole, findings, classifications, guidance, measurements };
  }
  const gaps = own.length > 0 ? own : [sayOfRun.gap('run.rests-on-review', {})];
  const { structures } = { structures: undefined, ...whole.data };
  if (isConclusive(counting)) {
    const { reason } = counting;
    return {
      ...counting,
      status: 'partial',
      reason: {
        code: reason?.code ?? 'needs_review',
        gaps: [...gaps, ...(reason?.gaps ?? [])],
        needs: [...(reason?.needs ?? []), CONFIRMATION],
      },
      statements: [...counting.statements, ...gaps],
      data: { ...whole.data, ...counting.data },
      measurements,
    };
  }
  const said = [...gaps, ...commonGaps(runs)];
  return {
    ...counting,
    status: 'not_assessed',
    reason: { code: 'needs_review', gaps: said, needs: [CONFIRMATION] },
    statements: said,
    data: { ...(structures !== undefined && { structures }), review: whole.data ?? {} },
    measurements,
  };
}

/**
 * Returns the outcomes of all sections. The conclusions come from `counting`, the run without the
 * values that need review; these values are added from `whole`, the run on all values. Both list
 * the same sections in the same order.
 */
export function withReview<Outcome extends SectionOutcome>(
  whole: readonly Outcome[],
  counting: readonly Outcome[],
  setting: ReviewSetting,
): Outcome[] {
  const sections = whole.flatMap((one, i): TwoRuns<Outcome>[] => {
    const own = counting[i];
    return own ? [{ whole: one, counting: withoutReview(own) }] : [];
  });
  const counted = measurementsOf(sections.map(({ counting }) => counting));
  const known = new Set(counted.map(identity));
  const taken = new Set(counted.map(({ id }) => id));
  const isNew = (one: Measurement) => !known.has(identity(one));
  const clashing = measurementsOf(whole)
    .filter((one) => isNew(one) && taken.has(one.id))
    .map(({ id }) => id);
  const renamed = new Map(clashing.map((id) => [id, `${id}-review`]));
  const nameOf = (id: string) => renamed.get(id) ?? id;
  return sections.map((runs) => {
    const proposals = (runs.whole.measurements ?? []).filter(isNew).map((one) => {
      const own = proposal(one, setting);
      return { ...own, id: nameOf(one.id), inputs: own.inputs.map(nameOf) };
    });
    return joined(runs, proposals, setting);
  });
}
