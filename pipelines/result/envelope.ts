import { z } from 'zod';
import { remarkSchema, statementSchema } from './statement.ts';

/**
 * The result envelope `sonogate.result/1` (the `output` of a request). JSON, SR, FHIR, PDF,
 * previews and the report are views of it. Once the envelope is written, nothing more is measured
 * or concluded.
 */

/** Returns a schema with its description and examples for the API documentation. */
export const described = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  ...examples: unknown[]
): Schema => schema.meta({ description, ...(examples.length > 0 && { examples }) });

export const text = (description: string, example: string) =>
  described(z.string(), description, example);
export const maybeText = (description: string, example: string | null = null) =>
  described(z.string().nullable(), description, example);
export const count = (description: string, example: number) =>
  described(z.number().int(), description, example);
export const maybeNumber = (description: string, example: number | null) =>
  described(z.number().nullable(), description, example);
export const flag = (description: string, example: boolean) =>
  described(z.boolean(), description, example);
const ids = (description: string, ...examples: string[]) =>
  described(z.array(z.string()), description, examples);

/**
 * Schema of a concept. `key` is its key in the concept table (concepts.ts), from which FHIR and HL7
 * v2 take further codes.
 */
const concept = z
  .strictObject({
    key: text('Key of the concept in the concept table of Sonogate', 'hc'),
    system: text('URI of the coding system', 'http://loinc.org'),
    code: text('Code in this system', '11984-2'),
    display: text('Display text of the code', 'Fetal Head Circumference US'),
  })
  .meta({ id: 'Concept', description: 'A coded concept' });

const conceptIfCoded = described(
  concept.nullable(),
  'Coded concept; null if no code applies',
  null,
);

const severity = described(
  z.enum(['info', 'abnormal', 'critical']),
  'Severity; `critical` must be reported at once',
  'info',
);

/** Methods of values that are listed in the report of the ultrasound machine. */
export const MACHINE_METHODS = [
  'cart-sr',
  'cart-area-length-biplane',
  'cart-area-length',
  'cart-discs',
  'cart-cube',
  'cart-stated',
  'cart-mass-2d',
] as const;
const OF_MACHINE: ReadonlySet<string> = new Set(MACHINE_METHODS);

/**
 * Returns true if a value was listed in the report of the ultrasound machine, even if a person has
 * since corrected it.
 */
export const isFromReport = ({ method }: { method: string }): boolean => OF_MACHINE.has(method);

const caliperSchema = z
  .strictObject({
    type: described(
      z.enum(['line', 'ellipse', 'polyline', 'polygon']),
      '`line`: two points; `ellipse`: both ends of the major axis, then both ends of the minor axis; `polyline`: an open trace; `polygon`: a closed outline whose first point is not repeated',
      'line',
    ),
    points: described(
      z.array(z.tuple([z.number(), z.number()])),
      'Points as [x, y], in pixels of the stored frame, at pixel centres',
      [
        [212.5, 301],
        [471, 288.5],
      ],
    ),
  })
  .meta({ id: 'Caliper', description: 'A caliper or outline that shows what was measured' });

const sourceSchema = z.strictObject({
  provenance: described(
    z.enum(['model', 'image-analysis', 'cart-sr', 'input', 'person']),
    'How the value was obtained: `model`: by a neural network; `image-analysis`: by image analysis without a model; `cart-sr`: from the structured report of the ultrasound machine; `input`: from the request; `person`: entered or edited by a person',
    'model',
  ),
  file: maybeText('Name of the file in the request', 'scan.dcm'),
  sop_instance_uid: maybeText('SOP Instance UID of the image; null if the file is not DICOM'),
  frame: described(
    z.number().int().positive().nullable(),
    'Frame number, from 1; null for a value that belongs to no single frame',
    12,
  ),
  calipers: z.array(caliperSchema).meta({ description: 'Calipers drawn on the frame' }),
});

