import type { Rectangle } from '../../contract/study.ts';
import type { NuchalLines } from '../../measure/nuchal-lines.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { EvidenceWith } from '../shared/section.ts';

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
  /** True if the nasal bone needs review, although a person confirmed the thickness. */
  nasalBoneHeld?: true;
};

export interface NuchalReadings {
  /** Null if no permitted model locates the structures. */
  frames: readonly MidsagittalReading[] | null;
}

export type NuchalEvidence = EvidenceWith<'nuchal', NuchalReadings>;
