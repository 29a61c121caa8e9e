import { rounded } from '../../measure/rounding.ts';
import type { MitralStenosisGrade, RegurgitationGrade } from '../../result/render/echo/shared.ts';
import type {
  AorticStenosisGrade,
  HighFlow,
  PulmonaryStenosisGrade,
  StenosisRemark,
  TricuspidGrade,
  TricuspidResult,
} from '../../result/render/echo/valves.ts';
import { pressureGradient } from '../formulas.ts';

/**
 * Quantities that determine the grade, in m/s, mmHg, cm2, cm2/m2, ml/m2 and per cent. Null if not
 * measured.
 */
interface StenosisInputs {
  peak: number | null;
  meanGradient: number | null;
  area: number | null;
  areaIndex: number | null;
  strokeIndex: number | null;
  ef: number | null;
}

/** Cut-offs for grading (AS17, VHD20; echo 11.1). */
export const STENOSIS = {
  verySevere: { peak: 5, gradient: 60 },
  severe: { peak: 4, gradient: 40, area: 1, areaIndex: 0.6 },
  moderate: { peak: 3, gradient: 20, area: 1.5 },
  mild: { peak: 2.6 },
  /** Below this peak velocity, the valve does not obstruct the flow (VHD20: "at risk"). */
  atRisk: { peak: 2 },
  /**
   * Maximum stroke volume index, ml/m2, that counts as low flow. A value of exactly 35 is low flow,
   * as the ESC defines it, although VHD20 writes "below 35".
   */
  lowFlow: 35,
  highFlow: 58,
  preservedEf: 50,
} as const;

function smallArea(areaIndex: number | null, strokeIndex: number | null, ef: number | null) {
  if (areaIndex !== null && areaIndex > STENOSIS.severe.areaIndex) {
    return 'discordant-small-body';
  }
  if (strokeIndex === null) return 'discordant-flow-unknown';
  if (strokeIndex > STENOSIS.lowFlow) return 'normal-flow-low-gradient';
  if (ef === null) return 'low-flow-ef-unknown';
  return ef < STENOSIS.preservedEf ? 'classical-low-flow' : 'paradoxical-low-flow';
}

/**
 * Returns the grade in the first table row that matches the rounded values (echo 11.1). A valve
 * area alone is never graded.
 */
export function stenosisGrade(inputs: StenosisInputs): AorticStenosisGrade {
  const at = (value: number | null, decimals: number) =>
    value === null ? null : rounded(value, decimals);
  const peak = at(inputs.peak, 1);
  const gradient = at(inputs.meanGradient, 0);
  const area = at(inputs.area, 2);
  const { verySevere, severe, moderate, mild } = STENOSIS;
  if (peak === null && gradient === null) return 'insufficient-data';
  const reaches = (limits: { peak: number; gradient: number }) =>
    (peak ?? 0) >= limits.peak || (gradient ?? 0) >= limits.gradient;
  if (reaches(verySevere)) return 'very-severe';
  if (reaches(severe)) return 'severe';
  if (area !== null && area <= severe.area) {
    return smallArea(at(inputs.areaIndex, 2), at(inputs.strokeIndex, 0), at(inputs.ef, 0));
  }
  if (peak === null && (gradient ?? 0) < moderate.gradient) {
    return 'low-gradient-peak-unknown';
  }
  const narrowed = (peak ?? 0) >= mild.peak && area !== null && area <= moderate.area;
  if (reaches(moderate) || narrowed) return 'moderate';
  return (peak ?? 0) >= mild.peak ? 'mild' : 'none';
}

/**
 * If the DVI is above this, a small valve area suggests that the LVOT diameter was underestimated
 * (echo 19.4).
 */
const AMPLE_VELOCITY_INDEX = 0.3;
/**
 * Measurement variability of the valve area, cm². If an area is this close to a limit, the true
 * area may be on either side (echo 19, rule 2).
 */
const AREA_VARIABILITY = 0.1;
/**
 * By the continuity equation, the DVI equals AVA divided by LVOT area. The two count as equal if
 * they differ by no more than the larger of these: a share of the DVI, and the rounding of a
 * printed DVI (echo 11.1, "reject").
 */
