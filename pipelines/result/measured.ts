import { z } from 'zod';
import type { MeasurementConcept } from '../concepts/coding.ts';
import { conceptOf } from '../concepts/coding.ts';
import type { Point } from '../contract/image.ts';
import type { Clip, Rectangle } from '../contract/study.ts';
import {
  type Caliper,
  described,
  flag,
  MACHINE_METHODS,
  type Measurement,
  maybeText,
} from './envelope.ts';

/** Source of a value that belongs to no single frame. */
export const NO_FRAME: Measurement['source'] = {
  provenance: 'model',
  file: null,
  sop_instance_uid: null,
  frame: null,
  calipers: [],
};

const ORIGIN_OF = {
  model: 'image',
  'image-analysis': 'image',
  'cart-sr': 'machine',
  input: 'request',
  person: 'person',
} as const satisfies Record<Measurement['source']['provenance'], Measurement['origin']>;

/** Returns the origin of a value, which follows from its provenance. */
export const originOf = ({ provenance }: Measurement['source']): Measurement['origin'] =>
  ORIGIN_OF[provenance];

/** Returns true if a value was read from the report of the ultrasound machine. */
export const isOfMachine = ({ source }: Pick<Measurement, 'source'>): boolean =>
  source.provenance === 'cart-sr';

type Source = Measurement['source'];

/**
 * Returns true if a value summarises repeated values. If these are measurements, they are its
 * `inputs`.
 */
export const isSummary = ({ derivation }: { derivation: string | null }): boolean =>
  derivation === 'mean' || derivation === 'median';

/** Method of a machine-reported value if the report states none. */
export const [MACHINE_METHOD] = MACHINE_METHODS;

/**
 * Returns the source of a value.
 * @param frame 0-based index, as in readers (frames in a result are numbered from 1); null if the
 * value belongs to no single frame.
 * @param calipers the calipers drawn on the frame.
 */
export function measuredOn(
  { file, sopInstanceUid }: Pick<Clip, 'file' | 'sopInstanceUid'>,
  frame: number | null,
  provenance: Source['provenance'],
  calipers: readonly Caliper[] = [],
): Source {
  return {
    provenance,
    file,
    sop_instance_uid: sopInstanceUid,
    frame: frame === null ? null : frame + 1,
    calipers: [...calipers],
  };
}

/** Returns a straight caliper, in pixels of the frame. */
export function lineBetween(from: Point, to: Point): Caliper {
  return {
    type: 'line',
    points: [
      [from.x, from.y],
      [to.x, to.y],
    ],
  };
}

/**
 * How a value of this quality is used (`standing`), before the values of a result are compared with
 * each other.
 */
export const standingBy = (
  quality: Measurement['quality'] = 'accepted',
): Measurement['standing'] =>
  quality === 'accepted' ? 'counts' : quality === 'review' ? 'proposed' : 'withheld';

/** The section of a measurement, and those of its fields that are not usual. */
export type Given = Pick<Measurement, 'section'> &
  Partial<Omit<Measurement, 'concept' | 'label' | 'unit' | 'method' | 'value' | 'note'>>;

/** What a person decided about the values of a study in a review (decisions.ts). */
interface Review {
  /** Returns a newly created value as the person's decisions leave it. */
  decide(one: Measurement): Measurement;
  /** Returns the number typed for a value that belongs to no frame; null if nobody typed one. */
  typed(concept: string, method: string): number | null;
}

/**
 * The review that applies to values when they are created; null outside a review. It is a variable
 * of this module because every section creates values, and none of them has to handle reviews.
 */
let inForce: Review | null = null;

/** Runs `work` with the decisions of a review. `work` must not return a promise. */
export function withDecisions<T>(review: Review | null, work: () => T): T {
  const before = inForce;
  inForce = review;
  try {
    return work();
  } finally {
    inForce = before;
  }
}

/** Returns the measurement with the current decisions applied. */
export const decided = (one: Measurement): Measurement => inForce?.decide(one) ?? one;

/**
 * Returns the number that a person typed for a quantity that is calculated from others; null if
 * nobody typed one. It does not depend on the others, which may have been rejected since.
 */
