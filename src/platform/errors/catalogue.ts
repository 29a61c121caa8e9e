/**
 * How a failed attempt is treated. This class alone determines whether the attempt is repeated
 * (`tries` limits how often). `transient`: try again. `ambiguous`: the peer may have the object;
 * trying again is safe because the object is identical each time (same SOP Instance UID,
 * conditional FHIR entries). `permanent`: a person must act.
 */
const FAILURE_CLASSES = ['transient', 'ambiguous', 'permanent'] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

interface CatalogueEntry {
  /** HTTP status, for errors that can reach an HTTP client. */
  http?: number;
  /**
   * DIMSE status in hexadecimal digits (PS3.7 Annex C, PS3.4 B.2.3), `reject result/source/reason`
   * for an A-ASSOCIATE-RJ (PS3.8 9.3.4), or `abort source/reason` for an A-ABORT (PS3.8 9.3.8).
   */
  dimse?: string;
  retry: FailureClass;
  /**
   * What a delivery that failed with this error shows about its peer. `fails`: any other object
   * would fail too. `unknown`: the failure is on our side, before the peer was contacted. If
   * absent: the peer works, and refused this delivery because of its content.
   */
  peer?: 'fails' | 'unknown';
  /**
   * Number of failures after which a delivery is given up even if time is left. Set for codes that
   * do not show whether the peer has a temporary fault or the object a permanent one.
   */
  tries?: number;
  title: string;
  /** One sentence for whoever runs the gateway. */
  operator: string;
}

/**
 * Maximum number of attempts after C-STORE status 0110H (processing failure). With the default
 * waits in `delivery`, they take about two and a half hours.
 */
const PROCESSING_FAILURE_TRIES = 30;

/**
 * Every error in the system, by its stable code. `docs/errors.md` is generated from this table, the
 * only place that defines statuses, retries and titles.
 */
