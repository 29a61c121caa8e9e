import { z } from 'zod';
import { EVIDENCE_SETTINGS, PAPERS, PROVIDER_SETTINGS } from '../../config/schema.ts';

/**
 * Scenarios of the mock backend. A request made with a test key selects one with `mock` in its
 * metadata.
 */
export const MOCK_SCENARIOS = ['succeeded', 'rejected', 'failed', 'slow', 'triage'] as const;
type MockScenario = (typeof MOCK_SCENARIOS)[number];

/** Names that the scenarios had in the first release. */
const FORMER_NAMES: Readonly<Record<string, MockScenario>> = {
  succeed: 'succeeded',
  reject: 'rejected',
  fail: 'failed',
};

/**
 * Returns the scenario selected in a request's metadata: `succeeded` if none is selected, null if
 * the selected one does not exist.
 */
export function mockScenario(metadata: unknown): MockScenario | null {
  const asked =
    typeof metadata === 'object' && metadata !== null && 'mock' in metadata
      ? metadata.mock
      : 'succeeded';
  if (typeof asked !== 'string') return null;
  const known = MOCK_SCENARIOS.find((scenario) => scenario === asked);
  return known ?? (Object.hasOwn(FORMER_NAMES, asked) ? (FORMER_NAMES[asked] ?? null) : null);
}

/**
 * `job.json` in a work folder: the input of a pipeline apart from the files. It contains no name,
 * identifier or date of the patient; ages are calculated before submission (house rule "PHI stays
 * at the doors").
 */
export const jobSchema = z.strictObject({
  /**
   * Id of the request, from which the UIDs of its documents are derived, so that every run of the
   * request creates the same ones. Absent outside the gateway: then the folder's name is used.
   */
  request: z.string().optional(),
  endpoint: z.string(),
  version: z.string(),
  /** Names in `files/` of the work folder, in request order. */
  files: z.array(z.string()),
  priorFiles: z.array(z.string()),
  /**
   * Files, or members of archives, on which an earlier run hung. They are refused without being
   * read.
   */
  unreadable: z.array(z.string()).optional(),
  options: z.record(z.string(), z.unknown()),
  clinicalContext: z.record(z.string(), z.unknown()),
  /** Scenario of the mock backend; ignored by other pipelines. */
  mock: z.enum(MOCK_SCENARIOS).optional(),
  /**
   * True if pictures show whole frames. By default, they show only the ultrasound, without text.
   */
  wholeFrames: z.boolean().optional(),
  /** Paper of the PDF report; A4 by default. */
  paper: z.enum(PAPERS).optional(),
  /** False to write no key frames, cines and overlays, because no viewer will show them. */
  display: z.boolean().optional(),
  /**
   * Setting `evidence.accept`: the evidence that a method must have for its values to be used
   * without review; `real` by default.
   */
  evidence: z.enum(EVIDENCE_SETTINGS).optional(),
  models: z.strictObject({
    allow: z.enum(['all', 'permissive']),
    provider: z.enum(PROVIDER_SETTINGS),
    threads: z.number().int().positive(),
  }),
});
export type Job = z.infer<typeof jobSchema>;

/** Stages of a request (api 6.1) that the pipeline reports. The core reports the other stages. */
export type PipelineStage =
  | 'starting'
  | 'preprocessing'
  | `inference.${string}`
  | 'postprocessing'
  | 'reporting';

export interface CriticalFlag {
  code: string;
  system: string;
  display: string;
  severity: 'critical';
  section: string;
  evidence: string[];
}

/**
 * Events that a pipeline reports while it works. `progress` runs from 0 to 1 over the whole
 * pipeline.
 */
export type PipelineEvent =
  | { type: 'stage'; name: PipelineStage; label: string; progress: number }
  | { type: 'triage'; flag: CriticalFlag }
  | { type: 'partial'; artifact: string; mediaType: string; section: string; caption: string };

/**
 * Outcome of a pipeline. `rejected` means that the input cannot be interpreted and the client must
 * correct it. `done` means that the folder contains `result.json` and the artifacts that it lists.
 * A thrown error is a fault of the gateway.
 */
export type PipelineEnd =
  | { type: 'done' }
  | {
      type: 'rejected';
      code: 'no_readable_image' | 'no_obstetric_image' | 'no_machine_report';
      detail: string;
    };

/**
 * A pipeline works in one folder. It reads `job.json` and `files/`, reports through `report`,
 * writes `result.json` and `artifacts/<name>`, and stops early when `signal` aborts.
 */
export type Pipeline = (
  folder: string,
  report: (event: PipelineEvent) => void,
  signal: AbortSignal,
) => Promise<PipelineEnd>;

export interface ModelInUse {
  id: string;
  version: string;
  pack: string;
  provider: string;
}

/**
 * Optional function that a pipeline module exports in addition to `pipeline`, to open the models
 * before the first job.
 */
export type Prepare = (settings: Job['models']) => Promise<readonly ModelInUse[]>;

/**
 * Maximum length of `clinical_context.indication`, in characters. No referral needs more. The limit
 * also keeps the search for identifiers within milliseconds, even in a text that was crafted to
 * make it slow (src/core/requests/submit.ts).
 */
export const LONGEST_INDICATION = 2000;
