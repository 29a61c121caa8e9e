import type { Source } from '../../../config/schema.ts';

/**
 * The signals that make a study count as complete. The row of the study stores the signal beside
 * `complete_after`.
 *
 * quiet-time no object arrived for a while
 *   association-release    the last association that sent objects was released
 *   performed-procedure    the machine reported the step as completed (MPPS, PS3.4 F.7)
 *   instance-availability  a PACS reported that it has the study (IAN, PS3.4 R)
 *   expected-count         all objects have arrived that an archive has
 *   command                a person completed or released the study
 *   rerun                  a person, or the policy of the source, had it interpreted again
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

/** Signals that are guesses, because nobody has stated which objects the study has. */
export const UNCERTAIN_SIGNALS: readonly CompletionSignal[] = ['quiet-time', 'association-release'];

/** Settings for studies of a source that is no longer configured. */
const FORGOTTEN_SOURCE: Pick<Source, 'completion' | 'rerun'> = {
  completion: { signal: 'quiet-time', quietSeconds: 30, afterReleaseSeconds: 5 },
  rerun: 'when-content-changed',
};

/** When a study counts as complete if nothing arrives after `lastArrival`. */
export function quietDeadline(sources: readonly Source[], source: string, lastArrival: Date): Date {
  return after(lastArrival, settingsOf(sources, source).completion.quietSeconds);
}

/**
 * When a study counts as complete after the release of the last association that sent objects; null
 * when a release is not a completion signal for this source.
 */
export function releaseDeadline(
  sources: readonly Source[],
  source: string,
  released: Date,
): Date | null {
  const { signal, afterReleaseSeconds } = settingsOf(sources, source).completion;
  return signal === 'association-release' ? after(released, afterReleaseSeconds) : null;
}

/**
 * When a study counts as complete once all objects have arrived that a machine or a PACS listed.
 */
export function expectedDeadline(sources: readonly Source[], source: string, now: Date): Date {
  return after(now, settingsOf(sources, source).completion.afterReleaseSeconds);
}

/** Whether a study of this source is interpreted again when objects arrive late. */
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