export const ERRORS = {
  unauthenticated: {
    http: 401,
    retry: 'permanent',
    title: 'Authentication is required',
    operator: 'The call had no `Authorization: Bearer` header, or one that cannot be parsed.',
  },
  invalid_key: {
    http: 401,
    retry: 'permanent',
    title: 'The API key is not valid',
    operator: 'The key is unknown, revoked or expired; make one with `npx sonogate keys create`.',
  },
  forbidden: {
    http: 403,
    retry: 'permanent',
    title: 'The caller may not do this',
    operator:
      'The key lacks the scope that the call requires, or the role of the console session does not permit it.',
  },
  sign_in_failed: {
    http: 401,
    retry: 'permanent',
    title: 'The sign-in did not succeed',
    operator:
      'The response from the identity provider was not acceptable, or the sign-in took too long; the log shows which check failed.',
  },
  identity_provider_unavailable: {
    http: 503,
    retry: 'transient',
    title: 'The identity provider cannot be reached',
    operator: 'Check `console.oidc.issuer` and the network; signing in with a key still works.',
  },
  malformed_call: {
    http: 400,
    retry: 'permanent',
    title: 'The call is not valid HTTP',
    operator:
      'A client sent a method, headers or a chunked body that cannot be read, spoke TLS to a plain port, or closed the connection within its body.',
  },
  headers_too_large: {
    http: 431,
    retry: 'permanent',
    title: 'The address and headers are too long',
    operator: 'The request line and headers of a call may have up to 16 KiB together.',
  },
  call_timeout: {
    http: 408,
    retry: 'transient',
    title: 'The call took too long to arrive',
    operator: 'The headers of a call must arrive within a minute, its body within an hour.',
  },
  invalid_host: {
    http: 400,
    retry: 'permanent',
    title: 'The Host header is not valid',
    operator:
      'The client, or a proxy in front of the gateway, sent a Host header that is not a host name or address (RFC 9112 3.2).',
  },
  invalid_json: {
    http: 400,
    retry: 'permanent',
    title: 'The body is not JSON',
    operator: 'The client sent a body that cannot be parsed.',
  },
  invalid_input: {
    http: 422,
    retry: 'permanent',
    title: 'The input does not match the schema',
    operator:
      'The body does not conform to the schema of the endpoint; `errors` lists each violation.',
  },
  identifiers_in_context: {
    http: 422,
    retry: 'permanent',
    title: 'The clinical context contains an identifier or a date',
    operator:
      'Free text of the clinical context must not contain names, dates, addresses, phone numbers or identifying numbers; the details quote the words in question.',
  },
  unknown_endpoint: {
    http: 404,
    retry: 'permanent',
    title: 'No such model, endpoint or version',
    operator: 'The path names an endpoint or a version that this gateway does not have.',
  },
  not_found: {
    http: 404,
    retry: 'permanent',
    title: 'Not found',
    operator: 'Nothing exists under this path or id, or it belongs to another account.',
  },
  file_not_ready: {
    http: 422,
    retry: 'permanent',
    title: 'A file is not ready',
    operator:
      'The upload of an input file is not complete, or the file belongs to another account.',
  },
  upload_incomplete: {
    http: 422,
    retry: 'permanent',
    title: 'The upload is incomplete',
    operator:
      'The size or digest of the upload differs from the declared one; the upload can be resumed.',
  },
  already_finished: {
    http: 409,
    retry: 'permanent',
    title: 'The request has already ended',
    operator: 'A request that has ended cannot be canceled.',
  },
  invalid_workitem: {
    http: 400,
    retry: 'permanent',
    title: 'The data set of the workitem is not valid',
    operator:
      'A UPS-RS client sent a data set that lacks a required attribute, or that requests something the gateway does not offer.',
  },
  workitem_exists: {
    http: 409,
    retry: 'permanent',
    title: 'The workitem already exists',
    operator:
      'A UPS-RS client created a workitem twice, or with a UID already in use; the first workitem is kept.',
  },
  workitem_conflict: {
    http: 409,
    retry: 'permanent',
    title: 'The workitem is in a state that does not allow this',
    operator:
      'A UPS-RS client requested a change that the state of the workitem does not allow, or tried to claim a step; the gateway performs its steps itself.',
  },
  workitem_state: {
    http: 400,
    retry: 'permanent',
    title: 'The request does not fit the state of the workitem',
    operator:
      'A UPS-RS client sent no Transaction UID or a wrong one, or tried to update a workitem that has ended.',
  },
  upgrade_required: {
    http: 426,
    retry: 'permanent',
    title: 'The path accepts only WebSocket connections',
    operator:
      'A client called the event channel without a WebSocket upgrade; a proxy between it and the gateway may have removed the header.',
  },
  review_unavailable: {
    http: 409,
    retry: 'permanent',
    title: 'The request cannot be reviewed',
    operator:
      'Only a finished request with stored evidence can be reviewed, which excludes requests made with a test key, requests from before version 1.1, and purged results.',
  },
  already_signed: {
    http: 409,
    retry: 'permanent',
    title: 'The result is signed',
    operator:
      'A signed result can be changed only by an amendment; send `amend` with the first change.',
  },
  later_result_signed: {
    http: 409,
    retry: 'permanent',
    title: 'A later result of the study is signed',
    operator:
      'The study was interpreted again, and the later result is signed. Only the later result can still be amended and signed.',
  },
  result_withdrawn: {
    http: 409,
    retry: 'permanent',
    peer: 'unknown',
    title: 'The result was withdrawn',
    operator:
      'A person has withdrawn the result, so it can no longer be reviewed, signed or delivered. Interpret the study again (`npx sonogate studies rerun`) for a new result.',
  },
  no_result: {
    http: 409,
    retry: 'permanent',
    title: 'The request has no result to withdraw',
    operator: 'Only a request that has succeeded has a result; a running one can be canceled.',
  },
  delivery_not_closable: {
    http: 409,
    retry: 'permanent',
    title: 'The delivery cannot be closed',
    operator:
      'Only a dead delivery can be closed. A report in the hold queue is rejected instead, on the "Held reports" page or with `npx sonogate hold reject`.',
  },
  withdrawal_by_hand: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'People must withdraw the result at this PACS',
    operator:
      'Delete the result there by hand (docs/runbooks.md), or, if the PACS supports IHE IOCM, set `rejectionNotes: true` for it and run `npx sonogate replay`.',
  },
  if_match_required: {
    http: 428,
    retry: 'permanent',
    title: 'The call needs If-Match',
    operator:
      'The client tried to change a review without stating which revision it had read (RFC 6585 3).',
  },
  stale_review: {
    http: 412,
    retry: 'permanent',
    title: 'The review has changed in the meantime',
    operator:
      'Somebody else changed the review; the client must read it again and repeat its change.',
  },
  stale_rules: {
    http: 412,
    retry: 'permanent',
    title: 'The rules have changed in the meantime',
    operator:
      'Somebody else saved rules, or changed the settings file, since a person began to edit; the edited text must be repeated on the rules now in use.',
  },
  not_finished: {
    http: 400,
    retry: 'transient',
    title: 'The request has not ended yet',
    operator:
      'The client of the compatible queue asked for the result before the request had ended.',
  },
  request_canceled: {
    http: 409,
    retry: 'permanent',
    title: 'The request was canceled',
    operator: 'The client of the compatible queue asked for the result of a canceled request.',
  },
  idempotency_key_reused: {
    http: 422,
    retry: 'permanent',
    title: 'The Idempotency-Key was used with another body',
    operator: 'The client reused a key for a different call.',
  },
  idempotency_in_progress: {
    http: 409,
    retry: 'transient',
    title: 'The first call with this Idempotency-Key is still running',
    operator: 'The client repeated a call before the first one was answered.',
  },
  invalid_idempotency_key: {
    http: 400,
    retry: 'permanent',
    title: 'The Idempotency-Key is not valid',
    operator: 'The key must consist of 1 to 255 printable characters.',
  },
  expired: {
    http: 410,
    retry: 'permanent',
    peer: 'unknown',
    title: 'The result has expired',
    operator: 'Results are purged after `retention.days`.',
  },
  method_not_allowed: {
    http: 405,
    retry: 'permanent',
    title: 'The path does not support this method',
    operator:
      'The client called an existing path with an unsupported method; `Allow` lists the supported ones.',
  },
  payload_too_large: {
    http: 413,
    retry: 'permanent',
    title: 'The body is too large',
    operator: 'The body exceeds `http.maxBodyBytes` or the upload limit.',
  },
  invalid_multipart: {
    http: 400,
    retry: 'permanent',
    title: 'The body is not a valid multipart message',
    operator:
      'A DICOMweb client sent a body that has no parts or no boundary, or that is cut short.',
  },
  unsupported_media_type: {
    http: 415,
    retry: 'permanent',
    title: 'The content type is not supported',
    operator: 'Calls with a body need `Content-Type: application/json`.',
  },
  range_not_satisfiable: {
    http: 416,
    retry: 'permanent',
    title: 'The range is outside the file',
    operator:
      'The client asked for bytes after the end of a file; it may already have all of it, or a part of another file.',
  },
  not_acceptable: {
    http: 406,
    retry: 'permanent',
    title: 'No acceptable representation',
    operator:
      'The `Accept` header of a DICOMweb client lists only media types or transfer syntaxes in which the object cannot be sent; the client can request it as stored.',
  },
  invalid_query: {
    http: 400,
    dimse: 'A900',
    retry: 'permanent',
    title: 'The query does not match the information model',
    operator:
      "A client's query used an unsupported attribute or a malformed value, or lacked the unique keys of its level.",
  },
  operation_not_authorized: {
    dimse: '0124',
    retry: 'permanent',
    title: 'Not authorized',
    operator:
      'Only callers listed in `queryRetrieve.callers` may query and retrieve, and only those listed in `sources` may store.',
  },
  rate_limited: {
    http: 429,
    retry: 'transient',
    title: 'Too many calls',
    operator: 'The key made too many calls or has too many open streams.',
  },
  overloaded: {
    http: 503,
    dimse: 'A700',
    retry: 'transient',
    title: 'Out of resources',
    operator:
      'The disk or the queue is nearly full; nothing was accepted. New objects are refused while less than `dicom.minFreeBytes` is free.',
  },
  storage_unreachable: {
    http: 503,
    dimse: 'A700',
    retry: 'transient',
    title: 'The object storage cannot be reached',
    operator:
      'The bucket in `SONOGATE_BLOB_URL` is down, slow, or refuses the gateway; nothing was acknowledged, and runs wait for it.',
  },
  database_unreachable: {
    http: 503,
    retry: 'transient',
    title: 'The database is not available',
    operator:
      'The PostgreSQL server in `DATABASE_URL` is down, restarting, read-only, or short of disk, memory or sessions; nothing was accepted, and work continues when it is back.',
  },
  internal: {
    http: 500,
    retry: 'transient',
    peer: 'unknown',
    title: 'Unexpected error',
    operator: 'A defect in the gateway; the log line with the same request id has the details.',
  },

  result_format_unknown: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'This version cannot read the stored result',
    operator:
      'The result was written by another version of Sonogate, or its file is damaged. During an upgrade, replay the delivery once every machine runs the new version; otherwise interpret the study again (`npx sonogate studies rerun`) or submit the request again.',
  },

  no_readable_image: {
    http: 422,
    retry: 'permanent',
    title: 'No image could be read',
    operator:
      'None of the files is an image that can be decoded; the details list each file with the reason.',
  },
  no_obstetric_image: {
    http: 422,
    retry: 'permanent',
    title: 'No obstetric image was found',
    operator: 'The files contain images, but none that the endpoint can interpret.',
  },
  no_machine_report: {
    http: 422,
    retry: 'permanent',
    title: 'No ultrasound machine report contains values',
    operator:
      'A rule with `translate` received structured reports without readable values; the details list each file with the reason.',
  },
  pipeline_failed: {
    http: 500,
    retry: 'permanent',
    title: 'The pipeline failed',
    operator:
      'The pipeline ended with an error; the log has the details. The run is not repeated, because the same input would fail again.',
  },
  out_of_space: {
    http: 507,
    retry: 'permanent',
    title: 'There is no room on the disk for the run',
    operator:
      'The disk was full in each of five attempts, most likely because of the unpacked size of the input; free some space in the data folder and submit the request again.',
  },
  pipeline_crashed: {
    http: 500,
    retry: 'permanent',
    title: 'The pipeline process died',
    operator:
      'The child process was killed or crashed twice (memory, native code). Runs that were lost with the gateway do not count.',
  },
  pipeline_timeout: {
    http: 500,
    retry: 'permanent',
    title: 'The pipeline took too long',
    operator: 'The pipeline was stopped after `worker.timeoutSeconds`.',
  },
  invalid_result: {
    http: 500,
    retry: 'permanent',
    title: 'The pipeline wrote an invalid result',
    operator: 'The result does not match its schema, which is a defect in the pipeline.',
  },

  calling_ae_not_recognized: {
    dimse: 'reject 1/1/3',
    retry: 'permanent',
    title: 'Calling AE title or address is not allowed',
    operator: 'No entry in `sources` matches the calling AE title and address; add one.',
  },
  certificate_not_of_calling_ae: {
    dimse: 'reject 1/1/3',
    retry: 'permanent',
    title: 'The certificate does not belong to the calling AE title',
    operator:
      'The source requires a certificate for this AE title, and the caller presented a different one or none; check who is calling from the address, or update `certificate` of the source.',
  },
  called_ae_not_recognized: {
    dimse: 'reject 1/1/7',
    retry: 'permanent',
    title: 'Called AE title is not ours',
    operator: 'The peer must call the AE title of `dicom.aeTitle`.',
  },
  application_context_not_supported: {
    dimse: 'reject 1/1/2',
    retry: 'permanent',
    title: 'Application context is not DICOM',
    operator: 'The peer proposed an application context other than 1.2.840.10008.3.1.1.1.',
  },
  protocol_version_not_supported: {
    dimse: 'reject 1/2/2',
    retry: 'permanent',
    title: 'Version of the upper layer protocol is not supported',
    operator: 'The peer does not propose version 1, the only one that PS3.8 defines.',
  },
  too_many_associations: {
    dimse: 'reject 2/3/2',
    retry: 'transient',
    title: 'Too many associations',
    operator:
      'More than `dicom.maxAssociations`, or `limits.associations` of the source, were open; the peer should try again.',
  },
  source_congested: {
    dimse: 'reject 2/3/1',
    retry: 'transient',
    title: 'The source has sent too much in one minute',
    operator: 'The source has reached its `limits`; the peer should try again.',
  },
  source_over_limit: {
    dimse: 'A700',
    retry: 'transient',
    title: 'The source has sent too much in one minute',
    operator:
      'The source reached its `limits` during an association; the peer keeps the object and should try again.',
  },
  not_dicom: {
    dimse: 'abort 2/1',
    retry: 'permanent',
    title: 'The peer does not speak DICOM',
    operator:
      'The bytes received on the DICOM port are not a DICOM PDU (often HTTP or a port scan).',
  },
  pdu_too_large: {
    dimse: 'abort 2/6',
    retry: 'permanent',
    title: 'A PDU is too large',
    operator: 'The length of a PDU exceeds `dicom.maxPduBytes`; the connection was closed.',
  },
  unexpected_pdu: {
    dimse: 'abort 2/2',
    retry: 'permanent',
    title: 'Unexpected PDU',
    operator:
      'The peer sent a PDU that the state of the association does not allow, or a truncated one.',
  },
  association_idle: {
    dimse: 'abort 2/0',
    retry: 'transient',
    title: 'The association was idle too long',
    operator: 'No traffic for the `idleTimeoutSeconds` of the source.',
  },
  sop_class_not_supported: {
    dimse: '0122',
    retry: 'permanent',
    title: 'SOP class is not supported',
    operator: 'The peer sent an object of an SOP class that was not negotiated.',
  },
  object_not_understood: {
    dimse: 'C000',
    retry: 'permanent',
    peer: 'unknown',
    title: 'The object cannot be understood',
    operator:
      'The data set has no readable header; its study, series or SOP instance UID is missing or malformed; a value cannot be stored; or the data set ends within its pixel data.',
  },
  object_mismatch: {
    dimse: 'A900',
    retry: 'permanent',
    title: 'The object does not match its SOP class or instance',
    operator:
      'The SOP class or instance UID in the data set differs from the one in the C-STORE request.',
  },
  transfer_syntax_not_supported: {
    dimse: 'C122',
    retry: 'permanent',
    title: 'Transfer syntax is not supported',
    operator: 'A DICOMweb client sent an object in a transfer syntax that is not accepted.',
  },
  object_too_large: {
    dimse: 'A700',
    retry: 'permanent',
    title: 'The object is too large',
    operator: 'The object exceeds `dicom.maxObjectBytes`.',
  },
  study_not_routed: {
    retry: 'permanent',
    title: 'No routing rule matched the study',
    operator: 'The study is kept; `npx sonogate explain` shows why each rule did not match.',
  },

  peer_unreachable: {
    retry: 'transient',
    peer: 'fails',
    title: 'The peer cannot be reached',
    operator: 'Connection refused, reset or timed out before anything was sent.',
  },
  peer_rejected_association: {
    retry: 'transient',
    peer: 'fails',
    title: 'The peer rejected the association',
    operator:
      'Check the AE titles on both sides; a permanent rejection is retried at long intervals until somebody corrects the cause.',
  },
  presentation_context_refused: {
    retry: 'permanent',
    title: 'The peer does not accept this SOP class',
    operator: 'The PACS accepts none of the offered transfer syntaxes for the object.',
  },
  peer_out_of_resources: {
    retry: 'transient',
    peer: 'fails',
    title: 'The peer is out of resources',
    operator: 'C-STORE status A7xx; the gateway tries again.',
  },
  peer_processing_failure: {
    retry: 'transient',
    tries: PROCESSING_FAILURE_TRIES,
    title: 'The peer failed to process the object',
    operator: `C-STORE status 0110H, or the same STOW-RS failure reason; given up after ${PROCESSING_FAILURE_TRIES} attempts. See the peer's log.`,
  },
  peer_refused_object: {
    retry: 'permanent',
    title: 'The peer refused the object',
    operator:
      'C-STORE status A9xx, Cxxx or 01xx (except 0110H and 0111H), or the same STOW-RS failure reason; the details contain the status and the comment.',
  },
  deidentification_held: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'The object was not sent, because it cannot be de-identified with certainty',
    operator:
      'The details give the reason: text on the image that cannot be blanked, an unsupported SOP class, or a damaged file. No part of the object left the gateway (docs/deidentification.md).',
  },
  peer_unauthorized: {
    retry: 'transient',
    peer: 'fails',
    title: 'The peer refused the credentials',
    operator:
      'DICOMweb: HTTP 401 or 403; deliveries to the destination wait, and it is tried again at long intervals.',
  },
  peer_unavailable: {
    retry: 'transient',
    peer: 'fails',
    title: 'The peer is temporarily not accepting objects',
    operator: 'DICOMweb: HTTP 404 for the service, 408, 425, 429 or 5xx; the gateway tries again.',
  },
  peer_answer_unclear: {
    retry: 'ambiguous',
    peer: 'fails',
    title: "The peer's response does not show whether it stored the object",
    operator:
      'DICOMweb: the response lists the object neither as stored nor as failed. HL7 v2: the acknowledgment cannot be read, or belongs to another message. The same object is sent again.',
  },
  receiver_rejected: {
    retry: 'permanent',
    title: 'The receiver rejected the message',
    operator:
      'HL7 v2: acknowledgment AE, or AR for a message type, event or version that the receiver does not support; the details contain the error codes (table 0357). Correct the receiver, then run `npx sonogate replay`.',
  },
  receiver_busy: {
    retry: 'transient',
    title: 'The receiver is temporarily unable to process the message',
    operator:
      'HL7 v2: acknowledgment AR for a reason unrelated to the content, or AE because of a locked record (206) or an internal error (207); the gateway tries again.',
  },
  commitment_refused: {
    retry: 'permanent',
    title: 'The peer did not commit to storing the object',
    operator:
      'The PACS accepted the object and then reported a storage commitment failure; check the PACS, then run `npx sonogate replay`.',
  },
  peer_connection_lost: {
    retry: 'ambiguous',
    peer: 'fails',
    title: 'The connection was lost while sending',
    operator: 'The peer may have the object; the same object is sent again.',
  },
  archive_refused_query: {
    retry: 'permanent',
    title: 'The archive refused the query or the retrieval',
    operator:
      'C-FIND, C-GET or C-MOVE status A9xx, Cxxx or FE00, or a DICOMweb HTTP error status; the details contain the status and the comment.',
  },
  move_destination_unknown: {
    retry: 'permanent',
    title: 'The archive does not know where to send the objects',
    operator:
      "C-MOVE status A801H. If an archive answered with it: enter the gateway's AE title, address and port in the archive, or set `moveTo` to the AE title that the archive knows. If the gateway answered with it: add the destination to `queryRetrieve.moveDestinations`.",
  },
  ehr_unauthorized: {
    retry: 'transient',
    peer: 'fails',
    title: 'The EHR refused the credentials',
    operator:
      'HTTP 401 or 403; deliveries to the destination wait, and it is tried again at long intervals.',
  },
  ehr_unavailable: {
    retry: 'transient',
    peer: 'fails',
    title: 'The EHR is unavailable',
    operator:
      'Network error, HTTP 408, 423, 425, 429, 500, 502, 503 or 504, 404 for the base URL itself, or no token from the token endpoint; the details say which.',
  },
  ehr_ambiguous: {
    retry: 'ambiguous',
    peer: 'fails',
    title: "The EHR's response was lost",
    operator:
      'The EHR may have the report already (also after HTTP 202). It is sent again automatically and creates no duplicate, because the EHR recognises its identifiers. After it has been given up, it can safely be sent again by hand.',
  },
  ehr_rejected: {
    retry: 'permanent',
    title: 'The EHR rejected the bundle',
    operator:
      'The EHR refused the report or one of its entries; the details contain the HTTP status and the reason.',
  },
  ehr_misconfigured: {
    retry: 'permanent',
    title: 'The address of the EHR is wrong',
    operator: 'The base URL redirects, is not a FHIR server, or refuses JSON (HTTP 406, 415).',
  },
  ehr_patient_not_found: {
    retry: 'transient',
    title: 'The patient is not known to the EHR',
    operator:
      'No patient in the EHR has this identifier: the patient may not have been registered yet. The gateway tries for some time before it holds the report.',
  },
  ehr_patient_ambiguous: {
    retry: 'permanent',
    title: 'The patient cannot be matched safely',
    operator:
      'More than one patient matches, or the demographics conflict; a person chooses the patient on the "Held reports" page or with `npx sonogate hold`.',
  },
  ehr_order_ambiguous: {
    retry: 'permanent',
    title: 'The order cannot be matched safely',
    operator:
      'The accession number belongs to another patient, or to more than one order; a person decides on the "Held reports" page or with `npx sonogate hold`.',
  },
  ehr_withdrawn: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'A person has withdrawn the report',
    operator: 'The held report was rejected and is not sent.',
  },
  ehr_issuer_unmapped: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'The issuer of the patient ID is not mapped',
    operator:
      'Add the issuer to `patientIdentifierSystems` of the destination, or choose the patient on the "Held reports" page.',
  },
  patient_id_missing: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'The images have no patient ID',
    operator:
      'A message without a patient ID cannot be filed safely. Correct the patient where the study was made, and send the images again.',
  },
  ehr_already_verified: {
    retry: 'permanent',
    title: 'The report has been verified by a person',
    operator:
      'A report that a person has verified or changed in the EHR is never overwritten; correct it there.',
  },
  webhook_unreachable: {
    retry: 'transient',
    title: 'The webhook address cannot be reached',
    operator:
      'The host name cannot be resolved, the connection failed, or there was no response within 15 s.',
  },
  webhook_refused: {
    retry: 'transient',
    title: 'The webhook was not accepted',
    operator:
      'The response was not 2xx; redirects are not followed. The gateway tries ten times within 75 hours.',
  },
  webhook_disabled: {
    retry: 'permanent',
    title: 'The webhook address is disabled',
    operator:
      'It responded with 410, or every delivery failed for five days. A redelivery enables it again.',
  },
  mail_server_unreachable: {
    retry: 'transient',
    peer: 'fails',
    title: 'The mail server cannot be reached',
    operator:
      'The host name cannot be resolved, the connection was refused, or TLS failed; check `alerts.server`.',
  },
  mail_unauthorized: {
    retry: 'transient',
    peer: 'fails',
    title: 'The mail server refused the credentials',
    operator:
      'Check `user` and `password` in `alerts.server`; the gateway tries again at long intervals.',
  },
  mail_files_unreadable: {
    retry: 'transient',
    peer: 'unknown',
    title: 'The certificate authority or the password of the mail server cannot be read',
    operator:
      'The file or the environment variable in `alerts.server` is missing or cannot be read; the details name it, and the gateway tries again.',
  },
  mail_deferred: {
    retry: 'transient',
    title: 'The mail server is temporarily not accepting the mail',
    operator: 'SMTP reply 4xx; the gateway tries again.',
  },
  mail_refused: {
    retry: 'permanent',
    title: 'The mail server refused the mail',
    operator:
      'The server replied 5xx to the sender, the recipients or the message; the details contain the reply.',
  },
  mail_connection_lost: {
    retry: 'ambiguous',
    peer: 'fails',
    title: 'The connection to the mail server was lost',
    operator:
      'The server may have the mail already. It is sent again with the same Message-ID, so recipients may get it twice.',
  },
  mail_list_unknown: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'The list of recipients is no longer in the settings',
    operator: 'The list, or its escalation, was removed from `alerts.lists`; the mail is not sent.',
  },
  url_not_permitted: {
    http: 422,
    retry: 'permanent',
    title: 'The address is not permitted',
    operator:
      'The gateway calls only public https URLs and the hosts listed in `outbound.hosts`; the log shows which rule was broken.',
  },
  hosted_file_unreachable: {
    http: 422,
    retry: 'permanent',
    title: 'A hosted file could not be fetched',
    operator:
      'The URL is not permitted or did not return the file, or the file is larger than `outbound.maxFileBytes`; the details identify it.',
  },
  destination_not_configured: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'The destination is not in the settings',
    operator:
      'The settings contain no destination with this name that accepts such objects. Add it again and run `npx sonogate replay`, divert the delivery to another destination, or close it.',
  },
  invalid_config: {
    retry: 'permanent',
    peer: 'unknown',
    title: 'The configuration is wrong',
    operator: 'The message lists each wrong setting, its value and what is allowed.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * An error with a catalogue code. The caller sees `detail`, which must contain no PHI and no stack
 * trace.
 */
export class SonogateError extends Error {
  override name = 'SonogateError';
  readonly code: ErrorCode;
  readonly detail: string;

  constructor(code: ErrorCode, detail: string = ERRORS[code].title, options?: ErrorOptions) {
    super(`${code}: ${detail}`, options);
    this.code = code;
    this.detail = detail;
  }
}

/** Returns the catalogue entry for a code, typed so that its optional members can be read. */
export function catalogueEntry(code: ErrorCode): CatalogueEntry {
  return ERRORS[code];
}
