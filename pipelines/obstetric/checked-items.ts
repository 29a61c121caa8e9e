import type { ConceptKey } from '../result/concepts.ts';
import type { Finding, Measurement } from '../result/envelope.ts';
import { CHECKLIST } from './anomaly-checklist.ts';
import { keyFrame } from './key-frames.ts';
import type { ObstetricEvidence } from './section.ts';

/** Structures of the checklist whose size has a limit or a chart. */
export const SCREENED = [
  'atrial-width',
  'transcerebellar-diameter',
  'cisterna-magna',
  'nuchal-fold',
] as const satisfies readonly ConceptKey[];
export type ScreenKey = (typeof SCREENED)[number];

/**
 * What is said of an item. A size within its limits is no normal structure, so none is `normal`;
 * `abnormal` is one whose size is outside of them.
 */
type ItemStatus = 'measured' | 'abnormal' | 'plane-seen' | 'not-examined';

/** Items that a measurement of this section or of one before it is about. */
const ITEM_OF: Readonly<Partial<Record<ConceptKey, string>>> = {
  'atrial-width': 'ventricles',
  'transcerebellar-diameter': 'cerebellum',
  'cisterna-magna': 'cisterna-magna',
  'nuchal-fold': 'nuchal-fold',
  'fetal-heart-rate': 'heart-activity',
  'deepest-vertical-pocket': 'fluid',
  'amniotic-fluid-index': 'fluid',
};

export interface CheckedItem {
  region: string;
  item: string;
  text: string;
  mandatory: boolean;
  status: ItemStatus;
  plane: string | null;
  file: string | null;
  frame: number | null;
}

/** Each item of the checklist, with the best frame of a plane that shows it. */
export function checkItems(evidence: ObstetricEvidence): CheckedItem[] {
  return Object.entries(CHECKLIST).flatMap(([region, items]) =>
    items.map(({ id, text, mandatory, shownBy }) => {
      const frames = shownBy.flatMap((plane) => keyFrame(evidence.planes ?? [], plane) ?? []);
      const best = frames.toSorted((a, b) => b.estimate.confidence - a.estimate.confidence)[0];
      return {
        region,
        item: id,
        text,
        mandatory,
        status: best ? 'plane-seen' : 'not-examined',
        plane: best?.estimate.label ?? null,
        file: best?.clip.file ?? null,
        frame: best ? best.frame.index + 1 : null,
      };
    }),
  );
}

/** An item whose size is known says so; one whose size is outside its limits is abnormal. */
export function withSizes(
  items: readonly CheckedItem[],
  sized: readonly Measurement[],
  findings: readonly Finding[],
): CheckedItem[] {
  return items.map((one) => {
    const own = sized.filter(({ concept }) =>
      Object.entries(ITEM_OF).some(([key, item]) => key === concept.key && item === one.item),
    );
    if (own.length === 0) return one;
    const abnormal = findings.some(({ evidence }) => own.some(({ id }) => evidence.includes(id)));
    return { ...one, status: abnormal ? 'abnormal' : 'measured' };
  });
}
