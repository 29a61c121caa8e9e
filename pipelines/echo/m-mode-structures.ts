import type { Clip } from '../contract/study.ts';
import { viewWords } from '../contract/view-words.ts';
import { headerView } from './view-names.ts';

/** What an M-mode display may show, as far as it is measured (echo reference 5, 7, 12). */
export const M_MODE_STRUCTURES = {
  'tricuspid-excursion': 'Tricuspid annulus',
  'mitral-excursion': 'Mitral annulus',
  'left-ventricle': 'Left ventricle',
  'vena-cava': 'Inferior vena cava',
} as const;
export type MModeStructure = keyof typeof M_MODE_STRUCTURES;

/** Structure of the Anatomic Region Sequence (codes of echo reference 18.5). */
const REGIONS: Readonly<Record<string, MModeStructure>> = {
  'SCT:113259005': 'tricuspid-excursion',
  'SCT:65197004': 'mitral-excursion',
  'SCT:399086000': 'mitral-excursion',
  'SCT:399093001': 'mitral-excursion',
  'SCT:87878005': 'left-ventricle',
  'SCT:64131007': 'vena-cava',
};

const WORDS: Readonly<Record<MModeStructure, RegExp>> = {
  'tricuspid-excursion': /\b(tapse|tam)\b|\btricuspid annul/,
  'mitral-excursion': /\b(mapse|mitral annul\w*)\b/,
  'left-ventricle': /\b(lv|left ventric\w*)\b/,
  'vena-cava': /\b(ivc|vena cava)\b/,
};

/**
 * The structure that the header names: by words, by code, or, for the ventricle and the vena cava, by
 * the view in which an M-mode is of nothing else. Null where it names none, or two.
 */
export function mModeStructure(
  clip: Pick<Clip, 'anatomicRegion' | 'viewName' | 'stageName' | 'viewCode'>,
): MModeStructure | null {
  const words = viewWords(clip);
  const named = (Object.keys(WORDS) as MModeStructure[]).filter((one) => WORDS[one].test(words));
  if (named.length > 0) return named.length === 1 ? (named[0] ?? null) : null;
  const coded = clip.anatomicRegion ? REGIONS[clip.anatomicRegion] : undefined;
  if (coded) return coded;
  const view = headerView(clip);
  if (view === 'PSAX-PM') return 'left-ventricle';
  return view === 'SUBCOSTAL-IVC' ? 'vena-cava' : null;
}
