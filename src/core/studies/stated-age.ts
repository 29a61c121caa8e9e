import type { NaturalDataset } from 'dcmjs';
import { STATED_AGE } from '../../../pipelines/concepts/concepts.ts';
import { itemsOf } from '../../../pipelines/dicom/data-set.ts';
import { dayNumber } from '../../../pipelines/dicom/dates.ts';

const TERM_DAYS = 280;
/** Deeper than any OB-GYN report (TID 5000) nests; a damaged tree ends here. */
const MAX_CONTENT_DEPTH = 8;

/** LOINC of CID 12003, "OB-GYN Dates". */
const DUE_DATE = { stated: '11778-8', byLmp: '11779-6', byUltrasound: '11781-2' } as const;

/**
 * Age in days on the day of the study by the expected date of delivery that the cart states in its
 * report (obstetric 16.2): that from the last period, else that of no stated origin. A due
 * date that is the one of the average ultrasound age comes from the scan itself and is no dating.
 */
export function statedAgeByDueDate(dataSet: NaturalDataset): number | null {
  const scan = dayOf(dataSet.StudyDate);
  const due = (code: string) => dueDayIn(dataSet.ContentSequence, code, MAX_CONTENT_DEPTH);
  const stated = due(DUE_DATE.stated);
  const day = due(DUE_DATE.byLmp) ?? (stated === due(DUE_DATE.byUltrasound) ? null : stated);
  return scan === null || day === null ? null : TERM_DAYS - (day - scan);
}

function dueDayIn(sequence: unknown, code: string, depth: number): number | null {
  if (depth === 0 || !Array.isArray(sequence)) return null;
  for (const item of sequence) {
    if (typeof item !== 'object' || item === null) continue;
    const found = dueDayOf(item, code) ?? dueDayIn(item.ContentSequence, code, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

function dueDayOf(item: NaturalDataset, code: string): number | null {
  const concept: unknown = [item.ConceptNameCodeSequence].flat()[0];
  if (typeof concept !== 'object' || concept === null) return null;
  const { CodeValue, CodingSchemeDesignator } = concept as NaturalDataset;
  return CodeValue === code && CodingSchemeDesignator === 'LN' ? dayOf(item.Date) : null;
}

/** Day number of a DICOM DA (PS3.5 6.2). */
const dayOf = (value: unknown): number | null => dayNumber(String([value].flat()[0] ?? ''));

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
