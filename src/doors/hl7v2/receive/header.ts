import {
  componentOf,
  decodeMessage,
  decoderOf,
  NotHl7,
  repetitionsOf,
  type Segment,
  writtenHeaderField,
} from '../message.ts';
import { contentError, Hl7Refusal } from './refusal.ts';

export interface Header {
  sendingApplication: string;
  sendingFacility: string;
  receivingApplication: string;
  receivingFacility: string;
  /** MSH-9.1, such as `ORM`. */
  type: string;
  /** MSH-9.2, the trigger event, such as `O01`. */
  event: string;
  controlId: string;
  processingId: string;
  version: string;
  /** Accept and application acknowledgment types (MSH-15, MSH-16); '' for both in original mode. */
  acceptAcknowledgment: string;
  applicationAcknowledgment: string;
}

/** Reads the fields that the answer needs, even if the rest of the message is invalid. */
export function headerOf(bytes: Buffer): Header {
  const part = (field: number, component = 1) =>
    writtenHeaderField(bytes, field).split(writtenHeaderField(bytes, 2)[0] ?? '^')[component - 1] ??
    '';
  return {
    sendingApplication: part(3),
    sendingFacility: part(4),
    receivingApplication: part(5),
    receivingFacility: part(6),
    type: part(9),
    event: part(9, 2),
    controlId: part(10),
    processingId: part(11),
    version: part(12),
    acceptAcknowledgment: part(15),
    applicationAcknowledgment: part(16),
  };
}

/** The trigger events that the gateway processes, by message type. */
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  ORM: ['O01'],
  OMI: ['O23'],
  OMG: ['O19'],
  ADT: ['A08', 'A40'],
};
/** Versions 2.2 to 2.9 (table 0104); earlier versions have different fields. */
const VERSION = /^2\.[2-9](\.[0-9])?$/;
/** Longest control ID (ST 199 in version 2.7; earlier versions allow 20 or 50). */
const LONGEST_CONTROL_ID = 199;

/**
 * Checks that this gateway accepts a message.
 * @throws Hl7Refusal
 */
export function requireAccepted(
  { type, event, controlId, processingId, version }: Header,
  { processingIds }: { processingIds: readonly string[] },
): void {
  const at = (field: number, component?: number) => ({
    segment: 'MSH',
    sequence: 1,
    field,
    ...(component && { component }),
  });
  if (!VERSION.test(version)) {
    throw new Hl7Refusal('AR', 203, at(12), 'Accepted versions are 2.2 to 2.9.');
  }
  if (!processingIds.includes(processingId)) {
    const reason = `Accepted processing IDs are ${processingIds.join(', ')}.`;
    throw new Hl7Refusal('AR', 202, at(11), reason);
  }
  const events = Object.hasOwn(EVENTS, type) ? EVENTS[type] : undefined;
  if (!events) {
    const types = Object.keys(EVENTS).join(', ');
    throw new Hl7Refusal('AR', 200, at(9, 1), `Accepted message types are ${types}.`);
  }
  if (!events.includes(event)) {
    throw new Hl7Refusal(
      'AR',
      201,
      at(9, 2),
      `Accepted events of ${type} are ${events.join(', ')}.`,
    );
  }
  if (controlId === '' || controlId.length > LONGEST_CONTROL_ID) {
    throw contentError(101, at(10), 'A message needs a control ID of at most 199 characters.');
  }
}

/**
 * Decodes a message strictly: bytes that are invalid in its character set are refused, because they
 * would corrupt names.
 * @param otherwise character set of messages without MSH-18.
 * @throws Hl7Refusal
 */
export function readMessage(bytes: Buffer, otherwise: string): Segment[] {
  const [stated = ''] = writtenHeaderField(bytes, 18).split(/[~^]/);
  const set = stated || otherwise;
  const place = { segment: 'MSH', sequence: 1, field: 18 };
  const decoder = decoderOf(set, true);
  if (!decoder)
    throw contentError(103, place, 'Accepted: ASCII, UNICODE UTF-8, 8859/1 to 8859/15.');
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw contentError(102, place, 'The message has bytes that its character set does not have.');
  }
  if (set === 'ASCII' && !/^\p{ASCII}*$/u.test(text)) {
    throw contentError(102, place, 'The message has characters that ASCII does not have.');
  }
  const segments = decoded(text);
  // PostgreSQL cannot store U+0000, so such a message could never be processed.
  const damaged = segments.find(({ fields }) => fields.flat(3).some((part) => part.includes('\0')));
  if (damaged) {
    const name = damaged.name.replaceAll(/\W/g, '');
    throw contentError(102, { segment: name }, 'The message has the character U+0000.');
  }
  return segments;
}

function decoded(text: string): Segment[] {
  try {
    return decodeMessage(text);
  } catch (error) {
    if (!(error instanceof NotHl7)) throw error;
    throw contentError(100, { segment: 'MSH' }, 'The message does not begin with MSH.');
  }
}

/** The HL7 null value, with which a sender removes a value (HL7 2.5.1, chapter 2.5.3). */
const REMOVED = '""';

/** Returns a component of a field's first repetition as text; '' if it is absent or removed. */
export function statedText(segment: Segment | undefined, field: number, component = 1): string {
  if (!segment) return '';
  const value = componentOf(segment, field, component).trim();
  return value === REMOVED ? '' : value;
}

/** True if the sender removes the value of a field. */
export const isRemoved = (segment: Segment, field: number): boolean =>
  repetitionsOf(segment, field)[0]?.[0]?.[0]?.trim() === REMOVED;

const TIMESTAMP =
  /^([12]\d{3})(\d{2})(\d{2})(?:(\d{2})(\d{2})(?:(\d{2})(\.\d{1,4})?)?)?([+-]\d{2}\d{2})?$/;

/**
 * Returns the instant of a TS, or null for any other text. A TS without an offset is read in the
 * time zone of this host.
 */
export function instantOf(text: string): Date | null {
  const match = TIMESTAMP.exec(text);
  if (!match) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', part = '', offset = ''] =
    match;
  const zone = offset && `${offset.slice(0, 3)}:${offset.slice(3)}`;
  const instant = new Date(
    `${year}-${month}-${day}T${hour}:${minute}:${second}${part.slice(0, 4)}${zone}`,
  );
  return Number.isNaN(instant.getTime()) ? null : instant;
}

/** Returns the date of a TS or DT as YYYYMMDD; '' if it has no day or the day does not exist. */
export function dayOf(text: string): string {
  const day = /^\d{8}/.exec(text)?.[0] ?? '';
  const written = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
  const parsed = new Date(`${written}T00:00:00Z`);
  return day !== '' && !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(written)
    ? day
    : '';
}

/**
 * Returns when a change was made: EVN-2, otherwise MSH-7.
 * @throws Hl7Refusal
 */
export function effectiveAt(segments: readonly Segment[]): Date {
  const find = (name: string) => segments.find((one) => one.name === name);
  const written = statedText(find('EVN'), 2) || statedText(find('MSH'), 7);
  const instant = instantOf(written);
  if (instant) return instant;
  const place = { segment: 'MSH', sequence: 1, field: 7 };
  throw contentError(written === '' ? 101 : 102, place, 'A message needs its date and time.');
}
