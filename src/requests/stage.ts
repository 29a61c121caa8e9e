import type { Stage } from './row.ts';

/** The stages the core itself passes through (service.md 6.1); a pipeline reports those between. */
export const STAGES = {
  received: { name: 'received', label: 'Received', progress: 0, eta_s: null },
  queued_gpu: { name: 'queued_gpu', label: 'Waiting for a worker', progress: 0, eta_s: null },
  validating: { name: 'validating', label: 'Checking the files', progress: 0.02, eta_s: null },
  fetching: { name: 'validating', label: 'Fetching the files', progress: 0.03, eta_s: null },
  starting: { name: 'starting', label: 'Starting the pipeline', progress: 0.05, eta_s: null },
  uploading: { name: 'uploading', label: 'Storing the result', progress: 0.96, eta_s: null },
  completed: { name: 'completed', label: 'Completed', progress: 1, eta_s: 0 },
} as const satisfies Record<string, Stage>;

/** A pipeline's own progress runs from 0 to 1 between these two stages of the request. */
export function pipelineProgress(progress: number): number {
  const share = Math.min(Math.max(progress, 0), 1);
  const { starting, uploading } = STAGES;
  return starting.progress + share * (uploading.progress - starting.progress);
}

/** `next` with a progress that is not below that of `current`; `current` when nothing changed. */
export function laterStage(current: Stage, next: Stage | null): Stage {
  if (!next) return current;
  const progress = Math.max(current.progress, Math.round(next.progress * 1000) / 1000);
  const same =
    next.name === current.name && next.label === current.label && progress === current.progress;
  return same ? current : { ...next, progress };
}

/** Below this share of the work its speed says little about the rest. */
const RELIABLE_SHARE = 0.2;

/**
 * Seconds left, or null when nothing is known. `typical` is the median run time in seconds of the
 * endpoint's last requests, used until the run itself has gone far enough to be judged by.
 */
export function estimateEta(
  share: number,
  elapsedSeconds: number,
  typical: number | null,
): number | null {
  if (share >= 1) return 0;
  if (share >= RELIABLE_SHARE) return Math.ceil((elapsedSeconds * (1 - share)) / share);
  return typical !== null && typical > elapsedSeconds ? Math.ceil(typical - elapsedSeconds) : null;
}
