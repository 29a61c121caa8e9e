import { failed, type SectionOutcome } from './result/section-outcome.ts';

/** Is told which section failed, and with what. */
export type SectionFailed = (section: string, error: unknown) => void;

/** For the log: the standard error of the child process is the gateway's log. */
export const logFailure: SectionFailed = (section, error) =>
  console.error(`section ${section} failed`, error);

const DETAIL = 'This section could not be interpreted because of an internal error.';

/**
 * What a section says of a study. One that throws costs itself, not the study: it is `failed` in the
 * result, as where its reader has failed (run-readers.ts), and is told to `onFailure`.
 */
export function runSection<Outcome extends SectionOutcome>(
  { id, needs }: { id: string; needs: readonly string[] },
  run: () => Outcome,
  onFailure: SectionFailed,
): Outcome | SectionOutcome {
  try {
    return run();
  } catch (error) {
    onFailure(id, error);
    return failed('section_failed', DETAIL, needs);
  }
}
