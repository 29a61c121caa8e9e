import { rounded } from '../../measure/rounding.ts';
import { isBeyond } from '../rv-function/guideline.ts';

/**
 * Limits for estimating RA pressure: IVC diameter, mm, and IVC collapse, per cent, during a sniff
 * (R10, ASE15). No input tells a sniff from quiet breathing (echo 12.2).
 */
export const IVC = { wide: 21, sniff: 50 } as const;

/** Upper limits of the RA area, cm² (echo 7.2), and of the IVC diameter, mm (ASE15). */
export const RIGHT_ATRIUM = {
  'ra-area': { above: 18, decimals: 1 },
  'ivc-diameter': { above: IVC.wide, decimals: 0 },
} as const;

export const isAtriumEnlarged = (area: number) => isBeyond(RIGHT_ATRIUM['ra-area'], area);

/**
 * Returns whether an IVC with this collapse, per cent, counts as collapsing. Null exactly at the
 * limit, which no source assigns to either side (echo 12.2).
 */
export function isCollapsing(collapse: number): boolean | null {
  const shown = rounded(collapse, 0);
  return shown === IVC.sniff ? null : shown > IVC.sniff;
}

/**
 * Returns true if an IVC of this diameter, mm, and collapse, per cent, is plethoric. Null if it is
 * wide and its collapse is exactly at the limit.
 */
export function isPlethoric(diameter: number, collapse: number): boolean | null {
  if (rounded(diameter, 0) <= IVC.wide) return false;
  const collapsing = isCollapsing(collapse);
  return collapsing === null ? null : !collapsing;
}

/**
 * Returns the RA pressure, mmHg, from the IVC diameter, mm, and its collapse, per cent. A collapse
 * exactly at the limit counts as no collapse, so that there is always a pressure (echo 12.2).
 */
export function atrialPressure(diameter: number, collapse: number): 3 | 8 | 15 {
  const wide = rounded(diameter, 0) > IVC.wide;
  const collapsing = isCollapsing(collapse) === true;
  if (wide) return collapsing ? 8 : 15;
  return collapsing ? 3 : 8;
}

/**
 * Returns true if an RA pressure, mmHg, contradicts the IVC: the pressure is normal, but the IVC
 * indicates a high pressure (echo 19.4, "IVC plethora with RAP 3").
 */
export const contradictsCava = (pressure: number, diameter: number, collapse: number) =>
  rounded(pressure, 0) <= 3 && atrialPressure(diameter, collapse) === 15;

export type SignCategory = 'A' | 'B' | 'C';
type Probability = 'low' | 'intermediate' | 'high';

/** Limits of the TR velocity, m/s, in the probability table (PH22; echo 12.4). */
const JET = { low: 2.8, intermediate: 3.4 } as const;

/**
 * Measurement variability of the TR velocity, m/s. If a velocity is this close to a limit, the true
 * velocity may be on either side (echo 19, rule 2).
 */
const JET_VARIABILITY = 0.1;

/**
 * Returns true if a TR velocity, m/s, is so close to a limit in the probability table that
 * variability could put it on the other side.
 */
export const isNearJetLimit = (jet: number) =>
  Object.values(JET).some(
    (limit) => rounded(Math.abs(rounded(jet, 1) - limit), 1) <= JET_VARIABILITY,
  );

/**
 * Returns the echocardiographic probability of pulmonary hypertension. A jet that was searched for
 * but could not be measured counts as a velocity of at most 2.8 m/s.
 */
export function probability(jet: number | null, present: readonly SignCategory[]): Probability {
  const signs = new Set(present).size >= 2;
  const shown = jet === null ? 0 : rounded(jet, 1);
  if (shown > JET.intermediate) return 'high';
  if (shown > JET.low) return signs ? 'high' : 'intermediate';
  return signs ? 'intermediate' : 'low';
}

/** RVOT acceleration time, ms, above which a fast TR jet is unexpected (echo 19, rule 4). */
const LONG_ACCELERATION = 120;

/**
 * Returns true if the TR velocity, m/s, alone would mean a high probability but does not fit the RVOT
 * acceleration time, ms. The jet may be that of another valve (echo 19, rule 4).
 */
export const isUnexpectedJet = (jet: number, acceleration: number): boolean =>
  rounded(jet, 1) > JET.intermediate && rounded(acceleration, 0) > LONG_ACCELERATION;

/**
 * Quantities from which the signs are assessed. Null means that a quantity was not measured, not
 * that its sign is absent.
 */
export interface PressureSigns {
  /** Ratio of the basal RV diameter to the basal LV diameter. */
  ventricularRatio: number | null;
  /** Ratio of the RV area to the LV area at end-diastole. */
  areaRatio: number | null;
  eccentricity: number | null;
  /** Ratio of TAPSE to sPAP, mm/mmHg. */
  coupling: number | null;
  /** ms */
  acceleration: number | null;
  /** m/s */
  earlyRegurgitation: number | null;
  /** mm */
  artery: number | null;
  aorticRoot: number | null;
  cava: number | null;
  /** per cent */
  collapse: number | null;
  /** cm2 */
  atrialArea: number | null;
}

interface Sign {
  category: SignCategory;
  name: string;
  met: boolean | null;
  /** Quantities from which the sign is assessed. */
  of: readonly (keyof PressureSigns)[];
}

/** Returns the signs in categories A to C (PH22; echo 12.4). */
export function signsOf(inputs: PressureSigns): Sign[] {
  const { artery, aorticRoot, cava, collapse } = inputs;
  const plethora = cava === null || collapse === null ? null : isPlethoric(cava, collapse);
  const wider =
    artery === null || aorticRoot === null ? null : rounded(artery, 0) > rounded(aorticRoot, 0);
  const by = (
    category: SignCategory,
    name: string,
    of: keyof PressureSigns,
    decimals: number,
    test: (shown: number) => boolean,
  ): Sign => {
    const value = inputs[of];
    return {
      category,
      name,
      of: [of],
      met: value === null ? null : test(rounded(value, decimals)),
    };
  };
  const ofCava = ['cava', 'collapse'] as const;
  return [
    by('A', 'RV/LV basal ratio > 1.0', 'ventricularRatio', 2, (v) => v > 1),
    by('A', 'RV/LV area ratio > 1.0', 'areaRatio', 2, (v) => v > 1),
    by('A', 'LV eccentricity index > 1.1', 'eccentricity', 2, (v) => v > 1.1),
    by('A', 'TAPSE/sPAP < 0.55 mm/mmHg', 'coupling', 2, (v) => v < 0.55),
    by('B', 'RVOT acceleration time < 105 ms', 'acceleration', 0, (v) => v < 105),
    by('B', 'early PR velocity > 2.2 m/s', 'earlyRegurgitation', 1, (v) => v > 2.2),
    by('B', 'PA diameter > 25 mm', 'artery', 0, (v) => v > 25),
    { category: 'B', name: 'PA diameter > aortic root', of: ['artery', 'aorticRoot'], met: wider },
    { category: 'C', name: 'IVC > 21 mm with reduced collapse', of: ofCava, met: plethora },
    by('C', 'RA area > 18 cm²', 'atrialArea', 1, (v) => v > RIGHT_ATRIUM['ra-area'].above),
  ];
}

/**
 * Returns the categories in which a sign is present, and the categories in which at least one sign
 * was assessed.
 */
export function categoriesOf(signs: readonly Sign[]) {
  const of = (chosen: readonly Sign[]) => [...new Set(chosen.map(({ category }) => category))];
  return {
    present: of(signs.filter(({ met }) => met === true)),
    assessed: of(signs.filter(({ met }) => met !== null)),
  };
}
