import type { Ellipse, Point } from '../../contract/image.ts';
import type { Clip, Frame } from '../../contract/study.ts';
import type { SectionEvidence } from '../shared/section.ts';

/**
 * A gestational sac found by image analysis: an echo-free, closed, nearly elliptic area that is
 * completely surrounded by a bright ring (trophoblast and decidua). The analysis was developed on
 * simulated images only.
 */
export interface LocatedSac {
  /** Inner border of the sac, in pixels of the image. */
  ellipse: Ellipse;
  levels: RingLevels;
  confidence: number;
  accepted: boolean;
}

/** The structures seen within a sac; null for one that was not seen. */
export interface SacContents {
  /** Inner border of the yolk sac, a circle, in pixels. */
  yolkSac: { centre: Point; radius: number; confidence: number } | null;
  embryo: { ends: [Point, Point]; areaMm2: number; confidence: number } | null;
}

/** One frame on which a sac was searched. */
export interface EarlyFrame {
  clip: Clip;
  frame: Frame;
  sac: LocatedSac | null;
  /**
   * Null without an accepted sac, or without a scale, which is needed because the contents are
   * distinguished by size.
   */
  contents: SacContents | null;
  /**
   * `several`: more than one body contains a yolk sac or an embryo.
   *
   * `unclear`: no contents show which of several bodies is the sac, since a bladder or a cyst is
   * echo-free, too. Or the only accepted body looks less like a sac than one that was rejected,
   * such as a dark fleck of speckle beside the sac.
   */
  bodies: 'one' | 'several' | 'unclear';
}

/** Motion within the sac at the rate of a heart. */
export type EmbryoActivity =
  | { status: 'beating'; beatsPerMinute: number; uncertainty: number; strength: number }
  | { status: 'not-seen' }
  | { status: 'not-assessable' };

/** The fields of an M-mode sweep that this section uses. */
export interface EarlySweep {
  /** True if the sweep is known to show the fetus. */
  fetal: boolean;
  rhythm:
    | { status: 'beating'; beatsPerMinute: number; variation: number | null }
    | { status: 'not-seen' }
    | { status: 'not-assessable' };
}

export interface EarlyClip {
  /**
   * The plane through the uterus, and how the probe was applied; null if no word of the header says
   * it.
   */
  plane: 'sagittal' | 'transverse' | null;
  route: 'transvaginal' | 'transabdominal' | null;
  clip: Clip;
  frames: readonly EarlyFrame[];
  /** Cardiac activity within the sac of this clip; null if no sac was accepted in it. */
  cardiac: EmbryoActivity | null;
}

/**
 * Minimum length and frame rate of a clip. In shorter or slower clips, speckle may by chance repeat
 * as regularly as a heartbeat.
 */
export const EMBRYO_CLIP = { frames: 60, framesPerSecond: 20 } as const;

/** The input of the early-pregnancy section. */
export interface EarlyEvidence extends SectionEvidence {
  /**
   * Returns the band of an embryonic heart rate at an age. Adds the limit for a slow rate if it was
   * not verified against its source. Null at an age without bands.
   */
  embryonicRate(
    gaDays: number,
    beatsPerMinute: number,
  ): { band: 'slow' | 'borderline' | 'usual' | 'fast'; recalled: number | null } | null;
  views: {
    earlyPregnancy?: readonly EarlyClip[] | null;
    fetalHeart?: { mMode: readonly EarlySweep[] } | null;
  };
}

/**
 * Typical grey levels within and around a sac. The border of the sac is at a level between them.
 */
export interface RingLevels {
  inside: number;
  outside: number;
}
