import { acceleratorsOf } from './accelerators.ts';
import type { OpenSession } from './session.ts';

/**
 * Spreads models over two threads. Those on the processor go to one and the other in turn, so that
 * two work at a time. All of an accelerator stay on the first: two threads in WebGPU at once end the
 * process (microsoft/onnxruntime#32561, shown with 1.30), and an accelerator works off one run after
 * the other anyway.
 */
export function overThreads(
  [first, second]: readonly [OpenSession, OpenSession],
  accelerators = acceleratorsOf,
): OpenSession {
  let opened = 0;

  return async (model, settings) => {
    const turn = opened++ % 2 === 0 ? first : second;
    if (turn === first) return first(model, settings);
    const onProcessor = { ...settings, provider: 'cpu' } as const;
    if (settings.provider !== 'cpu' && accelerators().present.length > 0) {
      const tried = await first(model, settings);
      if (tried.provider !== 'cpu') return tried;
      await tried.close();
    }
    return second(model, onProcessor);
  };
}
