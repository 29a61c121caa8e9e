import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeBatch, frameBatches } from '../../../pipelines/input/decode-frames.ts';
import { readStudy } from '../../../pipelines/input/read-study.ts';

/**
 * Runs in a separate process, so that the peak includes only the reader. Reads the files in a
 * folder as a study, decodes every frame as a pipeline does, and prints the number of frames and
 * the peak in bytes.
 */
const [folder = ''] = process.argv.slice(2);
const BYTES_PER_KIB = 1024;

const names = await readdir(folder);
const study = await readStudy(names.map((name) => ({ name, path: join(folder, name) })));
let frames = 0;
for (const batch of frameBatches(study.clips)) {
  const { decoded } = await decodeBatch(batch, new AbortController().signal);
  frames += decoded.length;
}
const peak = process.resourceUsage().maxRSS * BYTES_PER_KIB;
process.stdout.write(JSON.stringify({ frames, peak }));
