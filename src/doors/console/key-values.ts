import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';
import { centileText } from '../../../pipelines/result/render/unit-text.ts';
import { countingValues } from '../../../pipelines/result/standing.ts';
import type { KeyValue } from './result-contract.ts';
import { abbreviationOf, unitOf, valueText } from './wording.ts';

/**
 * Quantities that a clinician looks for first, in this order. Each line is one quantity: the
 * concepts that may provide it, the preferred one first. One value is shown for each line, for
 * example only one of several ejection fractions.
 */
const FIRST_LOOK: readonly (readonly string[])[] = [
  ['efw'],
  ['lvef-networks', 'lvef-biplane', 'lvef-3d', 'lvef-4c', 'lvef', 'lvef-teichholz'],
  ['gls-end-systolic', 'gls-peak-systolic'],
  ['lvedv-index', 'lvedv-biplane', 'lvidd'],
  ['la-volume-index'],
  ['e-to-e-prime'],
  ['tapse', 'rv-fac'],
  ['av-area', 'av-vmax'],
  ['rvsp', 'tr-vmax'],
  ['crl'],
  ['nuchal-translucency'],
  ['ac'],
  ['hc'],
  ['fl'],
  ['amniotic-fluid-index', 'deepest-vertical-pocket'],
  ['umbilical-artery-pi'],
  ['cerebroplacental-ratio', 'middle-cerebral-artery-pi'],
  ['cervical-length'],
  ['angle-of-progression'],
  ['fetal-heart-rate'],
  ['ga-by-crl', 'ga-by-hc-ac-fl'],
];
const MOST_VALUES = 8;

/**
 * Whether a value is shown: accepted values and values that a person may still confirm, but not
 * withheld ones.
 */
const isShown = ({ quality }: Measurement): boolean =>
  quality === 'accepted' || quality === 'review';

/**
 * Chooses the value of a line. Accepted values come before values that a person must confirm. Among
 * values of the same quality, one with an interpretation (such as "low") comes first, because the
 * section's conclusion is based on it.
 */
function chosenOf(
  concepts: readonly string[],
  values: readonly Measurement[],
): Measurement | undefined {
  const found = concepts.flatMap((key) => values.filter(({ concept }) => concept.key === key));
  const rank = ({ quality, interpretation }: Measurement) =>
    (quality === 'accepted' ? 0 : 2) + (interpretation === null ? 1 : 0);
  return found.sort((one, other) => rank(one) - rank(other))[0];
}

/**
 * Returns the values that a clinician looks for first: at most eight of those that count in the
 * result.
 */
export function keyValuesOf({ measurements }: Pick<Result, 'measurements'>): KeyValue[] {
  const counting = countingValues(measurements).filter(isShown);
  const fetuses = new Set(counting.map(({ fetus }) => fetus ?? ''));
  const lines = FIRST_LOOK.flatMap((concepts) =>
    [...fetuses].flatMap((of) => {
      const own = counting.filter(({ fetus }) => (fetus ?? '') === of);
      return chosenOf(concepts, own) ?? [];
    }),
  );
  return lines.slice(0, MOST_VALUES).map(keyValue);
}

function keyValue(value: Measurement): KeyValue {
  const { id, concept, fetus, interpretation, quality, reference, source } = value;
  return {
    id,
    label: abbreviationOf(concept.key),
    title: value.label,
    fetus,
    text: valueText(value),
    unitText: unitOf(value),
    interpretation,
    centile:
      reference?.centile === null || reference === null ? null : centileText(reference.centile),
    toConfirm: quality === 'review',
    file: source.file,
    frame: source.frame,
  };
}

/** Formats a key value for a list: `EFW 1656 g`. */
export function keyValueText({ label, text, unitText, centile, fetus }: KeyValue): string {
  const of = fetus === null ? '' : ` (fetus ${fetus})`;
  const where = centile === null ? '' : `, centile ${centile}`;
  const space = /^[°/]/.test(unitText) ? '' : ' ';
  return `${label}${of} ${text}${space}${unitText}`.trimEnd() + where;
}
