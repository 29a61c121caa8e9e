import type { NaturalDataset } from 'dcmjs';
import { STATED_AGE } from '../pipelines/result/concepts.ts';
import { statedAgeByDueDate } from './stated-due-date.ts';

/** UCUM unit of a gestational age → days. */
const DAYS: Readonly<Record<string, number>> = { d: 1, wk: 7 };
/** Deeper than any OB-GYN report (TID 5000) nests; a damaged tree ends here. */
const MAX_DEPTH = 8;

/**
 * Gestational age by LMP that the cart states, in days: (11885-1, LN) in the report the cart sends
 * along (TID 5000) or in the acquisition context of an image. Ages worked out from measurements of
 * the same scan (11888-5 and the like) are no dating and are not taken. Where no age is stated, the one
 * by the due date.
 */
export function statedAgeByLmp(dataSet: NaturalDataset): number | null {
  return (
    findIn(dataSet.AcquisitionContextSequence, MAX_DEPTH) ??
    findIn(dataSet.ContentSequence, MAX_DEPTH) ??
    statedAgeByDueDate(dataSet)
  );
}

function findIn(sequence: unknown, depth: number): number | null {
  if (depth === 0) return null;
  for (const item of itemsOf(sequence)) {
    const found = ageOf(item) ?? findIn(item.ContentSequence, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

function ageOf(item: NaturalDataset): number | null {
  const [concept] = itemsOf(item.ConceptNameCodeSequence);
  const { scheme, code } = STATED_AGE.lmp;
  if (concept?.CodeValue !== code || concept.CodingSchemeDesignator !== scheme) return null;
  // In a report the number stands one level deeper than in an acquisition context.
  const measured = itemsOf(item.MeasuredValueSequence)[0] ?? item;
  const [unit] = itemsOf(measured.MeasurementUnitsCodeSequence);
  const perUnit = DAYS[String(unit?.CodeValue)];
  const value = Number([measured.NumericValue].flat()[0]);
  return perUnit !== undefined && value > 0 ? Math.round(value * perUnit) : null;
}

function itemsOf(sequence: unknown): NaturalDataset[] {
  const items = Array.isArray(sequence) ? sequence : [];
  return items.filter((item): item is NaturalDataset => typeof item === 'object' && item !== null);
}
