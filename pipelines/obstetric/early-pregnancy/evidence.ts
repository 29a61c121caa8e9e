import type { Ellipse, Point } from '../../contract/image.ts';
import type { Clip, Frame } from '../../contract/study.ts';
import type { SectionEvidence } from '../shared/section.ts';

/**
 * A gestational sac found by image analysis: echo-free, closed, nearly elliptic, with a bright ring
 * all around it (trophoblast and decidua). The analysis was developed on simulated images only.
 */
export interface LocatedSac {
  /** Inner border of the sac, in pixels of the image. */
  ellipse: Ellipse;
  levels: RingLevels;
  confidence: number;
  accepted: boolean;
}

/** What was seen within a sac; null where the structure was not seen. */
export interface SacContents {
  /** Inner border of the yolk sac, a circle, in pixels. */
  yolkSac: { centre: Point; radius: number; confidence: number } | null;
  embryo: { ends: [Point, Point]; areaMm2: number; confidence: number } | null;
}

/** One frame on which a sac was searched for. */
export interface EarlyFrame {
  clip: Clip;
  frame: Frame;
  sac: LocatedSac | null;
  /** Null without an accepted sac, or without a scale: the contents are distinguished by size. */
  contents: SacContents | null;
  /**
   * `several`: more than one body contains a yolk sac or an embryo. `unclear`: no contents show
   * which of several bodies is the sac (a bladder or a cyst is echo-free, too), or the only
   * accepted body looks less like a sac than one that was rejected (such as a dark fleck of speckle
   * beside the sac).
   */
  bodies: 'one' | 'several' | 'unclear';
}

/** Motion at the rate of a heart within the sac. */
export type EmbryoActivity =
  | { status: 'beating'; beatsPerMinute: number; uncertainty: number; strength: number }
  | { status: 'not-seen' }
  | { status: 'not-assessable' };

/** An M-mode sweep, as far as this section uses it. */
export interface EarlySweep {
  /** Whether the sweep is known to be of the fetus. */
  fetal: boolean;
  rhythm:
    | { status: 'beating'; beatsPerMinute: number; variation: number | null }
    | { status: 'not-seen' }
    | { status: 'not-assessable' };
}

export interface EarlyClip {
  /** The plane through the uterus, and the way the probe was applied; null where no word says it. */
  plane: 'sagittal' | 'transverse' | null;
  route: 'transvaginal' | 'transabdominal' | null;
  clip: Clip;
  frames: readonly EarlyFrame[];
  /** Cardiac activity within the sac of this clip; null where no sac was accepted in it. */
  cardiac: EmbryoActivity | null;
}

/**
 * Minimum length and frame rate of a clip: in shorter or slower clips, speckle repeats by chance as
 * regularly as a heartbeat.
 */
export const EMBRYO_CLIP = { frames: 60, framesPerSecond: 20 } as const;

/** What the early-pregnancy section works from. */
export interface EarlyEvidence extends SectionEvidence {
  /**
   * The band of an embryonic heart rate at an age, and the limit for a slow rate where it was not
   * verified against its source; null at an age without bands.
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

/** Typical grey levels within and around a sac; its border is at a level between them. */
export interface RingLevels {
  inside: number;
  outside: number;
}
