import { isoDate } from '../dicom/dates.ts';
import type { Subject } from '../dicom/subject.ts';
import { dueDateByAge } from '../result/estimated-due-date.ts';

/**
 * Returns the expected date of delivery as YYYY-MM-DD; null without a gestational age or a study
 * date.
 */
export function dueDate({ identity, dating }: Subject): string | null {
  const scan = isoDate(identity?.StudyDate ?? '');
  return scan && dating ? dueDateByAge(scan, dating.gaDays) : null;
}
