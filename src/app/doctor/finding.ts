import type { DoctorFinding } from '../../operations/operations.ts';
import { ERRORS, SonogateError } from '../../platform/errors/catalogue.ts';
import { withMeaning } from '../../platform/errors/connection-failures.ts';

export type Finding = DoctorFinding;

export const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail });
export const warning = (what: string, detail: string): Finding => ({
  what,
  state: 'warning',
  detail,
});
export const fault = (what: string, detail: string): Finding => ({ what, state: 'fault', detail });

/**
 * Describes a thrown value on one line, with the meaning of a failed connection. For an error of the
 * catalogue, the line begins with its title and detail.
 */
export function inOneLine(error: unknown): string {
  return withMeaning(errorText(error).replaceAll(/\s+/g, ' '));
}

function errorText(error: unknown): string {
  if (!(error instanceof SonogateError)) {
    if (!(error instanceof Error)) return `${error}`;
    // If a host has several addresses and none answers, the error has only a code.
    return error.message || ('code' in error ? `${error.code}` : error.name);
  }
  const { title } = ERRORS[error.code];
  return error.detail === title ? title : `${title}: ${error.detail}`;
}
