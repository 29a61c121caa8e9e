import { loadConfig } from '../../config/load.ts';
import type { DryRun } from '../../dimse/study-commands.ts';
import { ruleInWords } from './explain.ts';
import { runOperation } from './operations.ts';

/**
 * Judges rules on the studies received last, and does nothing: those of the gateway, or those of a
 * configuration file that is not in use yet.
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
  const runs = await runOperation<DryRun[]>('rules.test', { routing, last }, running);
  for (const { study, receivedAt, acting, verdicts } of runs) {
    process.stdout.write(`${study}  ${receivedAt}  ${acting.join(', ') || 'no rule'}\n`);
    if (!options.verbose) continue;
    for (const rule of verdicts) process.stdout.write(`${ruleInWords(rule, '  ').join('\n')}\n`);
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
