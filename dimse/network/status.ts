import {
  catalogueEntry,
  type ErrorCode,
  SonogateError,
} from '../../src/platform/errors/catalogue.ts';
import type { Abort, Rejection } from './pdu.ts';

/** Of C-STORE (PS3.7 C.5.8) and of Failure Reason (PS3.3 C.14.1.1): a failure without one of its own. */
export const PROCESSING_FAILURE = 0x0110;

/** Statuses of normalized services that are no error of ours, so not in the catalogue (PS3.7 C.4, C.5). */
export const SERVICE_STATUS = {
  success: 0x0000,
  invalidAttributeValue: 0x0106,
  /** PS3.4 F.7.2.2.3: the step is in a final state. */
  mayNoLongerBeUpdated: 0x0110,
  duplicateSopInstance: 0x0111,
  noSuchSopInstance: 0x0112,
  noSuchEventType: 0x0113,
  noSuchSopClass: 0x0118,
  classInstanceConflict: 0x0119,
  missingAttributeValue: 0x0121,
  noSuchAction: 0x0123,
} as const;

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