const referenceSchema = z.strictObject({
  low: maybeNumber('Lower limit of the reference range', 241),
  high: maybeNumber('Upper limit of the reference range', 277),
  centile: maybeNumber('Centile of the value', 48),
  z_score: maybeNumber('z-score of the value', -0.05),
  chart: text(
    'Chart or guideline from which the range is taken',
    'INTERGROWTH-21st (Papageorghiou 2014)',
  ),
});

/** How a person confirmed a value: accepted it, edited it, or entered another value. */
const CONFIRMED = ['accepted', 'edited', 'entered'] as const;
export type Confirmed = (typeof CONFIRMED)[number];

/**
 * Returns true if every number is finite, at any depth. JSON would turn NaN and Infinity into
 * `null`.
 */
export function holdsFiniteNumbers(data: unknown): boolean {
  if (typeof data === 'number') return Number.isFinite(data);
  if (typeof data !== 'object' || data === null) return true;
  return Object.values(data).every(holdsFiniteNumbers);
}

const measurementSchema = z
  .strictObject({
    id: text('Id of the measurement, unique in this result', 'hc-1'),
    section: text('Id of the section that made the measurement', 'biometry'),
    concept: concept.meta({ description: 'The quantity that was measured' }),
    label: text('Name of the quantity for people', 'HC'),
    value: z.number().meta({ description: 'Value in `unit`', examples: [258.4] }),
    unit: text('Unit as a UCUM code', 'mm'),
    method: text('Key of the measuring method', 'ellipse'),
    derivation: described(
      z.enum(['measured', 'calculated', 'mean', 'median']),
      'Whether the value was measured, calculated from other values, or is the mean or median of repeated values',
      'measured',
    ),
    source: sourceSchema.meta({ description: 'Where the value was measured' }),
    site: maybeText('Finding site in the body'),
    laterality: described(z.enum(['left', 'right']).nullable(), 'Side of the body', null),
    fetus: maybeText(
      'Letter or number of the fetus; null for an only fetus or if no fetus is named',
    ),
    phase: maybeText('Phase of the cardiac cycle or of the Doppler curve'),
    confidence: described(
      z.number().min(0).max(1).nullable(),
      'Confidence of the model or analysis, from 0 to 1; null if it gives no confidence',
      0.94,
    ),
    uncertainty: maybeNumber('Half width of the 95 % interval, in `unit`; null if not known', 5.1),
    quality: described(
      z.enum(['accepted', 'review', 'low', 'inadequate']),
      '`accepted`: may be used; `review`: must not be used until a person confirms it, because the method was not validated on real images of this kind; `low`: the image or the model is not certain enough; `inadequate`: beyond its limits or contradicted by another value. Values with `low` or `inadequate` must not be used.',
      'accepted',
    ),
    evidence: described(
      z.string().optional(),
      'Key of the evidence for the method in the table of evidence; absent if there is no evidence, or if Sonogate did not measure the value',
      'fetal-head',
    ),
    reference: referenceSchema
      .nullable()
      .meta({ description: 'Reference range; null if no chart applies' }),
    interpretation: described(
      z.enum(['N', 'L', 'H', 'A']).nullable(),
      '`N`: normal; `L`: low; `H`: high; `A`: abnormal; null if not judged',
      'N',
    ),
    confirmed: described(
      z.enum(CONFIRMED).optional(),
      'How a person made the value count in a review: accepted it, edited it, or entered another one; absent otherwise',
      'accepted',
    ),
    inputs: ids('Ids of the measurements from which the value was calculated'),
    origin: described(
      z.enum(['image', 'machine', 'request', 'person']).default('image'),
      'Where the value comes from: an image of the study, the ultrasound machine, the request, or a person',
      'image',
    ),
    standing: described(
      z
        .enum(['counts', 'proposed', 'repeat', 'part-of-mean', 'comparison', 'withheld'])
        .default('counts'),
      'Which of several values of a quantity to use: `counts`: use this one; `proposed`: would count if a person confirmed it; `repeat`: another value was chosen; `part-of-mean`: input of a mean or median; `comparison`: the machine’s value beside an accepted one of Sonogate; `withheld`: not accepted',
      'counts',
    ),
    remarks: described(
      z.array(remarkSchema).readonly().default([]),
      'Remarks that must be read with the value, as data',
      [],
    ),
    note: maybeText('The remarks as text; null if there are no remarks'),
  })
  .meta({ id: 'Measurement', description: 'One measured value with its source' });

