import { z } from 'zod';
import { EVIDENCE_SETTINGS, PAPERS, PROVIDER_SETTINGS } from '../../config/schema.ts';

/**
 * Scenarios of the mock backend that a request with a test key can select with `mock` in its
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
 * Returns the scenario that the metadata of a request select: `succeeded` if they select none, null
 * if they select a scenario that does not exist.
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
 * `job.json` of a work folder: the whole input of a pipeline. It contains no name, identifier or
 * date; ages are calculated before submission (house rule "PHI stays at the doors").
 */
export const jobSchema = z.strictObject({
  endpoint: z.string(),
  version: z.string(),
  /** Names in `files/` of the work folder, in the order of the request. */
  files: z.array(z.string()),
  priorFiles: z.array(z.string()),
  /**
   * Files, or members of archives, at which an earlier run hung. They are refused without being
   * read.
   */
  unreadable: z.array(z.string()).optional(),
  options: z.record(z.string(), z.unknown()),
  clinicalContext: z.record(z.string(), z.unknown()),
  /** Scenario of the mock backend; not used by other pipelines. */
  mock: z.enum(MOCK_SCENARIOS).optional(),
  /** True if pictures show whole frames. By default, they show only the ultrasound without text. */
  wholeFrames: z.boolean().optional(),
  /** Paper of the PDF report; A4 by default. */
  paper: z.enum(PAPERS).optional(),
  /**
   * False if no key frames, cines and overlays must be written, because no viewer will show them.
   */
  display: z.boolean().optional(),
  /**
   * Setting `evidence.accept`: the evidence that a method must have before its values are used
   * without a review; by default `real`.
   */
  evidence: z.enum(EVIDENCE_SETTINGS).optional(),
  models: z.strictObject({
    allow: z.enum(['all', 'permissive']),
    provider: z.enum(PROVIDER_SETTINGS),
    threads: z.number().int().positive(),
  }),
});
export type Job = z.infer<typeof jobSchema>;

/** Stages (api 6.1) that the pipeline itself reports. */
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
 * Events that a pipeline reports while it works. `progress` goes from 0 to 1 over the whole
 * pipeline.
 */
export type PipelineEvent =
  | { type: 'stage'; name: PipelineStage; label: string; progress: number }
  | { type: 'triage'; flag: CriticalFlag }
  | { type: 'partial'; artifact: string; mediaType: string; section: string; caption: string };

/**
 * Outcome of a pipeline. `rejected` means that the input cannot be interpreted and that the client
 * must correct it. `done` means that the folder contains `result.json` and `artifacts/`. An error
 * that is thrown is a fault of the gateway.
 */
export type PipelineEnd =
  | { type: 'done' }
  | {
      type: 'rejected';
      code: 'no_readable_image' | 'no_obstetric_image' | 'no_machine_report';
      detail: string;
    };

/**
 * A pipeline is a function that works in one folder. It reads `job.json` and `files/`, reports
 * through `report`, writes `result.json` (envelope.ts) and `artifacts/<name>`, and stops early when
 * `signal` aborts.
 */
export type Pipeline = (
  folder: string,
  report: (event: PipelineEvent) => void,
  signal: AbortSignal,
) => Promise<PipelineEnd>;

/** A model that is open in a pipeline process, and the provider on which it runs. */
export interface ModelInUse {
  id: string;
  version: string;
  pack: string;
  provider: string;
}

/**
 * Function that a module may export in addition to `pipeline`. It opens the models before the first
 * job.
 */
export type Prepare = (settings: Job['models']) => Promise<readonly ModelInUse[]>;

/**
 * Maximum length of `clinical_context.indication`, in characters. It is more than any referral
 * needs. It also limits the search for identifiers to milliseconds, even for a text that is made to
 * be slow (src/core/requests/submit.ts).
 */
export const LONGEST_INDICATION = 2000;
