import type { FetalSizes } from '../../../models/phantom/sizes.ts';
import { standingValues } from '../../../pipelines/artifacts/standing-values.ts';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/result/concepts.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';

/** Which true size of the phantom each measurement is held against. */
const TRUE_SIZE = {
  hc: 'hcMm',
  bpd: 'bpdMm',
  ofd: 'ofdMm',
  ac: 'acMm',
  tad: 'tadMm',
  apad: 'apadMm',
  fl: 'flMm',
} as const satisfies Partial<Record<ConceptKey, keyof FetalSizes>>;

export interface ComparisonRow {
  name: string;
  trueMm: number;
  /** Null when the pipeline gave no value. */
  measuredMm: number | null;
  repeats: number;
}

/** Each true size of the phantom beside the accepted value that stands for it in the result. */
export function compareWithTruth(result: Result, sizes: FetalSizes): ComparisonRow[] {
  const accepted = result.measurements.filter(({ quality }) => quality === 'accepted');
  const standing = standingValues(accepted);
  return Object.entries(TRUE_SIZE).map(([key, size]) => {
    const value = standing.find(({ concept }) => concept.key === key);
    return {
      name: CONCEPTS[key as keyof typeof TRUE_SIZE].abbreviation,
      trueMm: sizes[size],
      measuredMm: value?.value ?? null,
      repeats: value ? Math.max(1, value.inputs.length) : 0,
    };
  });
}

/** The comparison as lines of text, for a terminal. */
export function comparisonTable(rows: readonly ComparisonRow[]): string[] {
  const lines = rows.map(({ name, trueMm, measuredMm, repeats }) => {
    const measured = measuredMm === null ? 'not measured' : `${measuredMm.toFixed(1)} mm`;
    const difference = measuredMm === null ? '' : percent(measuredMm / trueMm - 1);
    return [
      name.padEnd(6),
      `${trueMm.toFixed(1)} mm`.padStart(10),
      measured.padStart(13),
      difference.padStart(11),
      String(repeats).padStart(8),
    ].join('');
  });
  const head = `${''.padEnd(6)}${'true'.padStart(10)}${'measured'.padStart(13)}${'difference'.padStart(11)}${'frames'.padStart(8)}`;
  return [head, ...lines];
}

function percent(fraction: number): string {
  return `${fraction >= 0 ? '+' : '−'}${Math.abs(100 * fraction).toFixed(1)} %`;
}
