import { createHash } from 'node:crypto';
import type { Hl7v2Listener } from '../../../../config/hl7v2.ts';
import type { WriteAudit } from '../../../core/audit/audit.ts';
import { type ChangeSource, updatePatient } from '../../../core/patients/corrections.ts';
import { mergePatients } from '../../../core/patients/merges.ts';
import { recordOrders } from '../../../core/studies/received-orders.ts';
import type { Database, Queryable } from '../../../platform/database/port.ts';
import type { Logger } from '../../../platform/logging/logger.ts';
import { encodeMessage, encodeText, type Segment, segment } from '../message.ts';
import { controlIdOf, utcTimestamp } from '../oru.ts';
import { effectiveAt, type Header, headerOf, readMessage, requireAccepted } from './header.ts';
import { ordersIn } from './orders.ts';
import { mergesIn, type PatientIdSettings, updateIn } from './patients.ts';
import { errorText, Hl7Refusal } from './refusal.ts';

/** The sender at the other end of a connection, identified by its address. */
export interface Hl7Peer {
  /** Name of the sender in the settings. */
  sender: string;
  address: string;
  /** Sending applications (MSH-3) that the sender may use; an empty list permits all. */
  applications: readonly string[];
}

export interface AnswerParts {
  settings: Pick<Hl7v2Listener, 'processingIds' | 'characterSet'> & PatientIdSettings;
  database: Database;
  writeAudit: WriteAudit;
  logger: Logger;
  now: () => Date;
}

/** Key of the advisory lock that serializes the processing of messages: "HL7v" in ASCII. */
const ADVISORY_LOCK = 0x484c3776;

/**
 * Processes a message and returns its acknowledgments, unframed. A message is accepted only after
 * its changes have been committed. A message that was accepted before receives the same answers
 * again and has no further effect.
 */
export async function answerTo(
  bytes: Buffer,
  peer: Hl7Peer,
  parts: AnswerParts,
): Promise<Buffer[]> {
  const header = headerOf(bytes);
  const digest = createHash('sha256').update(bytes).digest('hex');
  try {
    requireApplication(header, peer);
    requireAccepted(header, parts.settings);
    const segments = readMessage(bytes, parts.settings.characterSet);
    const { name: sender, control } = keysOf(header);
    return await parts.database.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
      const { rows } = await tx.query<{ answers: Uint8Array[] }>(
        'SELECT answers FROM hl7_messages WHERE sender = $1 AND control_id = $2 AND digest = $3',
        [sender, control, digest],
      );
      const [former] = rows;
      if (former) return former.answers.map((answer) => Buffer.from(answer));
      await carryOut(tx, segments, { header, peer, parts });
      const answers = answersOf({ header, digest, refusal: null, at: parts.now() });
      await tx.query(
        `INSERT INTO hl7_messages (sender, control_id, digest, received_at, answers)
         VALUES ($1, $2, $3, $4, $5)`,
        [sender, control, digest, parts.now(), answers],
      );
      return answers;
    });
  } catch (error) {
    return refuse(error, { header, digest, peer, parts });
  }
}

/** Removes the stored answers to messages that arrived before a given time. */
export async function forgetAnswers(database: Queryable, before: Date): Promise<void> {
  await database.query('DELETE FROM hl7_messages WHERE received_at < $1', [before]);
}

/** Answers a message that is too large, of which only the beginning has been read. */
export function refuseTooLarge(
  start: Buffer,
  peer: Hl7Peer,
  { most, parts }: { most: number; parts: AnswerParts },
): Promise<Buffer[]> {
  const digest = createHash('sha256').update(start).digest('hex');
  const refusal = new Hl7Refusal('AE', 102, null, `A message has at most ${most} bytes.`);
  return refuse(refusal, { header: headerOf(start), digest, peer, parts });
}

const keysOf = ({ sendingApplication, sendingFacility, controlId }: Header) => ({
  name: `${sendingApplication}|${sendingFacility}`,
  control: controlId,
});

function requireApplication({ sendingApplication }: Header, { applications }: Hl7Peer): void {
  if (applications.length === 0 || applications.includes(sendingApplication)) return;
  const place = { segment: 'MSH', sequence: 1, field: 3 };
  throw new Hl7Refusal('AR', 103, place, 'Messages of this application are not accepted.');
}

async function carryOut(
  tx: Queryable,
  segments: readonly Segment[],
  { header, peer, parts }: { header: Header; peer: Hl7Peer; parts: AnswerParts },
): Promise<void> {
  const { now, settings, logger } = parts;
  const source: ChangeSource = {
    sender: peer.sender,
    address: peer.address,
    controlId: printable(header.controlId),
    receivedAt: now(),
    effectiveAt: effectiveAt(segments),
  };
  const counts = { orders: 0, studies: 0 };
  let unlike = 0;
  if (header.type !== 'ADT') {
    const orders = ordersIn(segments, header, settings);
    await recordOrders(tx, orders, source);
    counts.orders = orders.length;
  } else if (header.event === 'A08') {
    const reached = await updatePatient(tx, updateIn(segments, settings), source);
    counts.studies = reached.corrected;
    unlike = reached.unlike;
  } else {
    for (const merge of mergesIn(segments, settings)) {
      const reached = await mergePatients(tx, merge, source);
      counts.studies += reached.corrected.length;
      unlike += reached.unlike.length;
    }
  }
  if (unlike > 0) logger.event('hl7_patient_unlike', { ...lineOf(header, peer), unlike });
  logger.event('hl7_message_accepted', { ...lineOf(header, peer), ...counts });
}

