import type { CursorQuery, Subject } from './shared-contract.ts';

/** Deliveries, the hold queue, rules and peers in the console's API; see contract.ts. Types only. */

/** `diverted`: another destination takes it in its place. */
export type DeliveryState = 'pending' | 'sending' | 'delivered' | 'dead' | 'diverted';

export interface Delivery {
  id: string;
  requestId: string | null;
  /** Key of its row in the worklist; null where there is none. */
  key: string | null;
  kind: 'dicom' | 'fhir' | 'forward' | 'stow';
  destination: string;
  object: string;
  state: DeliveryState;
  attempts: number;
  createdAt: string;
  /** Of a pending one. */
  nextAttemptAt: string | null;
  givesUpAt: string;
  endedAt: string | null;
  /** When the PACS committed to keep it. */
  committedAt: string | null;
  /** What went wrong last: `title` and `advice` in plain words, `detail` of the peer. */
  error: { code: string; title: string; advice: string; detail: string | null } | null;
  /** What the peer said when it took it. */
  outcome: string | null;
  /** It waits in the hold queue for a person. */
  held: boolean;
  /** Other destinations that could take it in place of this one. */
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

export interface Destination {
  name: string;
  kind: string;
  /** `PACS@host:port`, or the address of the EHR. */
  address: string;
  waiting: number;
  sending: number;
  /** Given up, without those held. */
  dead: number;
  /** In the hold queue for a person; counted nowhere else. */
  held: number;
  deliveredLastDay: number;
  /** The oldest that waits. */
  waitingSince: string | null;
  lastDeliveredAt: string | null;
  lastError: Delivery['error'];
  /** It asked to be left alone until then. */
  leftAloneUntil: string | null;
  /** It fails as a whole, so nothing is sent but a probe now and then; null while it works. */
  outage: { since: string; failures: number; probeAt: string | null } | null;
}

/** A report that waits for a person, because the EHR's patient or order is not certain. */
export interface Hold {
  /** Id of the delivery. */
  id: string;
  key: string | null;
  requestId: string;
  destination: string;
  subject: Subject | null;
  code: string;
  title: string;
  advice: string;
  needs: HoldNeeds;
  /** Null where the role may not read it. */
  detail: string | null;
  since: string;
  /** It is still tried by itself. */
  retried: boolean;
  candidates: number;
}

/**
 * What a held report waits for: `patient`, it cannot be sent before one is chosen; `nothing`, it can
 * be sent again as it is; else that a person looks at it.
 */
export type HoldNeeds = 'patient' | 'decision' | 'nothing';

export interface HoldWithIdentity extends Hold {
  /** References into the EHR that it could be sent to, and how they were found. */
  choices: HoldChoice[];
}

export interface HoldChoice {
  /** `Patient/17`, `ServiceRequest/4`. */
  reference: string;
  kind: 'patient' | 'order';
  /** What the EHR says of it, as far as it was kept. */
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

export interface Rules {
  match: 'first' | 'all';
  rules: {
    name: string;
    does: string;
    conditions: string[];
    deliverTo: string[];
    tags: string[];
  }[];
  /** `routing:` as YAML, to be edited and tried; the file of the site is changed by its operator. */
  yaml: string;
  /** Studies that arrived in the last day; one on which several rules acted counts for each. */
  lastDay: {
    byRule: { rule: string; studies: number }[];
    matchedNone: number;
    /** Not complete yet, or kept from the rules: held by a person, priors, what we sent ourselves. */
    notJudged: number;
  };
}

export interface DryRunQuery {
  /** As `Rules.yaml`. A mistake in it is 422 `invalid_input` with `errors`. */
  yaml: string;
  /** Of so many studies received last: 1 to 500. */
  last: number;
}

export interface DryRun {
  studies: {
    key: string;
    arrivedAt: string;
    subject: Subject | null;
    /** Rules that act now, and those that would. */
    actsNow: string[];
    wouldAct: string[];
    verdicts: RuleVerdict[];
  }[];
  /** How many of them would be treated otherwise than now. */
  changed: number;
}

export interface Peer {
  name: string;
  kind: 'source' | 'dicom' | 'fhir';
  /** `PACS@host:port`, address of the EHR; of a source the AE titles and addresses it may have. */
  address: string;
  tls: boolean;
  /** What it is sent. */
  objects: string[];
  /** Received from a source, or delivered to a destination. */
  lastExchangeAt: string | null;
  lastError: Delivery['error'];
  lastErrorAt: string | null;
  /** The doctor can call it. */
  callable: boolean;
}

export interface DoctorQuery {
  /** Name of one peer; all of them and this machine without it. */
  peer?: string;
}

export interface DoctorFinding {
  what: string;
  state: 'ok' | 'warning' | 'fault';
  detail: string;
}

/** A rule judged on a study. */
export interface RuleVerdict {
  rule: string;
  matches: boolean;
  acts: boolean;
  conditions: ConditionVerdict[];
}

export interface ConditionVerdict {
  condition: string;
  wanted: string;
  /** Null where the role may not see it. */
  found: string | null;
  holds: boolean;
  parts?: ConditionVerdict[];
}
