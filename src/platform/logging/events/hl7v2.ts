import { event } from '../event.ts';

/** Describes one message without identifying its patient. */
interface MessageLine {
  sender: string;
  type: string;
  control: string;
}

export const HL7V2_EVENTS = {
  hl7_listener_open: event<{ host: string; port: number }>({
    level: 'info',
    text: 'HL7 v2 listener open',
    meaning: 'The listener accepts connections from the configured senders.',
  }),
  hl7_listener_failed: event<{ error: string }>({
    level: 'error',
    text: 'HL7 v2 listener failed',
    meaning: 'The listening socket reported an error.',
    action: 'Check the open-file limits and the network of this host.',
  }),
  hl7_connection_refused: event<{ address: string; reason: string }>({
    level: 'warn',
    text: 'HL7 v2 connection refused',
    meaning:
      'The address matches no configured sender, there are too many connections, or TLS could not be negotiated.',
    action: 'Compare the address and the certificates with `hl7v2.senders`.',
  }),
  hl7_connection_lost: event<{ sender: string; code: string }>({
    level: 'info',
    text: 'HL7 v2 connection ended',
    meaning:
      'A connection was reset by its sender, or was closed because the sender was silent or too slow.',
  }),
  hl7_frame_broken: event<{ sender: string; why: string }>({
    level: 'warn',
    text: 'HL7 v2 framing error, message not read',
    meaning:
      'Bytes arrived without the MLLP start block character, or a message without the end block characters. No acknowledgment was sent, so the sender repeats the message.',
    action: 'If it happens again, check the sender or the network.',
  }),
  hl7_message_accepted: event<MessageLine & { orders: number; studies: number }>({
    level: 'info',
    text: 'HL7 v2 message accepted',
    meaning: 'The message was processed; `studies` is the number of studies whose patient changed.',
  }),
  hl7_message_refused: event<
    MessageLine & { acknowledgment: string; code: number; place: string; reason: string }
  >({
    level: 'warn',
    text: 'HL7 v2 message refused',
    meaning:
      'The message was answered with AE or AR and an error code from table 0357, and had no effect.',
    action: 'Correct the message or the settings of its sender (docs/hl7v2.md).',
  }),
  hl7_patient_unlike: event<MessageLine & { unlike: number }>({
    level: 'warn',
    text: 'HL7 v2 patient update or merge not applied to studies that seem to belong to another patient',
    meaning:
      'The message has the patient ID of these studies but a different name and birth date, or it merges an ID that was merged before and states a different birth date. The ID may have been assigned to two people, so the studies keep their patient data. `unlike` is the number of these studies; the audit trail lists them.',
    action:
      'Compare the patients. If they are the same person, have the sender correct the name and the birth date in two separate messages, or merge the IDs (ADT^A40). If the ID was merged before, undo that merge first (`npx sonogate patients separate`).',
  }),
  hl7_message_failed: event<MessageLine & { err: unknown }>({
    level: 'error',
    text: 'HL7 v2 message could not be stored',
    meaning: 'The message was answered with AR and error 207; the sender repeats it.',
    action: 'Check the database.',
  }),
  hl7_not_cleaned: event<{ err: unknown }>({
    level: 'warn',
    text: 'old orders could not be removed, will retry',
    meaning: 'Orders and stored acknowledgments older than `hl7v2.keepDays` were not removed.',
    action: 'Check the database.',
  }),
} as const;
