import type { StudyExplanation } from '../../dimse/explain.ts';
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
  if (study.state === 'receiving') lines.push(`  complete after ${study.completeAfter}`);
  const conflicts = study.objects.filter((object) => object.conflict).length;
  if (conflicts > 0) lines.push(`  ${conflicts} objects came again with other content; both kept`);
  lines.push('Routing rules as configured now:');
  for (const rule of study.rules) {
    lines.push(`  ${rule.matches ? 'matches' : 'does not match'}: ${rule.rule}`);
    for (const { condition, wanted, found, holds } of rule.conditions) {
      lines.push(`    ${holds ? 'yes' : 'no'}: ${condition} wanted "${wanted}", found "${found}"`);
    }
  }
  lines.push(study.requests.length > 0 ? 'Requests:' : 'No request was made.');
  for (const request of study.requests) {
    lines.push(`  ${request.request_id} (revision ${request.revision}, rule ${request.rule})`);
  }
  return lines.join('\n');
}
