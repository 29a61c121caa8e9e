import type { EchoConcept } from '../../concepts/echo.ts';
import type { Clip, SweepKind } from '../../contract/study.ts';
import { viewWords } from '../../contract/view-words.ts';
import type { Caliper } from '../../result/envelope.ts';
import type { FlowTraceData } from '../../result/measured.ts';
import type { DisplayDoubt, DisplayForm, DisplayRemark } from '../../result/render/echo/shared.ts';
import type { DisplayRefusal } from '../../result/render/echo/views.ts';
import { headerView } from '../locate/header-view.ts';
import type { Flow } from './flows.ts';

/** Structures that are measured in M-mode (echo 5, 7, 12). */
export const M_MODE_STRUCTURES = {
  'tricuspid-excursion': 'Tricuspid annulus',
  'mitral-excursion': 'Mitral annulus',
  'left-ventricle': 'Left ventricle',
  'vena-cava': 'Inferior vena cava',
} as const;
export type MModeStructure = keyof typeof M_MODE_STRUCTURES;

/** M-mode structure for each code in the Anatomic Region Sequence (echo 18.5). */
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
 * Returns the structure that the header identifies by words or by a code. Without these, the
 * ventricle and the vena cava are identified by a view from which no other structure is recorded in
 * M-mode. Null if the header identifies no structure, or several.
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

/**
 * Maximum standard error of a mean over beats, as a share of the mean. If the spread is larger, a
 * reader who measures another beat may get a different value, so the mean is not used.
 */
export const BEATS_DIFFER = 0.08;

export interface TracedQuantity {
  key: EchoConcept;
  value: number;
  /**
   * Value of each beat, in order. The mean is calculated from the beats whose indices are in
   * `used`. Both are empty for a quantity that is not measured beat by beat.
   */
  beats: readonly number[];
  used: readonly number[];
  calipers: readonly Caliper[];
  remark: DisplayRemark | null;
  doubt: DisplayDoubt | null;
}

/** What was read on a display: everything except where the display is. */
export type DisplayContent = Omit<DisplayReading, 'file' | 'sopInstanceUid' | 'frame' | 'kind'>;

export interface DisplayReading {
  file: string;
  sopInstanceUid: string | null;
  /** Frame number, 0-based. */
  frame: number;
  kind: SweepKind;
  /** What the display shows; null if neither the header nor the form of the curve identifies it. */
  flow: Flow | MModeStructure | 'annulus' | null;
  /** How the display was identified: by the header (confidence 1) or by the form of its curve. */
  namedBy: 'header' | 'form' | null;
  nameConfidence: number;
  /** The form of the curve that identified the display, or that prevented its identification. */
  because: DisplayForm | null;
  /** Peak velocity, cm/s: the mean of the beats that agree. Null if no velocity was traced. */
  peak: number | null;
  side: 'above' | 'below' | null;
  beats: number;
  /** True if the beats have the same length; null if fewer than three were seen, and in M-mode. */
  regular: boolean | null;
  /** From 0 to 1. */
  confidence: number;
  /** Why nothing was measured; null if something was measured. */
  refusal: DisplayRefusal | null;
  /** Velocity curve on the frame, in the format of the result. Null if no velocity was traced. */
  trace: FlowTraceData | null;
  quantities: readonly TracedQuantity[];
}