export const typedNumber = (concept: string, method: string): number | null =>
  inForce?.typed(concept, method) ?? null;

/** Returns true if a person confirmed the value. A confirmed value is never withheld. */
export const isConfirmed = ({ confirmed }: Pick<Measurement, 'confirmed'>): boolean =>
  confirmed !== undefined;

/** Codes of remarks that state a person's decision to exclude a value (decisions.ts). */
const EXCLUDED: ReadonlySet<string> = new Set(['review.rejected', 'review.passed-over']);

/** Returns true if a person rejected a value, or chose another one in its place. */
export const isRejected = ({ remarks }: Pick<Measurement, 'remarks'>): boolean =>
  remarks.some(({ code }) => EXCLUDED.has(code));

/** Returns true if a person chose another value in place of this one, without rejecting it. */
export const isReplaced = ({ remarks }: Pick<Measurement, 'remarks'>): boolean =>
  remarks.some(({ code }) => code === 'review.passed-over');

/** Creates a measurement of a concept, with unit, label and site from the concept table. */
export function measurementOf(
  id: string,
  key: string,
  {
    codings,
    label,
    unit,
    site,
  }: Pick<MeasurementConcept, 'codings' | 'label' | 'site'> & { unit: string },
  value: number,
  method: string,
  given: Given,
): Measurement {
  return decided({
    id,
    concept: conceptOf(key, codings[0]),
    label,
    value,
    unit,
    method,
    derivation: 'calculated',
    source: NO_FRAME,
    site: site?.meaning ?? null,
    laterality: null,
    fetus: null,
    phase: null,
    confidence: null,
    uncertainty: null,
    quality: 'accepted',
    reference: null,
    interpretation: null,
    inputs: [],
    origin: originOf(given.source ?? NO_FRAME),
    standing: standingBy(given.quality),
    remarks: [],
    note: null,
    ...given,
  });
}

/**
 * Marks a value as a repeat, because its section chose another value of the same quantity, such as
 * the shortest cervix.
 */
export const asRepeat = (one: Measurement): Measurement => ({ ...one, standing: 'repeat' });

/**
 * Returns the position of a fetus among its siblings, counted from 1, given its letter or number;
 * null if unknown.
 */
export function fetusPlace(name: string): number | null {
  if (/^[a-d]$/i.test(name)) return name.toUpperCase().charCodeAt(0) - 'A'.charCodeAt(0) + 1;
  return /^[1-9]$/.test(name) ? Number(name) : null;
}

/** Returns the id of a value that belongs to one of several fetuses. */
export const ofFetusId = (id: string, fetus: string): string =>
  `${id}-fetus-${fetus.toLowerCase()}`;

/** Returns a key for comparing fetuses, in which A and 1 are the same. */
export const fetusKey = (name: string | null): string =>
  name === null ? '' : String(fetusPlace(name) ?? name);

/**
 * Returns the id of a value from the machine's report: `cart-hc`, `cart-uterine-artery-pi-left`.
 */
export function machineValueId(
  quantity: string,
  { fetus, laterality }: Pick<Measurement, 'fetus' | 'laterality'>,
): string {
  return ['cart', quantity, fetus, laterality].filter(Boolean).join('-');
}

/** Display names of the structures whose position on a frame a section may list. */
export const LOCATED_STRUCTURES = {
  symphysis: 'Pubic symphysis',
  'fetal-head': 'Fetal head',
  'fetal-abdomen': 'Fetal abdomen',
  'fetal-femur': 'Fetal femur',
  thalami: 'Thalami',
  midbrain: 'Midbrain',
  palate: 'Palate',
  'intracranial-translucency': 'Intracranial translucency',
  'cisterna-magna': 'Cisterna magna',
  'nuchal-translucency': 'Nuchal translucency',
  'nasal-bone': 'Nasal bone',
  'nasal-tip': 'Nasal tip',
  'nasal-skin': 'Nasal skin',
} as const;

export type StructureName = keyof typeof LOCATED_STRUCTURES;

