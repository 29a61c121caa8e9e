import type { DicomIdentity } from '../../pipelines/dicom/subject.ts';

const DA = /^(\d{4})(\d{2})(\d{2})$/;
const DT =
  /^(\d{4})(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:\.(\d{1,6}))?)?)?)?)?)?([+-]\d{4})?$/;

/** Converts a DICOM DA to a FHIR date; undefined if it is empty or malformed. */
export function fhirDate(da: string): string | undefined {
  const [, year, month, day] = DA.exec(da.trim()) ?? [];
  return year && isCalendarDay(year, month, day) ? `${year}-${month}-${day}` : undefined;
}

/**
 * Converts a DICOM DT (PS3.5 6.2) to a FHIR dateTime. FHIR requires a UTC offset with a time of
 * day; if neither the value nor `offset` (0008,0201) has one, only the date is returned.
 */
export function fhirDateTime(dt: string, offset = ''): string | undefined {
  const [, year, month, day, hour, minute, second = '00', fraction, own] = DT.exec(dt.trim()) ?? [];
  if (!year) return undefined;
  if (!month) return year;
  if (!day) return isCalendarDay(year, month, '01') ? `${year}-${month}` : undefined;
  if (!isCalendarDay(year, month, day)) return undefined;
  const date = `${year}-${month}-${day}`;
  const zone = isoOffset(own ?? offset);
  if (!hour || !minute || zone === undefined) return date;
  if (Number(hour) > 23 || Number(minute) > 59) return date;
  // A leap second (60) is allowed in DICOM but not in FHIR.
  const seconds = Number(second) > 59 ? '59' : second;
  const milliseconds = fraction ? `.${fraction.slice(0, 3).padEnd(3, '0')}` : '';
  return `${date}T${hour}:${minute}:${seconds}${milliseconds}${zone}`;
}

/**
 * Returns the acquisition time, otherwise the time of the study; undefined if the images have no
 * date.
 */
export function acquisitionDateTime(identity: DicomIdentity): string | undefined {
  const offset = identity.TimezoneOffsetFromUTC;
  return (
    fhirDateTime(identity.AcquisitionDateTime, offset) ??
    fhirDateTime(`${identity.StudyDate.trim()}${identity.StudyTime.trim()}`, offset) ??
    fhirDate(identity.StudyDate)
  );
}

function isoOffset(offset: string): string | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d{2})(\d{2})$/.exec(offset.trim()) ?? [];
  return sign ? `${sign}${hours}:${minutes}` : undefined;
}

function isCalendarDay(year: string, month = '', day = ''): boolean {
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${year}-${month}-${day}`);
}
