/**
 * Draws what is known about a study while the rest of it is still being read. If `draw` is called
 * during a drawing, one more drawing follows, with everything that became known meanwhile.
 */
export function createEarlyPreviews(show: () => Promise<void>) {
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;
  let again = false;
  const work = async () => {
    try {
      while (again) {
        again = false;
        await show();
      }
    } finally {
      isRunning = false;
    }
  };
  return {
    /** Starts to draw and returns at once. */
    draw(): void {
      again = true;
      if (isRunning) return;
      isRunning = true;
      running = running.then(work);
      // The error is thrown to the caller that waits for `drawn`.
      running.catch(() => {});
    },
    /**
     * Resolves when everything is drawn.
     * @throws the error of the first drawing that failed
     */
    drawn: (): Promise<void> => running,
  };
}
