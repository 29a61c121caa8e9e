import {
  catalogueEntry,
  type ErrorCode,
  SonogateError,
} from '../../src/platform/errors/catalogue.ts';
import type { Abort, Rejection } from './pdu.ts';

/**
 * Statuses of DIMSE services (PS3.7 Annex C) that are not gateway errors. The C-STORE status of
 * each refusal is defined in src/platform/errors/catalogue.ts.
 */
export const STATUS = {
  success: 0x0000,
  pending: 0xff00,
  /** Matches continue, but an optional key is not supported (PS3.4 C.4.1.1.4). */
  pendingWithoutKey: 0xff01,
  canceled: 0xfe00,
  moveDestinationUnknown: 0xa801,
  /** Out of resources: no sub-operation could be carried out (PS3.4 C.4.2.1.5). */
  subOperationsFailed: 0xa702,
  subOperationsWarning: 0xb000,
  outOfResources: 0xa700,
  invalidAttributeValue: 0x0106,
  /**
   * A general failure, as a C-STORE status (PS3.7 C.5.8) and as a Failure Reason (PS3.3 C.14.1.1).
   * For MPPS, it means that the step is in a final state and may no longer be updated (PS3.4
   * F.7.2.2.3).
   */
  processingFailure: 0x0110,
  duplicateSopInstance: 0x0111,
  noSuchSopInstance: 0x0112,
  noSuchSopClass: 0x0118,
  classInstanceConflict: 0x0119,
  missingAttributeValue: 0x0121,
  noSuchAction: 0x0123,
  unrecognizedOperation: 0x0211,
} as const;

/**
 * Returns true if the status of a C-STORE response is a warning, after which the peer has the
 * object: 0001H, 0107H, 0116H and Bxxx (PS3.7 C.1.3).
 */
export function isWarning(status: number): boolean {
  return (status & 0xf000) === 0xb000 || [0x0001, 0x0107, 0x0116].includes(status);
}

/** Returns a status in the notation of the standard, such as `A700H`. */
export function statusHex(status: number): string {
  return `${hexDigits(status)}H`;
}

/** Returns the four hexadecimal digits of a status. */
export function hexDigits(status: number): string {
  return status.toString(16).toUpperCase().padStart(4, '0');
}

/**
 * Returns the service provider's A-ABORT for an error; "reason not specified" if the catalogue has
 * no reason for it.
 */
export function abortFor(code: ErrorCode): Abort {
  const [source, reason] = numbers(code, 'abort ') ?? [];
  return { source: source ?? 2, reason: reason ?? 0 };
}

/**
 * Returns the A-ASSOCIATE-RJ for an error; "no reason given" by the service user if the catalogue
 * has no rejection for it.
 */
export function rejectionFor(code: ErrorCode): Rejection {
  const [result, source, reason] = numbers(code, 'reject ') ?? [];
  return { result: result ?? 1, source: source ?? 1, reason: reason ?? 1 };
}

/**
 * Returns the DIMSE status of a failed request. An error that is not from the catalogue, such as an
 * unreachable database, or that has no status there is answered with A700H (out of resources).
 */
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
