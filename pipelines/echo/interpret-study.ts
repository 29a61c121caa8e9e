import { isDeepStrictEqual } from 'node:util';
import type { AcceptedEvidence } from '../../config/schema.ts';
import { assembleResult, type OpenModel } from '../result/assemble.ts';
import { type Decisions, deciding } from '../result/decisions.ts';
import type { Result } from '../result/envelope.ts';
import { forConclusions, withReview } from '../result/needs-review.ts';
import { writeReport } from '../result/render/echo/report.ts';
import { sayOfEcho } from '../result/render/echo/shared.ts';
import type { SectionOutcome } from '../result/section-outcome.ts';
import { logFailure, runSection, type SectionFailed, withDraftReport } from '../run/sections.ts';
import { isOfUnknownStructure } from './displays/measure.ts';
import { type EchoEvidence, SURFACE_SECTION } from './evidence.ts';
import type { EchoOptions } from './input.ts';
import { SECTIONS } from './sections.ts';
import { type Shift, withConfirmed, withWithheld } from './shared/section.ts';
import { valuesOf } from './shared/values.ts';
import { withinIntervals } from './within-intervals.ts';

export const ECHO = {
  id: 'us/echo/interpret',
  model: 'us/echo',
  version: '1.0.0',
  title: 'Echocardiography',
  operation: 'InterpretEcho',
} as const;

/**
 * Adds the limitation of a focused study (echo 15) to a section with at least one accepted value.
 */
function withFocusedRemark(outcome: SectionOutcome): SectionOutcome {
  const { measurements = [], statements = [] } = outcome;
  if (!measurements.some(({ quality }) => quality === 'accepted')) return outcome;
  return {
    ...outcome,
    statements: [...statements, sayOfEcho.limitation('echo.focused-study', {})],
  };
}

/** A section's outcome, and the concepts of the values that it used. */
interface Run {
  outcome: SectionOutcome;
  reads: ReadonlySet<string>;
}

const outcomeOf = ({ outcome }: Run) => outcome;

/**
 * Runs a section on the measured values and on those that earlier sections calculated or withheld.
 *
 * @param before outcomes of the earlier sections.
 */
function runOn(
  section: (typeof SECTIONS)[number],
  evidence: EchoEvidence,
  before: readonly SectionOutcome[],
  shift: Shift | null,
  onFailure: SectionFailed,
): Run {
  const reads = new Set<string>();
  const reported = before.flatMap(({ measurements = [] }) => measurements);
  // A value that an earlier section reported replaces its measured form. If that section withheld
  // it, no later section may use it either.
  const ids = new Set(reported.map(({ id }) => id));
  const others = evidence.measured.filter(({ id }) => !ids.has(id));
  const values = valuesOf([...reported, ...others], shift, reads);
  const outcome = runSection(section, () => section.run(evidence, values), onFailure);
  const own = evidence.measured.filter((one) => one.section === section.id);
  const withheld = own.filter(({ quality }) => quality !== 'accepted');
  const confirmed = own.filter((one) => one.confirmed && isOfUnknownStructure(one));
  const whole = withWithheld(withConfirmed(outcome, confirmed), section.needs, withheld);
  return { outcome: evidence.handheld ? withFocusedRemark(whole) : whole, reads };
}

function changedConcepts(one: SectionOutcome, other: SectionOutcome): string[] {
  const { measurements: before = [] } = one;
  const { measurements: after = [] } = other;
  const places = Array.from({ length: Math.max(before.length, after.length) }, (_, at) => at);
  return places
    .filter((at) => !isDeepStrictEqual(before[at], after[at]))
    .flatMap((at) => [before[at], after[at]].flatMap((value) => value?.concept.key ?? []));
}

/**
 * Ignores a section that fails at one end of an interval. Such an outcome is left out of the
 * comparison.
 */
const unreported: SectionFailed = () => undefined;

/**
 * Returns the outcomes with one value moved to one end of its interval. Only sections that use a
 * changed concept run again. For every other section, the outcome object in `runs` is returned
 * unchanged.
 */
