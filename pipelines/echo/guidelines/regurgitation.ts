import { rounded } from '../../measure/rounding.ts';

export const REGURGITATION_GRADES = [
  'grade I (mild)',
  'grade II (moderate)',
  'grade III (moderate-severe)',
  'grade IV (severe)',
] as const;
export type RegurgitationGrade = (typeof REGURGITATION_GRADES)[number];

/** Lower limits of grade II, III and IV: EROA in mm2, volume in ml, fraction in per cent (VR17). */
export const QUANTITATIVE_LIMITS = {
  aortic: { orifice: [10, 20, 30], volume: [30, 45, 60], fraction: [30, 40, 50] },
  mitral: { orifice: [20, 30, 40], volume: [30, 45, 60], fraction: [30, 40, 50] },
} as const;

export interface QuantitativeRegurgitation {
  orifice: number | null;
  volume: number | null;
  fraction: number | null;
}

const reached = (limits: readonly number[], value: number) =>
  limits.filter((limit) => value >= limit).length;

/** The grade of each quantity that was measured, as an index of `REGURGITATION_GRADES`. */
function gradesOf(valve: 'aortic' | 'mitral', inputs: QuantitativeRegurgitation): number[] {
  const limits = QUANTITATIVE_LIMITS[valve];
  return (['orifice', 'volume', 'fraction'] as const).flatMap((quantity) => {
    const value = inputs[quantity];
    return value === null ? [] : [reached(limits[quantity], rounded(value, 0))];
  });
}

/** The highest of the grades by EROA, volume and fraction; null without any (reference 11.2, 11.3). */
export function quantitativeGrade(
  valve: 'aortic' | 'mitral',
  inputs: QuantitativeRegurgitation,
): RegurgitationGrade | null {
  const grades = gradesOf(valve, inputs);
  return grades.length === 0 ? null : (REGURGITATION_GRADES[Math.max(...grades)] ?? null);
}

/** Whether the quantities differ by more than one grade: then CMR is suggested. */
export function isInconsistent(
  valve: 'aortic' | 'mitral',
  inputs: QuantitativeRegurgitation,
): boolean {
  const grades = gradesOf(valve, inputs);
  return grades.length > 1 && Math.max(...grades) - Math.min(...grades) > 1;
}

export interface RegurgitationSigns {
  mild: number;
  severe: number;
}

/** Specific signs that decide alone, and that lift grade III to severe (VR17; reference 11.2). */
export const DECIDING_SIGNS = { alone: 4, lifting: 3 } as const;

/** VR17 integration of specific signs and quantities. */
export function integratedGrade(
  valve: 'aortic' | 'mitral',
  signs: RegurgitationSigns,
  inputs: QuantitativeRegurgitation,
): RegurgitationGrade | 'severity indeterminate' | 'inconsistent, suggest CMR' {
  if (signs.mild >= DECIDING_SIGNS.alone && signs.severe === 0) return 'grade I (mild)';
  if (signs.severe >= DECIDING_SIGNS.alone) return 'grade IV (severe)';
  const grade = quantitativeGrade(valve, inputs);
  if (!grade) return 'severity indeterminate';
  if (isInconsistent(valve, inputs)) return 'inconsistent, suggest CMR';
  const lifted = grade === 'grade III (moderate-severe)' && signs.severe >= DECIDING_SIGNS.lifting;
  return lifted ? 'grade IV (severe)' : grade;
}

/** Specific signs of AR that numbers give: vena contracta in cm, widths in per cent, PHT in ms. */
export function aorticSigns(inputs: {
  venaContracta: number | null;
  jetWidth: number | null;
  halfTime: number | null;
}): RegurgitationSigns {
  const { venaContracta: vc, jetWidth, halfTime } = inputs;
  const contracta = vc === null ? null : rounded(vc, 2);
  const width = jetWidth === null ? null : rounded(jetWidth, 0);
  const time = halfTime === null ? null : rounded(halfTime, 0);
  const count = (...met: readonly boolean[]) => met.filter(Boolean).length;
  return {
    mild: count(
      contracta !== null && contracta < 0.3,
      width !== null && width < 25,
      time !== null && time > 500,
    ),
    severe: count(
      contracta !== null && contracta > 0.6,
      width !== null && width >= 65,
      time !== null && time < 200,
    ),
  };
}

export const TRICUSPID_GRADES = [
  'mild (1+)',
  'moderate (2+)',
  'severe (3+)',
  'massive (4+)',
  'torrential (5+)',
] as const;
export type TricuspidGrade = (typeof TRICUSPID_GRADES)[number];

/** Lower limits of grades 2 to 5: biplane vena contracta and EROA (TVARC; reference 11.6). */
export const TRICUSPID_LIMITS = {
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
  return TRICUSPID_GRADES[reached(limits, rounded(value, decimals))] ?? 'torrential (5+)';
}

/** Both quantities: the higher where they differ by one grade, indeterminate beyond (reference 11.6). */
export function tricuspidIntegrated(
  venaContracta: number | null,
  orifice: number | null,
): string | null {
  const grades = [
    ...(venaContracta === null ? [] : [tricuspidGrade('venaContracta', venaContracta)]),
    ...(orifice === null ? [] : [tricuspidGrade('orifice', orifice)]),
  ].toSorted((one, other) => TRICUSPID_GRADES.indexOf(one) - TRICUSPID_GRADES.indexOf(other));
  const [lower, higher] = [grades[0], grades.at(-1)];
  if (!lower || !higher) return null;
  const apart = TRICUSPID_GRADES.indexOf(higher) - TRICUSPID_GRADES.indexOf(lower);
  if (apart > 1) return 'indeterminate';
  return apart === 0 ? higher : `${lower} - ${higher}`;
}