const SAME_RATIO = { share: 0.01, printed: 0.005 } as const;

/**
 * Returns true if a valve area, cm², is inconsistent with the LVOT area and the DVI in the same
 * report, so that it must come from other measurements.
 */
export function isForeignArea(area: number, outflowArea: number, velocityIndex: number): boolean {
  const difference = Math.abs(velocityIndex - area / outflowArea);
  return difference > Math.max(SAME_RATIO.share * velocityIndex, SAME_RATIO.printed);
}

/** Half of the last decimal of a displayed peak velocity, m/s, and mean gradient, mmHg. */
const ROUNDING = { peak: 0.05, gradient: 0.5 } as const;

/**
 * Returns true if a mean gradient, mmHg, is above the peak gradient of the velocity, m/s. No jet
 * has both, so one of them is wrong or belongs to another jet (echo 17).
 */
export const exceedsPeakGradient = (mean: number, peak: number): boolean =>
  mean - ROUNDING.gradient > pressureGradient(peak + ROUNDING.peak);

/**
 * Returns true if a peak velocity, m/s, is that of a valve without stenosis although the area, cm²,
 * is in the severe range. Even low flow hardly explains both: most likely the LVOT diameter or a
 * Doppler trace is wrong ([C]).
 */
export const contradictsArea = (peak: number, area: number): boolean =>
  rounded(peak, 1) < STENOSIS.atRisk.peak && rounded(area, 2) <= STENOSIS.severe.area;

const ADVICE: Readonly<Partial<Record<AorticStenosisGrade, StenosisRemark>>> = {
  'classical-low-flow': 'dobutamine',
  'paradoxical-low-flow': 'calcium-score',
  'normal-flow-low-gradient': 'check-outflow',
};

/**
 * Grades in rows 6 to 9 of the table (echo 11.1). The same values can also result from an
 * underestimated LVOT diameter or from hypertension.
 */
const LOW_GRADIENT: ReadonlySet<AorticStenosisGrade> = new Set([
  'classical-low-flow',
  'paradoxical-low-flow',
  'low-flow-ef-unknown',
  'normal-flow-low-gradient',
]);

function highFlow(strokeIndex: number | null): HighFlow {
  if (strokeIndex === null) return 'unknown';
  return strokeIndex > STENOSIS.highFlow ? 'yes' : 'no';
}

interface StenosisEvidence extends StenosisInputs {
  velocityIndex: number | null;
}

/**
 * Returns the remarks that prevent a grade from being misunderstood: contradictions, limits and
 * advice (echo 11.1, 19).
 */
export function stenosisRemarks(
  grade: AorticStenosisGrade,
  inputs: StenosisEvidence,
): { highFlow: HighFlow | null; remarks: StenosisRemark[] } {
  const at = (value: number | null, decimals: number) =>
    value === null ? null : rounded(value, decimals);
  const area = at(inputs.area, 2);
  const velocityIndex = at(inputs.velocityIndex, 2);
  const { severe, moderate } = STENOSIS;
  const small = area !== null && area <= severe.area;
  const nearLimit =
    area !== null &&
    [severe.area, moderate.area].some(
      (limit) => rounded(Math.abs(area - limit), 2) <= AREA_VARIABILITY,
    );
  const steep = grade === 'severe' && area !== null && !small;
  const remarks: (StenosisRemark | null)[] = [
    small && velocityIndex !== null && velocityIndex > AMPLE_VELOCITY_INDEX
      ? 'small-outflow'
      : null,
    ADVICE[grade] ?? null,
    LOW_GRADIENT.has(grade) ? 'exclude-underestimation' : null,
    nearLimit ? 'near-limit' : null,
  ];
  return {
    highFlow: steep ? highFlow(at(inputs.strokeIndex, 0)) : null,
    remarks: remarks.filter((one) => one !== null),
  };
}

/**
 * Limits for the difference between the stroke volumes of LVOT and LV, as shares of the LV's:
 * `outflow` if the LVOT's is larger (echo 4.6), `ventricle` if the LV's is larger (echo 19, rule
 * 4).
 */
const STROKE_DIFFERENCE = { outflow: 0.2, ventricle: 0.3 } as const;

