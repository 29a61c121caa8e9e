import type { Ellipse, GrayImage, Point } from '../contract/image.ts';
import type { Result } from '../result/envelope.ts';

/** Classes of the plane classifier (service.md 2.6; obstetric reference 1.1). */
export const PLANES = [
  'transthalamic',
  'transventricular',
  'transcerebellar',
  'abdominal',
  'femur',
  'thorax',
  'cervix',
  'other',
] as const;
export type Plane = (typeof PLANES)[number];

export interface PlaneEstimate {
  /** `other` below the gate of the classifier. */
  label: Plane;
  confidence: number;
}

export interface LocatedOutline {
  /** In pixels of the image. */
  ellipse: Ellipse;
  confidence: number;
  /** False below the gate of the model: named, and not used. */
  accepted: boolean;
}

export interface LocatedEnds {
  ends: readonly [Point, Point];
  confidence: number;
  accepted: boolean;
}

/** Half width of the 95 % interval in mm as measured on held-out images; null where unknown. */
export interface LocatorUncertainty {
  hc: number | null;
  ac: number | null;
  fl: number | null;
}

/**
 * Finds planes and structures in images. A member is null where no permitted model serves the task.
 * Each answers one entry per image; null where nothing was found.
 */
export interface Locator {
  planes: ((images: readonly GrayImage[]) => Promise<PlaneEstimate[]>) | null;
  head: ((images: readonly GrayImage[]) => Promise<(LocatedOutline | null)[]>) | null;
  abdomen: ((images: readonly GrayImage[]) => Promise<(LocatedOutline | null)[]>) | null;
  femur: ((images: readonly GrayImage[]) => Promise<(LocatedEnds | null)[]>) | null;
  uncertainty: LocatorUncertainty;
  /** The models behind the answers, as the result names them. */
  models: Result['models'];
}