/** Makes a control ID or message type safe to log, because the sender can put any text in it. */
const printable = (text: string) => text.replace(/[^\w.-]/g, '').slice(0, 50);

const lineOf = ({ type, event, controlId }: Header, { sender }: Hl7Peer) => ({
  sender,
  type: printable(`${type}-${event}`),
  control: printable(controlId),
});

/** Records why a message is refused, and answers it. */
async function refuse(
  error: unknown,
  {
    header,
    digest,
    peer,
    parts,
  }: { header: Header; digest: string; peer: Hl7Peer; parts: AnswerParts },
): Promise<Buffer[]> {
  const { writeAudit, logger, now } = parts;
  const line = lineOf(header, peer);
  const refusal =
    error instanceof Hl7Refusal
      ? error
      : new Hl7Refusal('AR', 207, null, 'The message could not be stored.');
  const { acknowledgment, code, place } = refusal;
  if (refusal.isTransient) logger.event('hl7_message_failed', { ...line, err: error });
  const where = place
    ? [place.segment, place.field, place.component].filter(Boolean).join('-')
    : '';
  const why = { acknowledgment, code, place: where, reason: refusal.message };
  logger.event('hl7_message_refused', { ...line, ...why });
  try {
    await writeAudit({
      at: now(),
      action: 'hl7v2.refused',
      actor: `node:${peer.sender}`,
      address: peer.address,
      outcome: refusal.isTransient ? 'failed' : 'refused',
      detail: { type: line.type, control: line.control, ...why },
    });
  } catch (failure) {
    logger.event('hl7_message_failed', { ...line, err: failure });
  }
  return answersOf({ header, digest, refusal, at: now() });
}

interface Outcome {
  header: Header;
  digest: string;
  refusal: Hl7Refusal | null;
  at: Date;
}

/**
 * Returns the acknowledgments of a message. In original mode there is one, with AA, AE or AR. In
 * enhanced mode (HL7 2.5.1, chapter 2.9.3), MSH-15 and MSH-16 determine which are sent: CA, CE or
 * CR, then AA, AE or AR.
 */
function answersOf(outcome: Outcome): Buffer[] {
  const { acceptAcknowledgment: accept, applicationAcknowledgment: application } = outcome.header;
  const code = outcome.refusal?.acknowledgment ?? 'AA';
  if (accept === '' && application === '') return [acknowledgment(outcome, code)];
  const wanted = (condition: string) =>
    condition === 'AL' || condition === (outcome.refusal ? 'ER' : 'SU');
  return [
    ...(wanted(accept) ? [acknowledgment(outcome, code.replace('A', 'C'))] : []),
    ...(wanted(application) ? [acknowledgment(outcome, code)] : []),
  ];
}

function acknowledgment({ header, digest, refusal, at }: Outcome, code: string): Buffer {
  const segments = [
    segment('MSH', {
      3: header.receivingApplication,
      4: header.receivingFacility,
      5: header.sendingApplication,
      6: header.sendingFacility,
      7: utcTimestamp(at.toISOString()),
      9: header.event ? ['ACK', header.event, 'ACK'] : 'ACK',
      10: controlIdOf(`${code}${digest}`),
      11: header.processingId || 'P',
      12: header.version || '2.5.1',
    }),
    segment('MSA', { 1: code, 2: header.controlId }),
    ...(refusal ? [errorSegment(refusal, header.version)] : []),
  ];
  // The header was read as Latin-1, so this reproduces the sender's bytes.
  return encodeText(encodeMessage(segments), '8859/1');
}

/** The first version with ERR-2 to ERR-8. Earlier versions have the location and code in ERR-1. */
const MODERN = '2.5';

function errorSegment(refusal: Hl7Refusal, version: string): Segment {
  const { code, place } = refusal;
  const { segment: name = '', sequence = '', field = '', component = '' } = place ?? {};
  const coded = [String(code), errorText(code), 'HL70357'];
  if (version !== '' && version < MODERN) {
    return segment('ERR', { 1: [name, String(sequence), String(field), coded] });
  }
  const hint = refusal.isTransient
    ? 'Send the same message again later.'
    : 'The same message will be refused again.';
  return segment('ERR', {
    2: name ? [name, String(sequence || 1), String(field), '1', String(component)] : '',
    3: coded,
    4: 'E',
    8: `${refusal.message} ${hint}`,
  });
}
