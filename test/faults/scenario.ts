import type { Fault, Surroundings } from './faults.ts';
import { type Ledger, settle } from './ledger.ts';
import { startSiteUnderFault } from './site-under-fault.ts';
import { type Amount, startTraffic } from './traffic.ts';

export type Outcome =
  | { fault: Fault; skipped: string }
  | { fault: Fault; failed: string }
  | { fault: Fault; seen: string; seconds: number; ledger: Ledger };

/** Runs the traffic, strikes in the middle of it, and then counts the outcome. */
export async function scenario(fault: Fault, amount: Amount): Promise<Outcome> {
  const begin = performance.now();
  const prepared = await (fault.prepare?.() ?? { site: {}, remove: async () => {} });
  if ('impossible' in prepared) return { fault, skipped: prepared.impossible };
  try {
    return await struck(fault, prepared, amount, begin);
  } catch (error) {
    return { fault, failed: error instanceof Error ? error.message : String(error) };
  } finally {
    await prepared.remove();
  }
}

async function struck(
  fault: Fault,
  surroundings: Surroundings,
  amount: Amount,
  begin: number,
): Promise<Outcome> {
  const site = await startSiteUnderFault(surroundings.site);
  if (!site) return { fault, skipped: 'PostgreSQL or Redis is not installed' };
  const traffic = await startTraffic(site, fault.name, fault.traffic ?? amount);
  try {
    await traffic.reached(1);
    const seen = await fault.strike(site, surroundings);
    if (fault.traffic) traffic.finish();
    await traffic.all;
    const ledger = await settle(site, traffic.promised);
    return { fault, seen, seconds: (performance.now() - begin) / 1000, ledger };
  } catch (error) {
    process.stderr.write(`${fault.name}: logs in ${await site.keepLogs()}\n`);
    throw error;
  } finally {
    await traffic.remove();
    await site.close();
  }
}

/**
 * Returns true if everything acknowledged has finished, nothing was lost, and nothing was
 * duplicated without a mark.
 */
export function stood(outcome: Outcome): boolean {
  if (!('ledger' in outcome)) return false;
  const { lost, late, doubled } = outcome.ledger;
  return lost.length + late.length + doubled.length === 0;
}
