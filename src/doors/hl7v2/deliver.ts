import type { Socket } from 'node:net';
import type { Hl7v2Destination } from '../../../config/schema.ts';
import type { Withdrawal } from '../../../pipelines/contract/withdrawal.ts';
import type { Subject } from '../../../pipelines/dicom/subject.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import type { ReceivedRevision } from '../../core/outbox/deliveries.ts';
import {
  type Deliverer,
  failed,
  type RequestDelivery,
  type SendOutcome,
} from '../../core/outbox/delivery.ts';
import { NOT_PRESENT } from '../../core/outbox/withdrawals.ts';
import type { ResultReader } from '../../core/requests/request.ts';
import { readEnvelope } from '../../core/requests/results.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import {
  type CharacterSet,
  characterSetFor,
  componentOf,
  decodeMessage,
  decodeText,
  encodeMessage,
  encodeText,
  type Segment,
} from './message.ts';
import { connected, exchange } from './mllp.ts';
import { controlIdOf, type OruInput, oruR01, type WithdrawalInput, withdrawalR01 } from './oru.ts';

/** `object` of a delivery by HL7 v2 (config/peers.ts). */
const ORU = 'oru-r01';

/** Opens a connection to a receiver, with TLS if its settings require it. */
type Dial = (receiver: Pick<Hl7v2Destination, 'host' | 'port' | 'tls'>) => Promise<Socket>;

interface Hl7v2DelivererDeps {
  destinations: readonly Hl7v2Destination[];
  results: Pick<ResultReader, 'result'>;
  /** Returns the subject of a request; null if its study has been removed. */
  subjectOf: (requestId: string) => Promise<Subject | null>;
  /**
   * Returns why the draft of a request is outdated: `own` if its result is signed, `another` if
   * another result of the same study and endpoint is signed; null if neither is.
   */
  signatureOver: (requestId: string) => Promise<'own' | 'another' | null>;
  /** Returns earlier requests of the same study and endpoint, newest first. */
  earlierRequests: (requestId: string) => Promise<readonly string[]>;
  /** Returns later requests of the same study and endpoint. */
  laterRequests: (requestId: string) => Promise<readonly string[]>;
  /**
   * Returns the revisions of these requests' results that the receiver already has, newest first.
   * The revision to be sent is omitted.
   */
  receivedRevisions: (
    delivery: RequestDelivery,
    requestIds: readonly string[],
  ) => Promise<readonly ReceivedRevision[]>;
  /** Returns the rendered report with the subject's identity; null if there is no report. */
  reportPdf: (result: Result, subject: Subject) => Promise<Buffer | null>;
  dial: Dial;
}

/** Creates the deliverer with which the outbox sends results as ORU^R01 messages over MLLP. */
export function createHl7v2Deliverer(deps: Hl7v2DelivererDeps): Deliverer<'hl7v2'> {
  return overMllp('hl7v2', deps, async (delivery, receiver) => {
    const content = await contentOf(delivery, receiver, deps);
    if ('outcome' in content) return content;
    return (message) => oruR01({ ...content, ...message });
  });
}

interface Hl7v2WithdrawerDeps
  extends Pick<
    Hl7v2DelivererDeps,
    | 'destinations'
    | 'results'
    | 'subjectOf'
    | 'earlierRequests'
    | 'laterRequests'
    | 'receivedRevisions'
    | 'dial'
  > {
  /** Returns the withdrawal of a request's result. */
  withdrawalOf: (requestId: string) => Promise<Withdrawal>;
}

/** Creates the deliverer with which the outbox withdraws results by ORU^R01 messages over MLLP. */
export function createHl7v2Withdrawer(deps: Hl7v2WithdrawerDeps): Deliverer<'hl7v2-withdrawal'> {
  return overMllp('hl7v2-withdrawal', deps, async (delivery) => {
    const content = await withdrawnContent(delivery, deps);
    if ('outcome' in content) return content;
    return (message) => withdrawalR01({ ...content, ...message });
  });
}

/** The parts of a message that depend on the receiver and the delivery, not on the result. */
interface Envelope {
  destination: Hl7v2Destination;
  controlId: string;
  characterSet: CharacterSet;
}

/** Builds a message in a character set. */
type Build = (envelope: Envelope) => Segment[];

/**
 * Creates a deliverer that sends one message for each delivery.
 * @param prepare returns how the message is built, or the outcome if nothing is sent.
 */
