import { loadConfig } from '../../../config/load.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { commandsFor, runCommand } from './operations.ts';

type StudyExplanation = CommandAnswer<'studies.explain'>;
type DryRun = CommandAnswer<'rules.test'>[number];
type RuleVerdict = StudyExplanation['rules'][number];
type ConditionVerdict = RuleVerdict['conditions'][number];

/** Stops a study from waiting for more objects. */
export async function completeStudy(study: string): Promise<void> {
  await runCommand('studies.complete', { study });
  process.stdout.write('complete: the routing rules are applied now\n');
}

/** Releases a held study, under the given rule or, without one, as the other rules decide. */
export async function releaseStudy(study: string, { rule }: { rule?: string }): Promise<void> {
  await runCommand('studies.release', { study, rule: rule ?? null });
  process.stdout.write(rule ? `released to the rule ${rule}\n` : 'released\n');
}

/** Has a study interpreted again. */
export async function rerunStudy(study: string): Promise<void> {
  await runCommand('studies.rerun', { study });
  process.stdout.write('a new revision will be interpreted\n');
}

/** Prints what happened to a study and why each routing rule did or did not match it. */
export async function explain(study: string, options: { json?: boolean }): Promise<void> {
  const told = await runCommand('studies.explain', { study });
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
    if (study.nextAttemptAt) lines.push(`  next attempt at ${study.nextAttemptAt}`);
  }
  if (study.archiveCount?.detail) lines.push(`  ${study.archiveCount.detail}`);
  for (const { rule, detail } of study.priors) {
    lines.push(`  priors (rule ${rule}): ${detail ?? 'being searched for'}`);
  }
  if (study.tags.length > 0) lines.push(`  tags: ${study.tags.join(', ')}`);
  const conflicts = study.objects.filter((object) => object.conflict).length;
  if (conflicts > 0)
    lines.push(`  ${conflicts} objects arrived again with different content; both are kept`);
  lines.push('Routing rules as configured now:');
  for (const rule of study.rules) lines.push(...describeRule(rule, '  '));
  lines.push(study.requests.length > 0 ? 'Requests:' : 'No request was submitted.');
  for (const request of study.requests) {
    lines.push(`  ${request.request_id} (revision ${request.revision}, rule ${request.rule})`);
  }
  return lines.join('\n');
}

/** A rule and its conditions, one on each line, indented by `indent`. */
function describeRule(rule: RuleVerdict, indent: string): string[] {
  const answer = rule.acts
    ? 'acts'
    : rule.matches
      ? 'matches, but an earlier rule ended the list'
      : 'no';
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

/**
 * Applies rules to the studies received last without acting: the rules of the gateway, or those of
 * a configuration file that is not in use yet.
 */
export async function testRules(options: {
  config?: string;
  last: number;
  verbose?: boolean;
}): Promise<void> {
  const running = loadConfig();
  const routing = options.config
    ? loadConfig({ ...process.env, SONOGATE_CONFIG: options.config }).routing
    : null;
  const { last } = options;
  const runs = await commandsFor(running)('rules.test', { routing, last });
  for (const { study, receivedAt, acting, verdicts } of runs) {
    process.stdout.write(`${study}  ${receivedAt}  ${acting.join(', ') || 'no rule'}\n`);
    if (!options.verbose) continue;
    for (const rule of verdicts) process.stdout.write(`${describeRule(rule, '  ').join('\n')}\n`);
  }
  process.stdout.write(`${summary(runs)}\n`);
}

function summary(runs: readonly DryRun[]): string {
  const counts = new Map<string, number>();
  for (const { acting } of runs) {
    for (const rule of acting.length > 0 ? acting : ['no rule']) {
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
  }
  const parts = [...counts].map(([rule, count]) => `${rule} ${count}`);
  return `${runs.length} studies: ${parts.join(', ') || 'none'}`;
}
