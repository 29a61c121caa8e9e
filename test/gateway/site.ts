import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { type Gateway, startGateway } from '../../src/app/main.ts';
import type { RequestRow } from '../../src/core/requests/request.ts';
import { FINAL_STATUS } from '../../src/core/requests/request.ts';
import type { CommandAnswer } from '../../src/operations/commands.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { type FreshDatabase, freshDatabase } from '../peers/database.ts';

const LOOPBACK = '127.0.0.1';

/** Maximum time to wait before the test reports what did not happen; speed is not tested. */
const PATIENCE_MS = 90_000;
/** Maximum time between two looks. */
const LONGEST_PAUSE_MS = 1000;

/**
 * Returns the settings that all gateways in the tests share: free ports, loopback addresses, short
 * waits.
 */
export function siteSettings(
  place: FreshDatabase['settings'],
  overrides: Record<string, unknown> = {},
) {
  return {
    ...place,
    http: { host: LOOPBACK, port: 0 },
    dicom: { host: LOOPBACK, port: 0 },
    sources: [
      {
        name: 'this-machine',
        callingAeTitles: ['*'],
        addresses: ['127.0.0.0/8'],
        consoleUploads: true,
        completion: { signal: 'association-release', quietSeconds: 2, afterReleaseSeconds: 1 },
      },
    ],
    // Most of these gateways interpret nothing, or run only the mock pipeline.
    worker: { openModelsAtStart: false },
    // The studies in these tests are phantoms.
    evidence: { accept: 'simulated' },
    delivery: {
      retryBaseSeconds: 0.2,
      retryCapSeconds: 1,
      breaker: { failures: 5, openSeconds: 0.5, longestOpenSeconds: 1 },
    },
    ...overrides,
  };
}

export interface Site {
  config: Config;
  gateway: Gateway;
  dicomPort: number;
  close(): Promise<void>;
}

/** Starts the whole gateway in this process, with a separate database. */
export async function openSite(overrides: Record<string, unknown> = {}): Promise<Site> {
  const { settings, remove } = await freshDatabase();
  const config = loadConfig({}, siteSettings(settings, overrides));
  const gateway = await startGateway(config, silentLogger);
  return {
    config,
    gateway,
    dicomPort: gateway.dicom?.port ?? 0,
    async close() {
      await gateway.close();
      await remove();
    },
  };
}

/**
 * Waits until the request of a study has ended, and returns it. Explaining a study takes ten times as
 * long as reading a request, so this is done only until the request is known and once it has ended,
 * because a late object may have begun another revision in the meantime.
 */
export async function endOfStudy({ gateway }: Site, studyUid: string): Promise<RequestRow> {
  const newest = async () => {
    const told = await explain(gateway, studyUid);
    if (!told || told.state === 'receiving') return null;
    return told.requests.find(({ revision }) => revision === told.revision)?.request_id ?? null;
  };
  let id: string | null = null;
  return waitUntil(`a request of study ${studyUid} to end`, async () => {
    id ??= await newest();
    const row = id && (await gateway.core.get(id, null));
    if (!row || !FINAL_STATUS.has(row.status)) return null;
    id = await newest();
    return id === row.id ? row : null;
  });
}

/** Returns what the gateway has recorded about a study, or null if it has no record of it. */
export async function explain(
  gateway: Gateway,
  study: string,
): Promise<CommandAnswer<'studies.explain'> | null> {
  try {
    return await gateway.run('studies.explain', { study });
  } catch {
    return null;
  }
}

export async function deliveries({ gateway }: Site): Promise<CommandAnswer<'deliveries.list'>> {
  return await gateway.run('deliveries.list', {});
}

/**
 * Waits until the peer has confirmed every delivery. On failure, the error lists the state of each.
 */
export async function allDelivered(site: Site): Promise<void> {
  try {
    await waitUntil('the deliveries', async () =>
      (await deliveries(site)).every(({ state }) => state === 'delivered') ? true : null,
    );
  } catch (error) {
    const rows = await deliveries(site);
    const states = rows.map(({ object, state, code, detail }) => ({ object, state, code, detail }));
    throw new Error(JSON.stringify(states, null, 2), { cause: error });
  }
}

/**
 * Calls `look` repeatedly until it returns something other than null. At most a twentieth of the time
 * is spent on looking, because that would slow down what is awaited.
 */
export async function waitUntil<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const begin = performance.now();
    const found = await look();
    if (found !== null) return found;
    const took = performance.now() - begin;
    await delay(Math.min(Math.max(100, 20 * took), LONGEST_PAUSE_MS));
  }
  throw new Error(`waited in vain for ${what}`);
}
