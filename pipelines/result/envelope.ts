import { z } from 'zod';
import { remarkSchema, statementSchema } from './statement.ts';

/**
 * The result envelope `sonogate.result/1` (the `output` of a request). JSON, SR, FHIR, PDF, previews
 * and the report are views of it; nothing is measured or concluded after it is written.
 */

/** `concept` is a key of the concept table (concepts.ts); codes are added when a view is made. */
const concept = z.strictObject({
  key: z.string(),
  system: z.string(),
  code: z.string(),
  display: z.string(),
});

const SECTION_STATUS = [
  'complete',
  'partial',
  'not_assessed',
  'inadequate',
  'not_requested',
  'failed',
] as const;

const PROVENANCE = ['model', 'image-analysis', 'cart-sr', 'input'] as const;

/** Who a value is from: an image of the study, the machine's own report, the request, or a person. */
const ORIGIN = ['image', 'machine', 'request', 'person'] as const;

/**
 * Which value of a quantity counts. `counts`: the one that receivers take; `repeat`: another value of
 * the same quantity, beside the chosen one; `part-of-mean`: an input of a mean or a median;
 * `comparison`: the machine's value beside an accepted one of ours; `withheld`: not accepted.
 */
const STANDING = ['counts', 'repeat', 'part-of-mean', 'comparison', 'withheld'] as const;

const caliperSchema = z.strictObject({
  /**
   * `line`: two points; `ellipse`: both ends of the major, then both ends of the minor axis;
   * `polyline`: an open trace; `polygon`: a closed outline, its first point not repeated.
   */
  type: z.enum(['line', 'ellipse', 'polyline', 'polygon']),
  /** Pixel-centre coordinates of the stored frame, [x, y] each. */
  points: z.array(z.tuple([z.number(), z.number()])),
});

const sourceSchema = z.strictObject({
  provenance: z.enum(PROVENANCE),
  file: z.string().nullable(),
  sop_instance_uid: z.string().nullable(),
  /** 1-based frame number; null for a value that belongs to no single frame. */
  frame: z.number().int().positive().nullable(),
  calipers: z.array(caliperSchema),
});

const referenceSchema = z.strictObject({
  low: z.number().nullable(),
  high: z.number().nullable(),
  centile: z.number().nullable(),
  z_score: z.number().nullable(),
  chart: z.string(),
});

const measurementSchema = z.strictObject({
  id: z.string(),
  section: z.string(),
  concept,
  label: z.string(),
  value: z.number(),
  /** UCUM. */
  unit: z.string(),
  method: z.string(),
  derivation: z.enum(['measured', 'calculated', 'mean', 'median']),
  source: sourceSchema,
  site: z.string().nullable(),
  laterality: z.enum(['left', 'right']).nullable(),
  fetus: z.string().nullable(),
  phase: z.string().nullable(),
  /** 0 to 1; null for a value calculated from others. */
  confidence: z.number().min(0).max(1).nullable(),
  /** Half width of the 95 % interval in the value's unit; null where it is not known. */
  uncertainty: z.number().nullable(),
  quality: z.enum(['accepted', 'low', 'inadequate']),
  reference: referenceSchema.nullable(),
  interpretation: z.enum(['N', 'L', 'H', 'A']).nullable(),
  /** Ids of the measurements it was calculated from. */
  inputs: z.array(z.string()),
  origin: z.enum(ORIGIN).default('image'),
  standing: z.enum(STANDING).default('counts'),
  /** What must be read with the value (formula graded R, reduced inputs). */
  remarks: z.array(remarkSchema).readonly().default([]),
  /** The remarks as text; rendered last, read by no code. */
  note: z.string().nullable(),
});

export const sectionSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  status: z.enum(SECTION_STATUS),
  reason: z
    .strictObject({ code: z.string(), detail: z.string(), needs: z.array(z.string()) })
    .nullable(),
  /** What the section says, as data; `summary` and `reason.detail` are rendered from it. */
  statements: z.array(statementSchema).readonly().optional(),
  summary: z.string(),
  data: z.record(z.string(), z.unknown()),
  artifacts: z.array(z.string()),
});

const findingSchema = z.strictObject({
  id: z.string(),
  section: z.string(),
  concept: concept.nullable(),
  /** What the finding says, as data; `text` is rendered from it. */
  statement: statementSchema.optional(),
  statements: z.array(statementSchema).readonly().optional(),
  text: z.string(),
  severity: z.enum(['info', 'abnormal', 'critical']),
  confidence: z.number().min(0).max(1).nullable(),
  evidence: z.array(z.string()),
});

export const artifactSchema = z.strictObject({
  name: z.string(),
  media_type: z.string(),
  bytes: z.number().int().nonnegative(),
  sha256: z.string(),
  section: z.string().nullable(),
});

export const resultSchema = z.strictObject({
  schema: z.literal('sonogate.result/1'),
  endpoint: z.string(),
  version: z.string(),
  generated_at: z.iso.datetime(),
  models: z.array(
    z.strictObject({
      id: z.string(),
      version: z.string(),
      sha256: z.string(),
      licence: z.string(),
      pack: z.enum(['permissive', 'research']),
      provider: z.string(),
    }),
  ),
  draft: z.literal(true),
  input_summary: z.strictObject({
    files: z.number().int(),
    series: z.number().int(),
    /** Present where the headers of the files name more than one study. */
    studies: z.number().int().optional(),
    clips: z.number().int(),
    frames: z.number().int(),
    calibrated_frames: z.number().int(),
    /** Present where images that state no scale were measured in that of the request (`mm_per_px`). */
    scale_from_request: z.literal(true).optional(),
    modes: z.array(z.string()),
    refused: z.array(z.strictObject({ file: z.string(), reason: z.string() })),
    priors: z.number().int(),
  }),
  sections: z.array(sectionSchema),
  findings: z.array(findingSchema),
  measurements: z.array(measurementSchema),
  scores: z.array(
    z.strictObject({
      id: z.string(),
      section: z.string(),
      concept: concept.nullable(),
      name: z.string(),
      value: z.number(),
      range: z.tuple([z.number(), z.number()]),
      components: z.array(z.strictObject({ name: z.string(), value: z.number() })),
    }),
  ),
  classifications: z.array(
    z.strictObject({
      id: z.string(),
      section: z.string(),
      concept: concept.nullable(),
      name: z.string(),
      value: z.string(),
      scheme: z.string(),
      criteria: z.array(z.strictObject({ name: z.string(), value: z.string(), met: z.boolean() })),
    }),
  ),
  guidance: z.array(
    z.strictObject({
      id: z.string(),
      section: z.string(),
      statement: statementSchema.optional(),
      statements: z.array(statementSchema).readonly().optional(),
      text: z.string(),
      source: z.string(),
    }),
  ),
  report: z
    .strictObject({
      language: z.literal('en'),
      title: z.string(),
      findings: z.array(z.string()),
      impression: z.array(z.string()),
      limitations: z.array(z.string()),
    })
    .nullable(),
  artifacts: z.array(artifactSchema),
});

export type Concept = z.infer<typeof concept>;
export type Measurement = z.infer<typeof measurementSchema>;
export type Caliper = z.infer<typeof caliperSchema>;
export type Section = z.infer<typeof sectionSchema>;
export type Finding = z.infer<typeof findingSchema>;
export type ArtifactEntry = z.infer<typeof artifactSchema>;
export type Result = z.infer<typeof resultSchema>;
