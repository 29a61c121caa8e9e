import type { Finding, Measurement, Result } from './envelope.ts';
import { isAssessed } from './section-outcome.ts';
import { countingValues } from './standing.ts';
import {
  distinctStatements,
  type SentenceTable,
  type Statement,
  type StatementOf,
} from './statement.ts';

/**
 * Builds the impression as data: the most important content of a study, in at most five lines, most
 * important first. Each endpoint has a table of topics in the order of its report
 * (`render/<endpoint>/impression.ts`). A topic chooses statements from the result. Each line is
 * later rendered as one sentence (`render/conclusion.ts`). Every abnormal finding is included: a
 * finding without a topic appears with the statements of its section.
 */

/** Maximum number of lines. Excess lines are merged with others instead of being dropped. */
export const IMPRESSION_LINES = 5;

type Report = NonNullable<Result['report']>;
/** A line as data. Its statements are the clauses of one sentence. */
export type ImpressionLine = NonNullable<Report['impression_lines']>[number];

/**
 * Input for a topic: the statements of assessed sections, and the values that are used. `Table` has
 * the sentences of these statements; a code that it lacks does not compile.
 */
export interface Said<Table extends SentenceTable> {
  /** Returns the first statement with this code; null if there is no such statement. */
  find<Code extends keyof Table & string>(code: Code): StatementOf<Table, Code> | null;
  all<Code extends keyof Table & string>(code: Code): StatementOf<Table, Code>[];
  /** Returns the statements with this code in the findings of the sections. */
  found<Code extends keyof Table & string>(
    sections: readonly string[],
    code: Code,
  ): StatementOf<Table, Code>[];
  /** Returns the first accepted value that is used for the concept. */
  value(key: string): Measurement | null;
  /** Returns all accepted values that are used for the concept, such as one for each fetus. */
  allValues(key: string): Measurement[];
  /**
   * Returns the accepted values that are used, in the order of the keys. Keys without a value are
   * left out.
   */
  values(keys: readonly string[]): Measurement[];
  /** Returns the accepted values that a statement refers to. */
  about(statement: Statement | null): Measurement[];
  /** Returns the accepted values that are the evidence for the finding with this statement. */
  evidence(code: keyof Table & string): Measurement[];
  result: Result;
}

/** One clause of a topic, and what the line need not repeat because of it. */
export interface Clause<Table extends SentenceTable> {
  statement: Statement | null;
  /** Codes of the findings that the clause already covers. */
  covers?: readonly (keyof Table & string)[];
  /** Undecided classifications whose possible categories the clause states. */
  states?: readonly string[];
}

export interface Topic<Table extends SentenceTable> {
  id: string;
  /** Sections whose findings belong to this topic. */
  sections: readonly string[];
  /** Codes of findings from other sections that belong to this topic. */
  codes?: readonly (keyof Table & string)[];
  /** True if the topic is left out when the impression has no other line. */
  onlyBeside?: boolean;
  /**
   * True if the topic shares the line of the topic before it, provided that neither has an abnormal
   * finding.
   */
  sharesLine?: boolean;
  say(said: Said<Table>): Clause<Table>[];
  /** Rewrites the statements of the whole line, so that a condition that they share is stated once. */
  conditionOnce?(statements: readonly Statement[]): Statement[];
}

const statementsOf = ({ statement, statements }: Pick<Finding, 'statement' | 'statements'>) =>
  statements ?? (statement ? [statement] : []);

const isLoud = ({ severity }: Pick<Finding, 'severity'>) => severity !== 'info';

/**
 * Returns the input for the topics: the conclusions of the sections, and the values that are used.
 * `Table` must have the sentences of the endpoint that made the result.
 */
export function saidIn<Table extends SentenceTable>(result: Result): Said<Table> {
  const assessed = result.sections.filter(isAssessed);
  const statements = [
    ...assessed.flatMap((section) => section.statements ?? []),
    ...result.findings.flatMap(statementsOf),
  ];
  const accepted = result.measurements.filter(({ quality }) => quality === 'accepted');
  const counting = countingValues(accepted);
  const known = new Map(accepted.map((one) => [one.id, one]));
  const present = (ids: readonly string[]) => ids.flatMap((id) => known.get(id) ?? []);
  // Comparing the code is enough to know the type of the parameters, because `statementsOf` checked
  // them when the statement was made.
  const has =
    <Code extends keyof Table & string>(code: Code) =>
    (one: Statement): one is StatementOf<Table, Code> =>
      one.code === code;
  const all = <Code extends keyof Table & string>(code: Code) =>
    distinctStatements(statements.filter(has(code)));
  const allValues = (key: string) => counting.filter(({ concept }) => concept.key === key);
  const value = (key: string) => allValues(key)[0] ?? null;
  return {
    find: (code) => all(code)[0] ?? null,
    all,
    found: (sections, code) =>
      result.findings
        .filter(({ section }) => sections.includes(section))
        .flatMap(statementsOf)
        .filter(has(code)),
    value,
    allValues,
    values: (keys) => keys.flatMap((key) => value(key) ?? []),
    about: (statement) => present(statement?.about ?? []),
    evidence: (code) =>
      result.findings
        .filter((one) => statementsOf(one).some((statement) => statement.code === code))
        .flatMap(({ evidence }) => present(evidence)),
    result,
  };
}

