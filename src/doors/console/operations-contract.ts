import type { Specialty } from '../../../pipelines/concepts/specialty.ts';
import type { Closing } from '../../../pipelines/contract/withdrawal.ts';
import type { CursorQuery, Subject } from './shared-contract.ts';

/** Deliveries, the hold queue, rules and peers in the console's API; see contract.ts. Types only. */

/**
 * State of a delivery. `diverted`: the object goes to another destination instead; `closed`: a person
 * decided that it is not sent any more.
 */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'dead' | 'diverted' | 'closed';

export interface Delivery {
  id: string;
  requestId: string | null;
  /** Key of the worklist row to which the delivery belongs; null if it belongs to no row. */
  key: string | null;
  /** The patient of the study, as the role may see it; null if the delivery belongs to no study. */
  subject: Subject | null;
  /** The endpoint whose result is delivered; null for a received object. */
  endpoint: string | null;
  /** What the endpoint interprets; null without an endpoint, or if it interprets nothing. */
  specialty: Specialty | null;
  kind: 'dicom' | 'fhir' | 'hl7v2' | 'forward' | 'deidentified' | 'stow' | 'mail';
  destination: string;
  object: string;
  /** The signed revision of the result that the object belongs to; 0 for a draft or a received object. */
  signedRevision: number;
  state: DeliveryState;
  attempts: number;
  createdAt: string;
  /** When the next attempt of a pending delivery is due; null in other states. */
  nextAttemptAt: string | null;
  endedAt: string | null;
  /** When the PACS committed to keep the object (storage commitment); null if it has not. */
  committedAt: string | null;
  /** The last failure: `title` and `advice` in plain words, `detail` as the peer worded it. */
  error: { code: string; title: string; advice: string; detail: string | null } | null;
  /**
   * The message with which the peer accepted the object, or why nothing was sent; null before that,
   * and if the role may not read it.
   */
  outcome: string | null;
  /** Whether the delivery ended although nothing was sent. */
  notSent: boolean;
  /** Whether the delivery waits in the hold queue for a person. */
  held: boolean;
  /** Who closed the delivery, when and why; null otherwise, and for a role that may not read it. */
  closed: Closing | null;
  /** Other destinations to which the object can be sent instead. */
  alternates: string[];
}

export interface DeliveryQuery extends CursorQuery {
  destination?: string;
  state?: DeliveryState;
  request?: string;
}

export interface AlternateDestination {
  destination: string;
}

export interface CloseDelivery {
  reason: string;
}

export interface Destination {
  name: string;
  kind: string;
  /**
   * `PACS@host:port`, a URL or mail addresses; '' for a local destination, or if the role may not
   * see addresses.
   */
  address: string;
  waiting: number;
  sending: number;
  /**
   * Number of deliveries that failed permanently or were given up, not counting those in the hold
   * queue.
   */
  dead: number;
  /** Number of deliveries in the hold queue. They are not included in the other counts. */
  held: number;
  deliveredLastDay: number;
  lastDeliveredAt: string | null;
  lastError: Delivery['error'];
  /** The destination asked us to send nothing until this time; null if it did not. */
  leftAloneUntil: string | null;
}

/** A report waiting for a person, usually because its patient or order in the EHR is uncertain. */
export interface Hold {
  id: string;
  key: string | null;
  requestId: string;
  destination: string;
  subject: Subject | null;
  code: string;
  title: string;
  advice: string;
  needs: HoldNeeds;
  /** Details of the failure; null when the role may not read them. */
  detail: string | null;
  since: string;
  /** Whether the gateway still retries the delivery automatically. */
  retried: boolean;
  candidates: number;
}

/**
 * The action that a held report needs. `patient`: it cannot be sent before a person chooses the
 * patient. `decision`: a person must look at it. `nothing`: it can be sent again unchanged.
 */
export type HoldNeeds = 'patient' | 'decision' | 'nothing';

export interface HoldWithIdentity extends Hold {
  /** EHR patients and orders to which the report could belong. */
  choices: HoldChoice[];
}

export interface HoldChoice {
  /** FHIR reference, such as `Patient/17` or `ServiceRequest/4`. */
  reference: string;
  kind: 'patient' | 'order';
  /** The attributes that agree with the report and those that differ, in words. */
  text: string;
}

export interface ConfirmHold {
  patient?: string;
  order?: string;
  withoutOrder?: boolean;
}

export interface RejectHold {
  reason: string;
}

