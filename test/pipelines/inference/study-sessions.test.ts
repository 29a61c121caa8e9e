import { expect, it } from 'vitest';
import { keepOpen } from '../../../pipelines/inference/keep-open.ts';
import { sessionsOfStudy } from '../../../pipelines/inference/study-sessions.ts';
import { fakeSession, smallModel } from './fake-networks.ts';

const CPU = { provider: 'cpu', threads: 1 } as const;
const model = await smallModel();
const other = { ...model, id: 'other' };
const image = new Float32Array(model.input.width * model.input.height);

it('records which of the open models have run on an image', async () => {
  const study = sessionsOfStudy(async (one) => fakeSession(one));
  const first = await study.open(model, CPU);
  const second = await study.open(other, CPU);
  await second.run([]);
  expect(study.models().map(({ id, used }) => [id, used])).toEqual([
    [model.id, false],
    ['other', false],
  ]);
  await first.run([image]);
  expect(study.models().map(({ id, used }) => [id, used])).toEqual([
    [model.id, true],
    ['other', false],
  ]);
});

it('keeps a record for each study, although two studies share the sessions', async () => {
  const shared = keepOpen(async (one) => fakeSession(one));
  const studies = [sessionsOfStudy(shared), sessionsOfStudy(shared)] as const;
  const [session] = await Promise.all(studies.map((study) => study.open(model, CPU)));
  await session?.run([image]);
  expect(studies.map((study) => study.models().map(({ used }) => used))).toEqual([[true], [false]]);
});

it('names the provider on which the model ran last', async () => {
  let provider: 'cuda' | 'cpu' = 'cuda';
  const study = sessionsOfStudy(async (one) => ({
    ...fakeSession(one),
    get provider() {
      return provider;
    },
    run: async () => {
      provider = 'cpu';
      return [];
    },
  }));
  const session = await study.open(model, CPU);
  expect([session.provider, study.models()[0]?.provider]).toEqual(['cuda', 'cuda']);
  await session.run([image]);
  expect([session.provider, study.models()[0]?.provider]).toEqual(['cpu', 'cpu']);
});

it('closes every session', async () => {
  const closed: string[] = [];
  const study = sessionsOfStudy(async (one) => ({
    ...fakeSession(one),
    close: async () => void closed.push(one.id),
  }));
  await study.open(model, CPU);
  await study.open(other, CPU);
  await study.close();
  expect(closed).toEqual([model.id, 'other']);
});
