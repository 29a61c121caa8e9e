import { event } from '../event.ts';

/** Describes one message, without its patient. */
interface MessageLine {
  sender: string;
  type: string;
  control: string;
}

/** HL7 version 2 messages received by this gateway. */
export const HL7V2_EVENTS = {
  hl7ListenerOpen: event<{ host: string; port: number }>({
    id: 'hl7_listener_open',
    level: 'info',
    text: 'HL7 v2 listener open',
    meaning: 'The listener accepts connections of the configured senders.',
    action: null,
  }),
  hl7ListenerFailed: event<{ error: string }>({
    id: 'hl7_listener_failed',
    level: 'error',
    text: 'HL7 v2 listener failed',
    meaning: 'The listening socket reported an error.',
    action: 'Check limits of open files and the network of this machine.',
  }),
  hl7ConnectionRefused: event<{ address: string; reason: string }>({
    id: 'hl7_connection_refused',
    level: 'warn',
    text: 'HL7 v2 connection refused',
    meaning:
      'The address belongs to no sender, there are too many connections, or TLS could not be negotiated.',
    action: 'Compare the address with `hl7v2.senders`, and the certificates.',
  }),
  hl7ConnectionLost: event<{ sender: string; code: string }>({
    id: 'hl7_connection_lost',
    level: 'info',
    text: 'HL7 v2 connection ended',
    meaning:
      'A sender closed its connection without ending it, or it was closed because it was silent or too slow.',
    action: null,
  }),
  hl7FrameBroken: event<{ sender: string; why: string }>({
    id: 'hl7_frame_broken',
    level: 'warn',
    text: 'HL7 v2 frame broken, message not read',
    meaning:
      'Bytes came without the start mark of MLLP, or a message without its end mark. It was not answered, so that its sender repeats it.',
    action: 'Check the sender or the network if this happens again.',
  }),
  hl7MessageAccepted: event<MessageLine & { orders: number; studies: number }>({
    id: 'hl7_message_accepted',
    level: 'info',
    text: 'HL7 v2 message accepted',
    meaning:
      'The message was carried out; `studies` is the number of studies whose patient changed.',
    action: null,
  }),
  hl7MessageRefused: event<
    MessageLine & { acknowledgment: string; code: number; place: string; reason: string }
  >({
    id: 'hl7_message_refused',
    level: 'warn',
    text: 'HL7 v2 message refused',
    meaning:
      'The message was answered with AE or AR and an error of table 0357, and changed nothing.',
    action: 'Correct the message or the settings of its sender (docs/hl7v2.md).',
  }),
  hl7PatientUnlike: event<MessageLine & { unlike: number }>({
    id: 'hl7_patient_unlike',
    level: 'warn',
    text: 'HL7 v2 patient update not applied to studies of another patient',
    meaning:
      'The message has the patient ID of these studies, but another name and another birth date. The ID may have been given to two persons, so the studies keep their patient. `unlike` is their number; the audit names them.',
    action:
      'Compare the patients. If they are one person, let the sender correct name and birth date in two messages, or merge the IDs (ADT^A40).',
  }),
  hl7MessageFailed: event<MessageLine & { err: unknown }>({
    id: 'hl7_message_failed',
    level: 'error',
    text: 'HL7 v2 message could not be stored',
    meaning: 'The message was answered with AR and error 207; its sender repeats it.',
    action: 'Check the database.',
  }),
  hl7NotCleaned: event<{ err: unknown }>({
    id: 'hl7_not_cleaned',
    level: 'warn',
    text: 'old orders could not be removed, will retry',
    meaning: 'Orders and answers that are older than `hl7v2.keepDays` were not removed.',
    action: 'Check the database.',
  }),
} as const;
