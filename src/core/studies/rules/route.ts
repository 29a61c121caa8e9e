import {
  CONTENT_FACTS,
  type Condition,
  type ContentFact,
  type Routing,
  type RoutingRule,
  STUDY_FACTS,
  type StudyFact,
  type Test,
} from '../../../../config/routing.ts';
import { factText, testText } from './rule-words.ts';

/**
 * The truth value of a condition. `open` means undecided: a fact that the condition depends on is
 * unknown.
 */
interface Truth {
  holds: boolean;
  open?: true;
}

const OPEN: Truth = { holds: false, open: true };

/**
 * Returns the conjunction in three-valued logic (Kleene 1938). An undecided part makes the result
 * undecided, unless another part is false.
 */
function conjunction(parts: readonly Truth[]): Truth {
  if (parts.some((part) => !part.holds && !part.open)) return { holds: false };
  return parts.some(isOpen) ? OPEN : { holds: true };
}

function disjunction(parts: readonly Truth[]): Truth {
  if (parts.some(({ holds }) => holds)) return { holds: true };
  return parts.some(isOpen) ? OPEN : { holds: false };
}

function negation(part: Truth): Truth {
  return part.open ? OPEN : { holds: !part.holds };
}

const isOpen = ({ open }: Truth) => open === true;

/** The facts about a study that the rules are applied to. */
export interface StudyFacts {
  /** Distinct values; empty if the study has none. */
  known: Readonly<Record<StudyFact, readonly string[]>>;
  /** Attributes used in the rules: a map from path to the distinct values in all objects. */
  attributes: ReadonlyMap<string, readonly string[]>;
  content: ContentFacts;
  /** When the rules are applied. */
  at: Date;
}

/**
 * The content recognised by the classifiers, or why it is unknown. If it is unknown, conditions on
 * image content are undecided.
 */
export type ContentFacts =
  | { known: Readonly<Record<ContentFact, readonly string[]>> }
  | { unknown: string };

/** The outcome of one condition of a rule, as shown by `npx sonogate explain`. */
export interface ConditionVerdict extends Truth {
  /** What is tested: `modality`, `attribute PatientAge`, `all of`, `any of`, `not`. */
  condition: string;
  wanted: string;
  found: string;
  /** The parts of a combined condition. */
  parts?: ConditionVerdict[];
}

/**
 * Evaluates every entry of a condition, even after one has failed, so that a person can see all of
 * them.
 */
function judgeConditions(condition: Condition, facts: StudyFacts): ConditionVerdict[] {
  const verdicts: ConditionVerdict[] = [];
  for (const fact of STUDY_FACTS) {
    const test = condition[fact];
    if (test) verdicts.push(tested(fact, test, facts.known[fact]));
  }
  for (const fact of CONTENT_FACTS) {
    const test = condition[fact];
    if (test) verdicts.push(seen(fact, test, facts.content));
  }
  for (const [path, test] of Object.entries(condition.attributes ?? {})) {
    const values = facts.attributes.get(path) ?? [];
    const verdict = tested(`attribute ${path}`, test, values);
    verdicts.push(identifies(path) && values.length > 0 ? { ...verdict, found: HIDDEN } : verdict);
  }
  if (condition.timeOfDay) verdicts.push(timeOfDay(condition.timeOfDay, facts.at));
  if (condition.all) verdicts.push(combined('all of', condition.all, facts, conjunction));
  if (condition.any) verdicts.push(combined('any of', condition.any, facts, disjunction));
  if (condition.not)
    verdicts.push(combined('not', [condition.not], facts, (one) => negation(conjunction(one))));
  return verdicts;
}

/** Returns the attribute paths used in a condition, at any depth. */
export function attributePaths(condition: Condition): string[] {
  const inner = [...(condition.all ?? []), ...(condition.any ?? []), condition.not ?? []].flat();
  return [...Object.keys(condition.attributes ?? {}), ...inner.flatMap(attributePaths)];
}

function combined(
  condition: string,
  parts: readonly Condition[],
  facts: StudyFacts,
  decide: (parts: ConditionVerdict[]) => Truth,
): ConditionVerdict {
  const verdicts = parts.map((part): ConditionVerdict => {
    const entries = judgeConditions(part, facts);
    const [only] = entries;
    if (only && entries.length === 1) return only;
    return {
      condition: 'all of',
      wanted: '',
      found: '',
      ...conjunction(entries),
      parts: entries,
    };
  });
  return { condition, wanted: '', found: '', ...decide(verdicts), parts: verdicts };
}

function seen(fact: ContentFact, test: Test, content: ContentFacts): ConditionVerdict {
  if ('known' in content) return tested(fact, test, content.known[fact]);
  return { condition: fact, wanted: testText(test), found: content.unknown, ...OPEN };
}

