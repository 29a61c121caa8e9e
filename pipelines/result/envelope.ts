import { z } from 'zod';
import { remarkSchema, statementSchema } from './statement.ts';

/**
 * The result envelope `sonogate.result/1` (the `output` of a request). JSON, SR, FHIR, PDF, previews
 * and the report are views of it; nothing is measured or concluded after it is written.
 */

/** A text of the result, as the description of the API explains it. */
const text = (description: string, example: string) =>
  z.string().meta({ description, examples: [example] });
const maybeText = (description: string, example: string | null = null) =>
  z
    .string()
    .nullable()
    .meta({ description, examples: [example] });
const count = (description: string, example: number) =>
  z
    .number()
    .int()
    .meta({ description, examples: [example] });
const ids = (description: string, ...examples: string[]) =>
  z.array(z.string()).meta({ description, examples: [examples] });

/** `concept` is a key of the concept table (concepts.ts); codes are added when a view is made. */
const concept = z
  .strictObject({
    key: text('Key of the concept in this product', 'hc'),
    system: text('Coding system', 'http://loinc.org'),
    code: text('Code', '11984-2'),
    display: text('The code in words', 'Fetal Head Circumference US'),
  })
  .meta({ id: 'Concept', description: 'A coded concept' });

const SECTION_STATUS = [
  'complete',
  'partial',
  'not_assessed',
  'inadequate',
  'not_requested',
  'failed',
] as const;

const PROVENANCE = ['model', 'image-analysis', 'cart-sr', 'input', 'person'] as const;

/** Who a value is from: an image of the study, the machine's own report, the request, or a person. */
const ORIGIN = ['image', 'machine', 'request', 'person'] as const;

/**
 * `review`: measured, but by a method that was not shown on real images of this kind (evidence.ts);
 * nothing is concluded from the value before a person confirms it. `low`: the image or the model is
 * not sure enough. `inadequate`: the value contradicts its limits or another value.
 */
const QUALITY = ['accepted', 'review', 'low', 'inadequate'] as const;

/**
 * Which value of a quantity counts. `counts`: the one that receivers take; `proposed`: the value that
 * would count, had a person confirmed it; `repeat`: another value of the same quantity, beside the
 * chosen one; `part-of-mean`: an input of a mean or a median; `comparison`: the machine's value beside
 * an accepted one of ours; `withheld`: not accepted.
 */
const STANDING = [
  'counts',
  'proposed',
  'repeat',
  'part-of-mean',
  'comparison',
  'withheld',
] as const;

const caliperSchema = z
  .strictObject({
    type: z.enum(['line', 'ellipse', 'polyline', 'polygon']).meta({
      description:
        '`line`: two points; `ellipse`: both ends of the major, then both ends of the minor axis; `polyline`: an open trace; `polygon`: a closed outline, its first point not repeated',
      examples: ['line'],
    }),
    points: z.array(z.tuple([z.number(), z.number()])).meta({
      description: 'Pixel centres of the stored frame, [x, y] each',
      examples: [
        [
          [212.5, 301],
          [471, 288.5],
        ],
      ],
    }),
  })
  .meta({ id: 'Caliper', description: 'What was drawn to measure' });

const sourceSchema = z.strictObject({
  provenance: z
    .enum(PROVENANCE)
    .meta({ description: 'How the value was found', examples: ['model'] }),
  file: maybeText('File of the request', 'scan.dcm'),
  sop_instance_uid: maybeText('SOP Instance UID of a DICOM file'),
  frame: z
    .number()
    .int()
    .positive()
    .nullable()
    .meta({
      description: 'Frame, from 1; null for a value that belongs to no single frame',
      examples: [12],
    }),
  calipers: z.array(caliperSchema).meta({ description: 'Calipers on the frame' }),
});

const maybeNumber = (description: string, example: number | null) =>
  z
    .number()
    .nullable()
    .meta({ description, examples: [example] });

const referenceSchema = z.strictObject({
  low: maybeNumber('Lower limit', 241),
  high: maybeNumber('Upper limit', 277),
  centile: maybeNumber('Centile', 48),
  z_score: maybeNumber('z-score', -0.05),
  chart: text('Chart that it is from', 'INTERGROWTH-21st (Papageorghiou 2014)'),
});

