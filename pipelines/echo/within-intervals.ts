import type { Measurement } from '../result/envelope.ts';
import { sayOfCategories } from '../result/render/echo/categories.ts';
import { sayOfEcho } from '../result/render/echo/shared.ts';
import {
  type CriterionDraft,
  type FindingDraft,
  insideOf,
  isConclusive,
  type SectionOutcome,
} from '../result/section-outcome.ts';
import type { Param, Statement } from '../result/statement.ts';
import { UNGRADED_BANDS } from './shared/grading.ts';
import type { EchoClassification, Shift } from './shared/section.ts';

/**
 * A conclusion is reported only if it holds at both ends of the 95 % interval of every value. The
 * sections run on the values as measured, and again with each value moved to each end of its
 * interval. Calculated values have intervals too and are moved in the same way. A category, finding
 * or conclusion that changes at one end is replaced by a statement of both sides. Only one value is
 * moved at a time, so two values that are both close to a cut-off are not moved together.
 */

interface ValueEnds {
  of: Measurement;
  low: readonly SectionOutcome[];
  high: readonly SectionOutcome[];
}

interface SectionEnd {
  of: Measurement;
  outcome: SectionOutcome;
}

/** A classification whose category changes at an end of an interval. */
interface Undecided {
  id: string;
  name: string;
  /** Scale of the categories; absent if they are their own texts. */
  scale?: string;
  /** Null is no category. */
  categories: readonly Param[];
  /** Values whose intervals include a cut-off. */
  about: readonly Measurement[];
}

const isConclusion = ({ kind }: Statement) => kind === 'conclusion' || kind === 'advice';
const isLoud = ({ severity }: FindingDraft) => severity !== 'info';

/**
 * Parameters that list the grounds for a conclusion. Conclusions count as the same even if their
 * grounds differ.
 */
const GROUNDS: ReadonlySet<string> = new Set(['criteria', 'readings', 'judged', 'because']);

/**
 * Codes of the statements that answer a question of the focused study. If one of them is dropped
 * and no classification states both sides, a statement must say that the answer is uncertain.
 */
const ANSWERS: ReadonlySet<string> = new Set([
  'focused.lv-function',
  'focused.rv-function',
  'focused.cava',
  'focused.effusion',
]);

const asNormal = (band: string) => (UNGRADED_BANDS.has(band) ? 'normal' : band);

/**
 * Returns a parameter without its numbers and the members in `GROUNDS`, so that only categories
 * remain. `bandOf` returns the category that a code counts as.
 */
function categoryOf(param: Param, bandOf: (band: string) => string): Param {
  if (typeof param === 'number') return 0;
  if (typeof param === 'string') return bandOf(param);
  if (typeof param !== 'object' || param === null) return param;
  if (Array.isArray(param)) return param.map((one) => categoryOf(one, bandOf));
  return Object.fromEntries(
    Object.entries(param).flatMap(([name, one]) =>
      GROUNDS.has(name) ? [] : [[name, categoryOf(one, bandOf)]],
    ),
  );
}

/**
 * Returns a string that is equal for two statements if they draw the same conclusion from different
 * numbers.
 */
const sayingOf = ({ code, params }: Statement, bandOf = asNormal) =>
  JSON.stringify([code, categoryOf(params, bandOf)]);

/** Like `sayingOf`, but an ungraded band outside the normal range differs from "normal". */
const exactSayingOf = (statement: Statement) => sayingOf(statement, (band) => band);

const sayingsOf = ({ statement, statements = [] }: FindingDraft) =>
  JSON.stringify([...(statement ? [statement] : []), ...statements].map((one) => sayingOf(one)));

const distinct = (values: readonly Measurement[]) => [
  ...new Map(values.map((one) => [one.id, one])).values(),
];

const isSame = (one: Param, other: Param) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Returns true if the category at an end of the interval differs. A change from normal to an
 * ungraded band does not count; the reverse does.
 */
const isUncertain = (own: Param, end: Param): boolean =>
  !isSame(own, end) && !(own === 'normal' && typeof end === 'string' && UNGRADED_BANDS.has(end));

function sidesOf(own: Param, found: readonly Param[]): Param[] {
  const sides = found.map((one) =>
    typeof one === 'string' && !isSame(one, own) ? asNormal(one) : one,
  );
  return sides.filter((one, at) => sides.findIndex((other) => isSame(one, other)) === at);
}