export const sectionSchema = z.strictObject({
  id: text('Id of the section', 'biometry'),
  title: text('Title of the section', 'Biometry'),
  status: described(
    z.enum(['complete', 'partial', 'not_assessed', 'inadequate', 'not_requested', 'failed']),
    '`complete`: nothing is missing; `partial`: something is missing; `not_assessed`: the input lacks what the section needs; `inadequate`: the input was present, but its quality was too low; `not_requested`: the request did not ask for the section; `failed`: an internal error',
    'complete',
  ),
  reason: z
    .strictObject({
      code: text('Code of the reason', 'no_calibration'),
      detail: text('The reason as text', 'No image states its scale.'),
      needs: ids('Input that would complete the section', 'calibration'),
      gaps: described(
        z.array(statementSchema).readonly().optional(),
        'What is missing, as data; `detail` is rendered from it',
        [],
      ),
    })
    .nullable()
    .meta({
      description: 'Why the section is not complete; null if it is complete',
      examples: [null],
    }),
  statements: described(
    z.array(statementSchema).readonly().optional(),
    'What the section concludes, as data; `summary` is rendered from it',
    [],
  ),
  summary: text(
    'What the section concludes, as text',
    'Biometry of one fetus, appropriate for 28+0 weeks.',
  ),
  data: described(
    z
      .record(z.string(), z.unknown())
      .refine(holdsFiniteNumbers, 'a number that JSON does not have: NaN or Infinity'),
    'Further data of the section; the fields differ from section to section',
    {},
  ),
  artifacts: ids('Names of the artifacts that belong to the section', 'overlay-biometry-1.png'),
});

const findingSchema = z
  .strictObject({
    id: text('Id of the finding in this result', 'size-for-age'),
    section: text('Id of the section that made the finding', 'growth'),
    concept: conceptIfCoded,
    statement: statementSchema.optional().meta({
      description: 'The finding as data; `text` is rendered from it',
    }),
    statements: described(
      z.array(statementSchema).readonly().optional(),
      'Used instead of `statement` if there are several statements',
      [],
    ),
    text: text('The finding as text', 'Estimated fetal weight on the 48th centile.'),
    severity,
    confidence: described(
      z.number().min(0).max(1).nullable(),
      'Confidence from 0 to 1; null if not known',
      null,
    ),
    evidence: ids('Ids of the measurements on which the finding is based', 'efw-1'),
  })
  .meta({ id: 'Finding', description: 'A conclusion that the report lists as a finding' });

