import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settle } from './ledger.ts';
import { EACH_ROLE, type SiteUnderFault, startSiteUnderFault } from './site-under-fault.ts';
import { startTraffic, type Traffic } from './traffic.ts';

const site = await startSiteUnderFault();
afterAll(async () => site?.close());

describe.skipIf(!site)('killing every role and crashing PostgreSQL and Redis under traffic', () => {
  let traffic: Traffic;
  beforeAll(async () => {
    traffic = await startTraffic(site as SiteUnderFault, 'short', { studies: 3, submits: 6 });
  });
  afterAll(() => traffic.remove());

  it('loses nothing acknowledged, and duplicates nothing without a mark', {
    timeout: 300_000,
  }, async () => {
    const under = site as SiteUnderFault;
    await traffic.reached(1);
    for (const role of EACH_ROLE) await under.kill(role);
    await under.postgres.crash();
    await under.postgres.resume();
    await under.redis.pause();
    await under.redis.resume();
    await traffic.all;
    const ledger = await settle(under, traffic.promised);
    expect(ledger).toMatchObject({ objectsAcknowledged: 6, requestsAcknowledged: 6 });
    expect(ledger.lost).toEqual([]);
    expect(ledger.late).toEqual([]);
    expect(ledger.doubled).toEqual([]);
  });
});
