import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { simulateObstetricStudy } from '../../models/phantom/study.ts';
import type { StudyContents } from '../../models/phantom/study-shots.ts';
import { send } from './send.ts';

/**
 * Writes a phantom obstetric study as DICOM files, with `truth.json` beside them: what a perfect
 * reader would measure. With `send`, the files go to that node as well.
 */
export async function simulate(options: {
  gaDays: number;
  seed: number;
  out: string;
  contents?: StudyContents;
  send?: string;
}): Promise<void> {
  const { files, truth } = await simulateObstetricStudy(options);
  await mkdir(options.out, { recursive: true });
  const paths: string[] = [];
  for (const { name, bytes } of files) {
    const path = join(options.out, name);
    await writeFile(path, bytes);
    paths.push(path);
  }
  // Masks are pictures: a text of them would be longer than a string may be.
  const frames = Object.fromEntries(
    files.map(({ name, truth: labels }) => [name, labels.map(({ masks: _, ...label }) => label)]),
  );
  await writeFile(
    join(options.out, 'truth.json'),
    `${JSON.stringify({ ...truth, frames }, null, 2)}\n`,
  );
  process.stdout.write(`${files.length} DICOM files and truth.json in ${options.out}\n`);
  if (options.send) process.exitCode = await send(options.send, paths, {});
}