/** What a person did to a value so that it counts. */
export const CONFIRMED = ['accepted', 'edited', 'entered'] as const;
export type Confirmed = (typeof CONFIRMED)[number];

/** Whether every number is finite, at any depth: JSON would write `null` for NaN and Infinity. */
function holdsFiniteNumbers(data: unknown): boolean {
  if (typeof data === 'number') return Number.isFinite(data);
  if (typeof data !== 'object' || data === null) return true;
  return Object.values(data).every(holdsFiniteNumbers);
}

const measurementSchema = z
  .strictObject({
    id: text('Id in this result', 'hc-1'),
    section: text('Section', 'biometry'),
    concept: concept.meta({ description: 'What was measured' }),
    label: text('The same for a person', 'HC'),
    value: z.number().meta({ description: 'Value', examples: [258.4] }),
    unit: text('Unit (UCUM)', 'mm'),
    method: text('How', 'ellipse'),
    derivation: z
      .enum(['measured', 'calculated', 'mean', 'median'])
      .meta({ description: 'Whether it was measured or derived', examples: ['measured'] }),
    source: sourceSchema.meta({ description: 'Where it was measured' }),
    site: maybeText('Site in the body'),
    laterality: z
      .enum(['left', 'right'])
      .nullable()
      .meta({ description: 'Side of the body', examples: [null] }),
    fetus: maybeText('Fetus, where there are several'),
    phase: maybeText('Phase of the heart or of the Doppler curve'),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .meta({
        description: '0 to 1; null for a value calculated from others',
        examples: [0.94],
      }),
    uncertainty: maybeNumber(
      "Half width of the 95 % interval in the value's unit; null where it is not known",
      5.1,
    ),
    quality: z.enum(QUALITY).meta({
      description:
        '`accepted` values may be used; `review` waits for a person; `low` and `inadequate` must not be used',
      examples: ['accepted'],
    }),
    evidence: z
      .string()
      .optional()
      .meta({
        description:
          'Key of the table of evidence; absent where no method of ours measured the value',
        examples: ['fetal-head'],
      }),
    reference: referenceSchema
      .nullable()
      .meta({ description: 'Reference values; null where there are none' }),
    interpretation: z
      .enum(['N', 'L', 'H', 'A'])
      .nullable()
      .meta({ description: 'Normal, low, high or abnormal', examples: ['N'] }),
    confirmed: z
      .enum(CONFIRMED)
      .optional()
      .meta({
        description: 'What a person decided about the value in a review; absent where nobody did',
        examples: ['accepted'],
      }),
    inputs: ids('Measurements that it was calculated from'),
    origin: z
      .enum(ORIGIN)
      .default('image')
      .meta({ description: 'Who it is from', examples: ['image'] }),
    standing: z
      .enum(STANDING)
      .default('counts')
      .meta({
        description: 'Which value of a quantity counts: the one with `counts`',
        examples: ['counts'],
      }),
    remarks: z
      .array(remarkSchema)
      .readonly()
      .default([])
      .meta({ description: 'What must be read with the value, as data', examples: [[]] }),
    note: maybeText('The remarks as text'),
  })
  .meta({ id: 'Measurement', description: 'One value with where it is from' });

export const sectionSchema = z.strictObject({
  id: text('Id of the section', 'biometry'),
  title: text('Title', 'Biometry'),
  status: z.enum(SECTION_STATUS).meta({
    description:
      '`partial` when anything is missing; `not_assessed`: the input lacks what it needs; `inadequate`: it was there, below the gate',
    examples: ['complete'],
  }),
  reason: z
    .strictObject({
      code: text('Code', 'no_calibration'),
      detail: text('The same in words', 'No image states its scale.'),
      needs: ids('What it needs', 'calibration'),
    })
    .nullable()
    .meta({ description: 'Why it is not complete', examples: [null] }),
  statements: z
    .array(statementSchema)
    .readonly()
    .optional()
    .meta({
      description:
        'What the section says, as data; `summary` and `reason.detail` are rendered from it',
      examples: [[]],
    }),
  summary: text('What the section says', 'Biometry of one fetus, appropriate for 28+0 weeks.'),
  data: z
    .record(z.string(), z.unknown())
    .refine(holdsFiniteNumbers, 'a number that JSON does not have: NaN or Infinity')
    .meta({
      description: 'What the section found; each section has its own shape',
      examples: [{}],
    }),
  artifacts: ids('Names of its artifacts', 'overlay-biometry-1.png'),
});

