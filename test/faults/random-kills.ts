import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import { type Backend, EACH_ROLE, type Part, type SiteUnderFault } from './site-under-fault.ts';

/** How often each victim is killed on each back end; lower it for a shorter run. */
const KILLS = Number(process.env.SONOGATE_KILLS ?? 100);

/**
 * Once a victim is back, the next kill follows within this time, or within the time that the victim
 * needed to come back if that is longer. Otherwise every kill on a slow machine would hit a gateway
 * that is still starting.
 */
const LONGEST_LIFE_MS = 3000;
const DOWN_MS = 2000;

interface Victim {
  name: string;
  kill(site: SiteUnderFault): Promise<void>;
}

const part = (name: Part): Victim => ({ name, kill: (site) => site.kill(name) });

const EVERYTHING: Victim = {
  name: 'all four at once',
  kill: (site) => site.kill(...site.parts),
};

const POSTGRESQL: Victim = {
  name: 'PostgreSQL',
  async kill({ postgres }) {
    await postgres.crash();
    await delay(randomInt(DOWN_MS));
    await postgres.resume();
  },
};

/** Redis comes back empty. */
const REDIS: Victim = {
  name: 'Redis',
  async kill({ redis }) {
    await redis.pause();
    await delay(randomInt(DOWN_MS));
    await redis.resume();
  },
};

const VICTIMS: Readonly<Record<Backend, readonly Victim[]>> = {
  PGlite: [part('gateway')],
  PostgreSQL: [...EACH_ROLE.map(part), EVERYTHING, POSTGRESQL],
  'PostgreSQL and Redis': [...EACH_ROLE.map(part), EVERYTHING, POSTGRESQL, REDIS],
};

/** Returns every victim the same number of times, in random order. */
function shuffled(victims: readonly Victim[]): Victim[] {
  const order = victims.flatMap((victim) => Array.from({ length: KILLS }, () => victim));
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    [order[at], order[other]] = [order[other] as Victim, order[at] as Victim];
  }
  return order;
}

/**
 * Kills processes at random moments. Carts send and clients submit from the first kill to the last.
 */
export const randomKills = (backend: Backend): Fault => {
  const victims = VICTIMS[backend];
  const count = victims.length * KILLS;
  return {
    name: `random kills on ${backend}`,
    done: `kill -9 at random moments, ${KILLS} times each in random order: ${victims.map(({ name }) => name).join(', ')}`,
    // The traffic ends with the last kill. Its amount is limited to what a site can interpret
    // afterwards in a reasonable time.
    traffic: { studies: count, submits: 2 * count, pauseMs: 12_000, untilFinished: true },
    prepare: async () => ({ site: { backend }, remove: async () => {} }),
    async strike(site) {
      let cameBackMs = 0;
      for (const [index, victim] of shuffled(victims).entries()) {
        await delay(randomInt(Math.max(LONGEST_LIFE_MS, cameBackMs)));
        const begin = performance.now();
        await victim.kill(site);
        cameBackMs = Math.ceil(performance.now() - begin);
        if (index % 20 === 19) process.stderr.write(`${backend}: ${index + 1} of ${count} kills\n`);
      }
      return `${count} kills`;
    },
  };
};
