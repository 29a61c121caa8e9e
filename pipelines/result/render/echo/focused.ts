import { type SentenceTable, statementsOf } from '../../statement.ts';
import { type About, allNamed, anyOf } from './shared.ts';

const EFFUSIONS = {
  'depth-unknown': 'present, greatest depth not measured',
  possible: 'possible, not measured',
} as const;

/** Levels of LV function with their limits, which differ from those of the sex-specific grades. */
const LEVELS = {
  normal: 'normal (LVEF 50 % or more)',
  reduced: 'reduced (LVEF 30 to 49 %)',
  'severely reduced': 'severely reduced (LVEF below 30 %)',
} as const;
type FocusedLevel = keyof typeof LEVELS;

export const FOCUSED_SENTENCES = {
  'focused.lv-function': (of: {
    level: FocusedLevel;
    /** EF in per cent, rounded to a step (`focusedEf`). */
    ef: number;
    band: string | null;
    /**
     * Lower limits of the normal LVEF on the sex-specific scale. Empty if the grade on that scale
     * cannot contradict `level`.
     */
    limits: readonly { sex: 'male' | 'female'; ef: number }[];
  }) => {
    const limits = anyOf(of.limits.map(({ sex, ef }) => `${ef} % (${sex})`));
    const grade = limits ? ` The grade of the LVEF uses another limit: normal from ${limits}.` : '';
    return `LV function on the three-level scale: ${LEVELS[of.level]}; LVEF about ${of.ef} %${of.band ? ` (${of.band})` : ''}.${grade}`;
  },
  'focused.rv-size': ({ size }: { size: string }, { about }: About) =>
    `RV ${size}: ${allNamed(about)}.`,
  'focused.rv-function': ({ reduced }: { reduced: boolean }, { about }: About) =>
    `RV function ${reduced ? 'reduced' : 'normal'} by TAPSE alone: ${allNamed(about)}.`,
  'focused.cava': ({ state }: { state: string }, { about }: About) =>
    `IVC ${state}: ${allNamed(about)}.`,
  'focused.effusion': ({ grade }: { grade: string }) => `Pericardial effusion: ${grade}.`,
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
