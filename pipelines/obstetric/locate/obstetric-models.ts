import { type ModelTask, modelFor, readRegistry } from '../../inference/model-registry.ts';
import { type InferenceSettings, type ModelSession, openSession } from '../../inference/session.ts';

/** The sessions of the obstetric pipeline; null where `models.allow` leaves no model for a task. */
export interface ObstetricModels {
  plane: ModelSession | null;
  head: ModelSession | null;
  abdomen: ModelSession | null;
  femur: ModelSession | null;
  close(): Promise<void>;
}

export async function openObstetricModels(
  settings: InferenceSettings & { allow: 'all' | 'permissive' },
): Promise<ObstetricModels> {
  const registry = await readRegistry();
  const open = async (task: ModelTask) => {
    const model = modelFor(registry, task, settings.allow);
    return model && (await openSession(model, settings));
  };
  const sessions = {
    plane: await open('fetal-plane'),
    head: await open('fetal-head'),
    abdomen: await open('fetal-abdomen'),
    femur: await open('fetal-femur'),
  };
  return {
    ...sessions,
    close: async () => {
      for (const session of Object.values(sessions)) await session?.close();
    },
  };
}
