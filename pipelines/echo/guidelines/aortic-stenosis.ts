import { rounded } from '../../measure/rounding.ts';

/** m/s, mmHg, cm2, cm2/m2, ml/m2, per cent; null: not measured. */
export interface StenosisInputs {
  peak: number | null;
  meanGradient: number | null;
  area: number | null;
  areaIndex: number | null;
  strokeIndex: number | null;
  ef: number | null;
}

/** Cut-offs of the grading (AS17, VHD20; reference 11.1). */
export const STENOSIS = {
  verySevere: { peak: 5, gradient: 60 },
  severe: { peak: 4, gradient: 40, area: 1, areaIndex: 0.6 },
  moderate: { peak: 3, gradient: 20, area: 1.5 },
  mild: { peak: 2.6 },
  /** ml/m2; ESC wording, VHD20 writes below. */
  lowFlow: 35,
  highFlow: 58,
  preservedEf: 50,
} as const;

export const STENOSIS_GRADES = [
  'insufficient data',
  'very severe AS (high-gradient)',
  'severe AS (high-gradient)',
  'discordant: AVA small, indexed AVA >0.6; moderate AS likely (small body size)',
  'discordant low-gradient AS, flow state unknown',
  'classical low-flow low-gradient AS (LVEF <50%)',
  'paradoxical low-flow low-gradient AS (LVEF >=50%)',
  'low-flow low-gradient AS, LVEF unknown',
  'normal-flow low-gradient AS, severe AS unlikely',
  'mean gradient <20 mmHg; mild or no stenosis, Vmax needed',
  'moderate AS',
  'mild AS',
  'no stenosis or sclerosis',
] as const;
export type StenosisGrade = (typeof STENOSIS_GRADES)[number];

function smallArea(areaIndex: number | null, strokeIndex: number | null, ef: number | null) {
  if (areaIndex !== null && areaIndex > STENOSIS.severe.areaIndex) {
    return 'discordant: AVA small, indexed AVA >0.6; moderate AS likely (small body size)';
  }
  if (strokeIndex === null) return 'discordant low-gradient AS, flow state unknown';
  if (strokeIndex > STENOSIS.lowFlow) return 'normal-flow low-gradient AS, severe AS unlikely';
  if (ef === null) return 'low-flow low-gradient AS, LVEF unknown';
  return ef < STENOSIS.preservedEf
    ? 'classical low-flow low-gradient AS (LVEF <50%)'
    : 'paradoxical low-flow low-gradient AS (LVEF >=50%)';
}

/** First row that matches, on rounded values (reference 11.1). A valve area alone never grades. */
export function stenosisGrade(inputs: StenosisInputs): StenosisGrade {
  const at = (value: number | null, decimals: number) =>
    value === null ? null : rounded(value, decimals);
  const peak = at(inputs.peak, 1);
  const gradient = at(inputs.meanGradient, 0);
  const area = at(inputs.area, 2);
  const { verySevere, severe, moderate, mild } = STENOSIS;
  if (peak === null && gradient === null) return 'insufficient data';
  const reaches = (limits: { peak: number; gradient: number }) =>
    (peak ?? 0) >= limits.peak || (gradient ?? 0) >= limits.gradient;
  if (reaches(verySevere)) return 'very severe AS (high-gradient)';
  if (reaches(severe)) return 'severe AS (high-gradient)';
  if (area !== null && area <= severe.area) {
    return smallArea(at(inputs.areaIndex, 2), at(inputs.strokeIndex, 0), at(inputs.ef, 0));
  }
  if (peak === null && (gradient ?? 0) < moderate.gradient) {
    return 'mean gradient <20 mmHg; mild or no stenosis, Vmax needed';
  }
  const narrowed = (peak ?? 0) >= mild.peak && area !== null && area <= moderate.area;
  if (reaches(moderate) || narrowed) return 'moderate AS';
  return (peak ?? 0) >= mild.peak ? 'mild AS' : 'no stenosis or sclerosis';
}
