/** State of contraction at one moment of the beat; all values range from 0 to 1. */
export interface Moment {
  /** Emptying of the ventricles: 0 at end diastole, 1 at end systole. */
  squeeze: number;
  /** Filling of the atria; 1 at end systole. */
  reservoir: number;
  mitralOpening: number;
  aorticOpening: number;
}

/** Rises smoothly from 0 at `from` to 1 at `to`. */
function ease(value: number, from: number, to: number): number {
  const t = Math.max(0, Math.min(1, (value - from) / (to - from)));
  return t * t * (3 - 2 * t);
}

/** Times of a beat in seconds after the R wave. */
export interface Beat {
  lengthS: number;
  ejectionS: number;
  /** Aortic closure: end systole. */
  systoleS: number;
  /** Mitral opening. */
  fillingS: number;
  /** End of rapid filling. */
  rapidS: number;
  /** Start of atrial contraction. */
  atrialS: number;
}

/**
 * Returns the times of a beat at a heart rate. Systole shortens only a little at higher rates
 * (Weissler 1968: 0.546 s less 2.1 ms per beat per minute).
 */
export function beatAt(beatsPerMinute: number): Beat {
  const lengthS = 60 / beatsPerMinute;
  const systoleS = Math.min(0.48 * lengthS, 0.53 - 0.0021 * beatsPerMinute);
  const fillingS = systoleS + Math.min(0.07, 0.1 * lengthS);
  const left = lengthS - fillingS;
  return {
    lengthS,
    ejectionS: 0.05,
    systoleS,
    fillingS,
    rapidS: fillingS + Math.min(0.2, 0.45 * left),
    atrialS: lengthS - Math.min(0.14, 0.35 * left),
  };
}

/** Share of the stroke volume that has flowed in by the end of rapid filling. */
const RAPID_SHARE = 0.7;

/** Share of the stroke volume that flows in during diastasis. */
const DIASTASIS_SHARE = 0.06;

/** Returns the state of contraction `seconds` after an R wave, repeating every beat. */
export function momentAt(beat: Beat, seconds: number): Moment {
  const t = seconds - Math.floor(seconds / beat.lengthS) * beat.lengthS;
  const rapid = ease(t, beat.fillingS, beat.rapidS);
  const slow = ease(t, beat.rapidS, beat.atrialS);
  const atrial = ease(t, beat.atrialS, beat.lengthS - 0.01);
  const filled =
    RAPID_SHARE * rapid + DIASTASIS_SHARE * slow + (1 - RAPID_SHARE - DIASTASIS_SHARE) * atrial;
  const squeeze = ease(t, beat.ejectionS, beat.systoleS) * (1 - filled);
  const filling = t > beat.fillingS ? 1 : 0;
  const doors =
    ease(t, beat.fillingS, beat.fillingS + 0.05) -
    0.6 * ease(t, beat.rapidS - 0.06, beat.rapidS + 0.03);
  const kick =
    0.5 * (ease(t, beat.atrialS, beat.atrialS + 0.05) - ease(t, beat.lengthS - 0.06, beat.lengthS));
  return {
    squeeze,
    reservoir: squeeze,
    mitralOpening:
      filling * Math.max(0, doors * (1 - ease(t, beat.lengthS - 0.06, beat.lengthS)) + kick),
    aorticOpening:
      ease(t, beat.ejectionS, beat.ejectionS + 0.03) - ease(t, beat.systoleS - 0.04, beat.systoleS),
  };
}

export const END_DIASTOLE: Moment = {
  squeeze: 0,
  reservoir: 0,
  mitralOpening: 0,
  aorticOpening: 0,
};
export const END_SYSTOLE: Moment = {
  squeeze: 1,
  reservoir: 1,
  mitralOpening: 0,
  aorticOpening: 0.2,
};
