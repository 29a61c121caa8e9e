import type { Ellipse, Point } from '../../contract/image.ts';
import type { Clip, Frame } from '../../contract/study.ts';
import type { CardiacActivity } from '../../measure/periodicity.ts';
import type { MModeReading } from '../fetal-heart/evidence.ts';
import type { SectionEvidence } from '../shared/section.ts';
import type { NamedView } from '../shared/view-names.ts';

/**
 * A gestational sac by image analysis: echo-free, closed, with a bright ring all around it
 * (trophoblast and decidua), nearly elliptic. Developed on simulated images only.
 */
export interface LocatedSac {
  /** Inner border, in pixels of the image. */
  ellipse: Ellipse;
  levels: RingLevels;
  confidence: number;
  accepted: boolean;
}

/** What was seen within a sac; null where nothing of the kind was. */
export interface SacContents {
  /** Inner border of the yolk sac, a circle, in pixels. */
  yolkSac: { centre: Point; radius: number; confidence: number } | null;
  embryo: { ends: [Point, Point]; areaMm2: number; confidence: number } | null;
}

/** One frame on which a sac was looked for. */
export interface EarlyFrame {
  clip: Clip;
  frame: Frame;
  sac: LocatedSac | null;
  /** Null without an accepted sac or without a scale: sizes tell its contents apart. */
  contents: SacContents | null;
  /**
   * `several`: more than one body with a yolk sac or an embryo. `unclear`: no contents to tell which of
   * several bodies is the sac (a bladder and a cyst are echo-free, too), or whether one is that looks
   * less like it than another that proved to be none (a dark fleck of speckle beside the sac).
   */
  bodies: 'one' | 'several' | 'unclear';
}

export interface EarlyClip extends NamedView {
  clip: Clip;
  frames: readonly EarlyFrame[];
  /** Within the sac of this clip; null where no sac was accepted in it. */
  cardiac: CardiacActivity | null;
}

/** Of shorter and slower clips speckle repeats by chance as well as a heart does. */
export const EMBRYO_CLIP = { frames: 60, framesPerSecond: 20 } as const;

/** What the section looks at. */
export interface EarlyEvidence extends SectionEvidence {
  views: {
    earlyPregnancy?: readonly EarlyClip[] | null;
    fetalHeart?: { mMode: readonly Pick<MModeReading, 'fetal' | 'rhythm'>[] } | null;
  };
}

/** Grey levels within and around a sac: what lies between is its border. */
export interface RingLevels {
  inside: number;
  outside: number;
}
