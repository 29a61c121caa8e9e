import type { StudyExplanation } from '../../dimse/explain.ts';
import type { ConditionVerdict } from '../../dimse/routing/condition.ts';
import type { RuleVerdict } from '../../dimse/routing/route.ts';
import { runOperation } from './operations.ts';

/** Prints what happened to a study and why each routing rule did or did not match it. */
export async function explain(study: string, options: { json?: boolean }): Promise<void> {
  const told = await runOperation<StudyExplanation>('studies.explain', { study });
  process.stdout.write(options.json ? `${JSON.stringify(told, null, 2)}\n` : `${inWords(told)}\n`);
}

function inWords(study: StudyExplanation): string {
  const lines = [
    `Study ${study.studyInstanceUid} (${study.id})`,
    `  from ${study.callingAeTitle} to ${study.calledAeTitle}, source "${study.source}"`,
    `  ${study.objects.length} objects, first ${study.firstReceivedAt}, last ${study.lastReceivedAt}`,
    `  ${study.state}, revision ${study.revision}${study.reason ? `: ${study.reason}` : ''}`,
  ];
  if (study.state === 'receiving') {
    lines.push(`  complete after ${study.completeAfter} (${study.completeBecause})`);
  } else {
    lines.push(`  complete by ${study.completeBecause}`);
  }
  if (study.archiveCount?.detail) lines.push(`  ${study.archiveCount.detail}`);
  for (const { rule, detail } of study.priors) {
    lines.push(`  priors (rule ${rule}): ${detail ?? 'are looked for'}`);
  }
  if (study.tags.length > 0) lines.push(`  tags: ${study.tags.join(', ')}`);
  const conflicts = study.objects.filter((object) => object.conflict).length;
  if (conflicts > 0) lines.push(`  ${conflicts} objects came again with other content; both kept`);
  lines.push('Routing rules as configured now:');
  for (const rule of study.rules) lines.push(...ruleInWords(rule, '  '));
  lines.push(study.requests.length > 0 ? 'Requests:' : 'No request was made.');
  for (const request of study.requests) {
    lines.push(`  ${request.request_id} (revision ${request.revision}, rule ${request.rule})`);
  }
  return lines.join('\n');
}

/** A rule and each of its conditions, one line each; `indent` stands before them. */
export function ruleInWords(rule: RuleVerdict, indent: string): string[] {
  const answer = rule.acts ? 'acts' : rule.matches ? 'matches, after one that ends the list' : 'no';
  return [
    `${indent}${rule.rule}: ${answer}`,
    ...rule.conditions.flatMap((condition) => conditionInWords(condition, `${indent}  `)),
  ];
}

function conditionInWords(verdict: ConditionVerdict, indent: string): string[] {
  const { condition, wanted, found, holds, parts } = verdict;
  const answer = `${indent}${holds ? 'yes' : 'no'}: ${condition}`;
  if (!parts) return [`${answer} wanted "${wanted}", found "${found}"`];
  return [answer, ...parts.flatMap((part) => conditionInWords(part, `${indent}  `))];
}
