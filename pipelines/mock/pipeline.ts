import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createShownFrames } from '../artifacts/previews/shown-frames.ts';
import type { CriticalFlag, Job, Pipeline, PipelineStage } from '../contract/job.ts';
import type { Subject } from '../dicom/subject.ts';
import { echoEndpoint } from '../echo/endpoint.ts';
import { INTERGROWTH_CURVES } from '../obstetric/growth/curves.ts';
import { withArtifacts } from '../result/assemble.ts';
import { type ArtifactEntry, type Result, resultSchema } from '../result/envelope.ts';
import { readJob } from '../run/study-pipeline.ts';
import { type ArtifactInput, writeArtifacts } from '../run/write-artifacts.ts';
import { mockEcho } from './echo.ts';
import { mockObstetric } from './obstetric.ts';
import { type Seed, seedOf } from './seed.ts';
import { MOCK, MOCK_IDENTITY, stamped, watermarked } from './watermark.ts';

/**
 * Fixed timestamp of every mock result. The same input must produce the same bytes, so the result
 * must not contain the time of the run.
 */
const MADE = new Date('2026-01-01T00:00:00.000Z');

/** Pause between two stages. A whole run takes less than two seconds. */
const PAUSE_MS = 20;
/** Pause in a slow run, long enough to watch the run, to wait for it and to cancel it. */
const SLOW_PAUSE_MS = 2000;

const STEPS: Readonly<Record<'obstetric' | 'echo', readonly (readonly [PipelineStage, string])[]>> =
  {
    obstetric: [
      ['starting', 'Starting'],
      ['preprocessing', 'Reading the files'],
      ['inference.planes', 'Finding standard planes'],
      ['inference.head', 'Measuring the head'],
      ['inference.abdomen', 'Measuring the abdomen'],
      ['inference.femur', 'Measuring the femur'],
      ['postprocessing', 'Interpreting'],
      ['reporting', 'Writing documents'],
    ],
    echo: [
      ['starting', 'Starting'],
      ['preprocessing', 'Reading the files'],
      ['inference.views', 'Finding views'],
      ['postprocessing', 'Interpreting'],
      ['reporting', 'Writing documents'],
    ],
  };

/** Critical flag that the scenario `triage` raises, by endpoint (api 6.3). */
const FLAGS: Readonly<Record<'obstetric' | 'echo', CriticalFlag>> = {
  obstetric: {
    code: 'absent-end-diastolic-flow',
    system: 'urn:sonogate:99USINT',
    display: `${MOCK}: absent umbilical end-diastolic flow`,
    severity: 'critical',
    section: 'doppler',
    evidence: [],
  },
  echo: {
    code: 'tamponade-signs',
    system: 'urn:sonogate:99USINT',
    display: `${MOCK}: signs of tamponade`,
    severity: 'critical',
    section: 'pericardial-effusion',
    evidence: [],
  },
};

/** Adds the flag as a finding, so that the result contains the flag that was raised. */
function withFlag(result: Result, { code, display, section }: CriticalFlag): Result {
  const finding = {
    id: code,
    section,
    concept: null,
    text: display,
    severity: 'critical' as const,
    confidence: null,
    evidence: [],
  };
  return { ...result, findings: [finding, ...result.findings] };
}

/**
 * Pictures that are not drawn from a frame of the study. MOCK is written across them here; the frames
 * themselves already carry it.
 */
const CHARTS: ReadonlySet<string> = new Set(['growth-chart.png', 'bullseye.png']);

async function stampedEntry(entry: ArtifactEntry, folder: string): Promise<ArtifactEntry> {
  if (!CHARTS.has(entry.name)) return entry;
  const path = join(folder, entry.name);
  const bytes = await stamped(await readFile(path));
  await writeFile(path, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { ...entry, bytes: bytes.length, sha256 };
}

/**
 * Returns the result of a job, the study that the pictures are drawn from, and further data for its
 * documents.
 */
function make(
  job: Job,
  seed: Seed,
): Pick<ArtifactInput, 'result' | 'study' | 'curves' | 'previews'> & Pick<Subject, 'dating'> {
  if (job.endpoint === echoEndpoint.id) {
    return { ...mockEcho(job, seed, MADE), curves: [], previews: true, dating: null };
  }
  const { result, study, options } = mockObstetric(job, seed, MADE);
  const { dating, previews } = options;
  return {
    result,
    study,
    curves: INTERGROWTH_CURVES,
    previews,
    dating: dating ? { gaDays: dating.ga_days, basis: dating.basis } : null,
  };
}

/**
 * Creates the mock backend for requests made with test keys. It produces the stages, events,
 * envelope and artifacts of a live run in less than two seconds. The same input produces the same
 * result, marked as made up throughout. The files are not opened.
 * @param extra artifacts built by code in other folders.
 */
export function createMockPipeline(extra: ArtifactInput['extra']): Pipeline {
  return async (folder, report, signal) => {
    const job = await readJob(folder);
    const kind = job.endpoint === echoEndpoint.id ? 'echo' : 'obstetric';
    const steps = STEPS[kind];
    for (const [n, [name, label]] of steps.entries()) {
      report({ type: 'stage', name, label, progress: n / steps.length });
      await delay(job.mock === 'slow' ? SLOW_PAUSE_MS : PAUSE_MS, undefined, { signal });
      if (name === 'preprocessing' && job.mock === 'rejected') {
        const detail = `${MOCK}: the input is rejected, as metadata.mock asks.`;
        return { type: 'rejected', code: 'no_readable_image', detail };
      }
      if (name === 'postprocessing' && job.mock === 'failed') {
        throw new Error(`${MOCK}: the run fails, as metadata.mock asks`);
      }
      if (name === 'postprocessing' && job.mock === 'triage') {
        report({ type: 'triage', flag: FLAGS[kind] });
      }
    }

    const seed = seedOf(job);
    const { dating, ...made } = make(job, seed);
    const marked = watermarked(made.result);
    const result = job.mock === 'triage' ? withFlag(marked, FLAGS[kind]) : marked;
    const artifactFolder = join(folder, 'artifacts');
    const captions = new Map<string, string>();
    const written = await writeArtifacts({
      ...made,
      result,
      subject: { requestId: `mock_${seed.id}`, identity: MOCK_IDENTITY, instances: [], dating },
      folder: artifactFolder,
      // Burned-in text is not searched for, because the picture was drawn here and contains no
      // identity. The search would take half of the run time.
      shown: createShownFrames(true),
      written: ({ name }, shows) => {
        if (shows !== null) captions.set(name, `${MOCK}: ${shows}`);
      },
      ...(extra && { extra }),
    });
    const artifacts = await Promise.all(
      written.map((entry) => stampedEntry(entry, artifactFolder)),
    );
    for (const { name, media_type: mediaType, section } of artifacts) {
      const caption = captions.get(name);
      if (!section || caption === undefined) continue;
      report({ type: 'partial', artifact: name, mediaType, section, caption });
    }
    const complete = resultSchema.parse(withArtifacts(result, artifacts));
    await writeFile(join(folder, 'result.json'), `${JSON.stringify(complete, null, 2)}\n`);
    return { type: 'done' };
  };
}