export const artifactSchema = z
  .strictObject({
    name: text('File name', 'report.pdf'),
    media_type: text('Media type', 'application/pdf'),
    bytes: described(z.number().int().nonnegative(), 'Size in bytes', 48_213),
    sha256: text(
      'SHA-256 of the file',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
    section: maybeText(
      'Id of the section to which the file belongs; null if it belongs to no single section',
    ),
  })
  .meta({ id: 'ResultArtifact', description: 'A file of the result' });

const verificationSchema = z.strictObject({
  kind: z.literal('verified').meta({ description: 'Kind of verification: signed by a person' }),
  revision: described(
    z.number().int().positive(),
    'Signed revision of the result, from 1; the draft is 0',
    1,
  ),
  signatures: z
    .array(
      z.strictObject({
        observer: text('Name of the person who signed', 'Dr A. Reader'),
        organization: text('Organisation of the person', 'Example Hospital'),
        at: z.iso
          .datetime()
          .meta({ description: 'Time of the signature', examples: ['2026-11-22T10:15:00.000Z'] }),
        statement: maybeText('Declaration of the person'),
      }),
    )
    .min(1)
    .meta({ description: 'Signatures in order of time' }),
  replaces: z
    .strictObject({
      request: text('Id of the earlier request', 'req_06dvq2m1k8r7n3p5s9t0w4x6yz'),
      revision: described(z.number().int().positive(), 'Signed revision of its result', 1),
    })
    .optional()
    .meta({
      description:
        'Signed result of an earlier request of the same study that this result replaces, if there is one',
    }),
});
export type Verification = z.infer<typeof verificationSchema>;

/**
 * Returns true if a signed result replaces one that was signed before, for this request or for an
 * earlier one.
 */
export const isAmendment = ({ revision, replaces }: Verification): boolean =>
  revision > 1 || replaces !== undefined;

export const resultSchema = z.strictObject({
  schema: z.literal('sonogate.result/1').meta({ description: 'Version of this document format' }),
  endpoint: text('Id of the endpoint', 'us/obstetric/interpret'),
  version: text('Version of the endpoint', '1.0.0'),
  generated_at: described(
    z.iso.datetime(),
    'Time at which the result was created',
    '2026-11-22T09:30:00.000Z',
  ),
  models: z
    .array(
      z.strictObject({
        id: text('Id of the model', 'fetal-head'),
        version: text('Version of the model', '1.0.0'),
        sha256: text(
          'SHA-256 of the file of the model',
          '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        ),
        licence: text('Licence of the weights', 'CC-BY-4.0'),
        pack: described(
          z.enum(['permissive', 'research']),
          '`permissive`: anyone may use the model; `research`: trained on data with a non-commercial licence',
          'permissive',
        ),
        provider: text('Execution provider on which the model ran', 'cpu'),
      }),
    )
    .meta({ description: 'Models that were used for this result' }),
  draft: flag('True until a person has signed the result', true),
  verification: verificationSchema
    .optional()
    .meta({ description: 'Who signed the result, and when; absent in a draft' }),
  evidence_accepted: described(
    z.enum(['real', 'simulated']).default('real'),
    '`simulated` is a research setting: values also count if their method was shown on simulated images only',
    'real',
  ),
  input_summary: z
    .strictObject({
      files: count('Number of files', 12),
      series: count('Number of series', 1),
      studies: count(
        'Number of studies; present only if the headers of the files name more than one',
        1,
      ).optional(),
      clips: count('Number of clips; a still image is a clip of one frame', 12),
      frames: count('Number of frames', 340),
      calibrated_frames: count('Number of frames whose scale is known', 340),
      scale_from_request: described(
        z.literal(true).optional(),
        'Present only if images without a scale were measured with the scale of the request (`mm_per_px`)',
      ),
      one_scale_for_sizes: ids(
        'Sizes of the images; present only if images of different size share one scale of the request',
      ).optional(),
      modes: ids('Imaging modes of the clips', '2d'),
      refused: z
        .array(
          z.strictObject({
            file: text('Name of the file', 'notes.txt'),
            reason: text('Why the file was refused', 'The file is not an image.'),
            read: described(
              z.literal(true).optional(),
              'Present if the file was read nevertheless, with the changes that the reason states',
            ),
          }),
        )
        .meta({ description: 'Files that could not be read', examples: [[]] }),
      priors: count('Number of files of earlier examinations', 0),
    })
    .meta({ description: 'Summary of the input that was read' }),
  sections: z
    .array(sectionSchema)
    .meta({ description: 'All sections of the endpoint, in the order of the report' }),
  findings: z.array(findingSchema).meta({ description: 'Findings of all sections' }),
  measurements: z
    .array(measurementSchema)
    .meta({ description: 'Measurements of all sections, including those that must not be used' }),
  scores: z
    .array(
      z.strictObject({
        id: text('Id of the score in this result', 'wmsi'),
        section: text('Id of the section that gave the score', 'wall-motion'),
        concept: conceptIfCoded,
        name: text('Name of the score', 'Wall motion score index'),
        value: z.number().meta({ description: 'Value of the score', examples: [1] }),
        range: z
          .tuple([z.number(), z.number()])
          .meta({ description: 'Lowest and highest possible value', examples: [[1, 4]] }),
        components: z
          .array(
            z.strictObject({
              name: text('Name of the component', 'basal septum'),
              value: z.number().meta({ description: 'Score of the component', examples: [1] }),
            }),
          )
          .meta({ description: 'Components from which the score was calculated' }),
      }),
    )
    .meta({ description: 'Scores; empty if no section could give one' }),
  classifications: z
    .array(
      z.strictObject({
        id: text('Id of the classification in this result', 'efw-category'),
        section: text('Id of the section that gave the classification', 'growth'),
        concept: conceptIfCoded,
        name: text('Name of the classification', 'Size for gestational age'),
        value: text('Category that was given', 'appropriate'),
        scheme: text('Guideline that defines the categories', 'ISUOG 2020'),
        criteria: z
          .array(
            z.strictObject({
              name: text('Criterion', 'EFW below the 10th centile'),
              value: maybeText(
                'Value that was compared, as text; null if it is not available, or if the outcome says all',
                '48',
              ),
              outcome: described(
                z.enum(['met', 'not_met', 'not_available', 'at_cut_off']).optional(),
                '`met`; `not_met`; `not_available`: what the criterion needs was not measured or seen; `at_cut_off`: the interval of the value includes the cut-off. Absent in results of earlier versions, whose `value` may be the outcome in words.',
                'not_met',
              ),
              met: flag('True only if the outcome is `met`', false),
            }),
          )
          .meta({ description: 'Criteria that led to the category' }),
      }),
    )
    .meta({ description: 'Categories and grades by named guidelines' }),
  guidance: z
    .array(
      z.strictObject({
        id: text('Id of the recommendation in this result', 'repeat-biometry'),
        section: text('Id of the section that gives the recommendation', 'growth'),
        statement: statementSchema
          .optional()
          .meta({ description: 'The recommendation as data; `text` is rendered from it' }),
        statements: described(
          z.array(statementSchema).readonly().optional(),
          'Used instead of `statement` if there are several statements',
          [],
        ),
        text: text('The recommendation as text', 'Repeat biometry after two weeks.'),
        source: text('Guideline that makes the recommendation', 'ISUOG 2020'),
      }),
    )
    .meta({
      description: 'Recommendations of guidelines for the findings; empty if there are none',
    }),
  report: z
    .strictObject({
      language: z.literal('en').meta({ description: 'Language of the report' }),
      title: text('Title of the report', 'Obstetric ultrasound: draft report'),
      findings: ids('Sentences of the findings, in order', 'Head circumference 258 mm.'),
      impression: ids(
        'Impression in at most five lines, the most important first; rendered from `impression_lines`',
        'Growth appropriate for 28+0 weeks.',
      ),
      impression_lines: z
        .array(
          z.strictObject({
            topic: text('Topic of the line', 'growth'),
            severity,
            statements: described(
              z.array(statementSchema).readonly(),
              'The clauses of the line, as data',
            ),
          }),
        )
        .optional()
        .meta({ description: 'The lines of the impression, as data' }),
      limitations: ids('Limitations of the report', 'Draft, not confirmed by a clinician.'),
    })
    .nullable()
    .meta({ description: 'The draft report; null unless the request sets `options.report`' }),
  artifacts: z.array(artifactSchema).meta({ description: 'Files made from the result' }),
});

export type Concept = z.infer<typeof concept>;
export type Measurement = z.infer<typeof measurementSchema>;
export type Caliper = z.infer<typeof caliperSchema>;
export type Section = z.infer<typeof sectionSchema>;
export type Finding = z.infer<typeof findingSchema>;
export type ArtifactEntry = z.infer<typeof artifactSchema>;
export type Result = z.infer<typeof resultSchema>;

/**
 * How a criterion turned out. One that is not available, or whose value has an interval that includes
 * its cut-off, is not "not met" (echo 10.7).
 */
export type CriterionOutcome = NonNullable<
  Result['classifications'][number]['criteria'][number]['outcome']
>;
