import type { Routing, RoutingRule } from '../../../../config/routing.ts';
import {
  type ConditionVerdict,
  conjunction,
  judgeConditions,
  type StudyFacts,
} from './condition.ts';

export interface RuleVerdict {
  rule: string;
  matches: boolean;
  /** Whether the rule acts: with `match: first` only the first that matches does. */
  acts: boolean;
  conditions: ConditionVerdict[];
}

/**
 * The rules that act on a study, in order, and for every rule why it matches or does not. `open`:
 * which rules act depends on images that have not been classified.
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
    // A study that is held or ignored is not passed to the rules below.
    ended ||= acts && (match === 'first' || rule.hold || rule.ignore);
    return { rule: rule.name, matches, acts, conditions };
  });
  return { acting, verdicts, open: hangs };
}

/** One sentence for a person: which conditions kept each rule from matching. */
export function whyUnrouted(verdicts: readonly RuleVerdict[]): string {
  if (verdicts.length === 0) return 'No routing rule is configured.';
  const reasons = verdicts.map(
    ({ rule, conditions }) =>
      `${rule}: ${conditions
        .filter(({ holds }) => !holds)
        .map(inWords)
        .join(', ')}`,
  );
  return `No routing rule matched (${reasons.join('; ')}).`;
}

function inWords({ condition, wanted, found, parts }: ConditionVerdict): string {
  if (parts) return `${condition} (${parts.map(inWords).join(', ')})`;
  return `${condition} is "${found}", not "${wanted}"`;
}
