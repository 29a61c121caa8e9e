import type { Point } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Structures of a first-trimester mid-sagittal image (Cui and Dong 2022). */
export const MIDSAGITTAL_STRUCTURES = [
  'thalami',
  'midbrain',
  'palate',
  'intracranial-translucency',
  'cisterna-magna',
  'nuchal-translucency',
  'nasal-bone',
  'nasal-tip',
  'nasal-skin',
] as const;

export type MidsagittalStructure = (typeof MIDSAGITTAL_STRUCTURES)[number];

export interface LocatedBox {
  /** Pixels of the image. */
  box: Rectangle;
  confidence: number;
  accepted: boolean;
}

/** The structures that were found; one that was not found has no entry. */
export type LocatedMidsagittal = Partial<Record<MidsagittalStructure, LocatedBox>>;

/** The thickest part of the nuchal translucency inside its box. */
export interface NuchalLines {
  /**
   * Inner border of the upper and of the lower line, pixels; the segment between is perpendicular.
   */
  ends: readonly [Point, Point];
  /** In the unit of the scale. */
  thickness: number;
  /** Share of the box's columns in which a dark band is between two bright lines. */
  seen: number;
}

/** One mid-sagittal frame: the structures, and the nuchal lines inside the box of the nuchal region. */
export type MidsagittalReading = FramePlane & {
  located: LocatedMidsagittal;
  /** Millimetres where the lines are inside a calibrated region, else pixels; null: not seen. */
  lines: NuchalLines | null;
};

export interface NuchalReadings {
  /** Null where no permitted model locates the structures. */
  frames: readonly MidsagittalReading[] | null;
}

/** What the nuchal translucency section works from. */
export interface NuchalEvidence extends SectionEvidence {
  views: {
    nuchal?: NuchalReadings | null;
  };
}