/**
 * Returns which stroke volume is too large for the other, both in ml; null if they agree.
 * Regurgitation can make that of the LV larger, but never that of the LVOT.
 */
export function largerStroke(outflow: number, ventricle: number): 'outflow' | 'ventricle' | null {
  if (outflow - ventricle > STROKE_DIFFERENCE.outflow * ventricle) return 'outflow';
  return ventricle - outflow > STROKE_DIFFERENCE.ventricle * ventricle ? 'ventricle' : null;
}

/** Returns the grade of mitral stenosis from the valve area, cm2 (VHD20; echo 11.5). */
export function mitralStenosis2020(area: number): MitralStenosisGrade {
  const shown = rounded(area, 2);
  if (shown <= 1) return 'very-severe';
  return shown <= 1.5 ? 'severe' : 'progressive';
}

/** Returns the grade of mitral stenosis from the valve area, cm2 (VS09). */
export function mitralStenosis2009(area: number): 'mild' | 'moderate' | 'severe' {
  const shown = rounded(area, 2);
  if (shown < 1) return 'severe';
  return shown <= 1.5 ? 'moderate' : 'mild';
}

/** Minimum mitral valve area, cm2, of a normal valve. A normal mitral orifice is 4 to 6 cm2. */
const NORMAL_AREA = 4;

/**
 * Returns true if an area, cm², is too large to be graded. The published stenosis tables have no
 * upper limit [C].
 */
export const isNormalMitralArea = (area: number) => rounded(area, 2) >= NORMAL_AREA;

/** Minimum mean gradient, mmHg, at which an area by half-time may be graded as stenosis. */
export const STENOTIC_GRADIENT = 5;

/**
 * Peak velocities, m/s, that correspond to peak gradients of 36 and 64 mmHg (VS09 [B]; echo 11.7).
 */
export const PULMONARY_PEAK = { moderate: 3, severe: 4 } as const;

/**
 * Returns the grade of pulmonary stenosis from the peak velocity, m/s. Null below 3 m/s: the table
 * calls this mild stenosis, but has no lower limit that separates it from a normal valve.
 */
export function pulmonaryStenosis(peak: number): PulmonaryStenosisGrade | null {
  const shown = rounded(peak, 1);
  if (shown > PULMONARY_PEAK.severe) return 'severe';
  return shown >= PULMONARY_PEAK.moderate ? 'moderate' : null;
}

/** Grades by EROA, volume and fraction, in increasing severity. */
const QUANTITATIVE_GRADES = ['mild', 'moderate', 'moderate-to-severe', 'severe'] as const;

/**
 * Lower limits of grades II, III and IV: EROA in mm2, volume in ml, fraction in per cent (VR17).
 */
const QUANTITATIVE_LIMITS = {
  aortic: { orifice: [10, 20, 30], volume: [30, 45, 60], fraction: [30, 40, 50] },
  mitral: { orifice: [20, 30, 40], volume: [30, 45, 60], fraction: [30, 40, 50] },
} as const;

interface QuantitativeRegurgitation {
  orifice: number | null;
  volume: number | null;
  fraction: number | null;
}

const reached = (limits: readonly number[], value: number) =>
  limits.filter((limit) => value >= limit).length;

function gradesOf(valve: 'aortic' | 'mitral', inputs: QuantitativeRegurgitation): number[] {
  const limits = QUANTITATIVE_LIMITS[valve];
  return (['orifice', 'volume', 'fraction'] as const).flatMap((quantity) => {
    const value = inputs[quantity];
    return value === null ? [] : [reached(limits[quantity], rounded(value, 0))];
  });
}

/**
 * Returns the highest of the grades by EROA, volume and fraction; null if none of them was measured
 * (echo 11.2, 11.3).
 */
export function quantitativeGrade(
  valve: 'aortic' | 'mitral',
  inputs: QuantitativeRegurgitation,
): (typeof QUANTITATIVE_GRADES)[number] | null {
  const grades = gradesOf(valve, inputs);
  return grades.length === 0 ? null : (QUANTITATIVE_GRADES[Math.max(...grades)] ?? null);
}

/**
 * Returns true if the grades of the quantities differ by more than one grade. CMR is then
 * suggested.
 */
