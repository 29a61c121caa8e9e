import { createHash } from 'node:crypto';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pipeline } from '../../../../../pipelines/contract/job.ts';
import { published } from '../../../../../pipelines/input/reading.ts';

/**
 * A pipeline that behaves as `options.behaviour` specifies, so that the worker can be tested with
 * every way in which a real pipeline can end. Like a real one, it reads its files and writes a
 * result.
 */
export const pipeline: Pipeline = async (folder, report, signal) => {
  const job = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8'));
  const { behaviour = 'result', seconds = 0.05, frames = 1, until } = job.options;
  report({ type: 'stage', name: 'preprocessing', label: 'Reading', progress: 0.1 });

  switch (behaviour) {
    case 'reject':
      return { type: 'rejected', code: 'no_readable_image', detail: 'a.dcm: not an image' };
    case 'throw':
      throw new Error('secret inside');
    case 'die':
      process.kill(process.pid, 'SIGSEGV');
      await sleep(5000);
      break;
    case 'die-once':
      process.kill(process.pid, 'SIGKILL');
      await sleep(5000);
      break;
    case 'fill-disk':
    case 'fill-disk-once':
      throw diskFull();
    case 'read-for-ever': {
      const [name = ''] = job.files;
      if (job.unreadable?.includes(name)) break;
      await published(name, async () => {
        for (;;) Math.sqrt(2);
      });
      break;
    }
    case 'fill-memory': {
      const held: number[][] = [];
      for (;;) held.push(Array.from({ length: 1_000_000 }, (_, i) => i + 0.5));
    }
    case 'show-environment':
      throw new Error(Object.keys(process.env).join());
    case 'hang':
      // Ignores the abort signal, so that only killing the process ends it.
      for (;;) await sleep(1000);
    case 'spin':
      for (;;) Math.sqrt(2);
    case 'wait':
      await sleep(seconds * 1000, undefined, { signal });
      break;
    case 'no-result':
      return { type: 'done' };
    case 'write-outside':
      await writeFile(join(folder, '..', '..', 'escaped'), 'x');
      break;
  }

  const texts = await Promise.all(
    job.files.map((name: string) => readFile(join(folder, 'files', name), 'utf8')),
  );
  const preview = Buffer.from(texts.join('\n'));
  await writeFile(join(folder, 'artifacts', 'overlay-biometry-1.png'), preview);
  report({
    type: 'partial',
    artifact: 'overlay-biometry-1.png',
    mediaType: 'image/png',
    section: 'biometry',
    caption: 'Head',
  });
  if (behaviour === 'wait-after-preview') {
    if (until) await untilThere(join(folder, until), signal);
    else await sleep(seconds * 1000, undefined, { signal });
  }
  report({
    type: 'triage',
    flag: {
      code: '1',
      system: 'http://example.org',
      display: 'A flag',
      severity: 'critical',
      section: 'biometry',
      evidence: ['m1'],
    },
  });
  report({ type: 'stage', name: 'inference.head', label: 'Head', progress: 0.6 });
  report({ type: 'stage', name: 'inference.abdomen', label: 'Abdomen', progress: 0.4 });
  const artifact = {
    name: 'overlay-biometry-1.png',
    media_type: 'image/png',
    bytes: preview.length,
    sha256: createHash('sha256').update(preview).digest('hex'),
    section: 'biometry',
  };
  if (behaviour === 'wrong-digest') artifact.sha256 = '0'.repeat(64);
  if (behaviour === 'bad-name') artifact.name = '../../escape.png';
  const artifacts = behaviour === 'wrong-shape' ? 'none' : [artifact];
  const result = { texts, artifacts, input_summary: { frames } };
  await writeFile(join(folder, 'result.json'), JSON.stringify(result));
  return { type: 'done' };
};

async function untilThere(path: string, signal: AbortSignal): Promise<void> {
  const there = () =>
    access(path).then(
      () => true,
      () => false,
    );
  while (!(await there())) await sleep(20, undefined, { signal });
}

/** Creates a disk-full error with the system's wording. */
function diskFull(): Error {
  const error = new Error('ENOSPC: no space left on device, write');
  return Object.assign(error, { code: 'ENOSPC', syscall: 'write' });
}
