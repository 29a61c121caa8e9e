/**
 * A 60-clip echo study: `node test/bench/echo.ts [rounds]`. Compares the whole request in a warm
 * child process, from files to documents, with the part of its cost that cannot be avoided:
 * decoding each frame that it uses once, and running as many images through the same networks. The
 * frames counted are those that identify the view of each clip, those outlined in apical clips, and
 * the last one of a display. Parasternal frames are left out, since the result does not state which
 * were used. The two measurements alternate, each in a separate process. Prints a table and writes
 * nothing else.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { echoStudy } from '../../models/phantom/echo/study.ts';
import type { Clip, Study } from '../../pipelines/contract/study.ts';
import type { ClipFrame } from '../../pipelines/input/decode-frames.ts';
import { pipeline, prepare } from '../../src/app/pipelines/echo.ts';
import { measureRequest } from './request-cost.ts';

const CLIPS = 60;
const ROUNDS = Number(process.argv[2] ?? 3);
const BATCH = 8;

/**
 * Creates as many phantom studies as needed, each of a different heart, because a repeated file
 * would be read only once.
 */
async function studyFiles() {
  const files: { name: string; bytes: Uint8Array }[] = [];
  for (let seed = 11; files.length < CLIPS; seed++) {
    const { files: own } = await echoStudy({ seed });
    for (const { name, bytes } of own.slice(0, CLIPS - files.length)) {
      files.push({ name: `${seed}-${name}`, bytes });
    }
  }
  return files;
}

/**
 * Returns the number of outlined frames per clip, read from the result, because only the best clips
 * of a view are outlined.
 */
async function outlinedOf(folder: string): Promise<ReadonlyMap<string, number>> {
  const { sections } = JSON.parse(await readFile(join(folder, 'result.json'), 'utf8'));
  const { data } = sections.find(({ id }: { id: string }) => id === 'segment-chambers');
  return new Map(
    data.clips.map(({ file, outlined }: { file: string; outlined: number }) => [file, outlined]),
  );
}

function* batchesOf(clip: Clip, indices: readonly number[]): Generator<ClipFrame[]> {
  for (let start = 0; start < indices.length; start += BATCH) {
    yield indices.slice(start, start + BATCH).flatMap((index) => {
      const frame = clip.frames[index];
      return frame ? [{ clip, frame }] : [];
    });
  }
}

function* lookedAt(study: Study, outlined: ReadonlyMap<string, number>): Generator<ClipFrame[]> {
  for (const clip of study.clips) {
    const count = clip.frames.length;
    const display = clip.mode === 'spectral' || clip.mode === 'm-mode';
    yield* batchesOf(clip, display ? [count - 1] : [0, count >> 1, count - 1]);
    yield* batchesOf(
      clip,
      Array.from({ length: outlined.get(clip.file) ?? 0 }, (_, i) => i),
    );
  }
}

await measureRequest(
  {
    program: fileURLToPath(import.meta.url),
    pipeline,
    prepare,
    job: {
      endpoint: 'us/echo/interpret',
      options: { report: true },
      clinicalContext: { sex: 'male', age_years: 60, height_cm: 175, weight_kg: 75 },
      models: { allow: 'all', provider: 'cpu', threads: 1 },
    },
    files: studyFiles,
    decoded: async (study, folder) => lookedAt(study, await outlinedOf(folder)),
  },
  ROUNDS,
);
