import type { Config } from '../../config/schema.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import { HELD_FOR_A_PERSON } from '../outbox/held.ts';
import type { ConsoleRole, Destination, Peer } from './contract.ts';
import { shownError } from './deliveries.ts';
import type { ConsoleDeps } from './deps.ts';
import { readsFreeText } from './roles.ts';

type PeerDeps = Pick<ConsoleDeps, 'database' | 'config'>;

interface Counts {
  destination: string;
  waiting: number;
  sending: number;
  dead: number;
  held: number;
  waiting_since: Date | null;
}

interface LastWords {
  destination: string;
  code: ErrorCode;
  detail: string | null;
  at: Date;
}

/** Every destination of the site, and those of the past that something is still meant for. */
export async function listDestinations(role: ConsoleRole, deps: PeerDeps): Promise<Destination[]> {
  const { config } = deps;
  const [open, day, taken, errors, alone, breakers] = await Promise.all([
    rowsOf<Counts>(
      deps,
      `SELECT destination,
         (count(*) FILTER (WHERE state = 'pending' AND NOT held))::int AS waiting,
         (count(*) FILTER (WHERE state = 'sending'))::int AS sending,
         (count(*) FILTER (WHERE state = 'dead' AND NOT held))::int AS dead,
         (count(*) FILTER (WHERE held))::int AS held,
         min(created_at) FILTER (WHERE state IN ('pending', 'sending') AND NOT held)
           AS waiting_since
       FROM (SELECT d.destination, d.state, d.created_at, ${HELD_FOR_A_PERSON} AS held
         FROM deliveries d
         WHERE d.kind <> 'webhook' AND d.state IN ('pending', 'sending', 'dead')) AS open
       GROUP BY destination`,
    ),
    rowsOf<{ destination: string; delivered: number }>(
      deps,
      `SELECT destination, count(*)::int AS delivered FROM deliveries
       WHERE state = 'delivered' AND kind <> 'webhook' AND ended_at > now() - interval '1 day'
       GROUP BY destination`,
    ),
    lastTaken(deps),
    lastErrors(deps),
    rowsOf<{ destination: string; until: Date }>(
      deps,
      'SELECT destination, until FROM destination_holds WHERE until > now()',
    ),
    rowsOf<{ destination: string; opened_at: Date; failures: number; probe_at: Date | null }>(
      deps,
      `SELECT destination, opened_at, failures, probe_at FROM destination_breakers
       WHERE opened_at IS NOT NULL`,
    ),
  ]);
  const names = new Set([
    ...config.destinations.map(({ name }) => name),
    ...open.map(({ destination }) => destination),
  ]);
  const of = <Row extends { destination: string }>(rows: readonly Row[], name: string) =>
    rows.find(({ destination }) => destination === name);
  return [...names].map((name) => {
    const counts = of(open, name);
    const error = of(errors, name);
    const outage = of(breakers, name);
    const set = config.destinations.find((destination) => destination.name === name);
    return {
      name,
      kind: set?.type ?? 'no longer set',
      address: set ? addressOf(set, role) : '',
      waiting: counts?.waiting ?? 0,
      sending: counts?.sending ?? 0,
      dead: counts?.dead ?? 0,
      held: counts?.held ?? 0,
      deliveredLastDay: of(day, name)?.delivered ?? 0,
      waitingSince: counts?.waiting_since?.toISOString() ?? null,
      lastDeliveredAt: of(taken, name)?.at.toISOString() ?? null,
      lastError: error ? shownError(error.code, readsFreeText(role) ? error.detail : null) : null,
      leftAloneUntil: of(alone, name)?.until.toISOString() ?? null,
      outage: outage
        ? {
            since: outage.opened_at.toISOString(),
            failures: outage.failures,
            probeAt: outage.probe_at?.toISOString() ?? null,
          }
        : null,
    };
  });
}

async function rowsOf<Row extends object>({ database }: PeerDeps, text: string): Promise<Row[]> {
  return (await database.query<Row>(text)).rows;
}

/** Every node that sends to us or is sent to. */
export async function listPeers(role: ConsoleRole, deps: PeerDeps): Promise<Peer[]> {
  const { database, config } = deps;
  const [taken, errors, { rows: received }] = await Promise.all([
    lastTaken(deps),
    lastErrors(deps),
    database.query<{ source: string; at: Date }>(
      'SELECT source, max(arrived_at) AS at FROM worklist WHERE study_id IS NOT NULL GROUP BY source',
    ),
  ]);
  const sources = config.sources.map(
    (source): Peer => ({
      name: source.name,
      kind: 'source',
      address: `${source.callingAeTitles.join(', ')} from ${source.addresses.join(', ')}`,
      tls: config.dicom.tls !== undefined,
      objects: [],
      lastExchangeAt: received.find((row) => row.source === source.name)?.at.toISOString() ?? null,
      lastError: null,
      lastErrorAt: null,
      callable: source.node !== undefined,
    }),
  );
  const destinations = config.destinations.map((destination): Peer => {
    const error = errors.find((row) => row.destination === destination.name);
    return {
      name: destination.name,
      kind: destination.type === 'fhir' ? 'fhir' : 'dicom',
      address: addressOf(destination, role),
      tls: isEncrypted(destination),
      objects: 'objects' in destination ? [...destination.objects] : ['fhir-bundle'],
      lastExchangeAt:
        taken.find((row) => row.destination === destination.name)?.at.toISOString() ?? null,
      lastError: error ? shownError(error.code, readsFreeText(role) ? error.detail : null) : null,
      lastErrorAt: error?.at.toISOString() ?? null,
      callable: true,
    };
  });
  return [...sources, ...destinations];
}

type Target = Config['destinations'][number];

const isEncrypted = (destination: Target): boolean =>
  'baseUrl' in destination
    ? destination.baseUrl.startsWith('https:')
    : destination.tls !== undefined;

/** Addresses of the network are for those who keep it. */
function addressOf(destination: Target, role: ConsoleRole): string {
  if (!readsFreeText(role)) return '';
  return 'baseUrl' in destination
    ? destination.baseUrl
    : `${destination.aeTitle}@${destination.host}:${destination.port}`;
}

async function lastTaken({ database }: PeerDeps): Promise<{ destination: string; at: Date }[]> {
  const { rows } = await database.query<{ destination: string; at: Date }>(
    `SELECT DISTINCT ON (destination) destination, ended_at AS at FROM deliveries
     WHERE state = 'delivered' AND kind <> 'webhook' AND ended_at > now() - interval '7 days'
     ORDER BY destination, ended_at DESC`,
  );
  return rows;
}

/** Of what waits or is dead: one that has since been delivered no longer has an error. */
async function lastErrors({ database }: PeerDeps): Promise<LastWords[]> {
  const { rows } = await database.query<LastWords>(
    `SELECT DISTINCT ON (destination) destination, code, detail,
       coalesce(ended_at, next_at) AS at
     FROM deliveries WHERE state IN ('pending', 'sending', 'dead') AND kind <> 'webhook'
       AND code IS NOT NULL
     ORDER BY destination, coalesce(ended_at, next_at) DESC`,
  );
  return rows;
}
