import type { Ellipse, Point } from '../../contract/image.ts';
import type { Clip } from '../../contract/study.ts';
import type { MModeRhythm } from '../../measure/m-mode/heart-rate.ts';
import type { CardiacActivity } from '../../measure/periodicity.ts';
import type { SpectrumReading } from '../doppler/evidence.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Heart and thorax of a four-chamber view. */
export interface LocatedChest {
  /** Outer border of the heart. */
  heart: Ellipse;
  /** Outside the ribs, skin excluded. */
  thorax: Ellipse;
  /** Soft overlap of both outlines with what the network drew, the worse of the two. */
  confidence: number;
  accepted: boolean;
  /** Crux and apex, and the spine; null where they were not told. */
  septum: LocatedSeptum | null;
}

export interface LocatedSeptum {
  crux: Point;
  apex: Point;
  spine: Point;
  confidence: number;
  accepted: boolean;
}

/** The same for heart and thorax on unseen phantoms: ratios, and degrees. */
export interface ChestUncertainty {
  areaRatio: number | null;
  circumferenceRatio: number | null;
  axisDegrees: number | null;
}

export const CARDIAC_VIEWS = [
  'four-chamber',
  'left-outflow-tract',
  'right-outflow-tract',
  'three-vessel',
  'three-vessel-trachea',
] as const;

export type CardiacView = (typeof CARDIAC_VIEWS)[number];

/** An image on which a view of the heart was found, and by whom. */
export interface CardiacViewReading {
  view: CardiacView;
  file: string;
  /** 0-based. */
  frame: number;
  /** `named`: by the machine only, what the image shows was not verified. */
  by: 'classifier' | 'named';
  confidence: number | null;
}

export interface MModeReading {
  file: string;
  sopInstanceUid: string | null;
  /** 0-based. */
  frame: number;
  rhythm: MModeRhythm;
  /** The machine calls it fetal, or another image of the study shows a fetus: else whose it is? */
  fetal: boolean;
}

/** One frame of the chest; `located` null: heart or thorax was not found there. */
export type ChestReading = FramePlane & { located: LocatedChest | null };

export interface FetalHeartReadings {
  /** Null where no permitted model outlines the heart. */
  chests: readonly ChestReading[] | null;
  views: CardiacViewReading[];
  /** Chest sections that were not told to be a four-chamber view. */
  chestFrames: number;
  mMode: MModeReading[];
}

export interface CardiacReading {
  clip: Clip;
  activity: CardiacActivity;
}

/** What the rates of the fetal heart are read from. */
export interface RateEvidence extends SectionEvidence {
  views: {
    fetalHeart?: FetalHeartReadings | null;
    spectra?: readonly SpectrumReading[] | null;
    presentation?: { cardiac: readonly CardiacReading[] } | null;
  };
}

/** What the section looks at. */
export interface FetalHeartEvidence extends RateEvidence {
  uncertainty: { chest?: ChestUncertainty | null };
}
