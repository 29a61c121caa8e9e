import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

/** Model tasks, by the endpoint that uses them. */
export const MODEL_TASKS = {
  obstetric: [
    'fetal-plane',
    'fetal-brain-plane',
    'fetal-head',
    'fetal-head-border',
    'fetal-abdomen',
    'fetal-femur',
    'symphysis-head',
    'fetal-midsagittal',
    'uterine-structures',
    'fetal-heart-structures',
    'fetal-brain-structures',
  ],
  echo: ['echo-view', 'echo-chambers', 'echo-ejection-fraction', 'echo-parasternal'],
} as const;

const modelSchema = z.strictObject({
  id: z.string(),
  version: z.string(),
  task: z.enum([...MODEL_TASKS.obstetric, ...MODEL_TASKS.echo]),
  /** Path relative to the registry. The paths of card and metrics are relative to it too. */
  file: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  licence: z.string(),
  pack: z.enum(['permissive', 'research']),
  card: z.string(),
  metrics: z.string(),
  input: z.strictObject({
    name: z.string(),
    width: z.number().int().positive(),
    height: z.number().int().positive(),
    normalisation: z.literal('luminance / 255'),
  }),
  output: z.strictObject({
    name: z.string(),
    /** Meaning of each channel or logit. */
    channels: z.array(z.string()).min(1),
  }),
  /** The logits are divided by this before the softmax. Classifiers only. */
  temperature: z.number().positive().optional(),
  /** Confidence below which the output is not used. Chosen on the validation split. */
  gate: z.number().min(0).max(1),
  /** Gates of single classes, each in place of `gate`. Classifiers only. */
  class_gates: z.record(z.string(), z.number().min(0).max(1)).optional(),
  /** Lower gates of classes that another model confirms by a structure. Classifiers only. */
  confirmed_gates: z.record(z.string(), z.number().min(0).max(1)).optional(),
  /** Linear correction of the raw output, fitted on held-out training patients. */
  recalibration: z.strictObject({ slope: z.number(), offset: z.number() }).optional(),
});
const registrySchema = z.strictObject({ models: z.array(modelSchema) });

export type ModelTask = z.infer<typeof modelSchema>['task'];
type ModelDescription = z.infer<typeof modelSchema>;
export type RegisteredModel = ModelDescription & { path: string };
export type PackSetting = 'all' | 'permissive';

const REGISTRY_FILE = fileURLToPath(new URL('../../models/registry.yaml', import.meta.url));

/**
 * Reads and validates a registry.
 *
 * @throws Error with a list of all faults.
 */
export async function readRegistry(file = REGISTRY_FILE): Promise<RegisteredModel[]> {
  const parsed = registrySchema.safeParse(parse(await readFile(file, 'utf8')));
  if (!parsed.success) {
    throw new Error(`model registry ${file}: ${z.prettifyError(parsed.error)}`);
  }
  return parsed.data.models.map((model) => ({ ...model, path: join(dirname(file), model.file) }));
}

/**
 * Returns the model for a task from the packs that `models.allow` permits. It is the first match in
 * the registry, where more accurate models come first. Null if no model is permitted.
 */
export function modelFor(
  models: readonly RegisteredModel[],
  task: ModelTask,
  allow: PackSetting,
): RegisteredModel | null {
  return models.find((model) => model.task === task && isAllowed(model, allow)) ?? null;
}

const isAllowed = ({ pack }: RegisteredModel, allow: PackSetting) =>
  allow === 'all' || pack === 'permissive';

/**
 * Returns every model that a job may use: the first model for each task, and any further model with
 * a channel that the models before it lack. An example of such a channel is the right heart, which
 * the more accurate chamber network does not segment.
 */
export function modelsInUse(
  models: readonly RegisteredModel[],
  allow: PackSetting,
): RegisteredModel[] {
  const allowed = models.filter((model) => isAllowed(model, allow));
  return allowed.filter(({ task, output }, index) => {
    const before = allowed.slice(0, index).filter((other) => other.task === task);
    const known = new Set(before.flatMap((other) => other.output.channels));
    return output.channels.some((channel) => !known.has(channel));
  });
}

/**
 * Reads the bytes of a model.
 *
 * @throws Error if their hash differs from the one in the registry.
 */
export async function readModel(model: RegisteredModel): Promise<Uint8Array> {
  const bytes = await readFile(model.path);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== model.sha256) {
    throw new Error(
      `model ${model.id}: ${model.file} has SHA-256 ${found}, the registry says ${model.sha256}`,
    );
  }
  return bytes;
}

/** Reads a model's `metrics.json`, whose content depends on the task. */
export async function readMetrics({ metrics }: Pick<RegisteredModel, 'metrics'>): Promise<unknown> {
  return JSON.parse(await readFile(join(dirname(REGISTRY_FILE), metrics), 'utf8'));
}

export interface ModelCard {
  id: string;
  version: string;
  task: string;
  licence: string;
  pack: 'permissive' | 'research';
  sha256: string;
  /** The model's `metrics.json`, measured by `models/evaluate.ts` on held-out data. */
  accuracy: unknown;
}

/** Returns the cards of the models in use under `models.allow`. */
export async function readModelCards(allow: PackSetting): Promise<ModelCard[]> {
  const used = modelsInUse(await readRegistry(), allow);
  return Promise.all(
    used.map(async ({ id, version, task, licence, pack, sha256, metrics }) => {
      const accuracy = await readMetrics({ metrics });
      return { id, version, task, licence, pack, sha256, accuracy };
    }),
  );
}
