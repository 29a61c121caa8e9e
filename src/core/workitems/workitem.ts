import type { JsonDataSet } from '../../../pipelines/dicom/dicom-json.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import { idForm, idOf, uuidOf } from '../../platform/ids.ts';
import type { Endpoint } from '../requests/endpoint.ts';
import type { RequestStatus, StoredRequest } from '../requests/request.ts';

/**
 * A request of the queue as a Unified Procedure Step (PS3.4 CC, PS3.18 11). This gateway manages
 * the steps and is their only performer.
 *
 *   SCHEDULED ──▶ IN PROGRESS ──▶ COMPLETED
 *                      └────────▶ CANCELED
 */
export type StepState = 'SCHEDULED' | 'IN PROGRESS' | 'COMPLETED' | 'CANCELED';

/** Maps the status of a request to the state of its step (PS3.4 table CC.1.1-1). */
const STEP_STATE = {
  queued: 'SCHEDULED',
  preparing: 'IN PROGRESS',
  running: 'IN PROGRESS',
  succeeded: 'COMPLETED',
  // A step that ends without a result is canceled, stating the reason, because UPS has no state for
  // failure.
  failed: 'CANCELED',
  rejected: 'CANCELED',
  canceled: 'CANCELED',
  expired: 'COMPLETED',
} as const satisfies Record<RequestStatus, StepState>;

export const isFinal = (state: StepState): boolean => state === 'COMPLETED' || state === 'CANCELED';

/**
 * SQL condition: objects from the result of request `r` are being delivered for the first time.
 * Only deliveries created when the request ended count: once they are done, the step is final, and
 * a delivery that a person starts later must not reopen it.
 */
export const DELIVERING = `(r.status = 'succeeded' AND EXISTS (SELECT 1 FROM deliveries d
  WHERE d.request_id = r.id AND d.kind = 'dicom' AND d.state IN ('pending', 'sending')
    AND d.result_revision = 0 AND d.attempts_before = 0
    AND d.created_at < r.ended_at + interval '1 minute'))`;

/**
 * SQL for the step state of request `r`. A step is in progress until its objects are delivered,
 * because a completed step lists them (PS3.4 CC.2.5.1.1).
 */
export const STATE_SQL = `CASE WHEN ${DELIVERING} THEN 'IN PROGRESS' ${Object.entries(STEP_STATE)
  .map(([status, state]) => `WHEN r.status = '${status}' THEN '${state}'`)
  .join(' ')} END`;

/** Coding scheme of our codes (PS3.16 8.2: private schemes begin with 99). */
export const CODING_SCHEME = '99USINT';

/** Returns the code of an endpoint in a workitem (Scheduled Workitem Code Sequence). */
export const workitemCode = ({ model }: Pick<Endpoint, 'model'>): string =>
  model.toUpperCase().replaceAll('/', '-');
/** SQL for the code of request `r`, equal to `workitemCode`. */
export const WORKITEM_CODE_SQL = `replace(upper(r.model), '/', '-')`;

const LARGEST_UUID = (1n << 128n) - 1n;

/**
 * Returns the SOP Instance UID of a request as a workitem: the UID chosen by its creator, otherwise
 * the UUID of the request under the root 2.25 (PS3.5 B.2).
 */
export function workitemUid({
  id,
  workitem_uid,
}: Pick<StoredRequest, 'id' | 'workitem_uid'>): string {
  return workitem_uid ?? `2.25.${uuidOf(id)}`;
}

/**
 * Returns the id of the request from which this UID was derived; null for a UID chosen by its
 * creator.
 */
export function requestIdOfUid(uid: string): string | null {
  const digits = /^2\.25\.([1-9]\d{0,38})$/.exec(uid)?.[1];
  const uuid = digits === undefined ? null : BigInt(digits);
  if (uuid === null || uuid > LARGEST_UUID) return null;
  const id = idOf('req', uuid);
  return idForm('req').test(id) ? id : null;
}

/** A request to cancel a workitem (PS3.4 table CC.2.2-1). */
export interface Cancellation {
  /** Requesting AE (0074,1236): the name of the key, because HTTP has no AE title. */
  requestedBy: string;
  /** Attributes stated by the requester, in the DICOM JSON model. */
  attributes: JsonDataSet;
}

/** A request, with all data shown in its workitem. */
export interface WorkitemRow
  extends Pick<
    StoredRequest,
    | 'id'
    | 'account_id'
    | 'model'
    | 'endpoint'
    | 'version'
    | 'status'
    | 'stage'
    | 'priority'
    | 'test'
    | 'input'
    | 'source'
    | 'fault'
    | 'created_at'
    | 'started_at'
    | 'ended_at'
    | 'workitem_uid'
    | 'withdrawal'
  > {
  state: StepState;
  /** The attributes stated by the creator; null if the request was not created as a workitem. */
  attributes: JsonDataSet | null;
  cancellation: Cancellation | null;
  changed_at: Date | null;
  /** UID of the interpreted study; null for uploaded files. */
  study_instance_uid: string | null;
  identity: DicomIdentity | null;
}
