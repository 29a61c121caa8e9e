import type { Subject } from '../dicom/subject.ts';
import { dueDateByAge } from '../result/gestational-age.ts';

/** YYYY-MM-DD of a DICOM DA; null for what is no date. */
export function isoDate(date: string): string | null {
  const parts = /^(\d{4})(\d{2})(\d{2})$/.exec(date);
  return parts ? parts.slice(1).join('-') : null;
}

/** Expected date of delivery, YYYY-MM-DD; null without a gestational age or a study date. */
export function dueDate({ identity, dating }: Subject): string | null {
  const scan = isoDate(identity?.StudyDate ?? '');
  return scan && dating ? dueDateByAge(scan, dating.gaDays) : null;
}
