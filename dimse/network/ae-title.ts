import { SonogateError } from '../../src/errors/catalogue.ts';

/** Characters that no AE title holds (PS3.5 6.2): they would become part of log lines and rows. */
const CONTROL = /\p{Cc}/u;

/** Leading and trailing spaces mean nothing (PS3.5 6.2); some peers pad with NUL all the same. */
export function readAeTitle(field: Buffer): string {
  return field
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .replace(/^ +/, '');
}

/** @throws SonogateError `unexpected_pdu` when it holds a control character. */
export function requireAeTitle(title: string): void {
  if (!CONTROL.test(title)) return;
  throw new SonogateError('unexpected_pdu', 'An AE title holds a control character.');
}
