import type { Ellipse, Point } from '../../contract/image.ts';
import type { Clip, Frame } from '../../contract/study.ts';
import type { SectionEvidence } from '../shared/section.ts';

/**
 * A gestational sac found by image analysis: an echo-free, closed, nearly elliptic region inside a
 * complete bright ring (trophoblast and decidua). The analysis was developed on simulated images
 * only.
 */
export interface LocatedSac {
  /** Inner border of the sac, in pixels of the image. */
  ellipse: Ellipse;
  levels: RingLevels;
  confidence: number;
  accepted: boolean;
}

/** Structures seen within a sac; null if a structure was not seen. */
export interface SacContents {
  /** Inner border of the yolk sac, modelled as a circle, in pixels. */
  yolkSac: { centre: Point; radius: number; confidence: number } | null;
  embryo: { ends: [Point, Point]; confidence: number } | null;
}

export interface EarlyFrame {
  clip: Clip;
  frame: Frame;
  sac: LocatedSac | null;
  /**
   * Contents of the sac; null if there is no accepted sac, or no scale, without which the contents
   * cannot be distinguished by size.
   */
  contents: SacContents | null;
  /**
   * Number of regions that may be the sac.
   *
   * `several`: more than one region contains a yolk sac or an embryo.
   *
   * `unclear`: several regions look like a sac, and no contents show which one it is; a bladder or
   * a cyst is echo-free, too. Or the only accepted region looks less like a sac than a rejected
   * one: it may be a dark patch of speckle beside the sac.
   */
  bodies: 'one' | 'several' | 'unclear';
}

/** Motion within the sac. `beating`: at the rate of a heartbeat. */
type EmbryoActivity =
  | { status: 'beating'; beatsPerMinute: number; uncertainty: number; strength: number }
  | { status: 'not-seen' }
  | { status: 'not-assessable' }
  | { status: 'needs-review' };

/** Fields of an M-mode sweep that this section uses. */
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
   * Plane through the uterus and route of the scan, each null if the header does not contain it.
   */
  plane: 'sagittal' | 'transverse' | null;
  route: 'transvaginal' | 'transabdominal' | null;
  clip: Clip;
  frames: readonly EarlyFrame[];
  /** Cardiac activity within the sac on this clip; null if the clip shows no accepted sac. */
  cardiac: EmbryoActivity | null;
  /** True if the contents of the sac need review, so that only accepted values of them count. */
  held?: true;
}

/**
 * Minimum number of frames and frame rate of a clip. In shorter or slower clips, speckle may by
 * chance repeat as regularly as a heartbeat.
 */
export const EMBRYO_CLIP = { frames: 60, framesPerSecond: 20 } as const;

export interface EarlyEvidence extends SectionEvidence {
  /**
   * Returns the band of an embryonic heart rate at an age. If the age is unknown or has no bands,
   * only a rate that is slow or fast at any age has one. `recalled` is the limit for a slow rate if
   * that limit was not verified against its source.
   */
  embryonicRate(
    gaDays: number | null,
    beatsPerMinute: number,
  ): { band: 'slow' | 'borderline' | 'usual' | 'fast'; recalled: number | null } | null;
  views: {
    earlyPregnancy?: readonly EarlyClip[] | null;
    fetalHeart?: { mMode: readonly EarlySweep[] } | null;
  };
}

/**
 * Typical grey levels inside a sac and in its ring. The border of the sac is at a level between
 * them.
 */
export interface RingLevels {
  inside: number;
  outside: number;
}
