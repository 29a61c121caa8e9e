import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { modelsInUse, type PackSetting, REGISTRY_FILE, readRegistry } from './model-registry.ts';

/** What a client may know of a model before it relies on it. */
export interface ModelCard {
  id: string;
  version: string;
  task: string;
  licence: string;
  pack: 'permissive' | 'research';
  sha256: string;
  /** As `models/evaluate.ts` measured it on held-out data: the model's `metrics.json`. */
  accuracy: unknown;
}

/** The models that `models.allow` puts to use. */
export async function readModelCards(
  allow: PackSetting,
  registry = REGISTRY_FILE,
): Promise<ModelCard[]> {
  const used = modelsInUse(await readRegistry(registry), allow);
  return Promise.all(
    used.map(async ({ id, version, task, licence, pack, sha256, metrics }) => {
      const accuracy: unknown = JSON.parse(
        await readFile(join(dirname(registry), metrics), 'utf8'),
      );
      return { id, version, task, licence, pack, sha256, accuracy };
    }),
  );
}
