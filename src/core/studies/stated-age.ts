import type { NaturalDataset } from 'dcmjs';
import { STATED_AGE } from '../../../pipelines/concepts/concepts.ts';
import { itemsOf } from '../../../pipelines/dicom/data-set.ts';
import { dayNumber } from '../../../pipelines/dicom/dates.ts';
import { TERM_DAYS } from '../../../pipelines/result/estimated-due-date.ts';

/**
 * Maximum depth of the search, so that it ends even in a damaged tree. No OB-GYN report (TID 5000)
 * is nested this deeply.
 */
const MAX_DEPTH = 8;
/** Days per UCUM unit used for gestational ages. */
const DAYS: Readonly<Record<string, number>> = { d: 1, wk: 7 };

/** The attributes read from a data set and from the items of its content tree. */
export const STATED_AGE_ATTRIBUTES = [
  'AcquisitionContextSequence',
  'CodeValue',
  'CodingSchemeDesignator',
  'ConceptNameCodeSequence',
  'ContentSequence',
  'Date',
  'MeasuredValueSequence',
  'MeasurementUnitsCodeSequence',
  'NumericValue',
  'StudyDate',
] as const;

/** LOINC codes of CID 12003, "OB-GYN Dates". */
const DUE_DATE = { stated: '11778-8', byLmp: '11779-6', byUltrasound: '11781-2' } as const;

/**
 * Returns the gestational age by LMP in days, as the cart sent it: LOINC 11885-1 in its report (TID
 * 5000) or in the acquisition context of an image. Ages calculated from measurements in the same
 * scan (11888-5 and the like) are ignored, because they cannot date that scan. If no age is stated,
 * it is computed from the due date; null if that is not stated either.
 */
export function statedAgeByLmp(dataSet: NaturalDataset): number | null {
  return (
    firstIn(dataSet.AcquisitionContextSequence, ageOf) ??
    firstIn(dataSet.ContentSequence, ageOf) ??
    statedAgeByDueDate(dataSet)
  );
}

/**
 * Returns the gestational age in days on the day of the study, computed from the expected date of
 * delivery in the cart's report (obstetric 16.2): the date by the last menstrual period, otherwise
 * the date without a stated origin. A date without a stated origin is ignored if it equals the date
 * by average ultrasound age, because it was then computed from this scan and cannot date it.
 */
function statedAgeByDueDate(dataSet: NaturalDataset): number | null {
  const scan = dayOf(dataSet.StudyDate);
  const due = (code: string) =>
    firstIn(dataSet.ContentSequence, (item) =>
      hasConcept(item, 'LN', code) ? dayOf(item.Date) : null,
    );
  const stated = due(DUE_DATE.stated);
  const day = due(DUE_DATE.byLmp) ?? (stated === due(DUE_DATE.byUltrasound) ? null : stated);
  return scan === null || day === null ? null : TERM_DAYS - (day - scan);
}

/** Returns the first value that `read` finds in a content tree, depth first. */
function firstIn(
  sequence: unknown,
  read: (item: NaturalDataset) => number | null,
  depth = MAX_DEPTH,
): number | null {
  if (depth === 0) return null;
  for (const item of itemsOf(sequence)) {
    const found = read(item) ?? firstIn(item.ContentSequence, read, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

function ageOf(item: NaturalDataset): number | null {
  if (!hasConcept(item, STATED_AGE.lmp.scheme, STATED_AGE.lmp.code)) return null;
  // In a report, the number is nested one level deeper than in an acquisition context.
  const measured = itemsOf(item.MeasuredValueSequence)[0] ?? item;
  const [unit] = itemsOf(measured.MeasurementUnitsCodeSequence);
  const perUnit = DAYS[String(unit?.CodeValue)];
  const value = Number([measured.NumericValue].flat()[0]);
  return perUnit !== undefined && value > 0 ? Math.round(value * perUnit) : null;
}

function hasConcept(item: NaturalDataset, scheme: string, code: string): boolean {
  const [concept] = itemsOf(item.ConceptNameCodeSequence);
  return concept?.CodeValue === code && concept.CodingSchemeDesignator === scheme;
}

const dayOf = (value: unknown): number | null => dayNumber(String([value].flat()[0] ?? ''));
