import { z } from 'zod';
import type { Point } from '../contract/image.ts';
import type { Clip, Rectangle } from '../contract/study.ts';

/** Structures that sections list by their place on a frame, as a person calls them. */
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

/** What is known of a place without any scale: pixels, and nothing in millimetres. */
const placeSchema = z.object({
  /**
   * `line`: both ends; `ellipse`: both ends of one axis, then of the other; `polygon`: a closed
   * outline, its first point not repeated; `rectangle`: top left and bottom right corner.
   */
  type: z.enum(['line', 'ellipse', 'polygon', 'rectangle']),
  /** Pixel-centre coordinates of the stored frame, [x, y] each. */
  points: z.array(z.tuple([z.number(), z.number()])),
});
export type Place = z.infer<typeof placeSchema>;

/** One entry of `structures` in the data of a section. */
export const locatedStructureSchema = z.object({
  file: z.string(),
  sop_instance_uid: z.string().nullable(),
  /** 1-based. */
  frame: z.number().int().positive(),
  structure: z.enum(Object.keys(LOCATED_STRUCTURES) as [StructureName, ...StructureName[]]),
  confidence: z.number(),
  /** False below the gate of the model, or where its shape is not that of the structure. */
  accepted: z.boolean(),
  place: placeSchema,
});
export type LocatedStructure = z.infer<typeof locatedStructureSchema>;

const tenth = (value: number) => Math.round(10 * value) / 10;
const pair = ({ x, y }: Point): [number, number] => [tenth(x), tenth(y)];

/** `axes`: both ends of one axis, then of the other. */
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

/** A structure as a section lists it; `frame.index` is 0-based. */
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
