import fc from 'fast-check';
import type { AttackedGateway } from './attacked-gateway.ts';
import type { Footprint } from './gateway-process.ts';

export interface Attack<Case> {
  cases: fc.Arbitrary<Case>;
  /** Runs one case. Throws if the gateway does something that it must not do. */
  run(gateway: AttackedGateway, one: Case): Promise<void>;
  /** Runs a well-behaved peer after each batch. Throws if the peer is not served. */
  probe(gateway: AttackedGateway): Promise<void>;
}

export interface AttackReport {
  cases: number;
  seconds: number;
  seed: number;
  /**
   * `warm`: after a tenth of the time, when caches are full. `end`: when all connections are
   * closed.
   */
  warm: Footprint;
  end: Footprint;
}

/** A case that broke the gateway, with everything needed to reproduce it. */
export class Finding extends Error {
  override name = 'Finding';
}

const BATCH = 96;
/** Number of simultaneous connections. */
const SIDE_BY_SIDE = 16;
const WARM_AFTER = 0.1;
/** After this time, the last silent connections have been dropped. */
const SETTLE_MS = 3_000;

/**
 * Attacks the gateway for `seconds` over several parallel connections. After each batch, checks
 * that the gateway is alive and serves a good peer. The same seed produces the same batches.
 * @throws Finding
 */
export async function attack<Case>(
  gateway: AttackedGateway,
  { cases, run, probe }: Attack<Case>,
  { seconds, seed, leastBatches = 1 }: { seconds: number; seed: number; leastBatches?: number },
): Promise<AttackReport> {
  const begin = performance.now();
  const passed = () => (performance.now() - begin) / 1000;
  let done = 0;
  let warm: Footprint | null = null;
  for (let batch = 0; batch < leastBatches || passed() < seconds; batch += 1) {
    const sample = fc.sample(cases, { numRuns: BATCH, seed: seed + batch });
    try {
      const left = [...sample];
      const worker = async () => {
        for (let one = left.pop(); one !== undefined; one = left.pop()) await run(gateway, one);
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
      await probe(gateway);
    } catch (cause) {
      const end = gateway.ended();
      throw new Finding(`seed ${seed}, batch ${batch}${end ? `: the gateway ${end}` : ''}`, {
        cause,
      });
    }
    done += sample.length;
    if (warm === null && passed() >= seconds * WARM_AFTER) warm = await settled(gateway);
  }
  const end = await settled(gateway);
  return { cases: done, seconds: passed(), seed, warm: warm ?? end, end };
}

async function settled(gateway: AttackedGateway): Promise<Footprint> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return gateway.footprint();
}

/** Formats a report for one line of a terminal. */
export function told({ cases, seconds, seed, warm, end }: AttackReport): string {
  const megabytes = ({ heapBytes }: Footprint) => (heapBytes / 1e6).toFixed(1);
  return [
    `${cases} cases in ${seconds.toFixed(0)} s (seed ${seed})`,
    `heap ${megabytes(warm)} → ${megabytes(end)} MB`,
    `sockets ${warm.sockets} → ${end.sockets}`,
    `resources ${warm.resources} → ${end.resources}`,
  ].join(', ');
}