/** A received object that could not be recorded. Each host lists only its own. */
export interface Quarantined {
  id: string;
  at: string;
  bytes: number;
  /** Source, calling AE title and reason; each is null for an object from an earlier version. */
  source: string | null;
  callingAeTitle: string | null;
  title: string | null;
  /** Details of the reason; null if there are no details, or if the role may not read them. */
  detail: string | null;
}

/** A condition of a rule in words. If it is a regular expression, `pattern` contains it. */
export interface ConditionWords {
  text: string;
  pattern?: string;
  parts?: ConditionWords[];
}

export interface Rules {
  match: 'first' | 'all';
  rules: {
    name: string;
    does: string;
    conditions: ConditionWords[];
    deliverTo: string[];
    tags: string[];
  }[];
  /**
   * The current rules as YAML below `routing:`, without default values. A person can edit, try out
   * and save them.
   */
  yaml: string;
  /** Whether the gateway has a settings file into which it can save rules. */
  canSave: boolean;
  /** Names of the sources. A person can choose one of them as the assumed sender of a file. */
  sources: string[];
  /** Number of bytes that the rules need from the start of a file. */
  fileStartBytes: number;
  /**
   * Studies that arrived in the last day. A study on which several rules acted is counted for each
   * of them.
   */
  lastDay: {
    byRule: { rule: string; studies: number }[];
    matchedNone: number;
    /**
     * Number of studies to which no rule was applied: studies that are not complete yet, are held
     * by a person, were retrieved as priors, or were sent by this gateway.
     */
    notJudged: number;
  };
}

export interface DryRunQuery {
  /**
   * Rules in the form of `Rules.yaml`. Mistakes are answered with 422 `invalid_input` and `errors`.
   */
  yaml: string;
  /** Number of most recent studies to which the rules are applied, 1 to 500. */
  last: number;
}

/** `POST /rules/dry-run-file`: which rule would act on a file. The file is not stored. */
export interface FileDryRun {
  /** Rules in the form of `Rules.yaml`. */
  yaml: string;
  /** Name of the source that is assumed to send the file; '' for none. */
  source: string;
  /** The first bytes of the file in base64, at most `Rules.fileStartBytes` of them. */
  start: string;
  /** Size of the whole file in bytes. */
  bytes: number;
}

export interface FileOutcome {
  modality: string;
  studyDescription: string;
  /** Name of the SOP class, or its UID if the gateway has no name for it. */
  sopClass: string;
  wouldAct: string[];
  verdicts: RuleVerdict[];
  /**
   * True if the content of the images, which is not examined here, would decide which rules act.
   */
  open: boolean;
}

export interface SaveRules {
  /** Rules in the form of `Rules.yaml`; mistakes are answered as for a dry run. */
  yaml: string;
  /** `Rules.yaml` from before the edit; 412 if other rules are in use by now. */
  basis: string;
}

export interface SavedRules {
  /** Path of the backup of the previous settings file. */
  kept: string;
}

export interface DryRun {
  studies: {
    key: string;
    arrivedAt: string;
    subject: Subject | null;
    /**
     * Names of the current rules that act; `wouldAct` contains the names of the edited rules that
     * would act.
     */
    actsNow: string[];
    wouldAct: string[];
    verdicts: RuleVerdict[];
  }[];
  changed: number;
}

export interface Peer {
  name: string;
  kind: 'source' | 'dicom' | 'fhir' | 'hl7v2';
  /**
   * The address: `PACS@host:port`, or the URL of the EHR; for a source, the AE titles and addresses
   * that it may use.
   */
  address: string;
  tls: boolean;
  /** The objects that are sent to the peer. */
  objects: string[];
  /**
   * For a source, when its latest study began to arrive; for a destination, when an object was last
   * delivered to it (in the last seven days). Null if there was none.
   */
  lastExchangeAt: string | null;
  lastError: Delivery['error'];
  lastErrorAt: string | null;
  /** True if `sonogate doctor` can contact the peer. For a source, this needs its `node`. */
  callable: boolean;
}

export interface DoctorQuery {
  /** Name of the peer to check. Without it, all peers and this host are checked. */
  peer?: string;
}

export interface DoctorFinding {
  what: string;
  state: 'ok' | 'warning' | 'fault';
  detail: string;
}

export interface RuleVerdict {
  rule: string;
  matches: boolean;
  acts: boolean;
  conditions: ConditionVerdict[];
}

export interface ConditionVerdict {
  condition: string;
  wanted: string;
  /** The value that was found; null when the role may not see it. */
  found: string | null;
  holds: boolean;
  parts?: ConditionVerdict[];
}
