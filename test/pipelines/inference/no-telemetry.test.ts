import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';

const inference = (file: string) =>
  new URL(`../../../pipelines/inference/${file}`, import.meta.url).href;

/** The library's telemetry would leave its log, its queue and a machine number in these folders. */
it.each([
  ['the thread of its caller', 'session.ts', 'openSession'],
  ['a separate thread', 'threads.ts', 'startInferenceThread()'],
])('opens a model on %s without starting the reporter of ONNX Runtime', async (_, file, open) => {
  const home = await temporaryFolder();
  const program = join(await temporaryFolder(), 'open-model.mjs');
  await writeFile(
    program,
    `import { readRegistry } from '${inference('model-registry.ts')}';
     import * as library from '${inference(file)}';
     const [model] = await readRegistry();
     const session = await library.${open}(model, { provider: 'cpu', threads: 1 });
     await session.close();
     console.log('opened and closed');`,
  );
  const { ORT_DISABLE_TELEMETRY: _unset, ...own } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env: { ...own, HOME: home, TMPDIR: home, XDG_CACHE_HOME: home },
  });
  expect(stdout).toContain('opened and closed');
  expect(await readdir(home)).toEqual([]);
});
