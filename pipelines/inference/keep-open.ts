import type { ModelSession, OpenSession } from './session.ts';

/**
 * Returns an opener that opens each model only once for the same settings, because all studies of a
 * process share its sessions. They stay open until the process ends. If opening fails, the caller
 * receives the error, and the next call tries again.
 */
export function keepOpen(opening: OpenSession): OpenSession {
  const kept = new Map<string, Promise<ModelSession>>();
  return (model, settings) => {
    const key = JSON.stringify([model.id, model.sha256, settings.provider, settings.threads]);
    const opened = kept.get(key) ?? opening(model, settings);
    kept.set(key, opened);
    opened.catch(() => kept.delete(key));
    return opened;
  };
}
