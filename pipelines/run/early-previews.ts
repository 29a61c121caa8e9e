/**
 * Draws previews of the values known so far while the rest of the study is still being read. If
 * `draw` is called while drawing is in progress, one more drawing follows, with all values that
 * became known in the meantime.
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
    /** Starts drawing and returns immediately. */
    draw(): void {
      again = true;
      if (isRunning) return;
      isRunning = true;
      running = running.then(work);
      // The caller gets the error by awaiting `drawn`. This handler only keeps Node.js from
      // reporting an unhandled rejection before that.
      running.catch(() => {});
    },
    /**
     * Resolves when everything is drawn.
     * @throws the error of the first drawing that failed.
     */
    drawn: (): Promise<void> => running,
  };
}
