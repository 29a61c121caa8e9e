import type { Clip, Study } from '../contract/study.ts';
import { type ArtifactEntry, type Measurement, type Result, resultSchema } from './envelope.ts';
import { withEvidence } from './needs-review.ts';
import { byId, renderOutcome, sectionOf, withNote } from './render/render.ts';
import { sayOfRun } from './render/shared.ts';
import type { FindingDraft, SectionOutcome } from './section-outcome.ts';
import { withStanding } from './standing.ts';

interface ConcludedSection {
  id: string;
  title: string;
  outcome: SectionOutcome;
}

/**
 * A model that is loaded for a study. `used` is false if it has not run on an image of the study.
 * The evidence for a value depends on which models are loaded, but the result lists only those that
 * ran.
 */
export type OpenModel = Result['models'][number] & { used?: boolean };

/** Output of a pipeline, from which the rest of the envelope is derived. */
interface ResultParts {
  endpoint: string;
  version: string;
  generatedAt: Date;
  models: readonly OpenModel[];
  /**
   * Evidence that a method must have for its values to be used without review. If absent, evidence
   * from real images is required.
   */
  accept?: Result['evidence_accepted'];
  study: Study;
  /** Frames that could not be decoded after their file was accepted. */
  refusedFrames: Study['refused'];
  priors: number;
  /** In the order of the result. */
  sections: readonly ConcludedSection[];
  /** All measurements, including those of no section, such as the body surface area. */
  measurements: Result['measurements'];
}

/** Returns true if lengths, velocities or depths can be measured on a clip. */
function isCalibrated({ regions, sweeps }: Clip): boolean {
  return regions.length > 0 || sweeps.some(({ valuePerPixel }) => valuePerPixel !== null);
}

const hasScaleOfRequest = ({ regions }: Clip) => regions.some(({ source }) => source === 'user');

/**
 * If the request gives images of different sizes the same scale, returns these sizes; otherwise
 * null. Such a scale is doubtful, because enlarging an image changes its scale.
 */
function sizesOfOneScale(clips: readonly Clip[]): string[] | null {
  const byScale = Map.groupBy(
    clips.filter(hasScaleOfRequest),
    ({ regions }) => regions[0]?.scale.x,
  );
  const sizes = [...byScale.values()]
    .map((own) => new Set(own.map(({ width, height }) => `${width} × ${height}`)))
    .filter(({ size }) => size > 1);
  return sizes.length > 0 ? [...new Set(sizes.flatMap((some) => [...some]))] : null;
}

function summarise(study: Study, refusedFrames: Study['refused'], priors: number) {
  const frames = (clips: Study['clips']) =>
    clips.reduce((sum, clip) => sum + clip.frames.length, 0);
  const sizes = sizesOfOneScale(study.clips);
  return {
    files: study.files,
    series: study.series,
    ...(study.studies !== undefined && { studies: study.studies }),
    clips: study.clips.length,
    frames: frames(study.clips),
    calibrated_frames: frames(study.clips.filter(isCalibrated)),
    ...(study.clips.some(hasScaleOfRequest) && { scale_from_request: true as const }),
    ...(sizes && { one_scale_for_sizes: sizes }),
    modes: [...new Set(study.clips.map((clip) => clip.mode))],
    refused: [...study.refused, ...refusedFrames],
    priors,
  };
}

/**
 * The finding that the files in the request belong to several studies. It is reported because a
 * request is read as one examination of one patient.
 */
const SEVERAL_STUDIES: FindingDraft = {
  id: 'several-studies',
  concept: null,
  statement: sayOfRun.limitation('run.several-studies', {}),
  severity: 'info',
  confidence: null,
  evidence: [],
};

const withSeveralStudies = (outcome: SectionOutcome): SectionOutcome => ({
  ...outcome,
  findings: [SEVERAL_STUDIES, ...(outcome.findings ?? [])],
});

/** Removes the interpretation, such as "normal", from a value that must not be used. */
const interpretedIfAccepted = (one: Measurement): Measurement =>
  one.quality === 'accepted' ? one : { ...one, interpretation: null };

/**
 * Builds the envelope of a result, without artifacts, and renders the conclusions of the sections
 * as text.
 * @throws if the result does not match its schema.
 */
export function assembleResult(parts: ResultParts): Result {
  // Withheld values are included, because a sentence may print their remarks.
  const models = new Set(parts.models.map(({ id }) => id));
  const noted = withStanding(parts.measurements).map((one) =>
    withNote(withEvidence(interpretedIfAccepted(one), models)),
  );
  const measurements = byId(noted);
  const isOfSeveral = parts.study.studies !== undefined;
  const sections = parts.sections.map(({ id, title, outcome }, index) => ({
    id,
    title,
    rendered: renderOutcome(
      id,
      isOfSeveral && index === 0 ? withSeveralStudies(outcome) : outcome,
      measurements,
    ),
  }));
  const rendered = sections.map((section) => section.rendered);
  return resultSchema.parse({
    schema: 'sonogate.result/1',
    endpoint: parts.endpoint,
    version: parts.version,
    generated_at: parts.generatedAt.toISOString(),
    models: parts.models.filter(({ used }) => used !== false).map(({ used, ...model }) => model),
    draft: true,
    evidence_accepted: parts.accept ?? 'real',
    input_summary: summarise(parts.study, parts.refusedFrames, parts.priors),
    sections: sections.map((section) => sectionOf(section, section.rendered)),
    findings: rendered.flatMap(({ findings }) => findings),
    measurements: noted,
    scores: [],
    classifications: rendered.flatMap(({ classifications }) => classifications),
    guidance: rendered.flatMap(({ guidance }) => guidance),
    report: null,
    artifacts: [],
  } satisfies Record<Exclude<keyof Result, 'verification'>, unknown>);
}

/** Adds the artifacts to a result. Each section lists its own artifacts. */
export function withArtifacts(result: Result, artifacts: ArtifactEntry[]): Result {
  const sections = result.sections.map((section) => ({
    ...section,
    artifacts: artifacts
      .filter((artifact) => artifact.section === section.id)
      .map(({ name }) => name),
  }));
  return { ...result, sections, artifacts };
}
