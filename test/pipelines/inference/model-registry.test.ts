import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  modelFor,
  type RegisteredModel,
  readModel,
  readRegistry,
} from '../../../pipelines/inference/model-registry.ts';
import { HEAD_PLANES } from '../../../pipelines/obstetric/planes/locate.ts';
import { HEAD_STRUCTURES, PLANES } from '../../../pipelines/obstetric/shared/plane.ts';

const folder = await mkdtemp(join(tmpdir(), 'registry-'));
afterAll(() => rm(folder, { recursive: true }));

describe('models/registry.yaml', async () => {
  const models = await readRegistry();

  it('has a model for every task', () => {
    for (const task of [
      'fetal-plane',
      'fetal-brain-plane',
      'fetal-head',
      'fetal-abdomen',
      'fetal-femur',
      'symphysis-head',
      'fetal-midsagittal',
    ] as const) {
      expect(modelFor(models, task, 'permissive')?.task).toBe(task);
    }
  });

  it.each(models.map((model) => [model.id, model] as const))(
    'identifies the bytes of %s by their checksum',
    async (_, model) => {
      expect((await readModel(model)).length).toBeGreaterThan(100_000);
    },
  );

  it('has no class of the plane models that the result does not support', () => {
    const classes = modelFor(models, 'fetal-plane', 'all')?.output.channels ?? [];
    expect(PLANES).toEqual(expect.arrayContaining(classes));
  });

  it('uses for axial planes and head structures the model that sees only the head', () => {
    expect(modelFor(models, 'fetal-brain-plane', 'all')?.output.channels).toEqual([
      ...HEAD_PLANES,
      ...HEAD_STRUCTURES,
    ]);
  });

  it('has no gate for a class that the plane model lacks', () => {
    const model = modelFor(models, 'fetal-plane', 'all');
    expect(model?.output.channels).toEqual(
      expect.arrayContaining(Object.keys(model?.class_gates ?? {})),
    );
  });
});

describe('modelFor', () => {
  const entry = (id: string, pack: 'permissive' | 'research') =>
    ({ id, pack, task: 'fetal-head' }) as RegisteredModel;
  const models = [entry('better', 'research'), entry('free', 'permissive')];

  it('returns the first, more accurate model if all packs are allowed', () => {
    expect(modelFor(models, 'fetal-head', 'all')?.id).toBe('better');
  });

  it('skips the research pack if only permissive models are allowed', () => {
    expect(modelFor(models, 'fetal-head', 'permissive')?.id).toBe('free');
  });

  it('returns none if no pack is allowed', () => {
    expect(modelFor(models.slice(0, 1), 'fetal-head', 'permissive')).toBeNull();
  });
});

describe('readModel', () => {
  it('refuses bytes that are not the registered ones', async () => {
    const path = join(folder, 'model.onnx');
    await writeFile(path, 'something else');
    const model = { id: 'm', file: 'model.onnx', path, sha256: '0'.repeat(64) } as RegisteredModel;
    await expect(readModel(model)).rejects.toThrow(/model m: model.onnx has SHA-256/);
  });
});

describe('readRegistry', () => {
  it('reports the misspelt key of an entry', async () => {
    const file = join(folder, 'registry.yaml');
    await writeFile(file, 'models:\n  - { id: a, licens: MIT }\n');
    await expect(readRegistry(file)).rejects.toThrow(/licens/);
  });
});
