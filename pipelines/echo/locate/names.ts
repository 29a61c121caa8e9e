import type { Clip, Rectangle } from '../../contract/study.ts';
import { plainWords } from '../../contract/view-words.ts';

/** Views of the classifier (echo 2.1); `other` is everything else. */
export const ECHO_VIEWS = [
  'PLAX',
  'PSAX-AV',
  'PSAX-MV',
  'PSAX-PM',
  'PSAX-AP',
  'A4C',
  'A2C',
  'A3C',
  'A5C',
  'SUBCOSTAL-4C',
  'SUBCOSTAL-IVC',
  'SUPRASTERNAL',
  'other',
] as const;
export type EchoView = (typeof ECHO_VIEWS)[number];

/**
 * A view as the header or the classifier names it; the header may leave the level open. An A4C that is
 * aimed at the RV cuts the LV short, and the long axes of the RV show no LV: no LV is measured on them.
 */
export type HeartView =
  | Exclude<EchoView, 'other'>
  | 'PSAX'
  | 'PSAX-AV'
  | 'SUBCOSTAL'
  | 'A4C-RV'
  | 'RV-INFLOW'
  | 'RV-OUTFLOW';

/** Views (api 2.6), under which a clip is listed and sections ask for it. */
export const VIEW_FAMILIES = [
  'PLAX',
  'PSAX',
  'A2C',
  'A3C',
  'A4C',
  'A5C',
  'subcostal',
  'suprasternal',
  'RV inflow',
  'RV outflow',
] as const;
export type ViewFamily = (typeof VIEW_FAMILIES)[number];

const FAMILY: Readonly<Record<HeartView, ViewFamily>> = {
  PLAX: 'PLAX',
  PSAX: 'PSAX',
  'PSAX-AV': 'PSAX',
  'PSAX-MV': 'PSAX',
  'PSAX-PM': 'PSAX',
  'PSAX-AP': 'PSAX',
  A2C: 'A2C',
  A3C: 'A3C',
  A4C: 'A4C',
  A5C: 'A5C',
  SUBCOSTAL: 'subcostal',
  'SUBCOSTAL-4C': 'subcostal',
  'SUBCOSTAL-IVC': 'subcostal',
  SUPRASTERNAL: 'suprasternal',
  'A4C-RV': 'A4C',
  'RV-INFLOW': 'RV inflow',
  'RV-OUTFLOW': 'RV outflow',
};

/** A clip of the heart's shape, of which a view can be told; not a spectrum and not an M-mode. */
export const isPicture = ({ mode }: Pick<Clip, 'mode'>) => mode !== 'spectral' && mode !== 'm-mode';

const FOCUSED: ReadonlySet<ViewFamily> = new Set(['PLAX', 'PSAX', 'A4C', 'subcostal']);

/** Whether a view is one of those of focused cardiac ultrasound (echo 15). */
export const isFocused = (view: HeartView) => FOCUSED.has(familyOf(view));

const WITHOUT_VENTRICLE: ReadonlySet<HeartView> = new Set(['SUBCOSTAL-IVC', 'PSAX-AV']);

/** Whether a view shows the left ventricle: a vessel, or the plane of the aortic valve, does not. */
export const showsVentricle = (view: HeartView) => !WITHOUT_VENTRICLE.has(view);

export const familyOf = (view: HeartView): ViewFamily => FAMILY[view];

/** Codes of CID 12226 and of TID 5200 → view (echo 2.1). */
const VIEW_CODES: Readonly<Record<string, HeartView>> = {
  'SCT:399139001': 'PLAX',
  'SCT:399239005': 'PSAX-AV',
  'SCT:399036006': 'PSAX-MV',
  'SCT:399371001': 'PSAX-MV',
  'SCT:399271003': 'PSAX-PM',
  'SCT:399306005': 'PSAX',
  'SCT:399214001': 'A4C',
  'DCM:130681': 'A4C-RV',
  'DCM:130682': 'A4C-RV',
  'SCT:398998003': 'RV-INFLOW',
  'SCT:443082005': 'RV-INFLOW',
  'SCT:399195005': 'RV-OUTFLOW',
  'SCT:443083000': 'RV-OUTFLOW',
  'SCT:399232001': 'A2C',
  'SCT:399339008': 'A3C',
  'SCT:398994001': 'A5C',
  'SCT:399310008': 'SUBCOSTAL-4C',
  'SCT:399200001': 'SUBCOSTAL',
  'SCT:399106004': 'SUPRASTERNAL',
  'SCT:443562002': 'SUPRASTERNAL',
  'SCT:399145009': 'SUPRASTERNAL',
};

/** What carts write as View Name of a stress protocol, as `plainWords`; matched, never shown. */
const VIEW_NAMES: readonly (readonly [RegExp, HeartView])[] = [
  [/^(plax|parasternal long axis)$/, 'PLAX'],
  [/^(psax|sax|parasternal short axis)/, 'PSAX'],
  [/^(a4c|4 ?ch|ap ?4|apical (4|four) chamber)$/, 'A4C'],
  [/^(a2c|2 ?ch|ap ?2|apical (2|two) chamber)$/, 'A2C'],
  [/^(a3c|3 ?ch|ap ?3|aplax|apical (3|three) chamber|apical long axis)$/, 'A3C'],
  [/^(a5c|5 ?ch|ap ?5|apical (5|five) chamber)$/, 'A5C'],
];

/** The view that the header names; null where it names none that is known. */
export function headerView({
  viewCode,
  viewName,
}: Pick<Clip, 'viewCode' | 'viewName'>): HeartView | null {
  const coded = viewCode ? VIEW_CODES[viewCode] : undefined;
  const words = plainWords(viewName ?? '');
  const named = VIEW_NAMES.find(([pattern]) => pattern.test(words))?.[1];
  return coded ?? named ?? null;
}

/** Views whose chambers are outlined. */
export const APICAL_VIEWS = ['A4C', 'A2C', 'A3C'] as const;
export type ApicalView = (typeof APICAL_VIEWS)[number];

/** The view of one clip, and who says so. */
export interface ClipView {
  clip: Clip;
  /** Null: neither the header nor a model names one that can be relied on. */
  view: HeartView | null;
  source: 'header' | 'model' | null;
  /** Of the model; null where the header names the view, or no model looked. */
  confidence: number | null;
  /** The view that the model would have named without its gate. */
  belowGate: HeartView | null;
  /** The fan of the picture in stored pixels; null where the clip was not looked at. */
  fan: Rectangle | null;
}

/** Structures of a frame, in the order of their labels (1 to 5; 0 is the ground). */
export const CHAMBERS = ['lv', 'myocardium', 'la', 'rv', 'ra'] as const;
export type Chamber = (typeof CHAMBERS)[number];

/** Structures of a parasternal or subcostal frame, in the order of their labels from 1 on. */
export const PARASTERNAL_STRUCTURES = [
  'lv',
  'myocardium',
  'la',
  'rv',
  'ra',
  'aorta',
  'pulmonary-artery',
  'effusion',
] as const;
export type ParasternalStructure = (typeof PARASTERNAL_STRUCTURES)[number];
