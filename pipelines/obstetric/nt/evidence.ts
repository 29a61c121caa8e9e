import type { Point } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Structures on a first-trimester mid-sagittal image (Cui and Dong 2022). */
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
  /** In pixels of the image. */
  box: Rectangle;
  confidence: number;
  accepted: boolean;
}

/** The structures that were found; other structures have no entry. */
export type LocatedMidsagittal = Partial<Record<MidsagittalStructure, LocatedBox>>;

/** The thickest part of the nuchal translucency inside its box. */
interface NuchalLines {
  /**
   * Points on the inner borders of the upper and the lower line, in pixels. The segment between
   * them is perpendicular to the lines.
   */
  ends: readonly [Point, Point];
  /** In millimetres or pixels (see `MidsagittalReading.lines`). */
  thickness: number;
  /** Share of the box's columns that show a dark band between two bright lines. */
  seen: number;
}

/**
 * One mid-sagittal frame: its structures, and the nuchal lines inside the box around the nuchal
 * region.
 */
export type MidsagittalReading = FramePlane & {
  located: LocatedMidsagittal;
  /**
   * In millimetres if the lines are inside a calibrated region, otherwise in pixels; null if the
   * lines were not seen.
   */
  lines: NuchalLines | null;
};

export interface NuchalReadings {
  /** Null if no permitted model locates the structures. */
  frames: readonly MidsagittalReading[] | null;
}

export interface NuchalEvidence extends SectionEvidence {
  views: {
    nuchal?: NuchalReadings | null;
  };
}
