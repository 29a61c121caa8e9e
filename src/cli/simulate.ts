import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EchoCaseName } from '../../models/phantom/echo/cases.ts';
import { type StudyFile, simulateObstetricStudy } from '../../models/phantom/study.ts';
import type { StudyContents } from '../../models/phantom/study-shots.ts';
import { send } from './send.ts';

/** Files of a study and `truth.json` beside them; returns the paths of the files. */
async function writeStudy(
  out: string,
  files: readonly StudyFile[],
  truth: object,
): Promise<string[]> {
  await mkdir(out, { recursive: true });
  const paths: string[] = [];
  for (const { name, bytes } of files) {
    const path = join(out, name);
    await writeFile(path, bytes);
    paths.push(path);
  }
  // Masks are pictures: a text of them would be longer than a string may be.
  const frames = Object.fromEntries(
    files.map(({ name, truth: labels }) => [name, labels.map(({ masks: _, ...label }) => label)]),
  );
  const text = `${JSON.stringify({ ...truth, frames }, null, 2)}\n`;
  await writeFile(join(out, 'truth.json'), text);
  process.stdout.write(`${files.length} files and truth.json in ${out}\n`);
  return paths;
}

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
  const paths = await writeStudy(options.out, files, truth);
  if (options.send) process.exitCode = await send(options.send, paths, {});
}

/**
 * Writes a phantom adult echo study likewise, or with `handheld` a few of its clips as a handheld
 * scanner exports them: MP4 without calibration.
 */
export async function simulateEcho(options: {
  heart: EchoCaseName;
  beats: number;
  seed: number;
  out: string;
  handheld?: boolean;
  send?: string;
}): Promise<void> {
  const { echoStudy, handheldStudy } = await import('../../models/phantom/echo/study.ts');
  const request = { seed: options.seed, of: options.heart, beats: options.beats };
  const { files, truth } = await (options.handheld ? handheldStudy : echoStudy)(request);
  const paths = await writeStudy(options.out, files, truth);
  if (options.send) process.exitCode = await send(options.send, paths, {});
}
