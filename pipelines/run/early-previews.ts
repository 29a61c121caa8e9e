/**
 * Draws what is known of a study while the rest of it is still read. Drawing again while a drawing
 * is under way happens once, after it, with all that became known meanwhile.
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
    /** Begins to draw and returns at once. */
    draw(): void {
      again = true;
      if (isRunning) return;
      isRunning = true;
      running = running.then(work);
      // Whoever waits for `drawn` gets the error.
      running.catch(() => {});
    },
    /** Resolves when all is drawn. @throws what the first failed drawing has thrown */
    drawn: (): Promise<void> => running,
  };
}