function tested(condition: string, test: Test, values: readonly string[]): ConditionVerdict {
  return {
    condition,
    wanted: testText(test),
    found: values.join(', '),
    holds: passes(test, values),
  };
}

function passes(test: Test, values: readonly string[]): boolean {
  if ('exists' in test) return test.exists === values.length > 0;
  return values.some((value) => passesOne(test, value));
}

function passesOne(test: Exclude<Test, { exists: boolean }>, value: string): boolean {
  if ('equals' in test) return value === test.equals;
  if ('in' in test) return test.in.includes(value);
  if ('matches' in test) return new RegExp(test.matches, 'i').test(value);
  const { from, to } = test.range;
  return (
    (from === undefined || compare(value, from) >= 0) &&
    (to === undefined || compare(value, to) <= 0)
  );
}

/** Years per unit of an age string (PS3.5 6.2, VR AS). */
const YEARS_PER = { D: 1 / 365.25, W: 7 / 365.25, M: 1 / 12, Y: 1 } as const;

/**
 * Compares numbers and ages by size. Everything else is compared character by character, which is
 * the right order for DICOM dates.
 */
function compare(value: string, limit: string | number): number {
  const age = /^(\d{3})([DWMY])$/.exec(value);
  const number = age ? Number(age[1]) * YEARS_PER[age[2] as keyof typeof YEARS_PER] : Number(value);
  if (value !== '' && Number.isFinite(number) && Number.isFinite(Number(limit))) {
    return number - Number(limit);
  }
  return value < String(limit) ? -1 : Number(value > String(limit));
}

function timeOfDay({ from, to }: { from: string; to: string }, at: Date): ConditionVerdict {
  const now = `${two(at.getHours())}:${two(at.getMinutes())}`;
  const within = from <= to ? from <= now && now < to : from <= now || now < to;
  return { condition: 'timeOfDay', wanted: `${from} to ${to}`, found: now, holds: within };
}

const two = (value: number) => String(value).padStart(2, '0');

const HIDDEN = 'a value that is not shown, since it identifies the patient';

/** Attributes of the patient modules that describe only the body (PS3.3 C.7.1.3, C.7.2.2). */
const OF_THE_BODY =
  /^(PatientAge|PatientSex|PatientSize|PatientWeight|PregnancyStatus|LastMenstrualDate)$/;
const OF_THE_BODY_TAGS = /^\(0010,(1010|0040|1020|1030|21C0|21D0)\)$/i;
const IDENTIFYING =
  /Patient|^\(0010,|Name$|Name\.|Address|Telephone|AccessionNumber|^\(0008,0050\)|StudyID$|^\(0020,0010\)|BirthDate/;

/** Returns true if a value must not be shown: `explain` describes studies, never patients. */
function identifies(path: string): boolean {
  const keyword = path.split('.').at(-1) ?? path;
  if (OF_THE_BODY.test(keyword) || OF_THE_BODY_TAGS.test(keyword)) return false;
  return IDENTIFYING.test(path);
}

export interface RuleVerdict {
  rule: string;
  matches: boolean;
  /** True if the rule acts. With `match: first`, only the first matching rule does. */
  acts: boolean;
  conditions: ConditionVerdict[];
}

/**
 * Finds the rules that act on a study, in order, and states for every rule why it matches or does
 * not. `open` is true if images that are not yet classified could change which rules act.
 */
export function route(
  { match, rules }: Routing,
  facts: StudyFacts,
): { acting: RoutingRule[]; verdicts: RuleVerdict[]; open: boolean } {
  const acting: RoutingRule[] = [];
  let ended = false;
  let hangs = false;
  const verdicts = rules.map((rule): RuleVerdict => {
    const conditions = judgeConditions(rule.when, facts);
    const { holds: matches, open = false } = conjunction(conditions);
    const acts = matches && !ended;
    hangs ||= open && !ended;
    if (acts) acting.push(rule);
    // The rules below do not apply to a study that is held or ignored.
    ended ||= acts && (match === 'first' || rule.hold || rule.ignore);
    return { rule: rule.name, matches, acts, conditions };
  });
  return { acting, verdicts, open: hangs };
}

/** Returns one sentence for a person, listing for each rule the conditions that were not met. */
export function whyUnrouted(verdicts: readonly RuleVerdict[]): string {
  if (verdicts.length === 0) return 'No routing rule is configured.';
  const reasons = verdicts.map(
    ({ rule, conditions }) =>
      `${rule}: ${conditions
        .filter(({ holds }) => !holds)
        .map(unmetInWords)
        .join(', ')}`,
  );
  return `No routing rule matched (${reasons.join('; ')}).`;
}

function unmetInWords({ condition, wanted, found, parts }: ConditionVerdict): string {
  const name = factText(condition);
  if (parts) return `${name} (${parts.map(unmetInWords).join(', ')})`;
  return `${name} is ${found === '' ? 'missing' : `"${found}"`}, expected ${wanted}`;
}