const WEIGHT = { critical: 0, abnormal: 1, info: 2 } as const satisfies Record<
  Finding['severity'],
  number
>;

const worst = (severities: readonly Finding['severity'][]): Finding['severity'] =>
  severities.toSorted((one, other) => WEIGHT[one] - WEIGHT[other])[0] ?? 'info';

/**
 * Returns true if all values that a statement refers to were accepted. Other statements are not
 * used in the impression.
 */
function hasAcceptedValues({ about }: Statement, { result }: Pick<Said<SentenceTable>, 'result'>) {
  const accepted = new Set(
    result.measurements.filter(({ quality }) => quality === 'accepted').map(({ id }) => id),
  );
  return about.every((id) => accepted.has(id));
}

/**
 * Returns the topic of a finding: the one that lists its code, or otherwise that of its section.
 */
function topicOf<Table extends SentenceTable>(
  finding: Finding,
  topics: readonly Topic<Table>[],
): Topic<Table> | null {
  const spoken = new Set(statementsOf(finding).map(({ code }) => code));
  const named = topics.find(({ codes = [] }) => codes.some((code) => spoken.has(code)));
  return named ?? topics.find(({ sections }) => sections.includes(finding.section)) ?? null;
}

/** Builds the line of a topic with its findings; null if the topic has nothing to report. */
function lineOf<Table extends SentenceTable>(
  topic: Topic<Table>,
  findings: readonly Finding[],
  said: Said<Table>,
): ImpressionLine | null {
  const clauses = topic
    .say(said)
    .filter(({ statement }) => statement && hasAcceptedValues(statement, said));
  const covered = new Set<string>(clauses.flatMap(({ covers = [] }) => covers));
  const spoken = clauses.flatMap(({ statement }) => statement ?? []);
  const own = findings.filter(isLoud);
  const others = own.flatMap(statementsOf).filter(({ code }) => !covered.has(code));
  const distinct = distinctStatements([...spoken, ...others]);
  if (distinct.length === 0) return null;
  const statements = topic.conditionOnce?.(distinct) ?? distinct;
  return { topic: topic.id, severity: worst(own.map(({ severity }) => severity)), statements };
}

const joined = (lines: readonly ImpressionLine[]): ImpressionLine => ({
  topic: lines.map(({ topic }) => topic).join(', '),
  severity: worst(lines.map(({ severity }) => severity)),
  statements: lines.flatMap(({ statements }) => statements),
});

/**
 * Joins the line of each topic with `sharesLine` to the line before it, if neither has an abnormal
 * finding.
 */
function withSharedLines<Table extends SentenceTable>(
  lines: readonly ImpressionLine[],
  topics: readonly Topic<Table>[],
): ImpressionLine[] {
  const sharing = new Set(topics.flatMap(({ id, sharesLine }) => (sharesLine ? [id] : [])));
  const kept: ImpressionLine[] = [];
  for (const line of lines) {
    const last = kept.at(-1);
    const areUsual = last?.severity === 'info' && line.severity === 'info';
    if (last && areUsual && sharing.has(line.topic)) kept.splice(-1, 1, joined([last, line]));
    else kept.push(line);
  }
  return kept;
}

/**
 * Merges lines until at most five remain. Each step merges the last pair of adjacent lines without
 * an abnormal finding; if there is no such pair, the last two lines without an abnormal finding;
 * otherwise the last two lines.
 */
function shortened(lines: readonly ImpressionLine[]): ImpressionLine[] {
  if (lines.length <= IMPRESSION_LINES) return [...lines];
  const usual = lines.flatMap(({ severity }, at) => (severity === 'info' ? [at] : []));
  const beside = usual.findLast((at) => usual.includes(at + 1));
  const [into, from] =
    beside !== undefined
      ? [beside, beside + 1]
      : usual.length > 1
        ? usual.slice(-2)
        : [lines.length - 2, lines.length - 1];
  return shortened(
    lines.flatMap((line, at) => {
      if (at === from) return [];
      const other = lines[from ?? 0];
      return at === into && other ? [joined([line, other])] : [line];
    }),
  );
}

/**
 * Returns the lines of the impression: critical lines first, then the topics in the order of the
 * table, and finally the findings of sections without a topic.
 */
export function impressionOf<Table extends SentenceTable>(
  result: Result,
  topics: readonly Topic<Table>[],
): ImpressionLine[] {
  const said = saidIn<Table>(result);
  const known = new Set(topics.flatMap(({ sections }) => sections));
  const further: Topic<Table> = {
    id: 'further',
    sections: result.findings.map(({ section }) => section).filter((id) => !known.has(id)),
    say: () => [],
  };
  const all = [...topics, further];
  const byTopic = Map.groupBy(result.findings, (finding) => topicOf(finding, all));
  const lines = all.flatMap((topic) => lineOf(topic, byTopic.get(topic) ?? [], said) ?? []);
  const beside = new Set(topics.flatMap(({ id, onlyBeside }) => (onlyBeside ? [id] : [])));
  if (lines.every(({ topic }) => beside.has(topic))) return [];
  const isCritical = ({ severity }: ImpressionLine) => severity === 'critical';
  const usual = lines.filter((line) => !isCritical(line));
  return shortened([...lines.filter(isCritical), ...withSharedLines(usual, topics)]);
}
