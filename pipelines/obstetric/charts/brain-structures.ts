/** Fetal brain by exact weeks; lengths in mm. */
export type BrainStructure =
  | 'parieto-occipital-fissure'
  | 'sylvian-fissure'
  | 'anterior-horn'
  | 'posterior-horn'
  | 'cisterna-magna'
  | 'cerebellum';

interface Standard {
  weeks: { from: number; to: number };
  mean(ga: number): number;
  sd(ga: number): number;
  /** Mean and SD describe ln(mm). */
  logarithmic?: boolean;
}

const NAPOLITANO_WEEKS = { from: 15, to: 36 } as const;

/**
 * INTERGROWTH-21st: Napolitano et al., UOG 2020;56:359-370; the transcerebellar diameter by
 * Rodriguez-Sibaja et al., UOG 2021;57:614-623.
 */
const STANDARDS: Readonly<Record<BrainStructure, Standard>> = {
  'parieto-occipital-fissure': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 10.29428 - 122.8447 / ga + 0.00001038 * ga ** 3,
    sd: (ga) => 1.596042 - 257.2297 * ga ** -2,
  },
  'sylvian-fissure': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 80.27012 - 32.7877 * ga ** -0.5 - 100.1593 * ga ** -0.5 * Math.log(ga),
    sd: (ga) => 2.304501 - 353.814 * ga ** -2,
  },
  'anterior-horn': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 6.396214 + 0.00006205 * ga ** 3,
    sd: () => 1.204454,
  },
  'posterior-horn': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 4.389214 + 38.10015 / ga + 0.0000020063 * ga ** 3,
    sd: (ga) => 0.6707227 + 0.034258 * ga,
  },
  'cisterna-magna': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 2.098095 - 239.0659 * ga ** -2 - 0.0000001547 * ga ** 3,
    sd: (ga) => 0.2297936 + 8.1872 * ga ** -2,
    logarithmic: true,
  },
  cerebellum: {
    weeks: { from: 14, to: 40 },
    mean: (ga) => -13.10907 + 20.8941 * (ga / 10) ** 0.5 + 0.5035914 * (ga / 10) ** 3,
    sd: (ga) => 0.4719837 + 0.0500382 * (ga / 10) ** 3,
  },
};

/** Length in mm at a z-score; null outside the chart. */
export function brainStructureAt(
  structure: BrainStructure,
  gaWeeks: number,
  z: number,
): number | null {
  const { weeks, mean, sd, logarithmic } = STANDARDS[structure];
  if (gaWeeks < weeks.from || gaWeeks > weeks.to) return null;
  const value = mean(gaWeeks) + z * sd(gaWeeks);
  return logarithmic ? Math.exp(value) : value;
}

/** Age in days by the transcerebellar diameter, 12 to 55 mm (Rodriguez-Sibaja 2021). */
export function ageByCerebellum(tcd: number): number | null {
  if (tcd < 12 || tcd > 55) return null;
  const t = tcd / 10;
  return 7 * (3.957113 + 8.154074 * t - 0.076187 * t ** 3);
}

/** Width of the lateral ventricle's atrium (SMFM 2018, Fox et al., AJOG 219:B2-B9). */
export type VentricleCategory = 'normal' | 'mild' | 'moderate' | 'severe';

/** Mild from 10.0 mm, moderate from 13.0 mm, severe above 15 mm (ISUOG 2020; SMFM 2018). */
export const VENTRICLE_MM = { mild: 10, moderate: 13, severe: 15 } as const;

/** By the width of the atrium in mm. */
export function ventricleCategory(atrialWidth: number): VentricleCategory {
  if (atrialWidth < VENTRICLE_MM.mild) return 'normal';
  if (atrialWidth < VENTRICLE_MM.moderate) return 'mild';
  return atrialWidth <= VENTRICLE_MM.severe ? 'moderate' : 'severe';
}
