import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  enqueueForwards,
  markDead,
  markDelivered,
  OVERTAKEN_AFTER_FAILURES,
  rankOf,
  rescheduleDelivery,
} from '../../../../src/core/outbox/deliveries.ts';
import type { Delivery } from '../../../../src/core/outbox/delivery.ts';
import { claimDelivery } from '../../../../src/core/outbox/outbox.ts';
import { openSite, type Site } from '../requests/site.ts';

const HOUR = 3600;
const KINDS = ['dicom', 'forward', 'fhir'] as const;

describe('the position of an object within its revision', () => {
  it.each([
    ['forward', 'a7c1', 0],
    ['dicom', 'sr-tid1500', 1],
    ['dicom', 'sr-echo', 1],
    ['dicom', 'key-objects', 2],
    ['dicom', 'presentation-state', 2],
    ['dicom', 'pdf', 2],
    ['fhir', 'fhir-bundle', 2],
  ] as const)('%s %s: %i', (kind, object, rank) => {
    expect(rankOf(kind, object)).toBe(rank);
  });
});

describe('deliveries of one study to one destination', () => {
  let site: Site;
  let count = 0;

  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site?.close());
  beforeEach(async () => {
    await site.database.query('DELETE FROM deliveries');
  });

  const add = async (object: string, { study = 's', revision = 1, to = 'pacs', rank = 0 } = {}) => {
    count += 1;
    const instance = `${object}-${count}`;
    await site.database.transaction((tx) =>
      enqueueForwards(tx, [{ instance, study, revision }], [to], HOUR),
    );
    await site.database.query(`UPDATE deliveries SET object = $2, rank = $3 WHERE object = $1`, [
      instance,
      object,
      rank,
    ]);
  };
  const claim = () => claimDelivery(site.database, KINDS, [], HOUR);
  const claimed = async () => (await claim())?.object ?? null;
  const deliver = (delivery: Delivery | null) =>
    markDelivered(site.database, delivery as Delivery, { outcome: 'delivered', detail: '' });
  const fail = (delivery: Delivery | null, own: boolean) =>
    rescheduleDelivery(
      site.database,
      delivery as Delivery,
      { code: own ? 'internal' : 'peer_unreachable', detail: '', own },
      HOUR,
    );
  const makeDue = () => site.database.query('UPDATE deliveries SET next_at = now()');

  it('are sent one revision after the other, however they were created', async () => {
    await add('report of 2', { revision: 2, rank: 1 });
    await add('report of 1', { revision: 1, rank: 1 });
    const first = await claim();
    expect(first?.object).toBe('report of 1');
    expect(await claimed()).toBeNull();
    await deliver(first);
    expect(await claimed()).toBe('report of 2');
  });

  it('are sent in order: images, then reports, then what may refer to a report', async () => {
    await add('key objects', { rank: 2 });
    await add('report', { rank: 1 });
    await add('image', { rank: 0 });
    for (const expected of ['image', 'report', 'key objects']) {
      const delivery = await claim();
      expect(delivery?.object).toBe(expected);
      await deliver(delivery);
    }
  });

  it('with the same position do not wait for each other', async () => {
    await add('image 1');
    await add('image 2');
    expect([await claimed(), await claimed()]).toEqual(['image 1', 'image 2']);
  });

  it('wait neither for another study nor for another destination', async () => {
    await add('image');
    await claim();
    await add('report', { rank: 1, study: 'another' });
    await add('report elsewhere', { rank: 1, to: 'archive' });
    expect([await claimed(), await claimed()].sort()).toEqual(['report', 'report elsewhere']);
  });

  it('wait while an earlier delivery is being retried', async () => {
    await add('image');
    await add('report', { rank: 1 });
    await fail(await claim(), true);
    expect(await claimed()).toBeNull();
  });

  it('do not wait for dead ones', async () => {
    await add('image');
    await add('report', { rank: 1 });
    await markDead(site.database, (await claim()) as Delivery, 'peer_refused_object', 'A900H');
    expect(await claimed()).toBe('report');
  });

  it.each([
    ['waits', OVERTAKEN_AFTER_FAILURES - 1, null],
    ['goes on', OVERTAKEN_AFTER_FAILURES, 'report'],
  ])('the next one %s behind an object that failed %i times', async (_, failures, next) => {
    await add('image');
    for (let n = 0; n < failures; n += 1) {
      await fail(await claim(), true);
      await makeDue();
    }
    await add('report', { rank: 1 });
    await site.database.query(`UPDATE deliveries SET next_at = 'infinity' WHERE object = 'image'`);
    expect(await claimed()).toBe(next);
  });

  it('wait however often the peer could not be reached', async () => {
    await add('image');
    for (let n = 0; n < 2 * OVERTAKEN_AFTER_FAILURES; n += 1) {
      await fail(await claim(), false);
      await makeDue();
    }
    await add('report', { rank: 1 });
    expect(await claimed()).toBe('image');
    expect(await claimed()).toBeNull();
  });
});
