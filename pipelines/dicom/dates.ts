import type { DicomIdentity } from './subject.ts';

const OFFSET = /^([+-])(\d{2})(\d{2})$/;

/** "+0130" → 90 minutes; null for what is not (0008,0201) Timezone Offset From UTC. */
function minutesOf(offset: string): number | null {
  const match = OFFSET.exec(offset.trim());
  if (!match) return null;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? -minutes : minutes;
}

function offsetOf(minutes: number): string {
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(hours)}${two(rest)}`;
}

/**
 * An instant as DICOM DA, TM and timezone offset. The offset holds for every time of the data set,
 * those copied from the images included (PS3.3 C.12.1.1.8): it is theirs where they have one, else
 * that of this machine, which stands in the same hospital; without identity it is UTC.
 * @param instant RFC 3339, `generated_at` of the result.
 */
export function contentTime(
  instant: string,
  identity: DicomIdentity | null,
): { date: string; time: string; offset: string } {
  const moment = new Date(instant);
  const local = -moment.getTimezoneOffset();
  const minutes = identity ? (minutesOf(identity.TimezoneOffsetFromUTC) ?? local) : 0;
  const shifted = new Date(moment.getTime() + minutes * 60_000).toISOString();
  return {
    date: shifted.slice(0, 10).replaceAll('-', ''),
    time: shifted.slice(11, 23).replaceAll(':', ''),
    offset: offsetOf(minutes),
  };
}
