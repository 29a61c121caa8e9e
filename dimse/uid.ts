/**
 * PS3.5 9.1: digits and dots, at most 64. It becomes part of log lines, rows and file names.
 * Components with a leading zero, which are wrong, are common and do no harm.
 */
export function isUid(text: string): boolean {
  return /^\d[\d.]{0,63}$/.test(text);
}
