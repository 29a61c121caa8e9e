export const DAY_MS = 86_400_000;

/** @throws RangeError where the text is no date YYYYMMDD */
export function parseDate(yyyymmdd: string): Date {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(yyyymmdd) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (Number.isNaN(date.getTime())) throw new RangeError(`"${yyyymmdd}" is not a date YYYYMMDD`);
  return date;
}

/** YYYYMMDD. */
export const formatDate = (date: Date) => date.toISOString().slice(0, 10).replaceAll('-', '');
