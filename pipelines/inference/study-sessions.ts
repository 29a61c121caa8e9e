import type { OpenModel } from '../result/assemble.ts';
import {
  type ModelTask,
  modelFor,
  type PackSetting,
  type RegisteredModel,
} from './model-registry.ts';
import type { InferenceSettings } from './open-network.ts';
import type { ModelSession, OpenSession } from './session.ts';

/** Settings of inference, and the packs whose models are permitted (`models` in job.json). */
export type ModelSettings = InferenceSettings & { allow: PackSetting };

/** Returns a function that opens the permitted model for a task; null if none is permitted. */
export function openerFor(
  registry: readonly RegisteredModel[],
  settings: ModelSettings,
  open: OpenSession,
) {
  return async (task: ModelTask): Promise<ModelSession | null> => {
    const model = modelFor(registry, task, settings.allow);
    return model && open(model, settings);
  };
}

interface StudySessions {
  /** Opens a model for the study. */
  open: OpenSession;
  /** The open models, in the order in which they were opened, and whether each has run. */
  models(): OpenModel[];
  close(): Promise<void>;
}

/** Opens the models of one study with `opening`, and records which of them run on its images. */
export function sessionsOfStudy(opening: OpenSession): StudySessions {
  const sessions: ModelSession[] = [];
  const used = new Set<ModelSession>();
  return {
    open: async (model, settings) => {
      const session = await opening(model, settings);
      sessions.push(session);
      return {
        ...session,
        get provider() {
          return session.provider;
        },
        run: (images) => {
          if (images.length > 0) used.add(session);
          return session.run(images);
        },
      };
    },
    models: () =>
      sessions.map((session) => {
        const { provider, model } = session;
        const { id, version, sha256, licence, pack } = model;
        return { id, version, sha256, licence, pack, provider, used: used.has(session) };
      }),
    close: async () => {
      for (const session of sessions) await session.close();
    },
  };
}