function overMllp<Kind extends 'hl7v2' | 'hl7v2-withdrawal'>(
  kind: Kind,
  { destinations, dial }: Pick<Hl7v2DelivererDeps, 'destinations' | 'dial'>,
  prepare: (delivery: RequestDelivery, receiver: Hl7v2Destination) => Promise<Build | SendOutcome>,
): Deliverer<Kind> {
  const receivers = new Map(destinations.map((one) => [one.name, one]));
  const inTime = ({ timeoutSeconds }: Hl7v2Destination, signal: AbortSignal) =>
    AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]);
  return {
    kind,
    async send(delivery, signal) {
      const receiver = receivers.get(delivery.destination);
      if (!receiver) {
        return failed(
          'destination_not_configured',
          `There is no HL7 v2 receiver named "${delivery.destination}".`,
        );
      }
      const build = await prepare(delivery, receiver);
      if ('outcome' in build) return build;
      const controlId = controlIdOf(delivery.id);
      const message = messageOf(build, receiver, controlId);
      try {
        const open = () => dial(receiver);
        const answer = await exchange(message, open, inTime(receiver, signal));
        return outcomeOfAcknowledgment(answer, controlId);
      } catch (error) {
        if (!(error instanceof SonogateError)) throw error;
        return failed(error.code, error.detail);
      }
    },
    async probe(name, signal) {
      const receiver = receivers.get(name);
      if (!receiver) return undefined;
      try {
        const socket = await connected(() => dial(receiver), inTime(receiver, signal));
        socket.destroy();
        return null;
      } catch (error) {
        return error instanceof SonogateError ? error.code : 'peer_unreachable';
      }
    },
  };
}

/**
 * Encodes a message in the receiver's preferred character set, or in UTF-8 if that set lacks one of
 * its characters.
 */
function messageOf(build: Build, destination: Hl7v2Destination, controlId: string): Buffer {
  const { characterSet: preferred } = destination;
  const textIn = (characterSet: CharacterSet) =>
    encodeMessage(build({ destination, controlId, characterSet }));
  const text = textIn(preferred);
  const characterSet = characterSetFor(text, preferred);
  return encodeText(characterSet === preferred ? text : textIn(characterSet), characterSet);
}

type Content = Pick<OruInput, 'result' | 'fillerOrderNumber' | 'former' | 'subject' | 'pdf'>;

const NOT_SENT = {
  own: 'Not sent: the result has been signed in the meantime',
  another: 'Not sent: another result of the study is signed, which a draft must not follow',
  later: 'Not sent: the receiver already has a later signature of the result',
  newer: 'Not sent: the receiver already has a later result of the study',
} as const;

/** Returns the content of a message, or the reason why nothing can be sent. */
async function contentOf(
  delivery: RequestDelivery,
  { pdf }: Pick<Hl7v2Destination, 'pdf'>,
  deps: Hl7v2DelivererDeps,
): Promise<Content | SendOutcome> {
  const { results, subjectOf, reportPdf } = deps;
  const { requestId, resultRevision } = delivery;
  const notSent = (why: keyof typeof NOT_SENT): SendOutcome => ({
    outcome: 'delivered',
    notSent: true,
    detail: NOT_SENT[why],
  });
  const signature = resultRevision === 0 ? await deps.signatureOver(requestId) : null;
  if (signature) return notSent(signature);
  const earlier = await deps.earlierRequests(requestId);
  const later = await deps.laterRequests(requestId);
  const received = await deps.receivedRevisions(delivery, [...later, requestId, ...earlier]);
  if (received.some((one) => one.request === requestId && one.revision > resultRevision)) {
    return notSent('later');
  }
  // A signed result replaces every draft, even one of a later request.
  if (
    received.some(
      (one) => later.includes(one.request) && one.revision >= Math.min(resultRevision, 1),
    )
  ) {
    return notSent('newer');
  }
  const read = (request: string, revision: number) => readEnvelope(results, request, revision);
  const result = await read(requestId, resultRevision);
  const subject = await subjectOf(requestId);
  if (!result || !subject) {
    return failed('expired', 'The result or its study has been removed.');
  }
  if (!subject.identity) return failed('expired', 'The request has no patient.');
  if (subject.identity.PatientID.trim() === '') {
    return failed('patient_id_missing', 'PID-3 requires a patient ID.');
  }
  const own = { ...subject, identity: subject.identity, signedRevision: resultRevision };
  const former = await Promise.all(
    upToConfirmed(received).map(({ request, revision }) => read(request, revision)),
  );
  return {
    result,
    fillerOrderNumber: earlier.at(-1) ?? requestId,
    former: former.filter((one) => one !== null),
    subject: own,
    pdf: pdf ? await reportPdf(result, own) : null,
  };
}

type WithdrawnContent = Omit<WithdrawalInput, keyof Envelope>;

