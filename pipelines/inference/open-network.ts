import { type Accelerator, acceleratorsOf } from './accelerators.ts';
import { goOnWith } from './go-on-with.ts';
import type { RegisteredModel } from './model-registry.ts';
import { type InferenceSettings, type LoadNetwork, loadNetwork, type Network } from './network.ts';
import type { Refusal } from './refusal.ts';
import { faultOf } from './self-test.ts';

/** A network, and the accelerators that it was not put on. */
export interface OpenedNetwork {
  network: Network;
  /** None that was told with an earlier model and holds for all. */
  refusals: readonly Refusal[];
}

export type OpenNetwork = (
  model: RegisteredModel,
  settings: InferenceSettings,
) => Promise<OpenedNetwork>;

interface Parts {
  /** Which accelerators may load on this machine, and why each other may not. */
  accelerators: typeof acceleratorsOf;
  load: LoadNetwork;
}

/** These hold for every model: to try the next would only hold up the start, and print errors. */
const FOR_ALL: readonly Refusal['why'][] = ['absent', 'unloadable', 'software'];

/**
 * Gives what opens verified models, each on the first provider that loads, agrees with the processor
 * and is not slower. A named one need not be fast, and none other but the processor stands in for it.
 * Throws only where a model cannot be opened on the processor.
 */
export function networkOpener({
  accelerators = acceleratorsOf,
  load = loadNetwork,
}: Partial<Parts> = {}): OpenNetwork {
  const givenUp = new Set<Accelerator>();

  return async (model, { provider, threads }) => {
    const openOnProcessor = () => load(model, 'cpu', threads);
    const processor = await openOnProcessor();
    if (provider === 'cpu') return { network: processor, refusals: [] };

    const refusals: Refusal[] = [];
    const refuse = (refusal: Refusal) => {
      refusals.push(refusal);
      if (FOR_ALL.includes(refusal.why)) givenUp.add(refusal.accelerator);
    };
    const { present, absent } = accelerators();
    const asked = (accelerator: Accelerator) =>
      !givenUp.has(accelerator) && (provider === 'auto' || provider === accelerator);
    for (const { accelerator, reason } of absent) {
      if (asked(accelerator) && provider !== 'auto') {
        refuse({ accelerator, why: 'absent', detail: reason });
      }
    }
    for (const accelerator of present.filter(asked)) {
      try {
        const network = await load(model, accelerator, threads);
        const fault = await faultOf(network, processor, {
          pixels: model.input.width * model.input.height,
          timed: provider === 'auto',
        });
        if (!fault) {
          await processor.release();
          return { network: goOnWith(openOnProcessor, network, accelerator), refusals };
        }
        await network.release();
        refuse({ accelerator, ...fault });
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        refuse({ accelerator, why: 'unloadable', detail });
      }
    }
    return { network: processor, refusals };
  };
}
