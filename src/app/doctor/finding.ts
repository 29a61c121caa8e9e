import type { DoctorFinding } from '../../operations/operations.ts';

export type Finding = DoctorFinding;

export const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail });
export const warning = (what: string, detail: string): Finding => ({
  what,
  state: 'warning',
  detail,
});
export const fault = (what: string, detail: string): Finding => ({ what, state: 'fault', detail });

/** Returns the message of a thrown value on one line. */
export function inOneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
