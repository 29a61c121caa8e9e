import { ConfigError, loadConfig } from '../../../config/load.ts';
import type { Routing } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import { ruleFaults } from '../../core/studies/rules/check-rules.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { type Finding, fault, ok } from './finding.ts';
import { checkArchives, checkPeers, checkWorklists } from './peers.ts';
import { checkServices } from './services.ts';
import { checkBackends, checkDoors, checkThisMachine } from './this-machine.ts';

const MARK = { ok: 'ok     ', warning: 'warning', fault: 'FAULT  ' } as const;

/**
 * Checks the settings, this host and every peer, without changing anything.
 * @returns the exit status: 0 if every check passed, 1 if there is a fault, 2 if there are only
 * warnings.
 */
export async function doctor({ json }: { json?: boolean }): Promise<number> {
  const findings = await examine();
  if (json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
  else for (const { what, state, detail } of findings) tell(`${MARK[state]}  ${what}: ${detail}`);
  return STATUS[worst(findings)];
}

/**
 * Exit status for each result. Warnings have a separate status, so that a script that tests for 1
 * does not fail because of them.
 */
const STATUS = { ok: 0, fault: 1, warning: 2 } as const;

function worst(findings: readonly Finding[]): Finding['state'] {
  const states = new Set(findings.map(({ state }) => state));
  return (['fault', 'warning', 'ok'] as const).find((state) => states.has(state)) ?? 'ok';
}

const tell = (line: string) => process.stdout.write(`${line}\n`);

async function examine(): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [fault('configuration', error.message)];
  }
  return [ok('configuration', 'can be used'), ...(await examineWith(config))];
}

/** Checks everything that depends on these settings. */
export async function examineWith(config: Config): Promise<Finding[]> {
  const machine = await checkThisMachine(config);
  const running = machine.some(({ what, state }) => what === 'gateway' && state === 'ok');
  const others = await Promise.all([
    checkBackends(config),
    checkDoors(config, running),
    checkPeers(config),
    checkArchives(config),
    checkWorklists(config),
    checkServices(config),
  ]);
  return [...checkRules(config.routing), ...machine, ...others.flat()];
}

/** Checks that every rule can match and act on a study. */
export function checkRules(routing: Pick<Routing, 'rules'>): Finding[] {
  const faults = ruleFaults(routing, ENDPOINTS).map(({ rule, detail }) =>
    fault(`rule ${rule}`, detail),
  );
  return faults.length > 0
    ? faults
    : [ok('rules', 'their attributes exist, and their endpoints accept their options')];
}
