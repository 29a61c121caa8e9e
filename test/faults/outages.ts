import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Fault } from './faults.ts';
import type { BucketMood } from './moody-bucket.ts';
import type { SiteOptions, SiteUnderFault } from './site-under-fault.ts';

/** How long an outage lasts. Longer than the lease of a request. */
const OUTAGE_MS = 25_000;

interface Outage {
  name: string;
  done: string;
  site?: SiteOptions;
  begin(site: SiteUnderFault): Promise<unknown>;
  end(site: SiteUnderFault): Promise<unknown>;
}

/** Returns what a client and a load balancer are answered at this moment. */
async function answers(site: SiteUnderFault): Promise<string> {
  const headers = { Authorization: `Bearer ${site.key}` };
  const statusOf = async (path: string) => {
    const signal = AbortSignal.timeout(OUTAGE_MS);
    const answer = await fetch(new URL(path, site.url), { headers, signal }).catch(() => null);
    return `${path} ${answer?.status ?? 'not answered'}`;
  };
  return (await Promise.all(['/health/ready', '/v1/requests'].map(statusOf))).join(', ');
}

const outage = ({ name, done, site: options = {}, begin, end }: Outage): Fault => ({
  name,
  done: `${done} for ${OUTAGE_MS / 1000} s`,
  prepare: async () => ({ site: options, remove: async () => {} }),
  async strike(site) {
    await begin(site);
    await delay(OUTAGE_MS / 2);
    const seen = await answers(site);
    await delay(OUTAGE_MS / 2);
    await end(site);
    return seen;
  },
});

const endSessions = (site: SiteUnderFault) =>
  site.postgres.administer(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  );

/** Changes a setting of the server, for open sessions too. */
async function configure(site: SiteUnderFault, change: string): Promise<void> {
  await site.postgres.administer(`ALTER SYSTEM ${change}`);
  await site.postgres.administer('SELECT pg_reload_conf()');
}

/** Ends all sessions, and opens new ones until the server refuses any more. */
async function takeEverySession(site: SiteUnderFault): Promise<pg.Client[]> {
  await endSessions(site);
  for (const held: pg.Client[] = []; ; ) {
    const client = new pg.Client({ connectionString: site.postgres.url });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch {
      return held;
    }
    held.push(client);
  }
}

/** Outages of PostgreSQL, on a site with these options. */
function ofPostgres(suffix: string, site: SiteOptions): Fault[] {
  let terminating: NodeJS.Timeout | undefined;
  let held: pg.Client[] = [];
  return [
    {
      name: 'PostgreSQL stopped',
      done: 'shut down, and started again',
      begin: ({ postgres }: SiteUnderFault) => postgres.shutDown(),
      end: ({ postgres }: SiteUnderFault) => postgres.resume(),
    },
    {
      name: 'PostgreSQL ends its sessions',
      done: 'pg_terminate_backend for every session, every 400 ms,',
      begin: async (under: SiteUnderFault) => {
        terminating = setInterval(() => void endSessions(under).catch(() => {}), 400);
      },
      end: async () => clearInterval(terminating),
    },
    {
      name: 'PostgreSQL read-only',
      done: 'default_transaction_read_only, as after a failover to a standby,',
      begin: (under: SiteUnderFault) => configure(under, 'SET default_transaction_read_only = on'),
      end: (under: SiteUnderFault) => configure(under, 'RESET default_transaction_read_only'),
    },
    {
      name: 'PostgreSQL without sessions',
      done: 'max_connections used up by others',
      begin: async (under: SiteUnderFault) => {
        held = await takeEverySession(under);
      },
      end: () => Promise.all(held.map((one) => one.end().catch(() => {}))),
    },
    {
      name: 'PostgreSQL cancels statements',
      done: 'statement_timeout of 1 s, and the main tables locked',
      begin: async (under: SiteUnderFault) => {
        await configure(under, "SET statement_timeout = '1s'");
        const locking = new pg.Client({ connectionString: under.databaseUrl });
        held = [locking];
        await locking.connect();
        await locking.query(
          'SET statement_timeout = 0; BEGIN; LOCK TABLE requests, deliveries, studies',
        );
      },
      end: async (under: SiteUnderFault) => {
        await Promise.all(held.map((one) => one.end()));
        await configure(under, 'RESET statement_timeout');
      },
    },
    {
      name: 'PostgreSQL frozen',
      done: 'every process of the server stopped (SIGSTOP)',
      begin: ({ postgres }: SiteUnderFault) => postgres.freeze(),
      end: ({ postgres }: SiteUnderFault) => postgres.thaw(),
    },
  ].map((one) => outage({ ...one, name: `${one.name}${suffix}`, site }));
}

const BUCKET_IN_WORDS: Readonly<Record<Exclude<BucketMood, 'well'>, string>> = {
  dead: 'connections to the storage are cut',
  slow: 'the storage answers 8 s late',
  busy: 'the storage answers 503 SlowDown',
  forbidden: 'the storage answers 403 AccessDenied',
  deleted: 'the storage answers 404 NoSuchBucket',
};

const ofBucket = (mood: Exclude<BucketMood, 'well'>): Fault =>
  outage({
    name: `bucket ${mood}`,
    done: BUCKET_IN_WORDS[mood],
    site: { bucket: true },
    begin: async ({ bucket }) => bucket.be(mood),
    async end({ bucket }) {
      bucket.be('well');
      if (bucket.spoiled === 0) throw new Error('the storage was not asked');
    },
  });

/** Outages of what the gateway stands on, except those of a killed server (faults.ts). */
export const OUTAGES: readonly Fault[] = [
  ...ofPostgres('', {}),
  ...ofPostgres(', one process', { oneProcess: true, backend: 'PostgreSQL' }),
  outage({
    name: 'Redis loses its data',
    done: 'FLUSHALL, while running',
    begin: ({ redis }) => redis.flush(),
    end: async () => {},
  }),
  outage({
    name: 'Redis full',
    done: 'maxmemory reached, with noeviction,',
    begin: ({ redis }) => redis.command('CONFIG', 'SET', 'maxmemory', '1'),
    end: ({ redis }) => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
  }),
  outage({
    name: 'Redis silent',
    done: 'CLIENT PAUSE',
    begin: ({ redis }) => redis.command('CLIENT', 'PAUSE', String(OUTAGE_MS), 'ALL'),
    end: async () => {},
  }),
  ...(['dead', 'slow', 'busy', 'forbidden', 'deleted'] as const).map(ofBucket),
];
