import { catalogueEntry, type ErrorCode, SonogateError } from '../../src/errors/catalogue.ts';
import type { Rejection } from './association-pdu.ts';
import type { Abort } from './pdu.ts';

/** DIMSE statuses that are no error of ours, so not in the catalogue (PS3.7 Annex C). */
export const STATUS = { success: 0x0000, unrecognizedOperation: 0x0211 } as const;

/** A-ABORT of the service provider for an error; "reason not specified" when it names none. */
export function abortFor(code: ErrorCode): Abort {
  const [source, reason] = numbers(code, 'abort ') ?? [];
  return { source: source ?? 2, reason: reason ?? 0 };
}

/** A-ASSOCIATE-RJ for an error; "no reason given" of the service user when it names none. */
export function rejectionFor(code: ErrorCode): Rejection {
  const [result, source, reason] = numbers(code, 'reject ') ?? [];
  return { result: result ?? 1, source: source ?? 1, reason: reason ?? 1 };
}

/** DIMSE status of a failed C-STORE. What the catalogue does not name is our own defect: A700H. */
export function statusFor(error: unknown): { status: number; comment: string } {
  const code = error instanceof SonogateError ? error.code : 'overloaded';
  const { dimse, title } = catalogueEntry(code);
  const status = /^[0-9A-F]{4}$/.test(dimse ?? '') ? dimse : catalogueEntry('overloaded').dimse;
  return { status: Number.parseInt(status ?? '', 16), comment: title };
}

function numbers(code: ErrorCode, prefix: string): number[] | null {
  const { dimse } = catalogueEntry(code);
  return dimse?.startsWith(prefix) ? dimse.slice(prefix.length).split('/').map(Number) : null;
}
