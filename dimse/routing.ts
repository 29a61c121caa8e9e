import type { RoutingRule } from '../config/schema.ts';

/** What the rules look at; of a study, never of a patient. */
export interface StudyFacts {
  callingAeTitle: string;
  calledAeTitle: string;
  modalities: readonly string[];
  studyDescription: string;
  procedureCodes: readonly string[];
}

type ConditionName = keyof RoutingRule['when'];

/** One condition of a rule, as `npx sonogate explain` shows it. */
export interface ConditionVerdict {
  condition: ConditionName;
  wanted: string;
  found: string;
  holds: boolean;
}

export interface RuleVerdict {
  rule: string;
  matches: boolean;
  conditions: ConditionVerdict[];
}

const FOUND: Record<ConditionName, (facts: StudyFacts) => readonly string[]> = {
  callingAeTitle: (facts) => [facts.callingAeTitle],
  calledAeTitle: (facts) => [facts.calledAeTitle],
  modality: (facts) => facts.modalities,
  studyDescription: (facts) => [facts.studyDescription],
  procedureCode: (facts) => facts.procedureCodes,
};

/** The first rule that matches, and for every rule why it does or does not. */
export function route(
  rules: readonly RoutingRule[],
  facts: StudyFacts,
): { rule: RoutingRule | null; verdicts: RuleVerdict[] } {
  const verdicts = rules.map((rule) => judge(rule, facts));
  const first = verdicts.findIndex((verdict) => verdict.matches);
  return { rule: rules[first] ?? null, verdicts };
}

/** One sentence for a person: which condition kept each rule from matching. */
export function whyUnrouted(verdicts: readonly RuleVerdict[]): string {
  if (verdicts.length === 0) return 'No routing rule is configured.';
  const reasons = verdicts.map(({ rule, conditions }) => {
    const failed = conditions.filter((condition) => !condition.holds);
    const parts = failed.map(
      ({ condition, wanted, found }) => `${condition} is "${found}", not "${wanted}"`,
    );
    return `${rule}: ${parts.join(', ')}`;
  });
  return `No routing rule matched (${reasons.join('; ')}).`;
}

function judge(rule: RoutingRule, facts: StudyFacts): RuleVerdict {
  const conditions = (Object.keys(FOUND) as ConditionName[]).flatMap((condition) => {
    const wanted = rule.when[condition];
    if (wanted === undefined) return [];
    const found = FOUND[condition](facts);
    const test =
      condition === 'studyDescription'
        ? (value: string) => new RegExp(wanted, 'i').test(value)
        : (value: string) => value === wanted;
    return [{ condition, wanted, found: found.join(', '), holds: found.some(test) }];
  });
  return { rule: rule.name, matches: conditions.every(({ holds }) => holds), conditions };
}