function isInconsistent(valve: 'aortic' | 'mitral', inputs: QuantitativeRegurgitation): boolean {
  const grades = gradesOf(valve, inputs);
  return grades.length > 1 && Math.max(...grades) - Math.min(...grades) > 1;
}

/**
 * Number of specific signs of severe regurgitation that raises grade III to grade IV (VR17; echo
 * 11.2). The published number of signs that decides without the quantities, four, is not reached,
 * because only three signs are numbers.
 */
const LIFTING_SIGNS = 3;

/**
 * Returns the grade from the quantities and the number of specific signs of severe regurgitation
 * (VR17).
 */
export function integratedGrade(
  valve: 'aortic' | 'mitral',
  severeSigns: number,
  inputs: QuantitativeRegurgitation,
): RegurgitationGrade {
  const grade = quantitativeGrade(valve, inputs);
  if (!grade) return 'indeterminate';
  if (isInconsistent(valve, inputs)) return 'inconsistent';
  const lifted = grade === 'moderate-to-severe' && severeSigns >= LIFTING_SIGNS;
  return lifted ? 'severe' : grade;
}

/**
 * Counts the specific signs of severe AR that can be assessed from numbers: vena contracta in cm, jet
 * width in per cent, PHT in ms.
 */
export function severeAorticSigns({
  venaContracta,
  jetWidth,
  halfTime,
}: {
  venaContracta: number | null;
  jetWidth: number | null;
  halfTime: number | null;
}): number {
  return [
    venaContracta !== null && rounded(venaContracta, 2) > 0.6,
    jetWidth !== null && rounded(jetWidth, 0) >= 65,
    halfTime !== null && rounded(halfTime, 0) < 200,
  ].filter(Boolean).length;
}

const TRICUSPID_GRADES: readonly TricuspidGrade[] = [
  'mild',
  'moderate',
  'severe',
  'massive',
  'torrential',
];

/** Lower limits of grades 2 to 5 for the biplane vena contracta and the EROA (TVARC; echo 11.6). */
const TRICUSPID_LIMITS = {
  /** mm, one decimal */
  venaContracta: { limits: [3, 7, 14, 21], decimals: 1 },
  /** mm2 */
  orifice: { limits: [20, 40, 60, 80], decimals: 0 },
} as const;

export function tricuspidGrade(
  quantity: keyof typeof TRICUSPID_LIMITS,
  value: number,
): TricuspidGrade {
  const { limits, decimals } = TRICUSPID_LIMITS[quantity];
  return TRICUSPID_GRADES[reached(limits, rounded(value, decimals))] ?? 'torrential';
}

const SEVERE_REGURGITATION: ReadonlySet<RegurgitationGrade | TricuspidGrade> = new Set([
  'moderate-to-severe',
  'severe',
  'massive',
  'torrential',
]);

/**
 * Returns true if regurgitation is severe, or AR or MR of grade III. Of two grades of TR, the higher
 * one counts.
 */
export function isSevereRegurgitation(grade: RegurgitationGrade | TricuspidResult): boolean {
  const [lower, higher = lower] = typeof grade === 'string' ? [grade] : grade;
  return SEVERE_REGURGITATION.has(higher);
}

/**
 * Returns the grade of TR from both quantities. Two adjacent grades are returned as a range. If the
 * grades are further apart, the result is indeterminate (echo 11.6).
 */
export function tricuspidIntegrated(
  venaContracta: number | null,
  orifice: number | null,
): TricuspidResult | null {
  const grades = [
    ...(venaContracta === null ? [] : [tricuspidGrade('venaContracta', venaContracta)]),
    ...(orifice === null ? [] : [tricuspidGrade('orifice', orifice)]),
  ].toSorted((one, other) => TRICUSPID_GRADES.indexOf(one) - TRICUSPID_GRADES.indexOf(other));
  const [lower, higher] = [grades[0], grades.at(-1)];
  if (!lower || !higher) return null;
  const apart = TRICUSPID_GRADES.indexOf(higher) - TRICUSPID_GRADES.indexOf(lower);
  if (apart > 1) return 'indeterminate';
  return apart === 0 ? higher : [lower, higher];
}