function outcomesAt(shift: Shift, evidence: EchoEvidence, runs: readonly Run[]): SectionOutcome[] {
  const changed = new Set([shift.concept]);
  const outcomes: SectionOutcome[] = [];
  for (const [at, own] of runs.entries()) {
    const section = SECTIONS[at];
    if (!section || own.reads.isDisjointFrom(changed)) {
      outcomes.push(own.outcome);
    } else {
      const { outcome } = runOn(section, evidence, outcomes, shift, unreported);
      for (const concept of changedConcepts(own.outcome, outcome)) changed.add(concept);
      outcomes.push(outcome);
    }
  }
  return outcomes;
}

/**
 * Runs all sections. Only conclusions that hold at both ends of every value's interval are
 * reported.
 */
function concluded(evidence: EchoEvidence, onFailure: SectionFailed): SectionOutcome[] {
  const runs: Run[] = [];
  for (const section of SECTIONS)
    runs.push(runOn(section, evidence, runs.map(outcomeOf), null, onFailure));
  return withinIntervals(
    runs.map(outcomeOf),
    (shift) => outcomesAt(shift, evidence, runs),
    (section) => SECTIONS[section]?.judgesIntervals ?? false,
  );
}

/**
 * Returns the outcomes of all sections. Conclusions are drawn without the values that need a
 * review; these values are then added to the outcomes.
 */
function reviewed(
  evidence: EchoEvidence,
  onFailure: SectionFailed,
  decisions: Decisions | null,
): SectionOutcome[] {
  const whole = deciding(decisions, () => concluded(evidence, onFailure));
  if (!evidence.review) return whole;
  const { counting: counted, setting } = evidence.review;
  const counting = deciding(forConclusions(decisions, setting), () =>
    concluded(counted, onFailure),
  );
  return withReview(whole, counting, setting);
}

/**
 * Adds to the first section with a category or a reference range that adult limits were used, if the
 * age is unknown.
 */
function withAgeRemark(outcomes: readonly SectionOutcome[], { patient }: EchoEvidence) {
  const first = outcomes.find(
    ({ classifications = [], measurements = [] }) =>
      classifications.length > 0 || measurements.some(({ interpretation }) => interpretation),
  );
  return outcomes.map((one) =>
    patient.age === null && one === first
      ? { ...one, statements: [...one.statements, sayOfEcho.limitation('echo.age-unknown', {})] }
      : one,
  );
}

/**
 * Runs the sections on the evidence, in the order of the endpoint, and assembles the result
 * envelope. A section uses the measured values and those calculated by earlier sections. If a
 * section throws, the others still run. The result depends only on the arguments; the only side
 * effect is a log entry for each failed section.
 *
 * @param decisions decisions made by a person in a review.
 */
export function interpretStudy(
  evidence: EchoEvidence,
  options: EchoOptions,
  generatedAt: Date,
  models: readonly OpenModel[] = [],
  accept: AcceptedEvidence = 'real',
  onFailure: SectionFailed = logFailure,
  decisions: Decisions | null = null,
): Result {
  const outcomes = withAgeRemark(reviewed(evidence, onFailure, decisions), evidence);
  const surface = evidence.measured.filter(
    ({ section, concept, quality }) =>
      section === SURFACE_SECTION &&
      concept.key === 'body-surface-area' &&
      // A withheld value is not passed on to later sections. Its own section already lists it as
      // withheld.
      quality === 'accepted',
  );
  const result = assembleResult({
    endpoint: ECHO.id,
    version: ECHO.version,
    generatedAt,
    models,
    accept,
    study: evidence.study,
    refusedFrames: [],
    priors: evidence.priors.length,
    sections: SECTIONS.flatMap((section, i) => {
      const outcome = outcomes[i];
      return outcome ? [{ ...section, outcome }] : [];
    }),
    measurements: [...surface, ...outcomes.flatMap(({ measurements = [] }) => measurements)],
  });
  return withDraftReport(result, options.report ? writeReport : null, onFailure);
}
