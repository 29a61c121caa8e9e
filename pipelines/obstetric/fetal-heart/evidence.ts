import type { Ellipse, Point } from '../../contract/image.ts';
import type { Clip, Frame } from '../../contract/study.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Heart and thorax of a four-chamber view. */
export interface LocatedChest {
  /** Outer border of the heart. */
  heart: Ellipse;
  /** Outer border of the thorax: outside the ribs, without the skin. */
  thorax: Ellipse;
  /** Overlap of each outline with the network's soft mask, 0 to 1; the lower of the two. */
  confidence: number;
  accepted: boolean;
  /** Crux, apex and spine; null where they could not be located. */
  septum: LocatedSeptum | null;
}

export interface LocatedSeptum {
  crux: Point;
  apex: Point;
  spine: Point;
  confidence: number;
  accepted: boolean;
}

/**
 * Half widths of 95 % intervals for heart and thorax on unseen phantoms: for the ratios, and in
 * degrees.
 */
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

/** An image on which a view of the heart was found, and who identified the view. */
export interface CardiacViewReading {
  view: CardiacView;
  file: string;
  /** Frame index, 0-based. */
  frame: number;
  /** `named`: the machine alone names the view; what the image shows was not verified. */
  by: 'classifier' | 'named';
  confidence: number | null;
}

/** Motion at the rate of a heart on an M-mode sweep, as `measure/m-mode` finds it. */
export type MModeRhythm =
  | {
      status: 'beating';
      beatsPerMinute: number;
      /** Coefficient of variation of the beat lengths; null for fewer than three whole beats. */
      variation: number | null;
      strength: number;
    }
  | { status: 'not-seen' }
  | { status: 'not-assessable' };

/** Motion at the rate of a heart on a cine, as `measure/periodicity.ts` finds it. */
export type CardiacActivity =
  | { status: 'beating'; beatsPerMinute: number; uncertainty: number; strength: number }
  | { status: 'not-seen' }
  | { status: 'not-assessable' };

/** The beats of a fetal artery on a spectral display. */
export interface SpectrumBeats {
  file: string;
  sopInstanceUid: string | null;
  /** Frame index, 0-based. */
  frame: number;
  fetus: string | null;
  /** Null where the display gives no rate because most of its beats differ. */
  rhythm: {
    beatsPerMinute: number;
    confidence: number;
    /** Whether the trace is good enough for a category. */
    steady: boolean;
    /** Coefficient of variation of the lengths of all beats; null for fewer than three alike. */
    variation: number | null;
    /** Number of beats that are alike, and number of beats seen. */
    alike: { beats: number; seen: number };
  } | null;
}

export interface MModeReading {
  file: string;
  sopInstanceUid: string | null;
  /** Frame index, 0-based. */
  frame: number;
  rhythm: MModeRhythm;
  /**
   * Whether the sweep is known to be of the fetus: the machine calls it fetal, or another image of
   * the study shows a fetus.
   */
  fetal: boolean;
}

/** One frame of the chest; `located` is null where heart or thorax was not found. */
export interface ChestReading {
  clip: Clip;
  frame: Frame;
  located: LocatedChest | null;
}

export interface FetalHeartReadings {
  /** Null where no permitted model can outline the heart. */
  chests: readonly ChestReading[] | null;
  views: CardiacViewReading[];
  /** Number of chest sections that were not identified as a four-chamber view. */
  chestFrames: number;
  mMode: MModeReading[];
}

export interface CardiacReading {
  clip: Clip;
  activity: CardiacActivity;
}

/** The evidence from which the rates of the fetal heart are read. */
export interface RateEvidence extends SectionEvidence {
  /** The beats of the fetal arteries, from the spectra of the Doppler section. */
  spectrumBeats: readonly SpectrumBeats[];
  /** The fetus that View Name and Stage Name name; null where they name none, or several. */
  fetusOf(clip: Pick<Clip, 'viewName' | 'stageName'>): string | null;
  views: {
    fetalHeart?: FetalHeartReadings | null;
    presentation?: { cardiac: readonly CardiacReading[] } | null;
  };
}

/** What the fetal-heart section works from. */
export interface FetalHeartEvidence extends RateEvidence {
  uncertainty: { chest?: ChestUncertainty | null };
}
