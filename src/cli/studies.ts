import { runOperation } from './operations.ts';

/** Ends the waiting of a study for more objects. */
export async function completeStudy(study: string): Promise<void> {
  await runOperation('studies.complete', { study });
  process.stdout.write('complete: the routing rules act on it now\n');
}

/** Lets a held study go on, under the rule that is named or as the other rules say. */
export async function releaseStudy(study: string, { rule }: { rule?: string }): Promise<void> {
  await runOperation('studies.release', { study, rule: rule ?? null });
  process.stdout.write(rule ? `released to the rule ${rule}\n` : 'released\n');
}

/** Has a study interpreted again. */
export async function rerunStudy(study: string): Promise<void> {
  await runOperation('studies.rerun', { study });
  process.stdout.write('a new revision is made of it\n');
}
