import type { Accelerator } from './accelerators.ts';
import type { Network } from './network.ts';

/**
 * A network on an accelerator that goes on with the processor once a run has thrown: a lost device
 * does not come back within a process, and what does not fit its memory never will. The run is
 * repeated there, so that its caller sees an answer alone; `refusal` of that answer says why. What
 * waited meanwhile goes to the processor too.
 */
export function goOnWith(
  openOnProcessor: () => Promise<Network>,
  onAccelerator: Network,
  accelerator: Accelerator,
): Network {
  let processor: Promise<Network> | null = null;

  // What is left of a lost device may not let itself be released either.
  const changeOver = () =>
    onAccelerator
      .release()
      .catch(() => {})
      .then(openOnProcessor);
  const runOnProcessor: Network['run'] = async (images, count) => {
    processor ??= changeOver();
    return (await processor).run(images, count);
  };

  return {
    provider: accelerator,
    run: async (images, count) => {
      if (processor) return runOnProcessor(images, count);
      try {
        return await onAccelerator.run(images, count);
      } catch (error) {
        const isFirst = processor === null;
        const answer = await runOnProcessor(images, count);
        const detail = error instanceof Error ? error.message : String(error);
        return isFirst ? { ...answer, refusal: { accelerator, why: 'failed', detail } } : answer;
      }
    },
    release: async () => (processor ? (await processor).release() : onAccelerator.release()),
  };
}
