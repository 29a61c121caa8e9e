import type { GrayImage } from '../contract/image.ts';
import type { Result } from '../result/envelope.ts';

/** Views that the classifier tells apart; `other`: none of them, or below its gate. */
export const ECHO_VIEWS = [
  'PLAX',
  'PSAX-AV',
  'PSAX-MV',
  'PSAX-PM',
  'PSAX-AP',
  'A4C',
  'A2C',
  'A3C',
  'A5C',
  'SUBCOSTAL-4C',
  'SUBCOSTAL-IVC',
  'SUPRASTERNAL',
  'other',
] as const;
export type EchoView = (typeof ECHO_VIEWS)[number];

export interface EchoViewEstimate {
  /** `other` below the gate of the classifier. */
  view: EchoView;
  confidence: number;
  /** What it would have been without the gate: named in the result, never measured. */
  nearest: EchoView;
}

/** Chambers of an apical view. The myocardium is the wall alone, without the cavity. */
export const CHAMBERS = ['lv-cavity', 'lv-myocardium', 'la', 'rv', 'ra'] as const;
export type Chamber = (typeof CHAMBERS)[number];

/** Structures of a parasternal long axis. */
export const PARASTERNAL_STRUCTURES = [
  'lv-cavity',
  'septum',
  'posterior-wall',
  'la',
  'aortic-root',
  'rv',
] as const;
export type ParasternalStructure = (typeof PARASTERNAL_STRUCTURES)[number];

export interface StructureMask {
  /** 1 inside, 0 outside, row by row, as large as the image that was looked at. */
  pixels: Uint8Array;
  /** Mean probability of the pixels inside. */
  confidence: number;
}

/** What was found on one image; a structure that was not found, or that no model knows, is absent. */
export interface ImageMasks<Structure extends string> {
  width: number;
  height: number;
  masks: Partial<Record<Structure, StructureMask>>;
  /** Of the frame as a whole, 0 to 1. */
  confidence: number;
  /** False below the gate of the model: drawn, and not measured. */
  accepted: boolean;
}
export type ChamberMasks = ImageMasks<Chamber>;
export type ParasternalMasks = ImageMasks<ParasternalStructure>;

/** End-diastole and end-systole of one beat of an apical view. */
export interface EjectionPair {
  view: 'A4C' | 'A2C';
  diastole: { image: GrayImage; masks: ChamberMasks };
  systole: { image: GrayImage; masks: ChamberMasks };
  /** EF of the masks by summation of discs, per cent: the answer of the first network. */
  discs: number;
}

export interface EjectionFraction {
  /** Mean of both networks, recalibrated, per cent. */
  value: number;
  /** The second network alone, per cent. */
  second: number;
  confidence: number;
  accepted: boolean;
}

/**
 * Finds views and chambers in images. A member is null where no permitted model serves the task.
 * Each answers one entry per image.
 */
export interface EchoLocator {
  views: ((images: readonly GrayImage[]) => Promise<EchoViewEstimate[]>) | null;
  chambers: {
    segment(images: readonly GrayImage[]): Promise<ChamberMasks[]>;
    /** Whether an EF of these masks was shown to beat the constant answer on real images. */
    trustedForEjection: boolean;
  } | null;
  parasternal: ((images: readonly GrayImage[]) => Promise<ParasternalMasks[]>) | null;
  /** One entry per pair; null where the pair cannot be aligned. */
  ejection: ((pairs: readonly EjectionPair[]) => Promise<(EjectionFraction | null)[]>) | null;
  /** Half widths of 95 % intervals as measured on unseen images; null where unknown. */
  uncertainty: { ejection: number | null };
  /** The models behind the answers, as the result names them. */
  models: Result['models'];
}
