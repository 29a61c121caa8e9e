import type { Ellipse, Point } from '../../contract/image.ts';
import type { Clip, Frame } from '../../contract/study.ts';
import type { SectionEvidence } from '../shared/section.ts';

export interface LocatedChest {
  /** Outer border of the heart. */
  heart: Ellipse;
  /** Outer border of the thorax: outside the ribs, without the skin. */
  thorax: Ellipse;
  /**
   * Overlap between an outline and the network's soft mask, 0 to 1. Of the two outlines, the one
   * with less overlap determines the confidence.
   */
  confidence: number;
  accepted: boolean;
  /** Crux, apex and spine; null if they could not be located. */
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
 * Half widths of 95 % intervals for heart and thorax, measured on unseen phantoms. Two are for
 * ratios, one for an angle in degrees.
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

/** An image identified as a cardiac view, and how it was identified. */
export interface CardiacViewReading {
  view: CardiacView;
  file: string;
  /** 0-based. */
  frame: number;
  /** `named`: only the machine's label states the view; the image content was not verified. */
  by: 'classifier' | 'named';
  confidence: number | null;
}

/** Motion on an M-mode sweep (`measure/m-mode`). `beating`: at the rate of a heartbeat. */
type MModeRhythm =
  | {
      status: 'beating';
      beatsPerMinute: number;
      /** Coefficient of variation of the beat lengths; null for fewer than three whole beats. */
      variation: number | null;
      strength: number;
    }
  | { status: 'not-seen' }
  | { status: 'not-assessable'; reason: 'no-scale' | 'too-short' };

/** Motion on a cine (`measure/periodicity.ts`). `beating`: at the rate of a heartbeat. */
export type CardiacActivity =
  | { status: 'beating'; beatsPerMinute: number; uncertainty: number; strength: number }
  | { status: 'not-seen' }
  | { status: 'not-assessable' };

/** Beats of a fetal artery on a spectral display. */
export interface SpectrumBeats {
  file: string;
  sopInstanceUid: string | null;
  /** 0-based. */
  frame: number;
  fetus: string | null;
  /** Null if no rate can be read because most beats on the display differ from each other. */
  rhythm: {
    beatsPerMinute: number;
    confidence: number;
    /** True if the trace is good enough for the rate to be accepted. */
    steady: boolean;
    /**
     * Coefficient of variation of the lengths of all beats; null if fewer than three beats are
     * similar.
     */
    variation: number | null;
    /** Number of beats that resemble each other, and number of beats seen. */
    alike: { beats: number; seen: number };
  } | null;
}

export interface MModeReading {
  file: string;
  sopInstanceUid: string | null;
  /** 0-based. */
  frame: number;
  rhythm: MModeRhythm;
  /**
   * True if the sweep is known to show a fetus, because it is labelled as fetal or another image of
   * the study shows a fetus.
   */
  fetal: boolean;
}

/** One frame of the chest; `located` is null if the heart or the thorax was not found. */
export interface ChestReading {
  clip: Clip;
  frame: Frame;
  located: LocatedChest | null;
}

export interface FetalHeartReadings {
  /** Null if no permitted model can outline the heart. */
  chests: readonly ChestReading[] | null;
  views: CardiacViewReading[];
  /** Number of chest sections not identified as a four-chamber view. */
  chestFrames: number;
  mMode: MModeReading[];
}

export interface CardiacReading {
  clip: Clip;
  activity: CardiacActivity;
}

/** Input for reading the fetal heart rates. */
export interface RateEvidence extends SectionEvidence {
  /** Beats of the fetal arteries, from the spectra of the Doppler section. */
  spectrumBeats: readonly SpectrumBeats[];
  /** Returns the fetus stated in View Name and Stage Name; null if they state none, or several. */
  fetusOf(clip: Pick<Clip, 'viewName' | 'stageName'>): string | null;
  views: {
    fetalHeart?: FetalHeartReadings | null;
    presentation?: { cardiac: readonly CardiacReading[] } | null;
  };
}

export interface FetalHeartEvidence extends RateEvidence {
  uncertainty: { chest?: ChestUncertainty | null };
}
