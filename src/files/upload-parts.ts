import type { Readable } from 'node:stream';
import { SonogateError } from '../errors/catalogue.ts';

/** A part as the client names it when it completes an upload. */
export interface NamedPart {
  part_number: number;
  etag: string;
}

/** Which bytes of the file a part holds. */
export interface PartState {
  partNumber: number;
  firstByte: number;
  bytes: number;
  /** Without quotation marks; null until the bytes have arrived. */
  etag: string | null;
}

/** The parts of files that are too large for one PUT: in any order, each whole or not at all. */
export interface UploadParts {
  state(fileId: string, bytes: number): Promise<PartState[]>;
  /** Where the client PUTs a part without the gateway, for so many seconds; null: through it. */
  url(fileId: string, part: PartState, seconds: number): Promise<string | null>;
  /**
   * Stores a part that comes through the gateway; returns its ETag.
   * @throws SonogateError `not_found`, `upload_incomplete`.
   */
  receive(
    fileId: string,
    bytes: number,
    partNumber: number,
    source: Readable,
    length: number | null,
  ): Promise<string>;
  /**
   * Puts the file together; returns its SHA-256.
   * @param named every part in ascending order with its ETag, or null for whatever has arrived
   * @throws SonogateError `upload_incomplete` naming the parts that are missing or differ.
   */
  assemble(fileId: string, bytes: number, named: readonly NamedPart[] | null): Promise<string>;
  /** Takes no more parts of a file. */
  abort(fileId: string): Promise<void>;
  /** Forgets the parts of files that are no longer pending, and their bytes. */
  removeLeftOver(): Promise<void>;
}

/** A file cut into parts of `partBytes`, the last one as long as what is left. */
export function partsOf(
  bytes: number,
  partBytes: number,
  etags: ReadonlyMap<number, string>,
): PartState[] {
  return Array.from({ length: Math.ceil(bytes / partBytes) }, (_, n) => ({
    partNumber: n + 1,
    firstByte: n * partBytes,
    bytes: Math.min(partBytes, bytes - n * partBytes),
    etag: etags.get(n + 1) ?? null,
  }));
}

/** @throws SonogateError `upload_incomplete` unless every part has arrived. */
export function checkArrived(parts: readonly PartState[]): void {
  const missing = parts.filter(({ etag }) => etag === null);
  if (missing.length > 0) throw incomplete(`missing parts: ${numbers(missing)}`);
}

/** S3's rule: every part, in ascending order, with the ETag that its PUT answered. */
export function checkNamed(parts: readonly PartState[], named: readonly NamedPart[]): void {
  checkOrder(parts, named);
  const differing = parts.filter(({ etag }, n) => unquoted(named[n]?.etag) !== etag);
  if (differing.length > 0) throw incomplete(`ETags differ: parts ${numbers(differing)}`);
}

/** The first half of that rule. @throws SonogateError `upload_incomplete`. */
export function checkOrder(parts: readonly PartState[], named: readonly NamedPart[]): void {
  const ascending = named.every(({ part_number }, n) => part_number === parts[n]?.partNumber);
  if (!ascending || named.length !== parts.length) {
    throw incomplete('`parts` names every part once, in ascending order');
  }
}

export const unquoted = (etag = ''): string => etag.replaceAll('"', '');

const numbers = (parts: readonly PartState[]): string =>
  parts.map(({ partNumber }) => partNumber).join(', ');

export function incomplete(detail: string): SonogateError {
  return new SonogateError('upload_incomplete', `${detail}; the upload can go on.`);
}
