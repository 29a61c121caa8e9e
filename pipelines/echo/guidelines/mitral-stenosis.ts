import { rounded } from '../../measure/rounding.ts';

/** By valve area, cm2 (VHD20; reference 11.5). */
export function mitralStenosis2020(
  area: number,
): 'progressive (non-severe) MS' | 'severe MS' | 'very severe MS' {
  const shown = rounded(area, 2);
  if (shown <= 1) return 'very severe MS';
  return shown <= 1.5 ? 'severe MS' : 'progressive (non-severe) MS';
}

/** By valve area, cm2 (VS09). */
export function mitralStenosis2009(area: number): 'mild' | 'moderate' | 'severe' {
  const shown = rounded(area, 2);
  if (shown < 1) return 'severe';
  return shown <= 1.5 ? 'moderate' : 'mild';
}

/** cm2; a normal mitral orifice is 4 to 6 cm2. */
const NORMAL_AREA = 4;

/** Whether nothing is graded by an area, cm2: the tables of stenosis have no upper end [C]. */
export const isNormalMitralArea = (area: number) => rounded(area, 2) >= NORMAL_AREA;

/** Mean gradient, mmHg, below which an area by half-time alone does not speak for stenosis. */
export const STENOTIC_GRADIENT = 5;
