import { describe, expect, it } from 'vitest';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import { openHeartLocator } from '../../../pipelines/echo/locate/heart-locator.ts';
import {
  modelsInUse,
  readModelCards,
  readRegistry,
} from '../../../pipelines/inference/model-registry.ts';
import type { OpenSession } from '../../../pipelines/inference/session.ts';
import { obstetricEndpoint } from '../../../pipelines/obstetric/endpoint.ts';
import { openLocator } from '../../../pipelines/obstetric/open-locator.ts';
import { fakeSession } from './fake-networks.ts';

/** Opens no network, because only the models that a pipeline requests matter. */
const unopened: OpenSession = async (model) => fakeSession(model);

const SETTINGS = { provider: 'cpu', threads: 1 } as const;

describe('the models that an endpoint lists', () => {
  it.each([
    ['us/obstetric', 'all', obstetricEndpoint, openLocator],
    ['us/obstetric', 'permissive', obstetricEndpoint, openLocator],
    ['us/echo', 'all', echoEndpoint, openHeartLocator],
    ['us/echo', 'permissive', echoEndpoint, openHeartLocator],
  ] as const)('are those that a result of %s lists, with %s', async (_, allow, endpoint, open) => {
    const { models } = await open({ ...SETTINGS, allow }, unopened);
    const tasks: readonly string[] = endpoint.modelTasks;
    const cards = (await readModelCards(allow)).filter(({ task }) => tasks.includes(task));
    expect(models.length).toBeGreaterThan(0);
    expect(cards.map(({ id }) => id).toSorted()).toEqual(models.map(({ id }) => id).toSorted());
  });

  it('are, for both endpoints together, all that are in use', async () => {
    const tasks: readonly string[] = [...obstetricEndpoint.modelTasks, ...echoEndpoint.modelTasks];
    const used = modelsInUse(await readRegistry(), 'all');
    expect(used.filter(({ task }) => !tasks.includes(task))).toEqual([]);
  });
});
