import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Content } from '../contract/content.ts';
import type { Job, Pipeline } from '../contract/job.ts';
import type { Clip } from '../contract/study.ts';
import type { HeartLocator } from '../echo/locate/heart-locator.ts';
import { surveyViews } from '../echo/locate/view-survey.ts';
import { spread, spreadImages } from '../input/decode-frames.ts';
import { readStudy } from '../input/read-study.ts';
import type { Locator } from '../obstetric/locator.ts';
import { jobFiles, readJob, stage } from '../run/study-pipeline.ts';

/** Maximum number of clips analysed, spread evenly over the study. */
const MOST_CLIPS = 40;
/**
 * Number of frames per clip, spread evenly over the clip. A clip is assigned the plane that most of
 * its frames show.
 */
const FRAMES = 3;

const PLANES_SHARE = 0.5;

interface ContentParts {
  openPlanes(settings: Job['models']): Promise<Pick<Locator, 'planes'>>;
  openViews(settings: Job['models']): Promise<HeartLocator>;
}

/**
 * Identifies the plane or view of each clip of a study from a few frames, if the classifiers reach
 * their gates. Nothing is measured.
 */
export function createContentPipeline({ openPlanes, openViews }: ContentParts): Pipeline {
  return async (folder, report, signal) => {
    stage(report, 'starting', 'Starting', 0);
    const job = await readJob(folder);
    const study = await readStudy(jobFiles(folder, job.files), {
      unpackTo: join(folder, 'unpacked'),
      unreadable: job.unreadable,
      signal,
    });
    if (study.clips.length === 0) {
      const detail = 'No file could be read as an ultrasound image.';
      return { type: 'rejected', code: 'no_readable_image', detail };
    }
    const clips = spread(study.clips, MOST_CLIPS);
    const planes = new Map<string, number>();
    const views = new Map<string, number>();
    const { planes: classify } = await openPlanes(job.models);
    for (const [index, clip] of clips.entries()) {
      signal.throwIfAborted();
      stage(
        report,
        'inference.planes',
        'Identifying planes',
        (PLANES_SHARE * index) / clips.length,
      );
      count(planes, classify && (await planeOf(clip, classify, signal)));
    }
    const survey = await surveyViews(
      { ...study, clips },
      await openViews(job.models),
      signal,
      (share) =>
        stage(report, 'inference.views', 'Identifying views', PLANES_SHARE + share * PLANES_SHARE),
    );
    for (const { view } of survey) count(views, view);
    const content: Content = {
      anatomy: anatomyOf(total(planes), total(views)),
      planes: listed(planes),
      views: listed(views),
      clips: { looked_at: clips.length, of: study.clips.length },
      artifacts: [],
    };
    await writeFile(join(folder, 'result.json'), `${JSON.stringify(content, null, 2)}\n`);
    return { type: 'done' };
  };
}

/** Returns the anatomy shown by more clips than the other; null in a tie. */
export function anatomyOf(fetal: number, cardiac: number): Content['anatomy'] {
  if (fetal === cardiac) return null;
  return fetal > cardiac ? 'fetus' : 'adult heart';
}

/**
 * Returns the plane shown in most of the frames; null if no plane was identified, or for a spectral
 * or M-mode clip.
 */
async function planeOf(
  clip: Clip,
  classify: NonNullable<Locator['planes']>,
  signal: AbortSignal,
): Promise<string | null> {
  if (clip.mode === 'spectral' || clip.mode === 'm-mode') return null;
  const estimates = await classify(await spreadImages(clip, FRAMES, signal));
  const found = new Map<string, number>();
  for (const { label } of estimates) if (label !== 'other') count(found, label);
  return [...found].find(([, frames]) => 2 * frames > estimates.length)?.[0] ?? null;
}

function count(names: Map<string, number>, name: string | null): void {
  if (name !== null) names.set(name, (names.get(name) ?? 0) + 1);
}

const total = (names: ReadonlyMap<string, number>) =>
  [...names.values()].reduce((sum, clips) => sum + clips, 0);

const listed = (names: ReadonlyMap<string, number>) =>
  [...names].map(([name, clips]) => ({ name, clips })).toSorted((a, b) => b.clips - a.clips);
