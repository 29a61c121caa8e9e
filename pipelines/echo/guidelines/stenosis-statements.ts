import { rounded } from '../../measure/rounding.ts';
import { STENOSIS, type StenosisGrade, type StenosisInputs } from './aortic-stenosis.ts';

/** DVI above which a small valve area speaks for a small LVOT diameter (reference 19.4). */
const AMPLE_VELOCITY_INDEX = 0.3;
/** cm2: so near to a limit an area may lie on either side of it (reference 19, rule 2). */
const AREA_VARIABILITY = 0.1;
/** DVI and AVA over the LVOT area are the same ratio (reference 11.1, "reject"). */
const SAME_RATIO = { share: 0.01, printed: 0.005 } as const;

/**
 * Whether a valve area, cm2, cannot belong to the LVOT area and the DVI beside it. Machines print a
 * DVI with two decimals: a difference within the last of them is none.
 */
export function isForeignArea(area: number, outflowArea: number, velocityIndex: number): boolean {
  const difference = Math.abs(velocityIndex - area / outflowArea);
  return difference > Math.max(SAME_RATIO.share * velocityIndex, SAME_RATIO.printed);
}

const ADVICE: Readonly<Partial<Record<StenosisGrade, string>>> = {
  'classical low-flow low-gradient AS (LVEF <50%)':
    'Low-dose dobutamine echocardiography is advised',
  'paradoxical low-flow low-gradient AS (LVEF >=50%)':
    'A CT calcium score of the aortic valve is advised',
  'normal-flow low-gradient AS, severe AS unlikely': 'The LVOT diameter is to be checked',
};

/** Rows 6 to 9, which a small LVOT diameter and hypertension imitate. */
const LOW_GRADIENT: ReadonlySet<StenosisGrade> = new Set([
  'classical low-flow low-gradient AS (LVEF <50%)',
  'paradoxical low-flow low-gradient AS (LVEF >=50%)',
  'low-flow low-gradient AS, LVEF unknown',
  'normal-flow low-gradient AS, severe AS unlikely',
]);

function highFlow(strokeIndex: number | null): string {
  const flow =
    strokeIndex === null
      ? `SVi above ${STENOSIS.highFlow} ml/m²`
      : strokeIndex > STENOSIS.highFlow
        ? `SVi is above ${STENOSIS.highFlow} ml/m²`
        : `SVi is not above ${STENOSIS.highFlow} ml/m²`;
  return `AVA above 1.0 cm²: check high flow (${flow}; AR, anaemia, fever, shunt)`;
}

export interface StenosisEvidence extends StenosisInputs {
  velocityIndex: number | null;
}

/** What a grade must be read with: contradictions, limits and advice (reference 11.1, 19). */
export function stenosisStatements(grade: StenosisGrade, inputs: StenosisEvidence): string[] {
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
  return [
    grade === 'severe AS (high-gradient)' && area !== null && !small
      ? highFlow(at(inputs.strokeIndex, 0))
      : null,
    small && velocityIndex !== null && velocityIndex > AMPLE_VELOCITY_INDEX
      ? 'AVA of at most 1.0 cm² with a DVI above 0.30: the LVOT diameter is probably too small'
      : null,
    ADVICE[grade] ?? null,
    LOW_GRADIENT.has(grade)
      ? 'First exclude an underestimated LVOT and hypertension at the time of the scan'
      : null,
    nearLimit ? 'The AVA is within its variability, 0.1 cm², of a cut-off' : null,
  ].filter((text) => text !== null);
}
