import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStudy } from '../../pipelines/input/read-study.ts';
import { ultrasound } from '../pipelines/input/dicom-sample.ts';
import { onDisk } from '../pipelines/input/on-disk.ts';
import { examine } from './examine.ts';
import { mutated, randomOf } from './mutate.ts';
import { generatedSamples, hostileSamples } from './samples.ts';

const CORPUS = join(import.meta.dirname, 'corpus');

async function examined(name: string, bytes: Buffer): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'corpus-'));
  try {
    await examine(name, bytes, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('inputs that once broke the reader', async () => {
  it.each(await readdir(CORPUS))('%s is read or refused', async (name) => {
    await examined(name, await readFile(join(CORPUS, name)));
  });
});

describe('the fuzzer itself', () => {
  it('generates the same input from the same seed, and a different one from another seed', () => {
    const bytes = ultrasound();
    expect(mutated(bytes, bytes, 7)).toEqual(mutated(bytes, bytes, 7));
    const inputs = Array.from({ length: 50 }, (_, seed) => mutated(bytes, bytes, seed));
    expect(new Set(inputs.map((input) => input.toString('hex'))).size).toBeGreaterThan(40);
  });

  it('starts from samples that the reader accepts', async () => {
    for (const { name, bytes } of await generatedSamples()) {
      if (name === 'DICOMDIR') continue;
      const folder = await mkdtemp(join(tmpdir(), 'sample-'));
      const files = await onDisk({ [name]: bytes });
      const { clips, cart = [] } = await readStudy(files, { unpackTo: join(folder, 'unpacked') });
      await rm(folder, { recursive: true });
      expect(clips.length + cart.length, name).toBeGreaterThan(0);
    }
  });
});

describe('each sample, mutated a few times', () => {
  it('is read or refused', async () => {
    const samples = [...(await generatedSamples()), ...hostileSamples()];
    const random = randomOf(20_261_121);
    for (const { name, bytes } of samples) {
      for (let time = 0; time < 8; time += 1) {
        const other = samples[Math.floor(random() * samples.length)]?.bytes ?? bytes;
        await examined(name, mutated(bytes, other, Math.floor(random() * 2 ** 31)));
      }
    }
  }, 60_000);
});
