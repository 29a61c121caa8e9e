import type { Clip, Study } from '../contract/study.ts';
import { type ArtifactEntry, type Result, resultSchema } from './envelope.ts';
import { byId, renderOutcome, sectionOf, withNote } from './render/render.ts';
import { sayOfRun } from './render/shared.ts';
import type { FindingDraft, SectionOutcome } from './section-outcome.ts';
import { withStanding } from './standing.ts';

/** A section of an endpoint with what it concluded. */
interface ConcludedSection {
  id: string;
  title: string;
  outcome: SectionOutcome;
}

/** What a pipeline brings together; the rest of the envelope follows from it. */
interface ResultParts {
  endpoint: string;
  version: string;
  generatedAt: Date;
  models: Result['models'];
  study: Study;
  /** Frames that were found unreadable after their file was accepted. */
  refusedFrames: Study['refused'];
  priors: number;
  /** In the order of the result. */
  sections: readonly ConcludedSection[];
  /** The measurements of the sections, and those that belong to no section's outcome. */
  measurements: Result['measurements'];
}

/** Whether lengths, velocities or depths can be read from a clip. */
function isCalibrated({ regions, sweeps }: Clip): boolean {
  return regions.length > 0 || sweeps.some(({ valuePerPixel }) => valuePerPixel !== null);
}

const hasScaleOfRequest = ({ regions }: Clip) => regions.some(({ source }) => source === 'user');

function summarise(study: Study, refusedFrames: Study['refused'], priors: number) {
  const frames = (clips: Study['clips']) =>
    clips.reduce((sum, clip) => sum + clip.frames.length, 0);
  return {
    files: study.files,
    series: study.series,
    ...(study.studies !== undefined && { studies: study.studies }),
    clips: study.clips.length,
    frames: frames(study.clips),
    calibrated_frames: frames(study.clips.filter(isCalibrated)),
    ...(study.clips.some(hasScaleOfRequest) && { scale_from_request: true as const }),
    modes: [...new Set(study.clips.map((clip) => clip.mode))],
    refused: [...study.refused, ...refusedFrames],
    priors,
  };
}

/**
 * A request is read as one examination of one patient: this finding says that its files are from
 * several.
 */
function severalStudies({ studies }: Study, sections: readonly ConcludedSection[]): FindingDraft[] {
  const [first] = sections;
  if (studies === undefined || !first) return [];
  return [
    {
      id: 'several-studies',
      section: first.id,
      concept: null,
      statement: sayOfRun.limitation('run.several-studies', {}),
      severity: 'info',
      confidence: null,
      evidence: [],
    },
  ];
}

/**
 * The envelope of a result, without artifacts; everything that the sections concluded is put into
 * words here. Throws where the result breaks its own schema.
 */
export function assembleResult(parts: ResultParts): Result {
  // Withheld values are included here, because a sentence may print their remarks.
  const noted = withStanding(parts.measurements).map(withNote);
  const measurements = byId(noted);
  const files = renderOutcome(
    {
      status: 'complete',
      reason: null,
      statements: [],
      findings: severalStudies(parts.study, parts.sections),
    },
    measurements,
  );
  const sections = parts.sections.map(({ id, title, outcome }) => ({
    id,
    title,
    rendered: renderOutcome(outcome, measurements),
  }));
  const rendered = sections.map((section) => section.rendered);
  return resultSchema.parse({
    schema: 'sonogate.result/1',
    endpoint: parts.endpoint,
    version: parts.version,
    generated_at: parts.generatedAt.toISOString(),
    models: parts.models,
    draft: true,
    input_summary: summarise(parts.study, parts.refusedFrames, parts.priors),
    sections: sections.map((section) => sectionOf(section, section.rendered)),
    findings: [...files.findings, ...rendered.flatMap(({ findings }) => findings)],
    measurements: noted,
    scores: [],
    classifications: rendered.flatMap(({ classifications }) => classifications),
    guidance: rendered.flatMap(({ guidance }) => guidance),
    report: null,
    artifacts: [],
  } satisfies Record<keyof Result, unknown>);
}

/** The same result with its artifacts; each section lists those that belong to it. */
export function withArtifacts(result: Result, artifacts: ArtifactEntry[]): Result {
  const sections = result.sections.map((section) => ({
    ...section,
    artifacts: artifacts
      .filter((artifact) => artifact.section === section.id)
      .map(({ name }) => name),
  }));
  return { ...result, sections, artifacts };
}
