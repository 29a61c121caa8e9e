import { centileText } from '../result/centile-text.ts';
import { findingConcept } from '../result/concepts.ts';
import type { Finding, Result } from '../result/envelope.ts';
import {
  SIZE_CUTOFFS,
  SIZE_LABELS,
  type SizeCategory,
  sizeCategory,
} from './charts/size-category.ts';
import { growthFinding } from './growth-findings.ts';
import {
  type Charted,
  type ChartedKey,
  chart,
  chartedValue,
  isCharted,
  valueWithCentile,
} from './growth-references.ts';
import { abbreviations } from './measurement.ts';

export interface Size {
  category: SizeCategory;
  /** The weight and the AC, or the one of them that is there. */
  by: Charted[];
}

/** Size needs a weight, or else an AC: a head or a femur alone gives none. */
export function sizeOf(charted: readonly Charted[]): Size | null {
  const efw = chartedValue(charted, 'efw');
  const ac = chartedValue(charted, 'ac');
  if (efw) {
    const category = sizeCategory(efw.centile, ac?.centile ?? null);
    return { category, by: ac ? [efw, ac] : [efw] };
  }
  return ac ? { category: sizeCategory(ac.centile), by: [ac] } : null;
}

const keyOf = ({ measurement }: Charted) => measurement.concept.key as ChartedKey;

/** The category with the numbers that caused it. */
export function sizeSentence({ category, by }: Size): string {
  const label = SIZE_LABELS[category];
  const values = by.map((entry) => valueWithCentile(entry, keyOf(entry))).join(', ');
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}: ${values}.`;
}

export function sizeClassification({ category, by }: Size): Result['classifications'][number] {
  return {
    id: 'size-category',
    section: 'growth',
    concept: findingConcept('size-for-gestational-age'),
    name: 'Size for gestational age',
    value: category,
    scheme: 'ISUOG 2020; 10th and 90th centile',
    criteria: by.map(({ measurement, centile }) => ({
      name: `${measurement.label} centile`,
      value: centileText(centile),
      met: centile < SIZE_CUTOFFS.small || centile > SIZE_CUTOFFS.large,
    })),
  };
}

/** A small AC is told beside a weight that is not small (obstetric reference 3.8). */
function abdomenFinding({ category, by }: Size): Finding[] {
  const [efw, ac] = by;
  const weightIsSmall = category === 'sga' || category === 'sga-severe';
  if (!efw || !ac || weightIsSmall || ac.centile >= SIZE_CUTOFFS.small) return [];
  const text = `${valueWithCentile(ac, 'ac')}: below the ${SIZE_CUTOFFS.small}th centile beside a weight that is not.`;
  return [growthFinding('abdomen-size', 'size-for-gestational-age', text, [ac])];
}

export function sizeFindings(size: Size): Finding[] {
  const own =
    size.category === 'aga'
      ? []
      : [growthFinding('size', 'size-for-gestational-age', sizeSentence(size), size.by)];
  return [...own, ...abdomenFinding(size)];
}

/** The cut-offs that lie within the interval of a value. */
function cutOffsWithin({ measurement }: Charted, gaWeeks: number): number[] {
  const { value, uncertainty } = measurement;
  if (uncertainty === null) return [];
  const ends = [value - uncertainty, value + uncertainty].map((end) =>
    chart({ ...measurement, value: end }, gaWeeks),
  );
  const [low, high] = ends.map((end) => (isCharted(end) ? end.centile : null));
  if (low == null || high == null) return [];
  return Object.values(SIZE_CUTOFFS).filter((cutOff) => low < cutOff && cutOff < high);
}

const LIST = new Intl.ListFormat('en-GB', { type: 'conjunction' });
const ordinal = (centile: number) => `${centile}${centile === 3 ? 'rd' : 'th'}`;

/** Said where an interval holds a cut-off, so that the category is not sure; else nothing. */
export function sizeAcrossCutOffs({ by }: Size, gaWeeks: number): string[] {
  const across = by
    .map((entry) => ({ key: keyOf(entry), cutOffs: cutOffsWithin(entry, gaWeeks) }))
    .filter(({ cutOffs }) => cutOffs.length > 0);
  if (across.length === 0) return [];
  const names = across.map(({ key }) => abbreviations([key])).join(' and ');
  const cutOffs = new Set(across.flatMap(({ cutOffs: within }) => within));
  const listed = [...cutOffs].toSorted((one, other) => one - other).map(ordinal);
  const centiles = `${LIST.format(listed)} ${listed.length > 1 ? 'centiles' : 'centile'}`;
  return [`The interval of ${names} reaches across the ${centiles}: confirm the category by hand.`];
}
