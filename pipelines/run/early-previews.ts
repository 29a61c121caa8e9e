/**
 * Draws previews of the values that are known while the rest of the study is still being read. If
 * `draw` is called during a drawing, one more drawing follows, with all values that became known in
 * the meantime.
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
      // The caller that waits for `drawn` receives the error.
      running.catch(() => {});
    },
    /**
     * Resolves when everything is drawn.
     * @throws the error of the first drawing that failed
     */
    drawn: (): Promise<void> => running,
  };
}
