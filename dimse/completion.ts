import type { Source } from '../config/schema.ts';

/** A study of a source that is no longer configured still completes, by these. */
const FORGOTTEN_SOURCE: Source['completion'] = {
  signal: 'quiet-time',
  quietSeconds: 30,
  afterReleaseSeconds: 5,
};

/** When a study counts as complete if nothing comes after `lastArrival`. */
export function quietDeadline(sources: readonly Source[], source: string, lastArrival: Date): Date {
  return after(lastArrival, completionOf(sources, source).quietSeconds);
}

/** The same after the last association that brought objects was released; null: no signal here. */
export function releaseDeadline(
  sources: readonly Source[],
  source: string,
  released: Date,
): Date | null {
  const { signal, afterReleaseSeconds } = completionOf(sources, source);
  return signal === 'association-release' ? after(released, afterReleaseSeconds) : null;
}

function completionOf(sources: readonly Source[], name: string): Source['completion'] {
  return sources.find((source) => source.name === name)?.completion ?? FORGOTTEN_SOURCE;
}

function after(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000);
}
