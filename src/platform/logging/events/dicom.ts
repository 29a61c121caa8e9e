import { event } from '../event.ts';

/** Associations, objects, studies and the DICOM services around them. */
export const DICOM_EVENTS = {
  listenerOpen: event<{ host: string; port: number; aeTitle: string }>({
    id: 'listener_open',
    level: 'info',
    text: 'DICOM listener',
    meaning: 'The listener accepts associations.',
    action: null,
  }),
  listenerFailed: event<{ error: string }>({
    id: 'listener_failed',
    level: 'error',
    text: 'DICOM listener failed',
    meaning: 'The listening socket reported an error.',
    action: 'Check limits of open files and the network of this machine.',
  }),
  tlsRefused: event<{ address?: string; reason: string }>({
    id: 'tls_refused',
    level: 'warn',
    text: 'TLS handshake refused',
    meaning: 'A peer could not be agreed with on TLS, or showed no certificate that is trusted.',
    action: 'Compare protocol versions and certificates; `npx sonogate doctor` shows ours.',
  }),
  archiveRetrievalFailed: event<{ archive: string; retrieval: string; error: string }>({
    id: 'archive_retrieval_failed',
    level: 'warn',
    text: 'retrieval',
    meaning: 'Objects could not be fetched from an archive.',
    action:
      'Check that the archive knows our AE title and answers queries (`npx sonogate doctor`).',
  }),
  archiveRoundFailed: event<{ err: unknown }>({
    id: 'archive_round_failed',
    level: 'error',
    text: 'archive round',
    meaning: 'Work for an archive failed unexpectedly; it is repeated.',
    action: 'Check the database.',
  }),
  receiptUnaudited: event<{ err: unknown; association: string }>({
    id: 'receipt_unaudited',
    level: 'error',
    text: 'receipt not written to the audit',
    meaning: 'The reception of objects has no entry in the audit.',
    action: 'Check the database.',
  }),
  archiveQueryUnaudited: event<{ err: unknown; archive: string }>({
    id: 'archive_query_unaudited',
    level: 'error',
    text: 'query not written to the audit',
    meaning: 'An archive was asked for studies of a patient, and the entry could not be written.',
    action: 'Check the database.',
  }),
  studiesRemoved: event<{
    studies: number;
    objects: number;
    bytes: number;
    quarantined: number;
    kept: object;
  }>({
    id: 'studies_removed',
    level: 'info',
    text: 'old studies removed',
    meaning: 'Received objects older than the retention allows are gone.',
    action: null,
  }),
  studiesNotRemoved: event<{ err: unknown }>({
    id: 'studies_not_removed',
    level: 'warn',
    text: 'old studies could not be removed, will retry',
    meaning: 'Received objects that may go are still there.',
    action: 'Check disk and permissions of the data folder.',
  }),
  studyHeld: event<{ study: string; revision: number; because: string }>({
    id: 'study_held',
    level: 'info',
    text: 'study held by a person',
    meaning: 'A person keeps the study from going on.',
    action: null,
  }),
  associationAccepted: event<{
    association: string;
    callingAeTitle: string;
    address?: string;
    implementation?: string;
    accepted: number;
    refused: number;
  }>({
    id: 'association_accepted',
    level: 'info',
    text: 'association accepted',
    meaning: 'A peer opened an association.',
    action: null,
  }),
  associationRejected: event<{
    association: string;
    callingAeTitle: string;
    address?: string;
    code: string;
    operator: string;
  }>({
    id: 'association_rejected',
    level: 'warn',
    text: 'association rejected',
    meaning: 'A peer was turned away; `code` says why.',
    action: 'Do what the error of that code says; mostly a title or address missing in `sources`.',
  }),
  associationAborted: event<{ association: string; callingAeTitle: string; address?: string }>({
    id: 'association_aborted',
    level: 'info',
    text: 'association aborted by the peer',
    meaning: 'The peer sent A-ABORT. What it had stored stays; its study completes by quiet time.',
    action: null,
  }),
  associationIdle: event<{ association: string; callingAeTitle: string; address?: string }>({
    id: 'association_idle',
    level: 'info',
    text: 'association idle',
    meaning:
      'Nothing came, or our answers were not read, for `idleTimeoutSeconds` of the source: aborted.',
    action: 'Nothing, or raise the setting for a cart that keeps associations open.',
  }),
  associationEnded: event<{
    association: string;
    callingAeTitle: string;
    address?: string;
    end: string;
  }>({
    id: 'association_ended',
    level: 'info',
    text: 'association ended',
    meaning: 'The association is over.',
    action: null,
  }),
  associationEndUnrecorded: event<{
    association: string;
    callingAeTitle: string;
    address?: string;
    error: string;
  }>({
    id: 'association_end_unrecorded',
    level: 'error',
    text: 'the end of an association was not recorded',
    meaning: 'The release could not be noted; the study completes by quiet time.',
    action: 'Check the database.',
  }),
  associationStudies: event<{
    association: string;
    callingAeTitle: string;
    studies: readonly { study: string; revision: number }[];
    end: string;
  }>({
    id: 'association_studies',
    level: 'info',
    text: 'association brought objects',
    meaning: 'Which studies an association brought objects of: joins association and study.',
    action: null,
  }),
  connectionClosed: event<{
    association: string;
    callingAeTitle: string;
    address?: string;
    code: string;
  }>({
    id: 'connection_closed',
    level: 'warn',
    text: 'connection closed inside an association',
    meaning: 'The peer closed the connection without release or abort.',
    action: 'Nothing, if it is the habit of the cart; else check the network.',
  }),
  connectionAborted: event<{
    association: string;
    callingAeTitle: string;
    address?: string;
    code: string;
    detail?: string;
  }>({
    id: 'connection_aborted',
    level: 'warn',
    text: 'connection aborted',
    meaning: 'The peer broke the protocol and was sent an A-ABORT.',
    action: 'Look at `code`; a port scanner shows up as `not_dicom`.',
  }),
  connectionLost: event<{
    association: string;
    callingAeTitle: string;
    address?: string;
    error: string;
  }>({
    id: 'connection_lost',
    level: 'warn',
    text: 'connection lost',
    meaning: 'The connection broke; the object under way was dropped, the sender keeps it.',
    action: 'Check the network if it goes on.',
  }),
  objectRefused: event<{ status: string; error: string }>({
    id: 'object_refused',
    level: 'warn',
    text: 'object refused',
    meaning: 'A C-STORE was answered with the status in the line.',
    action: 'Do what the error says; A7xxH means that the sender will try again.',
  }),
  stowObjectFailed: event<{ call: string; err: unknown }>({
    id: 'stow_object_failed',
    level: 'error',
    text: 'object not stored',
    meaning: 'An error of the gateway over one object of a STOW-RS call; its sender was told.',
    action: 'Send the line to the makers.',
  }),
  objectQuarantined: event<{ code: string; detail: string; kept: string }>({
    id: 'object_quarantined',
    level: 'warn',
    text: 'object put in quarantine',
    meaning: 'An object could not be understood; its bytes are kept in `quarantine/`.',
    action: 'Look at the file with a DICOM tool; tell the vendor.',
  }),
  objectConflict: event<{ study: string; path: string }>({
    id: 'object_conflict',
    level: 'warn',
    text: 'an object with a known SOP Instance UID and other content; both are kept',
    meaning: 'Two different objects came under one UID.',
    action: 'Ask the sender which is right; the study is interpreted with both.',
  }),
  objectUnreadable: event<{ code: string; kept: string }>({
    id: 'object_unreadable',
    level: 'error',
    text: 'a stored object cannot be read',
    meaning: 'An object found at the start could not be read.',
    action: 'Look into `quarantine/` and at the disk.',
  }),
  objectLeftover: event<{ error: string }>({
    id: 'object_leftover',
    level: 'error',
    text: 'a partial object could not be removed',
    meaning: 'A broken-off object left a partial file.',
    action: 'Check the permissions of the data folder.',
  }),
  normalizedRequestRefused: event<{ operation: string; error: string }>({
    id: 'normalized_request_refused',
    level: 'warn',
    text: 'request refused',
    meaning: 'An MPPS, commitment or availability request was refused.',
    action: 'Read the error; the machine may repeat it.',
  }),
  intakeRecovered: event<{ registered: number; removed: number }>({
    id: 'intake_recovered',
    level: 'info',
    text: 'intake recovered',
    meaning: 'Objects that had no row after the last stop were taken up.',
    action: null,
  }),
  assemblyFailed: event<{ err: unknown }>({
    id: 'assembly_failed',
    level: 'error',
    text: 'study assembly',
    meaning: 'A round of study completion failed; the next comes at once.',
    action: 'Check the database.',
  }),
  studySubmitted: event<{
    rule: string;
    request: string;
    study: string;
    revision: number;
    objects: number;
    rules: readonly string[];
  }>({
    id: 'study_submitted',
    level: 'info',
    text: 'study submitted',
    meaning: 'A rule made a request of a complete study.',
    action: null,
  }),
  studyUnrouted: event<{
    code: string;
    study: string;
    revision: number;
    objects: number;
    rules: readonly string[];
  }>({
    id: 'study_unrouted',
    level: 'warn',
    text: 'study not routed',
    meaning: 'No rule matched: nothing was done with the study.',
    action:
      '`npx sonogate explain` says why each rule did not match; add one, then release the study.',
  }),
  studyNotSubmitted: event<{ error: string }>({
    id: 'study_not_submitted',
    level: 'error',
    text: 'study not submitted',
    meaning: 'A complete study could not be handed on; for now or for good, by `code`.',
    action: '`npx sonogate explain` says which.',
  }),
  studyLateObjects: event<{
    study: string;
    revision: number;
    objects: number;
    rules: readonly string[];
  }>({
    id: 'study_late_objects',
    level: 'info',
    text: 'late objects kept, not interpreted again',
    meaning: 'The source is set to `rerun: never`.',
    action: null,
  }),
  commitmentAsked: event<{ destination: string; transaction: string; objects: number }>({
    id: 'commitment_asked',
    level: 'info',
    text: 'storage commitment asked for',
    meaning: 'A PACS was asked to commit to what it took.',
    action: null,
  }),
  commitmentNotAsked: event<{
    code: string;
    destination: string;
    transaction: string;
    objects: number;
  }>({
    id: 'commitment_not_asked',
    level: 'warn',
    text: 'storage commitment could not be asked for, will retry',
    meaning: 'The PACS could not be asked.',
    action:
      'Check that the PACS has the service and takes our association (`npx sonogate doctor`).',
  }),
  commitmentReceived: event<{
    transaction: string;
    committed: number;
    failed: number;
    known: boolean;
  }>({
    id: 'commitment_received',
    level: 'info',
    text: 'storage commitment report',
    meaning: 'A PACS said what it has committed to.',
    action: null,
  }),
  commitmentReported: event<{ transaction: string; callingAeTitle: string }>({
    id: 'commitment_reported',
    level: 'info',
    text: 'storage commitment reported',
    meaning: 'A source was told that its objects are safe.',
    action: null,
  }),
  commitmentUnreported: event<{
    code: string;
    wait: number;
    transaction: string;
    callingAeTitle: string;
  }>({
    id: 'commitment_unreported',
    level: 'warn',
    text: 'storage commitment not reported, will retry',
    meaning: 'A source could not be told.',
    action: 'Check the `node` of the source and its listener.',
  }),
  commitmentGivenUp: event<{ transaction: string; callingAeTitle: string; code?: string }>({
    id: 'commitment_given_up',
    level: 'error',
    text: 'storage commitment not reported, given up',
    meaning:
      'A source could not be told for seven days; it may keep its objects, or ask for them again.',
    action:
      'Check the `node` of the source and its listener; have the machine ask again, or clear its objects by hand.',
  }),
  commitmentWithoutNode: event<{ transaction: string; callingAeTitle: string }>({
    id: 'commitment_without_node',
    level: 'warn',
    text: 'a report of storage commitment waits: the source has no `node`',
    meaning:
      'The machine closed its association before the report, and where it listens is not set.',
    action: 'Set `node` of the source.',
  }),
  commitmentFailed: event<{ err: unknown }>({
    id: 'commitment_failed',
    level: 'error',
    text: 'commitment',
    meaning: 'A round of storage commitment failed; the next comes.',
    action: 'Check the database.',
  }),
} as const;
