import {
  categoriesOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import { anyOf } from '../unit-text.ts';
import {
  type About,
  allNamed,
  codeOf,
  type EffusionGrade,
  effusionText,
  inWords,
} from './shared.ts';

const EFFUSIONS = {
  'depth-unknown': 'present, greatest depth not measured',
  possible: 'possible, not measured',
} as const;

/** Levels of LV function on the three-level scale (api 2.6). */
const LEVELS = {
  normal: 'normal',
  reduced: 'reduced',
  'severely-reduced': 'severely reduced',
} as const;
export type FocusedLevel = keyof typeof LEVELS;
export const focusedLevelText = (level: FocusedLevel): string => inWords(LEVELS, level);

/** Limits of the levels, which differ from those of the sex-specific grades. */
const LEVEL_LIMITS = {
  normal: 'LVEF 50 % or more',
  reduced: 'LVEF 30 to 49 %',
  'severely-reduced': 'LVEF below 30 %',
} as const satisfies Record<FocusedLevel, string>;

const levelText = (level: FocusedLevel) =>
  `${focusedLevelText(level)} (${LEVEL_LIMITS[codeOf(LEVELS, level) ?? level]})`;

/** Bands of the LVEF in a focused study (ACC; echo 15). */
const BANDS = {
  hyperdynamic: 'hyperdynamic',
  normal: 'normal',
  'mildly-reduced': 'mildly reduced',
  'moderately-reduced': 'moderately reduced',
  'severely-reduced': 'severely reduced',
} as const;
export type FocusedBand = keyof typeof BANDS;
export const focusedBandText = (band: FocusedBand): string => inWords(BANDS, band);

/** Sizes of the RV relative to the LV (echo 15). */
const RV_SIZES = {
  normal: 'normal',
  enlarged: 'enlarged',
  'severely-enlarged': 'severely enlarged',
} as const;
export type FocusedSize = keyof typeof RV_SIZES;
export const focusedSizeText = (size: FocusedSize): string => inWords(RV_SIZES, size);

/** Classes of the IVC by its diameter and its collapse (echo 12.2, 15). */
const CAVA_STATES = {
  collapsing: 'small, collapsing',
  intermediate: 'intermediate',
  plethoric: 'plethoric',
} as const;
export type CavaState = keyof typeof CAVA_STATES;

export const FOCUSED_SENTENCES = {
  'focused.lv-function': (of: {
    level: FocusedLevel;
    /** EF in per cent, rounded to a step (`focusedEf`). */
    ef: number;
    band: FocusedBand | null;
    /**
     * Lower limits of the normal LVEF on the sex-specific scale. Empty if the grade on that scale
     * cannot contradict `level`.
     */
    limits: readonly { sex: 'male' | 'female'; ef: number }[];
  }) => {
    const limits = anyOf(of.limits.map(({ sex, ef }) => `${ef} % (${sex})`));
    const grade = limits ? ` The grade of the LVEF uses another limit: normal from ${limits}.` : '';
    return `LV function on the three-level scale: ${levelText(of.level)}; LVEF about ${of.ef} %${of.band ? ` (${focusedBandText(of.band)})` : ''}.${grade}`;
  },
  'focused.rv-size': ({ size }: { size: FocusedSize }, { about }: About) =>
    `RV ${focusedSizeText(size)}: ${allNamed(about)}.`,
  'focused.rv-function': ({ reduced }: { reduced: boolean }, { about }: About) =>
    `RV function ${reduced ? 'reduced' : 'normal'} by TAPSE alone: ${allNamed(about)}.`,
  'focused.cava': ({ state }: { state: CavaState }, { about }: About) =>
    `IVC ${inWords(CAVA_STATES, state)}: ${allNamed(about)}.`,
  'focused.effusion': ({ grade }: { grade: EffusionGrade }) =>
    `Pericardial effusion: ${effusionText(grade)}.`,
  'focused.effusion-not-graded': ({ known }: { known: keyof typeof EFFUSIONS }) =>
    `Pericardial effusion: ${EFFUSIONS[known]}.`,
  'focused.views': ({ views }: { views: readonly string[] }) =>
    `Focused views in the upload: ${views.length > 0 ? views.join(', ') : 'none'}.`,
  'focused.lv-not-graded': () => 'LV function was not graded.',
  'focused.lv-not-assessed': () => 'LV function was not assessed: there is no accepted LVEF.',
  'focused.no-lv-window': () =>
    'No focused-view clip shows the LV: the LVEF comes from another view or from the machine.',
  'focused.single-window': () => 'Limited, single window.',
  'focused.no-effusion': () => 'Pericardial effusion was not assessed.',
  'focused.no-rv-size': () => 'RV size was not assessed: there is no accepted RV/LV ratio.',
  'focused.no-rv-function': () => 'RV function was not assessed: there is no accepted TAPSE.',
  'focused.no-cava': () => 'The IVC was not assessed.',
  'focused.no-collapse': () => 'The IVC was not assessed: its collapse was not measured.',
  'focused.cava-at-limit': ({ limit }: { limit: number }, { about }: About) =>
    `The IVC was not classified, because its collapse is at the limit of ${limit} %: ${allNamed(about)}.`,
  'focused.no-scale': () =>
    'The handheld clips are not calibrated: ratios only, no sizes or velocities.',
} as const satisfies SentenceTable;

export const sayOfFocused = statementsOf<typeof FOCUSED_SENTENCES>();

/** Scales of its classifications. */
export const FOCUSED_SCALES = {
  'focused-level': focusedLevelText,
  'focused-size': focusedSizeText,
} as const satisfies ScaleTable;

export const categoryOfFocused = categoriesOf<typeof FOCUSED_SCALES>();
