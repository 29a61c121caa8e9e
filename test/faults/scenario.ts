import type { Fault, Surroundings } from './faults.ts';
import { type Ledger, settle } from './ledger.ts';
import { startSiteUnderFault } from './site-under-fault.ts';
import { startTraffic } from './traffic.ts';

/** One fault and its outcome. */
export type Outcome =
  | { fault: Fault; skipped: string }
  | { fault: Fault; failed: string }
  | { fault: Fault; seen: string; seconds: number; ledger: Ledger };

/** Traffic, the fault in the midst of it, then the count. */
export async function scenario(
  fault: Fault,
  amount: { studies: number; submits: number },
): Promise<Outcome> {
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
  amount: { studies: number; submits: number },
  begin: number,
): Promise<Outcome> {
  const site = await startSiteUnderFault(surroundings.site);
  if (!site) return { fault, skipped: 'PostgreSQL or Redis is not installed' };
  const traffic = await startTraffic(site, fault.name, amount);
  try {
    await traffic.reached(1);
    const seen = await fault.strike(site, surroundings);
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

/** Whether nothing acknowledged was lost and nothing doubled unmarked. */
export function stood(outcome: Outcome): boolean {
  return (
    'ledger' in outcome && outcome.ledger.lost.length === 0 && outcome.ledger.doubled.length === 0
  );
}
