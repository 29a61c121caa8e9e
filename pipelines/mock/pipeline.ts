import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type CriticalFlag,
  type Job,
  jobSchema,
  type Pipeline,
  type PipelineStage,
} from '../contract/job.ts';
import type { Subject } from '../dicom/subject.ts';
import { echoEndpoint } from '../echo/endpoint.ts';
import { INTERGROWTH_CURVES } from '../obstetric/growth/curves.ts';
import { withArtifacts } from '../result/assemble.ts';
import { type ArtifactEntry, type Result, resultSchema } from '../result/envelope.ts';
import { type ArtifactInput, writeArtifacts } from '../run/write-artifacts.ts';
import { echoArtifacts, mockEcho } from './echo.ts';
import { mockObstetric } from './obstetric.ts';
import { type Seed, seedOf } from './seed.ts';
import { MOCK, MOCK_IDENTITY, stamped, watermarked } from './watermark.ts';

/** The same input gives the same bytes, so nothing may contain the time of the run. */
const MADE = new Date('2026-01-01T00:00:00.000Z');

/** Between two stages; all of a run takes less than two seconds. */
const PAUSE_MS = 60;
/** Long enough to be watched, waited for and canceled. */
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

/** Which critical flag the scenario `triage` raises (api 6.3). */
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

/** Adds the flag as a finding, so that the result contains what was announced. */
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

interface Made {
  result: Result;
  /** Writes the artifacts into `folder`; returns their entries. */
  write(result: Result, folder: string): Promise<ArtifactEntry[]>;
}

function entryOf(
  { name, media_type, section }: Pick<ArtifactEntry, 'name' | 'media_type' | 'section'>,
  bytes: Buffer,
): ArtifactEntry {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { name, media_type, bytes: bytes.length, sha256, section };
}

/** Writes MOCK across a finished picture. */
async function stampedEntry(entry: ArtifactEntry, folder: string): Promise<ArtifactEntry> {
  if (entry.media_type !== 'image/png') return entry;
  const path = join(folder, entry.name);
  const bytes = await stamped(await readFile(path));
  await writeFile(path, bytes);
  return entryOf(entry, bytes);
}

function makeObstetric(job: Job, seed: Seed, extra: ArtifactInput['extra']): Made {
  const { result, study, options } = mockObstetric(job, seed, MADE);
  const subject: Subject = {
    requestId: `mock_${seed.id}`,
    identity: MOCK_IDENTITY,
    instances: [],
    dating: options.dating ? { gaDays: options.dating.ga_days, basis: options.dating.basis } : null,
  };
  return {
    result,
    async write(marked, folder) {
      const entries = await writeArtifacts({
        result: marked,
        subject,
        study: options.previews ? study : { ...study, clips: [] },
        folder,
        curves: INTERGROWTH_CURVES,
        ...(extra && { extra }),
      });
      return Promise.all(entries.map((entry) => stampedEntry(entry, folder)));
    },
  };
}

function makeEcho(job: Job): Made {
  return {
    result: mockEcho(job, MADE),
    async write(marked, folder) {
      const entries: ArtifactEntry[] = [];
      for (const { name, mediaType, section, bytes } of await echoArtifacts(marked)) {
        await writeFile(join(folder, name), bytes);
        const entry = entryOf({ name, media_type: mediaType, section }, bytes);
        entries.push(await stampedEntry(entry, folder));
      }
      return entries;
    },
  };
}

/**
 * The mock backend of test keys: the stages, events, envelope and artifacts of a live run in less
 * than two seconds, the same for the same input, and marked as made up wherever they are read. It
 * does not open the files. `extra` are artifacts of other folders.
 */
export function createMockPipeline(extra: ArtifactInput['extra']): Pipeline {
  return async (folder, report, signal) => {
    const job = jobSchema.parse(JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')));
    const kind = job.endpoint === echoEndpoint.id ? 'echo' : 'obstetric';
    const steps = STEPS[kind];
    for (const [n, [name, label]] of steps.entries()) {
      report({ type: 'stage', name, label, progress: n / steps.length });
      await delay(job.mock === 'slow' ? SLOW_PAUSE_MS : PAUSE_MS, undefined, { signal });
      if (name === 'preprocessing' && job.mock === 'reject') {
        const detail = `${MOCK}: the input is rejected, as metadata.mock asks.`;
        return { type: 'rejected', code: 'no_readable_image', detail };
      }
      if (name === 'postprocessing' && job.mock === 'fail') {
        throw new Error(`${MOCK}: the run fails, as metadata.mock asks`);
      }
      if (name === 'postprocessing' && job.mock === 'triage') {
        report({ type: 'triage', flag: FLAGS[kind] });
      }
    }

    const made = kind === 'echo' ? makeEcho(job) : makeObstetric(job, seedOf(job), extra);
    const marked = watermarked(made.result);
    const result = job.mock === 'triage' ? withFlag(marked, FLAGS[kind]) : marked;
    const artifacts = await made.write(result, join(folder, 'artifacts'));
    for (const { name, media_type: mediaType, section } of artifacts) {
      if (!section || mediaType !== 'image/png') continue;
      report({
        type: 'partial',
        artifact: name,
        mediaType,
        section,
        caption: `${MOCK}: ${section}`,
      });
    }
    const complete = resultSchema.parse(withArtifacts(result, artifacts));
    await writeFile(join(folder, 'result.json'), `${JSON.stringify(complete, null, 2)}\n`);
    return { type: 'done' };
  };
}
