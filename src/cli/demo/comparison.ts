import type { EchoStudyTruth } from '../../../models/phantom/echo/study.ts';
import type { FetalSizes } from '../../../models/phantom/sizes.ts';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/result/concepts.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { standingValues } from '../../../pipelines/result/standing-values.ts';

/** Which true size of the phantom each measurement is held against. */
const FETAL_SIZE = {
  hc: 'hcMm',
  bpd: 'bpdMm',
  ofd: 'ofdMm',
  ac: 'acMm',
  tad: 'tadMm',
  apad: 'apadMm',
  fl: 'flMm',
} as const satisfies Partial<Record<ConceptKey, keyof FetalSizes>>;

const HEART_SIZE = {
  'lvef-networks': 'ejectionFractionPercent',
  'lvef-biplane': 'ejectionFractionPercent',
  'lvedv-biplane': 'endDiastolicMl',
  'lvesv-biplane': 'endSystolicMl',
  'gls-end-systolic': 'globalLongitudinalStrainPercent',
  'la-volume-biplane': 'leftAtriumMl',
  tapse: 'tapseMm',
  'ivc-diameter': 'cavaMm',
  'ivc-collapse': 'cavaCollapsePercent',
} as const satisfies Partial<Record<ConceptKey, keyof EchoStudyTruth>>;

export interface ComparisonRow {
  name: string;
  /** UCUM. */
  unit: string;
  truth: number;
  /** Null when the pipeline gave no value. */
  measured: number | null;
  repeats: number;
}

/** Each true size of the phantom beside the accepted value that stands for it in the result. */
function compared(result: Result, truths: Readonly<Record<string, number>>): ComparisonRow[] {
  const accepted = result.measurements.filter(({ quality }) => quality === 'accepted');
  const standing = standingValues(accepted);
  return Object.entries(truths).map(([key, truth]) => {
    const value = standing.find(({ concept }) => concept.key === key);
    const { abbreviation, unit } = CONCEPTS[key as ConceptKey];
    return {
      name: abbreviation,
      unit,
      truth,
      measured: value?.value ?? null,
      repeats: value ? Math.max(1, value.inputs.length) : 0,
    };
  });
}

const truthsOf = <Truth>(table: Readonly<Record<string, keyof Truth>>, truth: Truth) =>
  Object.fromEntries(Object.entries(table).map(([key, size]) => [key, Number(truth[size])]));

/** The biometry of the phantom fetus. */
export const compareFetus = (result: Result, sizes: FetalSizes) =>
  compared(result, truthsOf(FETAL_SIZE, sizes));

/** Size and function of the phantom heart. */
export const compareHeart = (result: Result, truth: EchoStudyTruth) =>
  compared(result, truthsOf(HEART_SIZE, truth));

const NAME = 16;

/** The comparison as lines of text, for a terminal. */
export function comparisonTable(rows: readonly ComparisonRow[]): string[] {
  const lines = rows.map(({ name, unit, truth, measured, repeats }) => {
    const found = measured === null ? 'not measured' : `${measured.toFixed(1)} ${unit}`;
    const difference = measured === null ? '' : percent(measured / truth - 1);
    return [
      name.padEnd(NAME),
      `${truth.toFixed(1)} ${unit}`.padStart(10),
      found.padStart(14),
      difference.padStart(11),
      String(repeats).padStart(8),
    ].join('');
  });
  const head = `${''.padEnd(NAME)}${'true'.padStart(10)}${'measured'.padStart(14)}${'difference'.padStart(11)}${'values'.padStart(8)}`;
  return [head, ...lines];
}

function percent(fraction: number): string {
  return `${fraction >= 0 ? '+' : '−'}${Math.abs(100 * fraction).toFixed(1)} %`;
}