const findingSchema = z
  .strictObject({
    id: text('Id in this result', 'size-for-age'),
    section: text('Section', 'growth'),
    concept: concept.nullable().meta({ description: 'Coded concept', examples: [null] }),
    statement: statementSchema
      .optional()
      .meta({ description: 'What the finding says, as data; `text` is rendered from it' }),
    statements: z
      .array(statementSchema)
      .readonly()
      .optional()
      .meta({ description: 'The same where it says several things', examples: [[]] }),
    text: text('What was found', 'Estimated fetal weight on the 48th centile.'),
    severity: z
      .enum(['info', 'abnormal', 'critical'])
      .meta({ description: 'How serious it is', examples: ['info'] }),
    confidence: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .meta({ description: '0 to 1; null where none is known', examples: [null] }),
    evidence: ids('Measurements that it rests on', 'efw-1'),
  })
  .meta({ id: 'Finding', description: 'Something that was found' });

export const artifactSchema = z
  .strictObject({
    name: text('Name', 'report.pdf'),
    media_type: text('Media type', 'application/pdf'),
    bytes: z
      .number()
      .int()
      .nonnegative()
      .meta({ description: 'Size', examples: [48_213] }),
    sha256: text(
      'SHA-256 of the bytes',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
    section: maybeText('Section that it belongs to'),
  })
  .meta({ id: 'ResultArtifact', description: 'A file of the result' });

/** The signatures of a result, the first one first. */
const verificationSchema = z.strictObject({
  kind: z.literal('verified').meta({ description: 'Kind of verification' }),
  revision: z
    .number()
    .int()
    .positive()
    .meta({ description: 'Signed revision of the result, from 1; the draft is 0', examples: [1] }),
  signatures: z
    .array(
      z.strictObject({
        observer: text('Who signed', 'Dr A. Reader'),
        organization: text('Where they work', 'Example Hospital'),
        at: z.iso.datetime().meta({ description: 'When', examples: ['2026-11-22T10:15:00.000Z'] }),
        statement: maybeText('What the person declared'),
      }),
    )
    .min(1)
    .meta({ description: 'The signatures, the first one first' }),
});
export type Verification = z.infer<typeof verificationSchema>;

export const resultSchema = z.strictObject({
  schema: z.literal('sonogate.result/1').meta({ description: 'Version of this envelope' }),
  endpoint: text('Endpoint', 'us/obstetric/interpret'),
  version: text('Version of the endpoint', '1.0.0'),
  generated_at: z.iso
    .datetime()
    .meta({ description: 'When it was made', examples: ['2026-11-22T09:30:00.000Z'] }),
  models: z
    .array(
      z.strictObject({
        id: text('Name', 'fetal-head'),
        version: text('Version', '1.0.0'),
        sha256: text(
          'SHA-256 of its weights',
          '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        ),
        licence: text('Licence', 'CC-BY-4.0'),
        pack: z
          .enum(['permissive', 'research'])
          .meta({ description: 'Whether anyone may use it', examples: ['permissive'] }),
        provider: text('What it ran on', 'cpu'),
      }),
    )
    .meta({ description: 'Models that were used' }),
  draft: z
    .boolean()
    .meta({ description: 'False once a person has signed the result', examples: [true] }),
  verification: verificationSchema
    .optional()
    .meta({ description: 'Who signed, and when; absent in a draft' }),
  evidence_accepted: z
    .enum(['real', 'simulated'])
    .default('real')
    .meta({
      description:
        '`simulated` is a research setting: values also count if their method was shown on simulated images only',
      examples: ['real'],
    }),
  input_summary: z
    .strictObject({
      files: count('Files', 12),
      series: count('Series', 1),
      studies: count(
        'Present where the headers of the files name more than one study',
        1,
      ).optional(),
      clips: count('Clips', 12),
      frames: count('Frames', 340),
      calibrated_frames: count('Frames whose scale is known', 340),
      scale_from_request: z.literal(true).optional().meta({
        description:
          'Present where images that state no scale were measured in that of the request (`mm_per_px`)',
      }),
      one_scale_for_sizes: ids(
        'Present where images of different size share one scale of the request',
      ).optional(),
      modes: ids('Modes of the images', '2d'),
      refused: z
        .array(
          z.strictObject({
            file: text('File', 'notes.txt'),
            reason: text('Why', 'It is no image.'),
          }),
        )
        .meta({ description: 'Files that could not be read', examples: [[]] }),
      priors: count('Files of earlier examinations', 0),
    })
    .meta({ description: 'What was read' }),
  sections: z.array(sectionSchema).meta({ description: 'Every section of the endpoint' }),
  findings: z.array(findingSchema).meta({ description: 'What was found' }),
  measurements: z.array(measurementSchema).meta({ description: 'What was measured' }),
  scores: z
    .array(
      z.strictObject({
        id: text('Id in this result', 'wmsi'),
        section: text('Section', 'wall-motion'),
        concept: concept.nullable().meta({ description: 'Coded concept', examples: [null] }),
        name: text('Name', 'Wall motion score index'),
        value: z.number().meta({ description: 'Value', examples: [1] }),
        range: z
          .tuple([z.number(), z.number()])
          .meta({ description: 'Lowest and highest value', examples: [[1, 4]] }),
        components: z
          .array(
            z.strictObject({
              name: text('Name', 'basal septum'),
              value: z.number().meta({ description: 'Value', examples: [1] }),
            }),
          )
          .meta({ description: 'What it is made of' }),
      }),
    )
    .meta({ description: 'Scores; empty where no section of the endpoint could give one' }),
  classifications: z
    .array(
      z.strictObject({
        id: text('Id in this result', 'efw-category'),
        section: text('Section', 'growth'),
        concept: concept.nullable().meta({ description: 'Coded concept', examples: [null] }),
        name: text('Name', 'Size for gestational age'),
        value: text('Category', 'appropriate'),
        scheme: text('Scheme', 'ISUOG 2020'),
        criteria: z
          .array(
            z.strictObject({
              name: text('Name', 'EFW below the 10th centile'),
              value: text('Value', '48'),
              met: z.boolean().meta({ description: 'Whether it is met', examples: [false] }),
            }),
          )
          .meta({ description: 'Why' }),
      }),
    )
    .meta({ description: 'Categories of guidelines' }),
  guidance: z
    .array(
      z.strictObject({
        id: text('Id in this result', 'repeat-biometry'),
        section: text('Section', 'growth'),
        statement: statementSchema.optional().meta({ description: 'What it says, as data' }),
        statements: z
          .array(statementSchema)
          .readonly()
          .optional()
          .meta({ description: 'The same where it says several things', examples: [[]] }),
        text: text('What it says', 'Repeat biometry after two weeks.'),
        source: text('Guideline that it is from', 'ISUOG 2020'),
      }),
    )
    .meta({
      description: 'What guidelines advise; empty where none of what was found has such advice',
    }),
  report: z
    .strictObject({
      language: z.literal('en').meta({ description: 'Language' }),
      title: text('Title', 'Obstetric ultrasound: draft report'),
      findings: ids('Sentences', 'Head circumference 258 mm.'),
      impression: ids(
        'At most five lines, the most important first; rendered from `impression_lines`',
        'Growth appropriate for 28+0 weeks.',
      ),
      impression_lines: z
        .array(
          z.strictObject({
            topic: text('What the line is about', 'growth'),
            severity: z
              .enum(['info', 'abnormal', 'critical'])
              .meta({ description: 'How serious it is', examples: ['info'] }),
            statements: z
              .array(statementSchema)
              .readonly()
              .meta({ description: 'The clauses of its sentence, as data' }),
          }),
        )
        .optional()
        .meta({ description: 'The impression as data' }),
      limitations: ids('What limits it', 'Draft, not confirmed by a clinician.'),
    })
    .nullable()
    .meta({ description: 'The report; null unless `options.report`' }),
  artifacts: z.array(artifactSchema).meta({ description: 'Files of the result' }),
});

export type Concept = z.infer<typeof concept>;
export type Measurement = z.infer<typeof measurementSchema>;
export type Caliper = z.infer<typeof caliperSchema>;
export type Section = z.infer<typeof sectionSchema>;
export type Finding = z.infer<typeof findingSchema>;
export type ArtifactEntry = z.infer<typeof artifactSchema>;
export type Result = z.infer<typeof resultSchema>;
