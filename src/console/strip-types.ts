import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Marked experimental in Node 24, of which a thread of its own keeps quiet. */
const STRIPPING = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { stripTypeScriptTypes } = require('node:module');
  parentPort.postMessage(workerData.map((source) => stripTypeScriptTypes(source)));
`;

/**
 * JavaScript of TypeScript modules: types become blanks, so that lines and columns stay.
 * @throws what Node says of a module with syntax that cannot be erased.
 */
export async function stripTypes(sources: readonly string[]): Promise<string[]> {
  const worker = new Worker(STRIPPING, {
    eval: true,
    workerData: sources,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [stripped] = (await once(worker, 'message')) as [string[]];
  return stripped;
}
