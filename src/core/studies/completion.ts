import type { Source } from '../../../config/schema.ts';

/**
 * Why a study counts as complete; it stands in the row with the deadline.
 *
 *   quiet-time             nothing came for a while
 *   association-release    the last association that brought objects was released
 *   performed-procedure    the machine reported the step as completed (MPPS, PS3.4 F.7)
 *   instance-availability  a PACS notified that the study is there (PS3.4 R)
 *   expected-count         the PACS was asked how many objects there are, and all have come
 *   command                a person said so
 *   rerun                  a person, or the policy of the source, wants it interpreted again
 */
export const COMPLETION_SIGNAL = [
  'quiet-time',
  'association-release',
  'performed-procedure',
  'instance-availability',
  'expected-count',
  'command',
  'rerun',
] as const;
export type CompletionSignal = (typeof COMPLETION_SIGNAL)[number];

/** Signals by which nobody has said what a study has: others are more certain and are not doubted. */
export const UNCERTAIN_SIGNALS: readonly CompletionSignal[] = ['quiet-time', 'association-release'];

/** A study of a source that is no longer configured still completes, by these. */
const FORGOTTEN_SOURCE: Pick<Source, 'completion' | 'rerun'> = {
  completion: { signal: 'quiet-time', quietSeconds: 30, afterReleaseSeconds: 5 },
  rerun: 'when-content-changed',
};

/** When a study counts as complete if nothing comes after `lastArrival`. */
export function quietDeadline(sources: readonly Source[], source: string, lastArrival: Date): Date {
  return after(lastArrival, settingsOf(sources, source).completion.quietSeconds);
}

/** The same after the last association that brought objects was released; null: no signal here. */
export function releaseDeadline(
  sources: readonly Source[],
  source: string,
  released: Date,
): Date | null {
  const { signal, afterReleaseSeconds } = settingsOf(sources, source).completion;
  return signal === 'association-release' ? after(released, afterReleaseSeconds) : null;
}

/** The same once all has come that a machine or a PACS said there is. */
export function expectedDeadline(sources: readonly Source[], source: string, now: Date): Date {
  return after(now, settingsOf(sources, source).completion.afterReleaseSeconds);
}

/** Whether a study of this source is interpreted again when objects come late. */
export function rerunPolicy(sources: readonly Source[], source: string): Source['rerun'] {
  return settingsOf(sources, source).rerun;
}

function settingsOf(
  sources: readonly Source[],
  name: string,
): Pick<Source, 'completion' | 'rerun'> {
  return sources.find((source) => source.name === name) ?? FORGOTTEN_SOURCE;
}

function after(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000);
}
