import { parentPort, type Transferable } from 'node:worker_threads';
import type { Answer, Network, OpenNetwork } from './open-network.ts';
import type { Answered, Asked, Call, Opened } from './threads.ts';

/**
 * Entry point of the inference thread (threads.ts). A run blocks it, so models run one at a time.
 */
const networks: Network[] = [];
let opener: OpenNetwork | undefined;

function networkOf(number: number): Network {
  const network = networks[number];
  if (!network) throw new RangeError(`no network ${number} is open`);
  return network;
}

async function answerTo(call: Call): Promise<Opened | Answer | undefined> {
  switch (call.name) {
    case 'open': {
      // The network code is loaded only with the first model, because some processes have this
      // thread but open no model.
      const { networkOpener } = await import('./open-network.ts');
      opener ??= networkOpener();
      const { network, refusals } = await opener(call.model, call.settings);
      return { network: networks.push(network) - 1, provider: network.provider, refusals };
    }
    case 'run':
      return networkOf(call.network).run(call.images, call.count);
    case 'release':
      await networkOf(call.network).release();
      return undefined;
  }
}

parentPort?.on('message', async ({ call, port }: Asked) => {
  let reply: Answered<Opened | Answer | undefined>;
  const moved: Transferable[] = [];
  try {
    const answer = await answerTo(call);
    if (answer && 'values' in answer) moved.push(answer.values.buffer as ArrayBuffer);
    reply = { answer };
  } catch (error) {
    reply = { error: error instanceof Error ? error : new Error(String(error)) };
  }
  port.postMessage(reply, moved);
});
