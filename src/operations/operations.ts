import type {
  Withdrawal,
  WithdrawalReason,
  WithdrawalReceiver,
} from '../../pipelines/contract/withdrawal.ts';
import type { DicomIdentity } from '../../pipelines/dicom/subject.ts';
import type { KeyRecord, NewKey } from '../core/accounts/keys.ts';
import type { WriteAudit } from '../core/audit/audit.ts';
import type { BreakerRow } from '../core/outbox/breaker.ts';
import type { DeliveryFilter, DeliveryRow } from '../core/outbox/deliveries.ts';
import type { HeldDelivery } from '../core/outbox/held.ts';
import type { MergeNote } from '../core/patients/merges.ts';
import type { PatientIdentity } from '../core/studies/patient.ts';
import type { ErrorCode } from '../platform/errors/catalogue.ts';
import type { AuditOperations } from './audit.ts';
import type {
  QuarantineOperations,
  RetentionOperations,
  RuleOperations,
  StudyOperations,
} from './studies.ts';

/**
 * All operations that a person may request from the gateway, except API requests. `src/app` creates
 * this single object. The console calls it directly; commands call it by name (commands.ts) through
 * the admin socket. Failures that a person can correct are SonogateErrors.
 */
export interface Operations {
  keys: KeyOperations;
  studies: StudyOperations;
  rules: RuleOperations;
  deliveries: DeliveryOperations;
  holds: HoldOperations;
  quarantine: QuarantineOperations;
  alerts: AlertOperations;
  results: ResultOperations;
  patients: PatientOperations;
  archives: ArchiveOperations;
  retention: RetentionOperations;
  audit: AuditOperations;
  /**
   * Carries out operations and writes their audit entries in one transaction, so that neither is
   * stored without the other.
   */
  together: Together;
  /** Checks this host and every peer, or only the peer with this destination or source name. */
  doctor(peer: string | null): Promise<DoctorFinding[]>;
}

/** Operations that change only the database. */
export type StoredOperations = Pick<
  Operations,
  'keys' | 'studies' | 'deliveries' | 'holds' | 'alerts' | 'results' | 'patients'
>;

export type Together = <Answer>(
  work: (operations: StoredOperations, writeAudit: WriteAudit) => Promise<Answer>,
) => Promise<Answer>;

interface CreatedKey {
  key: string;
  record: KeyRecord;
}

interface KeyOperations {
  /** Creates a key. Only this response contains the secret key. */
  create(key: NewKey): Promise<CreatedKey>;
  list(): Promise<KeyRecord[]>;
  /**
   * Creates a key that replaces the key `id`. The old key keeps working for `overlapHours` hours.
   */
  rotate(id: string, overlapHours: number): Promise<CreatedKey>;
  revoke(id: string): Promise<KeyRecord>;
}

export interface DeliveryOperations {
  list(filter: DeliveryFilter): Promise<DeliveryRow[]>;
  breakers(): Promise<BreakerRow[]>;
  /**
   * Sends a dead or closed delivery again.
   * @throws `not_found`
   */
  replay(id: string): Promise<DeliveryRow>;
  /**
   * Sends all dead deliveries of a destination again.
   * @returns the number of deliveries.
   * @throws `not_found` if there is no such destination
   */
  replayAll(destination: string): Promise<number>;
  /**
   * Diverts a delivery to `destination` or, if that is null, to the alternate of its present
   * destination.
   * @throws `not_found`
   */
  divert(id: string, destination: string | null): Promise<DeliveryRow>;
  /**
   * Sends a destination's dead and waiting deliveries to its alternate.
   * @returns the number of deliveries.
   */
  divertAll(destination: string): Promise<number>;
  /**
   * Closes a dead delivery that its receiver will never get. It is not sent any more, unless a person
   * replays it.
   * @throws `not_found`, `delivery_not_closable`, `invalid_input`
   */
  close(call: { id: string; person: string; reason: string }): Promise<DeliveryRow>;
}

/** A report that waits for a person, with the reason. Contains no patient identity. */
export type HeldReport = Omit<HeldDelivery, 'since'> & {
  /** When the delivery was created, ISO 8601. */
  since: string;
};

export interface HoldOperations {
  /** Lists the reports that wait for a person, oldest first. */
  list(): Promise<HeldReport[]>;
  /**
   * Returns one report with the patient identity from its images. Who viewed it is recorded in the
   * audit trail.
   */
  show(call: {
    id: string;
    person: string;
  }): Promise<HeldReport & { identity: DicomIdentity | null }>;
  /** Sends the report again, with the patient and the order that the person chose. */
  release(call: {
    id: string;
    person: string;
    patient?: string | undefined;
    order?: string | undefined;
    withoutOrder: boolean;
  }): Promise<HeldReport>;
  /** Removes the report from the queue permanently, without sending it, and closes its delivery. */
  reject(call: { id: string; person: string; reason: string }): Promise<HeldReport>;
}

interface PatientOperations {
  /**
   * Lists, newest first, the merges that are in force or that still apply to some studies. Patient
   * identity is not included.
   */
  merges(): Promise<MergeNote[]>;
  /**
   * Withdraws a merge: its studies get their own patient ID back.
   * @throws `not_found`
   */
  separate(id: string): Promise<{ studies: number }>;
}

interface AlertOperations {
  /**
   * Records who has seen the critical flags of a request. Only the first person is recorded.
   * @throws `not_found`
   */
  acknowledge(call: { request: string; person: string }): Promise<void>;
}

interface ResultOperations {
  /**
   * Withdraws the result of a request here and at every receiver.
   * @returns the withdrawal that is in force, which may be an earlier one, and its receivers.
   * @throws `not_found`, `no_result`, `invalid_input`
   */
  withdraw(call: {
    request: string;
    person: string;
    reason: WithdrawalReason;
    text: string | null;
  }): Promise<Withdrawal & { receivers: WithdrawalReceiver[] }>;
}

export interface FoundStudy extends PatientIdentity {
  studyInstanceUid: string;
  /** YYYYMMDD; '' if the archive does not report it. */
  studyDate: string;
  description: string;
  modalities: string[];
  /** Number of Study Related Instances; null if the archive does not report it. */
  objects: number | null;
}

export interface FoundObject {
  seriesInstanceUid: string;
  sopInstanceUid: string;
  /** SOP Class UID; '' if the archive does not report it. */
  sopClassUid: string;
  modality: string;
}

export interface Retrieval {
  id: string;
  archive: string;
  state: 'waiting' | 'running' | 'succeeded' | 'failed';
  /** Number of objects that the archive has, and how many of them have arrived. */
  wanted: number | null;
  here: number | null;
  code: ErrorCode | null;
  detail: string | null;
}

export interface ArchiveOperations {
  /**
   * Returns the studies in an archive that match the keys. The query, and who made it, is recorded
   * in the audit trail.
   */
  find(query: {
    from: string;
    keys: {
      patientId?: string | undefined;
      studyInstanceUid?: string | undefined;
      accessionNumber?: string | undefined;
      studyDate?: string | undefined;
      modality?: string | undefined;
    };
    limit: number;
    objects: boolean;
    person?: string | undefined;
  }): Promise<(FoundStudy & { listed: FoundObject[] | null })[]>;
  /**
   * Has the running gateway retrieve a study and route it.
   * @returns the id of the retrieval.
   */
  fetch(study: string, from: string): Promise<{ id: string }>;
  /** @throws `not_found` */
  retrieval(id: string): Promise<Retrieval>;
}

export interface DoctorFinding {
  what: string;
  state: 'ok' | 'warning' | 'fault';
  detail: string;
}
