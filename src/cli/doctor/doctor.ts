import { ConfigError, loadConfig } from '../../../config/load.ts';
import type { Config } from '../../../config/schema.ts';
import { type Finding, fault, ok } from './finding.ts';
import { checkPeers } from './peers.ts';
import { checkThisMachine } from './this-machine.ts';

const MARK = { ok: 'ok     ', warning: 'warning', fault: 'FAULT  ' } as const;

/**
 * Looks at everything that a delivery will need, and changes nothing.
 * @returns the exit status: 1 when there is a fault.
 */
export async function doctor({ json }: { json?: boolean }): Promise<number> {
  const findings = await examine();
  if (json) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
  else for (const { what, state, detail } of findings) tell(`${MARK[state]}  ${what}: ${detail}`);
  return findings.some(({ state }) => state === 'fault') ? 1 : 0;
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
  const [machine, peers] = await Promise.all([checkThisMachine(config), checkPeers(config)]);
  return [ok('configuration', 'can be used'), ...machine, ...peers];
}
