import { z } from 'zod';
import { EVIDENCE_SETTINGS, PAPERS, PROVIDER_SETTINGS } from '../../config/schema.ts';

/** What a request with a test key can ask of the mock backend, as `mock` in its metadata. */
export const MOCK_SCENARIOS = ['succeeded', 'rejected', 'failed', 'slow', 'triage'] as const;
type MockScenario = (typeof MOCK_SCENARIOS)[number];

/** Names of scenarios in the first release. */
const FORMER_NAMES: Readonly<Record<string, MockScenario>> = {
  succeed: 'succeeded',
  reject: 'rejected',
  fail: 'failed',
};

/**
 * The scenario that the metadata of a request asks for: `succeeded` when it asks for none, null for
 * one that does not exist.
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
 * `job.json` of a work folder: everything that a pipeline receives. It holds no name, identifier or
 * date; ages are computed before submission (house rule "PHI stays at the doors").
 */
export const jobSchema = z.strictObject({
  endpoint: z.string(),
  version: z.string(),
  /** Names below `files/` of the work folder, in the order of the request. */
  files: z.array(z.string()),
  priorFiles: z.array(z.string()),
  /** Files, or members of archives, on which an earlier run hung; they are refused unread. */
  unreadable: z.array(z.string()).optional(),
  options: z.record(z.string(), z.unknown()),
  clinicalContext: z.record(z.string(), z.unknown()),
  /** For the mock backend only. */
  mock: z.enum(MOCK_SCENARIOS).optional(),
  /** Pictures show whole frames; by default only ultrasound without text. */
  wholeFrames: z.boolean().optional(),
  /** Paper of the PDF report; A4 by default. */
  paper: z.enum(PAPERS).optional(),
  /**
   * False where no key frames, cines and overlays are to be written, because no viewer will show
   * them.
   */
  display: z.boolean().optional(),
  /** Setting `evidence.accept`: which evidence a method needs for its values to count; else `real`. */
  evidence: z.enum(EVIDENCE_SETTINGS).optional(),
  models: z.strictObject({
    allow: z.enum(['all', 'permissive']),
    provider: z.enum(PROVIDER_SETTINGS),
    threads: z.number().int().positive(),
  }),
});
export type Job = z.infer<typeof jobSchema>;

/** Stages (api 6.1) that a pipeline itself passes through. */
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

/** What a pipeline reports while it works. `progress` runs from 0 to 1 over the whole pipeline. */
export type PipelineEvent =
  | { type: 'stage'; name: PipelineStage; label: string; progress: number }
  | { type: 'triage'; flag: CriticalFlag }
  | { type: 'partial'; artifact: string; mediaType: string; section: string; caption: string };

/**
 * How a pipeline ends. `rejected`: the input cannot be interpreted and the client must correct it;
 * any error that is thrown is a fault of the gateway. On `done` the folder holds `result.json` and
 * `artifacts/`.
 */
export type PipelineEnd =
  | { type: 'done' }
  | {
      type: 'rejected';
      code: 'no_readable_image' | 'no_obstetric_image' | 'no_machine_report';
      detail: string;
    };

/**
 * A pipeline is a function from a folder to a folder. It reads `job.json` and `files/`, reports
 * through `report`, writes `result.json` (envelope.ts) and `artifacts/<name>`, and stops early when
 * `signal` aborts.
 */
export type Pipeline = (
  folder: string,
  report: (event: PipelineEvent) => void,
  signal: AbortSignal,
) => Promise<PipelineEnd>;

/** A model that is open in a pipeline process, and the provider it runs on. */
export interface ModelInUse {
  id: string;
  version: string;
  pack: string;
  provider: string;
}

/** What a module may export beside `pipeline`: opens its models before the first job. */
export type Prepare = (settings: Job['models']) => Promise<readonly ModelInUse[]>;

/**
 * Longest `clinical_context.indication`, in characters: more than any referral needs, and short
 * enough that a text crafted to make the search for identifiers slow takes milliseconds
 * (src/core/requests/submit.ts).
 */
export const LONGEST_INDICATION = 2000;
