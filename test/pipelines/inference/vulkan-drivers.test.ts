import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PROVIDER_TOLERANCE } from '../../../pipelines/inference/open-network.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/**
 * SwiftShader from Debian's chromium: a Vulkan driver in software that is hundreds of times slower
 * than our processor backend.
 */
const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';

const inference = (file: string) =>
  new URL(`../../../pipelines/inference/${file}`, import.meta.url).href;

/**
 * Runs a program with only one Vulkan driver. A separate process is necessary because a process
 * looks for drivers only once.
 */
async function withDriver<T>(driver: string, body: string): Promise<{ answer: T; stderr: string }> {
  const program = join(await temporaryFolder(), 'program.mjs');
  await writeFile(
    program,
    `import { readRegistry } from '${inference('model-registry.ts')}';
     import { loadNetwork } from '${inference('open-network.ts')}';
     import { networkOpener } from '${inference('open-network.ts')}';
     import { largestDifference, selfTestImages } from '${inference('open-network.ts')}';
     const [model, next] = await readRegistry();
     ${body}
     console.log(JSON.stringify(answer));`,
  );
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], {
    env: { PATH: process.env.PATH, VK_DRIVER_FILES: driver, NODEVICE_SELECT: '1' },
  });
  return { answer: JSON.parse(stdout), stderr };
}

/** Opens two models one after the other, as a gateway does, and prints what was logged for each. */
const OPEN_TWO = `
  const open = networkOpener();
  const answer = [];
  for (const each of [model, next]) {
    const { network, refusals } = await open(each, { provider: 'auto', threads: 1 });
    const image = selfTestImages(1, each.input.width * each.input.height);
    const { values } = await network.run(image, 1);
    answer.push({ provider: network.provider, refusals, answers: values.length > 0 });
  }`;

interface Opened {
  provider: string;
  refusals: { accelerator: string; why: string; detail: string }[];
  answers: boolean;
}

/** Compiling a model's shaders takes seconds, and longer on a busy machine. */
const PATIENCE = { timeout: 180_000 };

describe('WebGPU on a Vulkan driver in software', PATIENCE, () => {
  const absent = !existsSync(SWIFTSHADER)
    ? 'chromium with SwiftShader is not installed'
    : process.env.SONOGATE_LONG === '1'
      ? false
      : 'it takes long: SONOGATE_LONG=1';

  it('gives the numbers of the processor, with one image and with several', async ({ skip }) => {
    if (absent) return skip(absent);
    const { answer } = await withDriver<number[]>(
      SWIFTSHADER,
      `const webgpu = await loadNetwork(model, 'webgpu', 1);
       const cpu = await loadNetwork(model, 'cpu', 1);
       const answer = [];
       for (const count of [1, 2]) {
         const images = selfTestImages(count, model.input.width * model.input.height);
         const found = await webgpu.run(images, count);
         answer.push(largestDifference(found.values, (await cpu.run(images, count)).values));
       }`,
    );
    expect(answer).toHaveLength(2);
    expect(Math.max(...answer)).toBeLessThanOrEqual(PROVIDER_TOLERANCE);
  });

  it('is abandoned with the first model, which runs on the processor and states why', async ({
    skip,
  }) => {
    if (absent) return skip(absent);
    const { answer } = await withDriver<Opened[]>(SWIFTSHADER, OPEN_TWO);
    const said = { accelerator: 'webgpu', why: 'software', detail: expect.stringMatching(/ms/) };
    expect(answer).toEqual([
      { provider: 'cpu', refusals: [said], answers: true },
      { provider: 'cpu', refusals: [], answers: true },
    ]);
  });
});

describe('a Vulkan driver whose library is missing', PATIENCE, () => {
  it('is abandoned with the first model, and the library complains only once', async () => {
    const driver = join(await temporaryFolder(), 'icd.json');
    const library = '/nowhere/libvulkan_none.so';
    await writeFile(
      driver,
      JSON.stringify({
        file_format_version: '1.0.0',
        ICD: { library_path: library, api_version: '1.1.0' },
      }),
    );
    const { answer, stderr } = await withDriver<Opened[]>(driver, OPEN_TWO);
    const said = { accelerator: 'webgpu', why: 'unloadable', detail: expect.any(String) };
    expect(answer).toEqual([
      { provider: 'cpu', refusals: [said], answers: true },
      { provider: 'cpu', refusals: [], answers: true },
    ]);
    expect(stderr.split('vkCreateInstance failed').length - 1).toBeLessThanOrEqual(1);
  });
});
