import type { LogEvent } from './event.ts';

/** Associations, objects, studies and the DICOM services around them. */
export const DICOM_EVENTS = {
  listener_open: {
    level: 'info',
    text: 'DICOM listener',
    meaning: 'The listener accepts associations.',
    action: null,
  },
  listener_failed: {
    level: 'error',
    text: 'DICOM listener failed',
    meaning: 'The listening socket reported an error.',
    action: 'Check limits of open files and the network of this machine.',
  },
  tls_refused: {
    level: 'warn',
    text: 'TLS handshake refused',
    meaning: 'A peer could not be agreed with on TLS, or showed no certificate that is trusted.',
    action: 'Compare protocol versions and certificates; `npx sonogate doctor` shows ours.',
  },
  archive_retrieval_failed: {
    level: 'warn',
    text: 'retrieval',
    meaning: 'Objects could not be fetched from an archive.',
    action:
      'Check that the archive knows our AE title and answers queries (`npx sonogate doctor`).',
  },
  archive_round_failed: {
    level: 'error',
    text: 'archive round',
    meaning: 'Work for an archive failed unexpectedly; it is repeated.',
    action: 'Check the database.',
  },
  receipt_unaudited: {
    level: 'error',
    text: 'receipt not written to the audit',
    meaning: 'The reception of objects has no entry in the audit.',
    action: 'Check the database.',
  },
  archive_query_unaudited: {
    level: 'error',
    text: 'query not written to the audit',
    meaning: 'An archive was asked for studies of a patient, and the entry could not be written.',
    action: 'Check the database.',
  },
  studies_removed: {
    level: 'info',
    text: 'old studies removed',
    meaning: 'Received objects older than the retention allows are gone.',
    action: null,
  },
  studies_not_removed: {
    level: 'warn',
    text: 'old studies could not be removed, will retry',
    meaning: 'Received objects that may go are still there.',
    action: 'Check disk and permissions of the data folder.',
  },
  study_held: {
    level: 'info',
    text: 'study held by a person',
    meaning: 'A person keeps the study from going on.',
    action: null,
  },
  association_accepted: {
    level: 'info',
    text: 'association accepted',
    meaning: 'A peer opened an association.',
    action: null,
  },
  association_rejected: {
    level: 'warn',
    text: 'association rejected',
    meaning: 'A peer was turned away; `code` says why.',
    action: 'Do what the error of that code says; mostly a title or address missing in `sources`.',
  },
  association_aborted: {
    level: 'info',
    text: 'association aborted by the peer',
    meaning: 'The peer sent A-ABORT. What it had stored stays; its study completes by quiet time.',
    action: null,
  },
  association_idle: {
    level: 'info',
    text: 'association idle',
    meaning:
      'Nothing came, or our answers were not read, for `idleTimeoutSeconds` of the source: aborted.',
    action: 'Nothing, or raise the setting for a cart that keeps associations open.',
  },
  association_ended: {
    level: 'info',
    text: 'association ended',
    meaning: 'The association is over.',
    action: null,
  },
  association_end_unrecorded: {
    level: 'error',
    text: 'the end of an association was not recorded',
    meaning: 'The release could not be noted; the study completes by quiet time.',
    action: 'Check the database.',
  },
  association_studies: {
    level: 'info',
    text: 'association brought objects',
    meaning: 'Which studies an association brought objects of: joins association and study.',
    action: null,
  },
  connection_closed: {
    level: 'warn',
    text: 'connection closed inside an association',
    meaning: 'The peer closed the connection without release or abort.',
    action: 'Nothing, if it is the habit of the cart; else check the network.',
  },
  connection_aborted: {
    level: 'warn',
    text: 'connection aborted',
    meaning: 'The peer broke the protocol and was sent an A-ABORT.',
    action: 'Look at `code`; a port scanner shows up as `not_dicom`.',
  },
  connection_lost: {
    level: 'warn',
    text: 'connection lost',
    meaning: 'The connection broke; the object under way was dropped, the sender keeps it.',
    action: 'Check the network if it goes on.',
  },
  object_refused: {
    level: 'warn',
    text: 'object refused',
    meaning: 'A C-STORE was answered with the status in the line.',
    action: 'Do what the error says; A7xxH means that the sender will try again.',
  },
  stow_object_failed: {
    level: 'error',
    text: 'object not stored',
    meaning: 'An error of the gateway over one object of a STOW-RS call; its sender was told.',
    action: 'Send the line to the makers.',
  },
  object_quarantined: {
    level: 'warn',
    text: 'object put in quarantine',
    meaning: 'An object could not be understood; its bytes are kept in `quarantine/`.',
    action: 'Look at the file with a DICOM tool; tell the vendor.',
  },
  object_conflict: {
    level: 'warn',
    text: 'an object with a known SOP Instance UID and other content; both are kept',
    meaning: 'Two different objects came under one UID.',
    action: 'Ask the sender which is right; the study is interpreted with both.',
  },
  object_unreadable: {
    level: 'error',
    text: 'a stored object cannot be read',
    meaning: 'An object found at the start could not be read.',
    action: 'Look into `quarantine/` and at the disk.',
  },
  object_leftover: {
    level: 'error',
    text: 'a partial object could not be removed',
    meaning: 'A broken-off object left a partial file.',
    action: 'Check the permissions of the data folder.',
  },
  normalized_request_refused: {
    level: 'warn',
    text: 'request refused',
    meaning: 'An MPPS, commitment or availability request was refused.',
    action: 'Read the error; the machine may repeat it.',
  },
  intake_recovered: {
    level: 'info',
    text: 'intake recovered',
    meaning: 'Objects that had no row after the last stop were taken up.',
    action: null,
  },
  assembly_failed: {
    level: 'error',
    text: 'study assembly',
    meaning: 'A round of study completion failed; the next comes at once.',
    action: 'Check the database.',
  },
  study_submitted: {
    level: 'info',
    text: 'study submitted',
    meaning: 'A rule made a request of a complete study.',
    action: null,
  },
  study_unrouted: {
    level: 'warn',
    text: 'study not routed',
    meaning: 'No rule matched: nothing was done with the study.',
    action:
      '`npx sonogate explain` says why each rule did not match; add one, then release the study.',
  },
  study_not_submitted: {
    level: 'error',
    text: 'study not submitted',
    meaning: 'A complete study could not be handed on; for now or for good, by `code`.',
    action: '`npx sonogate explain` says which.',
  },
  study_late_objects: {
    level: 'info',
    text: 'late objects kept, not interpreted again',
    meaning: 'The source is set to `rerun: never`.',
    action: null,
  },
  commitment_asked: {
    level: 'info',
    text: 'storage commitment asked for',
    meaning: 'A PACS was asked to commit to what it took.',
    action: null,
  },
  commitment_not_asked: {
    level: 'warn',
    text: 'storage commitment could not be asked for, will retry',
    meaning: 'The PACS could not be asked.',
    action:
      'Check that the PACS has the service and takes our association (`npx sonogate doctor`).',
  },
  commitment_received: {
    level: 'info',
    text: 'storage commitment report',
    meaning: 'A PACS said what it has committed to.',
    action: null,
  },
  commitment_reported: {
    level: 'info',
    text: 'storage commitment reported',
    meaning: 'A source was told that its objects are safe.',
    action: null,
  },
  commitment_unreported: {
    level: 'warn',
    text: 'storage commitment not reported, will retry',
    meaning: 'A source could not be told.',
    action: 'Check the `node` of the source and its listener.',
  },
  commitment_given_up: {
    level: 'error',
    text: 'storage commitment not reported, given up',
    meaning:
      'A source could not be told for seven days; it may keep its objects, or ask for them again.',
    action:
      'Check the `node` of the source and its listener; have the machine ask again, or clear its objects by hand.',
  },
  commitment_without_node: {
    level: 'warn',
    text: 'a report of storage commitment waits: the source has no `node`',
    meaning:
      'The machine closed its association before the report, and where it listens is not set.',
    action: 'Set `node` of the source.',
  },
  commitment_failed: {
    level: 'error',
    text: 'commitment',
    meaning: 'A round of storage commitment failed; the next comes.',
    action: 'Check the database.',
  },
} as const satisfies Record<string, LogEvent>;