const scaleOf = (value: EchoClassification['value']) =>
  typeof value === 'string' ? {} : { scale: value.scale };

function undecidedOf(outcome: SectionOutcome, ends: readonly SectionEnd[]): Undecided[] {
  const all = [outcome, ...ends.map((end) => end.outcome)].flatMap(
    ({ classifications = [] }) => classifications,
  );
  const known = new Map(all.map(({ id, name, value }) => [id, { name, ...scaleOf(value) }]));
  const categoryIn = ({ classifications = [] }: SectionOutcome, id: string): Param => {
    const value = classifications.find((one) => one.id === id)?.value ?? null;
    return typeof value === 'string' ? value : (value?.category ?? null);
  };
  return [...known].flatMap(([id, named]) => {
    const own = categoryIn(outcome, id);
    const other = ends.filter((end) => isUncertain(own, categoryIn(end.outcome, id)));
    const about = distinct(other.map((end) => end.of));
    if (about.length === 0) return [];
    // The categories are listed in this order: at the low end of the first value, at the value
    // itself, at its high end, then at the ends of the other values.
    const [low, ...rest] = ends.filter((end) => about.includes(end.of));
    const found = [low, null, ...rest].flatMap((end) =>
      end === undefined ? [] : [end === null ? own : categoryIn(end.outcome, id)],
    );
    const categories = sidesOf(own, found);
    return [{ id, ...named, categories, about }];
  });
}

/**
 * Returns statements with both sides of each undecided classification. Classifications that depend
 * on the same values share a statement.
 */
function bothSides(undecided: readonly Undecided[]): Statement[] {
  const groups = Map.groupBy(undecided, ({ about }) => JSON.stringify(about.map(({ id }) => id)));
  return [...groups.values()].flatMap((own) => {
    const open = own.map(({ about, ...one }) => one);
    return sayOfCategories.conclusion('echo.between', { open }, own[0]?.about);
  });
}

const isMet = (one: CriterionDraft | undefined) => one?.outcome === 'met';

/**
 * Returns a classification whose category is the same at every end, but marks each criterion that
 * is met at some ends and not at others as being at the cut-off.
 */
function withDecidedCriteria(
  one: EchoClassification,
  ends: readonly SectionEnd[],
): EchoClassification {
  const criteria = one.criteria.map((criterion, at): CriterionDraft => {
    const isEqual = ends.every(({ outcome: { classifications = [] } }) => {
      const other = classifications.find(({ id }) => id === one.id)?.criteria;
      return other?.length !== one.criteria.length || isMet(other[at]) === isMet(criterion);
    });
    return isEqual ? criterion : { ...criterion, outcome: 'at_cut_off' };
  });
  return { ...one, criteria };
}

const sharesEvidence = (one: FindingDraft, other: FindingDraft) =>
  one.evidence.some((id) => other.evidence.includes(id));

/**
 * Returns the findings to report. A finding that changes at an end of an interval is dropped, but if
 * every such end has a finding about the same values, it is kept with a statement of both sides. A
 * critical finding is always kept, because a clinician must look at it at once. Findings of severity
 * `info` that change are always dropped.
 * @returns `dropped` are the values whose intervals are the reason why a finding other than `info`
 *   was dropped.
 */
function findingsOf(
  outcome: SectionOutcome,
  ends: readonly SectionEnd[],
  undecided: readonly Undecided[],
): { kept: FindingDraft[]; dropped: Measurement[] } {
  const kept: FindingDraft[] = [];
  const dropped: Measurement[] = [];
  for (const own of outcome.findings ?? []) {
    const different = ends.filter(({ outcome: { findings = [] } }) =>
      findings.every((other) => other.id !== own.id || sayingsOf(other) !== sayingsOf(own)),
    );
    if (different.length === 0) {
      kept.push(own);
      continue;
    }
    const isFound = different.every(({ outcome: { findings = [] } }) =>
      findings.some((other) => isLoud(other) && sharesEvidence(own, other)),
    );
    const about = distinct(different.map(({ of }) => of));
    if (isLoud(own) && (isFound || own.severity === 'critical')) {
      const related = undecided.filter((one) => one.about.some((value) => about.includes(value)));
      const { statement: _, ...rest } = own;
      const both =
        related.length > 0
          ? bothSides(related)
          : [sayOfEcho.conclusion('echo.either-side', {}, about)];
      kept.push({ ...rest, statements: both });
    } else if (isLoud(own)) {
      dropped.push(...about);
    }
  }
  return { kept, dropped };
}