/** Returns the content of a message that withdraws a result, or the reason why nothing is sent. */
async function withdrawnContent(
  delivery: RequestDelivery,
  { results, subjectOf, withdrawalOf, ...deps }: Hl7v2WithdrawerDeps,
): Promise<WithdrawnContent | SendOutcome> {
  const { requestId } = delivery;
  const later = await deps.laterRequests(requestId);
  const received = await deps.receivedRevisions({ ...delivery, object: ORU }, [
    ...later,
    requestId,
  ]);
  // All results of a study and endpoint have one filler order number. A later result has therefore
  // replaced this one at the receiver, unless this one was signed after the later draft had been
  // sent.
  const last = received.find(({ confirmed }) => confirmed);
  if (last && later.includes(last.request)) {
    return { outcome: 'delivered', notSent: true, detail: NOT_SENT.newer };
  }
  const own = upToConfirmed(received.filter(({ request }) => request === requestId));
  if (own.length === 0) return NOT_PRESENT;
  const read = await Promise.all(
    own.map(({ revision }) => readEnvelope(results, requestId, revision)),
  );
  const sent = read.filter((one) => one !== null);
  const [result] = sent;
  const subject = await subjectOf(requestId);
  if (!result || !subject?.identity) {
    return failed('expired', 'The result or its study has been removed.');
  }
  const earlier = await deps.earlierRequests(requestId);
  return {
    result,
    sent,
    fillerOrderNumber: earlier.at(-1) ?? requestId,
    subject: { ...subject, identity: subject.identity },
    withdrawal: await withdrawalOf(requestId),
  };
}

/**
 * Returns the revisions whose values a receiver may still have: the newest revision that the
 * receiver confirmed, and revisions sent later without a clear response.
 */
function upToConfirmed(received: readonly ReceivedRevision[]): readonly ReceivedRevision[] {
  const newest = received.findIndex(({ confirmed }) => confirmed);
  return newest < 0 ? received : received.slice(0, newest + 1);
}

/**
 * Error codes of HL7 table 0357, from ERR-3 or, before version 2.5, from ERR-1. The first four mean
 * that the receiver does not support the type, event, processing ID or version of the message.
 */
const NEVER_ACCEPTED = ['200', '201', '202', '203'];
const RECORD_LOCKED = '206';
const INTERNAL_ERROR = '207';

/**
 * Returns the outcome of a delivery from its acknowledgment (HL7 2.5.1, chapter 2.9.2):
 *
 * - AA, CA: accepted.
 * - AE, CE: the content is refused. The failure is permanent, unless the receiver states a cause on
 *   its side (record locked, internal error).
 * - AR, CR: the failure is permanent if the type, event, processing ID or version is not supported.
 *   Otherwise the message was refused for "a reason unrelated to its content", such as a system
 *   that is down, and the failure is transient.
 *
 * If the answer is unreadable or refers to another message, the outcome is unknown: ambiguous.
 */
export function outcomeOfAcknowledgment(bytes: Buffer, controlId: string): SendOutcome {
  let segments: Segment[];
  try {
    segments = decodeMessage(decodeText(bytes));
  } catch {
    return failed('peer_answer_unclear', 'The response is not an HL7 version 2 message.');
  }
  const msa = segments.find(({ name }) => name === 'MSA');
  if (!msa || componentOf(msa, 2) !== controlId) {
    return failed(
      'peer_answer_unclear',
      'The acknowledgment does not belong to the message that was sent.',
    );
  }
  const code = componentOf(msa, 1);
  const errors = segments.filter(({ name }) => name === 'ERR').map(errorOf);
  const detail = [`Acknowledgment ${code}`, ...errors.map(({ text }) => text)].join('; ');
  const names = (codes: readonly string[]) => errors.some((error) => codes.includes(error.code));
  switch (code) {
    case 'AA':
    case 'CA':
      return { outcome: 'delivered', detail };
    case 'AE':
    case 'CE':
      return names([RECORD_LOCKED, INTERNAL_ERROR])
        ? failed('receiver_busy', detail)
        : failed('receiver_rejected', detail);
    case 'AR':
    case 'CR':
      return names(NEVER_ACCEPTED)
        ? failed('receiver_rejected', detail)
        : failed('receiver_busy', detail);
    default:
      return failed('peer_answer_unclear', 'The acknowledgment has no code from table 0008.');
  }
}

/**
 * Returns the code and location of an error. Its texts are omitted, because a receiver may repeat
 * patient data in them.
 */
function errorOf(error: Segment): { code: string; text: string } {
  const code = componentOf(error, 3) || componentOf(error, 1, 4);
  const place = [componentOf(error, 2), componentOf(error, 2, 2), componentOf(error, 2, 3)].filter(
    Boolean,
  );
  const safe = (part: string) => part.replace(/[^\w.-]/g, '').slice(0, 20);
  const where = place.length > 0 ? ` at ${place.map(safe).join('-')}` : '';
  return { code, text: `error ${safe(code) || 'without a code'}${where}` };
}
