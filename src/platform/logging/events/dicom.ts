import { event } from '../event.ts';

interface OfAssociation {
  association: string;
  callingAeTitle: string;
  address?: string;
}

export const DICOM_EVENTS = {
  listener_open: event<{ host: string; port: number; aeTitle: string }>({
    level: 'info',
    text: 'DICOM listener open',
    meaning: 'The listener accepts associations.',
  }),
  listener_failed: event<{ error: string }>({
    level: 'error',
    text: 'DICOM listener failed',
    meaning: 'The listening socket reported an error.',
    action: 'Check the open-file limits and the network of this host.',
  }),
  tls_refused: event<{ address?: string; reason: string }>({
    level: 'warn',
    text: 'TLS handshake refused',
    meaning:
      'TLS could not be negotiated with a peer, or the peer presented no trusted certificate.',
    action: 'Compare protocol versions and certificates; `npx sonogate doctor` shows ours.',
  }),
  study_source_failed: event<{ peer: string; error: string }>({
    level: 'warn',
    text: 'archive or EHR could not be queried for a submitted study',
    meaning:
      'A study was submitted through FHIR, and its archive or EHR refused the query or did not answer. The client received 503.',
    action: 'Check the connection and the credentials of that archive or destination.',
  }),
  archive_retrieval_failed: event<{
    archive: string;
    retrieval: string;
    code: string;
    wanted: number;
    received: number;
    error?: string;
  }>({
    level: 'warn',
    text: 'retrieval from an archive failed',
    meaning:
      'Objects could not be retrieved from an archive, or only some of them; `code` is the reason. `wanted` and `received` count objects; both are 0 if the archive did not list any.',
    action:
      'Check that the archive knows our AE title and answers queries (`npx sonogate doctor`).',
  }),
  archive_round_failed: event<{ err: unknown }>({
    level: 'error',
    text: 'archive queries or retrievals failed, will retry',
    meaning:
      'Queries to an archive, or retrievals from it, failed unexpectedly; they are repeated.',
    action: 'Check the database.',
  }),
  worklist_failed: event<{ worklist: string; study: string; code: string; error: string }>({
    level: 'warn',
    text: 'worklist did not answer, study continues without its order',
    meaning: 'A worklist could not be queried for the order of a study.',
    action: 'Check that the worklist knows our AE title and answers (`npx sonogate doctor`).',
  }),
  order_refused: event<{ worklist: string; study: string; why: string }>({
    level: 'warn',
    text: 'order is for another patient, not used',
    meaning:
      'The order that the worklist returned for a study is for another patient; none of its values is used.',
    action:
      'Compare the patient ID, birth date and accession number of the study with those of the order.',
  }),
  order_round_failed: event<{ err: unknown }>({
    level: 'error',
    text: 'search for orders failed, will retry',
    meaning: 'The search for the order of a study failed unexpectedly; it is repeated.',
    action: 'Check the database.',
  }),
  receipt_unaudited: event<{ err: unknown; association: string }>({
    level: 'error',
    text: 'receipt of objects could not be audited',
    meaning: 'The receipt of some objects has no entry in the audit trail.',
    action: 'Check the database.',
  }),
  archive_query_unaudited: event<{ err: unknown; archive: string }>({
    level: 'error',
    text: 'archive query could not be audited',
    meaning:
      "An archive was queried for a patient's studies, and the audit entry could not be written.",
    action: 'Check the database.',
  }),
  studies_removed: event<{
    studies: number;
    objects: number;
    bytes: number;
    quarantined: number;
    kept: object;
  }>({
    level: 'info',
    text: 'old studies removed',
    meaning: 'Received studies older than the retention period were removed.',
  }),
  studies_not_removed: event<{ err: unknown }>({
    level: 'warn',
    text: 'old studies could not be removed, will retry',
    meaning: 'Received studies remain stored although their retention period has ended.',
    action: 'Check the disk and the permissions of the data folder.',
  }),
  study_held: event<{ study: string; revision: number; because: string }>({
    level: 'info',
    text: 'study held for a person',
    meaning:
      'A person put the study on hold, or its objects, or a merge of patient IDs, leave its patient in doubt; it is not submitted.',
    action: 'If nobody holds it on purpose, `npx sonogate explain` shows why; release the study.',
  }),
  association_accepted: event<
    OfAssociation & { implementation?: string; accepted: number; refused: number }
  >({
    level: 'info',
    text: 'association accepted',
    meaning: 'A peer opened an association.',
  }),
  association_rejected: event<{
    association: string;
    callingAeTitle: string;
    calledAeTitle: string;
    address?: string;
    code: string;
    operator: string;
  }>({
    level: 'warn',
    text: 'association rejected',
    meaning: "A peer's association request was rejected; `code` is the reason.",
    action:
      'See the error with that code; usually an AE title or address is missing from `sources`.',
  }),
  association_aborted: event<OfAssociation>({
    level: 'info',
    text: 'association aborted by the peer',
    meaning:
      'The peer sent A-ABORT. Objects already stored are kept; the study completes after its quiet time.',
  }),
  association_idle: event<OfAssociation>({
    level: 'info',
    text: 'idle association aborted',
    meaning:
      "The peer sent nothing, or did not read the gateway's responses, for the `idleTimeoutSeconds` of the source.",
    action: 'Nothing, or raise the setting for a cart that keeps associations open.',
  }),
  association_ended: event<OfAssociation & { end: string }>({
    level: 'info',
    text: 'association ended',
    meaning: 'The association was released or aborted.',
  }),
  association_end_unrecorded: event<OfAssociation & { error: string }>({
    level: 'error',
    text: 'end of an association could not be recorded',
    meaning:
      'The end of the association could not be stored; the study completes after its quiet time.',
    action: 'Check the database.',
  }),
  association_studies: event<{
    association: string;
    callingAeTitle: string;
    studies: readonly { study: string; revision: number }[];
    end: string;
  }>({
    level: 'info',
    text: 'association sent objects',
    meaning:
      'Lists the studies whose objects an association sent, linking `association` to `study`.',
  }),
  connection_closed: event<OfAssociation & { code: string }>({
    level: 'warn',
    text: 'connection closed during an association',
    meaning: 'The peer closed the connection without a release or an abort.',
    action: 'Nothing, if the cart always does this; otherwise check the network.',
  }),
  connection_aborted: event<OfAssociation & { code: string; detail?: string }>({
    level: 'warn',
    text: 'connection aborted',
    meaning: 'The peer violated the protocol; the gateway sent an A-ABORT.',
    action: 'See `code`; a port scanner shows up as `not_dicom`.',
  }),
  connection_lost: event<OfAssociation & { error: string }>({
    level: 'warn',
    text: 'connection lost',
    meaning:
      'The connection broke; the object in transfer was dropped, and the sender still has it.',
    action: 'If it continues, check the network.',
  }),
  object_refused: event<{ status: string; error: string }>({
    level: 'warn',
    text: 'object refused',
    meaning: 'The gateway answered a C-STORE request with the status in this line.',
    action: 'See the error; after A7xxH the sender is expected to try again.',
  }),
  stow_object_failed: event<{ call: string; err: unknown }>({
    level: 'error',
    text: 'object not stored',
    meaning: 'The gateway failed to store one object of a STOW-RS call; the response says so.',
    action: 'Report it to the developers with this line.',
  }),
  object_quarantined: event<{ code: string; detail: string; kept: string }>({
    level: 'warn',
    text: 'object quarantined',
    meaning: 'An object could not be understood; its bytes are kept in `quarantine/`.',
    action: 'Examine the file with a DICOM tool; inform the vendor.',
  }),
  object_unregistered: event<{ error: string }>({
    level: 'error',
    text: 'acknowledged object has no database row',
    meaning:
      'An object acknowledged as stored has no database row: either its file waits for the next startup, or the database refused a value and the file is in `quarantine/`.',
    action:
      'See the error and the lines around it; a file in `intake/` gets its row at the next startup.',
  }),
  rows_delayed: event<{ objects: number; error: string }>({
    level: 'warn',
    text: 'database rows of received objects not written yet',
    meaning:
      'The database did not accept the rows of objects that are safely on disk; the gateway tries again until it does.',
    action: 'See the error; if it continues, check the database.',
  }),
  object_conflict: event<{ study: string; path: string }>({
    level: 'warn',
    text: 'object with a known SOP Instance UID but different content, keeping both',
    meaning: 'Two different objects arrived under one UID.',
    action: 'Ask the sender which one is right; the study is interpreted with both.',
  }),
  object_leftover: event<{ error: string }>({
    level: 'error',
    text: 'partial object could not be removed',
    meaning: 'An interrupted transfer left a partial file.',
    action: 'Check the permissions of the data folder.',
  }),
  received_file_unreadable: event<{ path: string; error: string }>({
    level: 'error',
    text: 'received file could not be read at startup, leaving it',
    meaning:
      'A file in `intake/` has no database row and could not be read, moved or removed. The gateway started without it.',
    action:
      'Check the disk and the permissions of the data folder, then restart: the file is tried again.',
  }),
  normalized_request_refused: event<{ operation: string; error: string }>({
    level: 'warn',
    text: 'DIMSE request refused',
    meaning: 'An MPPS, commitment or availability request was refused.',
    action: 'See the error; the modality may repeat the request.',
  }),
  query_refused: event<{ operation: string; error: string }>({
    level: 'warn',
    text: 'query or retrieval refused',
    meaning: 'A C-FIND, C-MOVE or C-GET request was refused or could not be completed.',
    action: 'See the error; the settings are under `queryRetrieve`.',
  }),
  retrieval_incomplete: event<{
    operation: string;
    destination: string;
    codes: string[];
    completed: number;
    failed: number;
    warning: number;
  }>({
    level: 'warn',
    text: 'objects of a C-MOVE or C-GET were not delivered',
    meaning:
      'A C-MOVE or C-GET ended without having delivered all objects. `destination` is the AE title to which they were sent; `codes` are the reasons.',
    action:
      'See the errors with these codes; the destinations of C-MOVE are under `queryRetrieve.moveDestinations`.',
  }),
  intake_recovered: event<{ registered: number; removed: number }>({
    level: 'info',
    text: 'intake recovered',
    meaning: 'Objects that had no database row when the gateway last stopped were registered.',
  }),
  assembly_failed: event<{ err: unknown }>({
    level: 'error',
    text: 'study assembly failed, will retry',
    meaning: 'Complete studies could not be processed; the next attempt follows immediately.',
    action: 'Check the database.',
  }),
  study_submitted: event<{
    rule: string;
    request: string;
    study: string;
    revision: number;
    objects: number;
    rules: readonly string[];
  }>({
    level: 'info',
    text: 'study submitted',
    meaning: 'A rule submitted a complete study as a request.',
  }),
  study_unrouted: event<{
    code: string;
    study: string;
    revision: number;
    objects: number;
    rules: readonly string[];
  }>({
    level: 'warn',
    text: 'study not routed',
    meaning: 'No rule matched; nothing was done with the study.',
    action:
      '`npx sonogate explain` shows why each rule did not match. Add a rule, then release the study.',
  }),
  study_not_submitted: event<{ error: string }>({
    level: 'error',
    text: 'study not submitted',
    meaning: 'A complete study could not be submitted; `error` is the reason.',
    action: '`npx sonogate explain` shows whether it is tried again.',
  }),
  study_late_objects: event<{
    study: string;
    revision: number;
    objects: number;
    rules: readonly string[];
  }>({
    level: 'info',
    text: 'late objects kept, not interpreted again',
    meaning:
      'Objects arrived after the study was submitted, and its source is set to `rerun: never`.',
  }),
  commitment_asked: event<{ destination: string; transaction: string; objects: number }>({
    level: 'info',
    text: 'storage commitment requested',
    meaning: 'A PACS was asked to commit to the objects that it accepted.',
  }),
  commitment_not_asked: event<{
    code: string;
    destination: string;
    transaction: string;
    objects: number;
  }>({
    level: 'warn',
    text: 'storage commitment could not be requested, will retry',
    meaning: 'The request could not be sent to the PACS.',
    action:
      'Check that the PACS offers the service and accepts our association (`npx sonogate doctor`).',
  }),
  commitment_received: event<{
    transaction: string;
    committed: number;
    failed: number;
    known: boolean;
  }>({
    level: 'info',
    text: 'storage commitment report received',
    meaning: 'A PACS reported which objects it has committed to.',
  }),
  commitment_reported: event<{ transaction: string; callingAeTitle: string }>({
    level: 'info',
    text: 'storage commitment reported',
    meaning: 'A source was informed that its objects are safely stored.',
  }),
  commitment_unreported: event<{
    code: string;
    wait: number;
    transaction: string;
    callingAeTitle: string;
  }>({
    level: 'warn',
    text: 'storage commitment not reported, will retry',
    meaning: 'The report could not be sent to the source.',
    action: "Check the `node` of the source and the modality's listener.",
  }),
  commitment_given_up: event<{ transaction: string; callingAeTitle: string; code?: string }>({
    level: 'error',
    text: 'storage commitment not reported, given up',
    meaning:
      'The report could not be sent to the source for seven days; the source may still hold its objects or request commitment again.',
    action:
      "Check the `node` of the source and the modality's listener; repeat the request at the modality, or delete the objects there by hand.",
  }),
  commitment_without_node: event<{ transaction: string; callingAeTitle: string }>({
    level: 'warn',
    text: 'storage commitment report waits: the source has no `node`',
    meaning:
      'The modality closed its association before the report was ready, and the address of its listener is not configured.',
    action: 'Set `node` of the source.',
  }),
  commitment_failed: event<{ err: unknown }>({
    level: 'error',
    text: 'storage commitment failed unexpectedly, will retry',
    meaning: 'Storage commitment requests or reports failed unexpectedly; they are repeated.',
    action: 'Check the database.',
  }),
} as const;