function foundAtEnds(outcome: SectionOutcome, ends: readonly SectionEnd[]): Measurement[] {
  const own = (outcome.findings ?? []).filter(isLoud);
  return ends.flatMap(({ of, outcome: { findings = [] } }) =>
    findings.some(
      (other) =>
        isLoud(other) && own.every((one) => one.id !== other.id && !sharesEvidence(one, other)),
    )
      ? [of]
      : [],
  );
}

function holding(outcome: SectionOutcome, ends: readonly SectionEnd[]): SectionOutcome {
  const undecided = undecidedOf(outcome, ends);
  const { kept, dropped } = findingsOf(outcome, ends, undecided);
  const explained = new Set(undecided.flatMap(({ about }) => about));
  const unexplained = distinct([...dropped, ...foundAtEnds(outcome, ends)]).filter(
    (one) => !explained.has(one),
  );
  const sayings = ends.map(
    (end) => new Set(end.outcome.statements.flatMap((one) => [exactSayingOf(one), sayingOf(one)])),
  );
  const holds = (one: Statement) =>
    !isConclusion(one) || sayings.every((at) => at.has(exactSayingOf(one)));
  const statements = outcome.statements.filter(holds);
  const unanswered = distinct(
    outcome.statements
      .filter((one) => ANSWERS.has(one.code))
      .flatMap((one) =>
        ends.flatMap(({ of }, i) => (sayings[i]?.has(exactSayingOf(one)) ? [] : [of])),
      ),
  ).filter((one) => !explained.has(one));
  const sides = [
    ...bothSides(undecided),
    ...(unanswered.length > 0 ? [sayOfEcho.conclusion('echo.answer-open', {}, unanswered)] : []),
    ...(unexplained.length > 0 ? [sayOfEcho.conclusion('echo.either-side', {}, unexplained)] : []),
  ];
  const at = statements.findIndex(({ kind }) => kind === 'gap');
  const ids = new Set(undecided.map(({ id }) => id));
  return {
    ...outcome,
    statements: at < 0 ? [...statements, ...sides] : statements.toSpliced(at, 0, ...sides),
    findings: kept,
    classifications: (outcome.classifications ?? [])
      .filter(({ id }) => !ids.has(id))
      .map((one) => withDecidedCriteria(one, ends)),
  };
}

/**
 * Returns the outcomes of the sections with only the conclusions that hold within every value's
 * interval.
 *
 * @param outcomes outcomes with every value as measured.
 *
 * @param at returns the outcomes with one value moved. An outcome that did not change is the same
 * object.
 *
 * @param judgesItself returns true if the rules of a section already consider the intervals.
 */
export function withinIntervals(
  outcomes: readonly SectionOutcome[],
  at: (shift: Shift) => readonly SectionOutcome[],
  judgesItself: (section: number) => boolean,
): SectionOutcome[] {
  const values = distinct(
    outcomes
      .flatMap(({ measurements = [] }) => measurements)
      .filter(({ quality, uncertainty }) => quality === 'accepted' && (uncertainty ?? 0) > 0),
  );
  const moved = values.map((of): ValueEnds => {
    const half = insideOf(of.uncertainty ?? 0);
    const to = (by: number) =>
      at({ id: of.id, concept: of.concept.key, from: of.value, to: of.value + by });
    return { of, low: to(-half), high: to(half) };
  });
  return outcomes.map((outcome, section) => {
    // A section without conclusions draws none at the ends of an interval either.
    if (judgesItself(section) || !isConclusive(outcome)) return outcome;
    const ends = moved.flatMap(({ of, low, high }): SectionEnd[] => {
      const both = [low[section], high[section]].filter((one) => one !== undefined);
      if (both.every((one) => one === outcome)) return [];
      return both.filter(({ status }) => status !== 'failed').map((one) => ({ of, outcome: one }));
    });
    return ends.length > 0 ? holding(outcome, ends) : outcome;
  });
}