/** A position in pixels. It contains no lengths in millimetres and therefore needs no scale. */
const placeSchema = z.object({
  type: described(
    z.enum(['line', 'ellipse', 'polygon', 'rectangle']),
    '`line`: both ends; `ellipse`: both ends of one axis, then of the other; `polygon`: a closed outline whose first point is not repeated; `rectangle`: top left and bottom right corner',
    'line',
  ),
  points: described(
    z.array(z.tuple([z.number(), z.number()])),
    'Points as [x, y], in pixels of the stored frame, at pixel centres',
    [
      [212.5, 301],
      [388, 296.5],
    ],
  ),
});
export type Place = z.infer<typeof placeSchema>;

/** One entry of `structures` in the data of a section. */
export const locatedStructureSchema = z.object({
  file: z.string().meta({ description: 'Name of the file in the request', examples: ['scan.dcm'] }),
  sop_instance_uid: maybeText('SOP Instance UID of the image; null if the file is not DICOM'),
  frame: described(z.number().int().positive(), 'Frame number, from 1', 12),
  structure: z
    .enum(Object.keys(LOCATED_STRUCTURES) as [StructureName, ...StructureName[]])
    .meta({ description: 'Key of the structure', examples: ['fetal-femur'] }),
  confidence: described(z.number(), 'Confidence of the model, from 0 to 1', 0.93),
  accepted: flag(
    'False if the confidence is below the gate of the model, or if the shape does not fit the structure',
    true,
  ),
  place: placeSchema.meta({ description: 'Place of the structure on the frame' }),
});
export type LocatedStructure = z.infer<typeof locatedStructureSchema>;

const tenth = (value: number) => Math.round(10 * value) / 10;
const pair = ({ x, y }: Point): [number, number] => [tenth(x), tenth(y)];

/**
 * Returns the position of an ellipse. `axes` contains both ends of one axis, followed by both ends
 * of the other.
 */
export const ellipsePlace = (axes: readonly Point[]): Place => ({
  type: 'ellipse',
  points: axes.map(pair),
});

export const polygonPlace = (points: readonly Point[]): Place => ({
  type: 'polygon',
  points: points.map(pair),
});

export const linePlace = (ends: readonly [Point, Point]): Place => ({
  type: 'line',
  points: ends.map(pair),
});

export const rectanglePlace = ({ minX, minY, maxX, maxY }: Rectangle): Place => ({
  type: 'rectangle',
  points: [pair({ x: minX, y: minY }), pair({ x: maxX, y: maxY })],
});

/** Returns a structure in the format used by sections; `frame.index` is 0-based. */
export function locatedOn(
  { clip, frame }: { clip: Pick<Clip, 'file' | 'sopInstanceUid'>; frame: { index: number } },
  structure: StructureName,
  { confidence, accepted }: { confidence: number; accepted: boolean },
  place: Place,
): LocatedStructure {
  return {
    file: clip.file,
    sop_instance_uid: clip.sopInstanceUid,
    frame: frame.index + 1,
    structure,
    confidence: Math.round(1000 * confidence) / 1000,
    accepted,
    place,
  };
}

/** `trace` of a listed spectrum in a section's data: the velocity curve that was measured. */
export const flowTraceSchema = z.object({
  /** 1-based. */
  frame: z.number().int().positive(),
  side: z.enum(['above', 'below']),
  baseline_row: z.number(),
  points: z.array(z.tuple([z.number(), z.number()])),
  beats: z.array(z.number()),
});
export type FlowTraceData = z.infer<typeof flowTraceSchema>;

/** A velocity curve in pixels of its frame, as traced by `measure/doppler`. */
export interface DrawnFlow {
  side: 'above' | 'below';
  /** Row at which the velocity is 0. */
  baselineRow: number;
  points: readonly [x: number, y: number][];
  /** Columns that mark the beats. */
  beats: readonly number[];
}

/** Returns a traced curve in the format used by sections; `frame` is 0-based. */
export function flowTrace(frame: number, trace: DrawnFlow): FlowTraceData {
  return {
    frame: frame + 1,
    side: trace.side,
    baseline_row: trace.baselineRow,
    points: [...trace.points],
    beats: [...trace.beats],
  };
}
