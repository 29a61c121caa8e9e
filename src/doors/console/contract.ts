/**
 * Every response and event of the console's API. Types only: the browser imports them with `import
 * type`, and the server's code is checked against them.
 *
 * Browser code is TypeScript under `pages/`. Its types are stripped when the gateway starts, and
 * each file keeps its name: `pages/study.ts` is served as `/console/study.ts`, and
 * `pages/styles/main.css` as `/console/styles/main.css`. Modules import each other by relative path
 * (`./router.ts`), and libraries by name (`lit-html`, `lit-html/directives/repeat.js`, `uplot`) or
 * by address (`/console/vendor/uplot/…`; its style sheet is
 * `/console/vendor/uplot/uPlot.min.css`). The shell is the HTML page that the server generates: it
 * contains the import map and an empty `<div id="console">`, and loads `/console/main.ts` and
 * `/console/styles/main.css`. Every path below `/console/` without a dot in its last segment returns
 * the shell, so that deep links work: `/console/worklist/{key}`, `/console/deliveries`, …
 *
 * The content security policy allows no inline script and no other origin; images come from this
 * server or from `blob:`. It also allows no `style` attribute written by markup or `setAttribute`.
 * Set `element.style` instead of using lit-html's `styleMap`, which writes the attribute at the
 * first rendering. Trusted Types are required, so only lit-html may create markup.
 *
 * All paths below are under `/console/api`. Responses are JSON; errors are problem details (RFC
 * 9457, `Problem`). Times are RFC 3339 in UTC. Every HTTP request except for signing in needs the
 * session cookie. Every one that changes something (POST, PUT, PATCH, DELETE) also needs the header
 * `X-CSRF-Token` with `Session.csrf`, and `Content-Type: application/json` if it has a body. Status
 * 401 means that the person must sign in again, 403 `forbidden` that the role lacks the permission.
 *
 *   method and path                                  may                body or query → response
 *   GET    /sign-in                                  (nobody signed in) → SignIn
 *   POST   /session                                  (nobody signed in) NewSession → Session
 *   GET    /oidc/start?next=/console/…               (nobody signed in) 302 to the identity provider
 *   GET    /oidc/callback                            (nobody signed in) 302 to the page in `next`
 *                                                    After a failure, both return 302 to
 *                                                    `/console/sign-in?error=` with `sign_in_failed`,
 *                                                    `forbidden` (no role) or
 *                                                    `identity_provider_unavailable`.
 *   GET    /session                                  any role           → Session
 *   DELETE /session                                  any role           204, signs out
 *   DELETE /sessions                                 any role           204, signs this person out everywhere
 *   GET    /events                                   read               server-sent events: ConsoleEvent
 *   GET    /worklist                                 read               WorklistQuery → WorklistPage
 *   GET    /worklist/facets                          read               → Facets
 *   GET    /worklist/{key}                           read               → StudyPage
 *   GET    /display                                  read               RAD-106 parameters → InvokedDisplay
 *   GET    /requests/{id}/result                     read               → ResultView
 *   GET    /requests/{id}/artifacts/{name}           read               the bytes; `?download=1` as attachment
 *   GET    /requests/{id}/review                     read               → ReviewView
 *   PATCH  /requests/{id}/review                     review             ChangeReview → ReviewView; needs `If-Match`
 *   GET    /requests/{id}/review/events              read               server-sent events: ReviewNews
 *   POST   /requests/{id}/sign                       sign               SignReview → ReviewView; needs `If-Match`
 *   POST   /requests/{id}/withdraw                   withdraw           WithdrawResult → WorklistRow
 *   POST   /requests/{id}/cancel                     run                → WorklistRow
 *   POST   /requests/{id}/acknowledge                confirm            → WorklistRow; acknowledges the critical flags
 *   POST   /studies/{id}/complete                    run                → WorklistRow
 *   POST   /studies/{id}/rerun                       run                → WorklistRow
 *   POST   /studies/{id}/hold                        run                HoldStudy → WorklistRow
 *   POST   /studies/{id}/release                     run                ReleaseStudy → WorklistRow
 *   POST   /instances                                run                objects as in a store transaction of
 *                                                    DICOMweb (PS3.18 10.5) → UploadOutcome
 *   GET    /destinations                             read               → Destination[]
 *   GET    /deliveries                               read               DeliveryQuery → Page<Delivery>
 *   POST   /deliveries/{id}/replay                   deliver            → Delivery
 *   POST   /deliveries/{id}/alternate                deliver            AlternateDestination → Delivery
 *   POST   /deliveries/{id}/close                    deliver            CloseDelivery → Delivery
 *   GET    /holds                                    read               → Hold[]
 *   GET    /holds/{id}                               confirm            → HoldWithIdentity
 *   POST   /holds/{id}/confirm                       confirm            ConfirmHold → Hold
 *   POST   /holds/{id}/reject                        confirm            RejectHold → Hold
 *   GET    /quarantine                               read               → Quarantined[]
 *   POST   /quarantine/{id}/register                 run                204; registers the object again
 *   POST   /quarantine/{id}/remove                   run                204; deletes the object for good
 *   GET    /rules                                    rules              → Rules
 *   PUT    /rules                                    rules              SaveRules → SavedRules
 *   POST   /rules/dry-run                            rules              DryRunQuery → DryRun
 *   POST   /rules/dry-run-file                       rules              FileDryRun → FileOutcome
 *   GET    /peers                                    peers              → Peer[]
 *   POST   /doctor                                   peers              DoctorQuery → DoctorFinding[]
 *   GET    /keys                                     settings           → Key[]
 *   POST   /keys                                     settings           NewKey → CreatedKey
 *   DELETE /keys/{id}                                settings           → Key
 *   GET    /webhooks/secret                          settings           → WebhookSecret (not the secret itself)
 *   POST   /webhooks/secret/rotate                   settings           → NewWebhookSecret (shown once)
 *   GET    /webhooks/deliveries                      settings           CursorQuery → Page<WebhookDelivery>
 *   POST   /webhooks/deliveries/{id}/redeliver       settings           → WebhookDelivery
 *   GET    /usage                                    settings           → Usage[]
 *   GET    /retention                                settings           → Retention
 */

import type { Specialty } from '../../../pipelines/concepts/specialty.ts';
import type {
  WithdrawalReason,
  WithdrawalReceiver,
} from '../../../pipelines/contract/withdrawal.ts';
import type { Capability, ConsoleRole } from '../../core/accounts/roles.ts';
import type { Delivery, RuleVerdict } from './operations-contract.ts';
import type { Artifact } from './result-contract.ts';
import type { ShownReview } from './review-contract.ts';
import type { CursorQuery, Page, Subject } from './shared-contract.ts';

export type { Specialty } from '../../../pipelines/concepts/specialty.ts';
export type { Capability, ConsoleRole } from '../../core/accounts/roles.ts';
export type * from './operations-contract.ts';
export type * from './result-contract.ts';
export type * from './review-contract.ts';
export type * from './settings-contract.ts';
export type * from './shared-contract.ts';

/** The studies that an Invoke Image Display request (IHE RAD-106) asks for, newest first. */
export interface InvokedDisplay {
  studies: {
    /** Key of the worklist row. */
    key: string;
    /** As in the header (DA); '' if the header has no date. */
    studyDate: string;
    description: string;
  }[];
}

export interface SignIn {
  /** The OpenID Connect provider; null when none is configured. */
  oidc: { label: string } | null;
}

export interface NewSession {
  /** An API key that has a console role. */
  key: string;
}

export interface Session {
  /** Name of the API key, or the person's name from the identity provider. */
  person: string;
  role: ConsoleRole;
  may: Capability[];
  signedInBy: 'key' | 'oidc';
  /** The client sends this token as `X-CSRF-Token` with each change. */
  csrf: string;
}

/** Problem details (RFC 9457) of an error. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id?: string;
  errors?: { pointer: string; detail: string }[];
}

/**
 * State of a row: the study's state until it is submitted, then its newest request's state.
 *
 *   receiving    objects are arriving; waits until `waitsUntil`
 *   complete     is being routed
 *   held         a rule or a person holds it
 *   unrouted     no rule matched
 *   ignored      a rule ignores it
 *   refused      the endpoint refused it
 *   routed       forwarded or tagged, nothing to interpret
 *   queued … expired   the request's state (docs/api.md)
 */
export type RowState =
  | 'receiving'
  | 'complete'
  | 'held'
  | 'unrouted'
  | 'ignored'
  | 'refused'
  | 'routed'
  | 'queued'
  | 'preparing'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'rejected'
  | 'expired';

/** A study received by DICOM, or a request received by HTTP. */
export interface WorklistRow {
  /** The study's id, or the request's id if there is no study. Used in deep links. */
  key: string;
  subject: Subject | null;
  state: RowState;
  /**
   * The reason for the state in words, for example why no rule matched; null if there is no reason,
   * or if the role may not read it.
   */
  reason: string | null;
  /** Name of the DICOM source; `api` or `queue` for a request. */
  source: string;
  /** The endpoint, such as `us/obstetric/interpret`; null before a rule ran. */
  endpoint: string | null;
  /** What the endpoint interprets; null before a rule ran, or if the endpoint interprets nothing. */
  specialty: Specialty | null;
  requestId: string | null;
  objects: number;
  tags: string[];
  test: boolean;
  /**
   * When the first object was received, or the request submitted. Rows are sorted by this time,
   * newest first.
   */
  arrivedAt: string;
  changedAt: string;
  /**
   * What the row is waiting for, in words, and when the wait ends; both null if it is not waiting.
   */
  waitsFor: string | null;
  waitsUntil: string | null;
  /** Stage of the newest request; null before the first request. */
  stage: { label: string; progress: number; etaSeconds: number | null } | null;
  /**
   * Critical flags, in words, of the row's current requests. A request is current until its rule
   * has a result for a later revision of the study. All flags of a request are acknowledged
   * together; until then, `seenBy` is null.
   */
  critical: {
    text: string;
    at: string;
    requestId: string;
    seenBy: string | null;
  }[];
  /** The latest acknowledgement; null while a flag is unacknowledged, or if there are no flags. */
  acknowledged: { person: string; at: string } | null;
  /** The result at a glance; null before there is a result. */
  glance: Glance | null;
  /** The result's review state, or that it was withdrawn; null before there is a result. */
  review: ShownReview | null;
  /** The people who have the review open now; empty if the role may not see who they are. */
  readers: string[];
  deliveries: { waiting: number; delivered: number; dead: number; held: number };
}

export interface Glance {
  /** The stated gestational age in weeks and days, `31+4`; null if none was stated. */
  age: string | null;
  /** At most four values; `toConfirm` counts all values that a person still has to confirm. */
  values: string[];
  toConfirm: number;
  /** Abnormal findings as sentences; empty when nothing abnormal was found. */
  abnormal: string[];
  assessed: number;
  sections: number;
}

export interface WorklistQuery extends CursorQuery {
  /** States of the rows to list; the parameter may be repeated. */
  state?: RowState | RowState[];
  source?: string;
  endpoint?: string;
  tag?: string;
  /** `1` selects only rows with flags that nobody has acknowledged. */
  critical?: '1';
  /**
   * `unsigned` selects results that nobody has signed. Rows without a result match neither value.
   */
  signature?: 'signed' | 'unsigned';
  /**
   * Prefixes of words in the name, patient ID or accession number, if the role sees them. Every
   * role can also search for a complete Study Instance UID, study or request id, or tag.
   */
  q?: string;
}

export interface WorklistPage extends Page<WorklistRow> {
  /**
   * Set on the first page only: rows of any age with critical flags that nobody has acknowledged
   * (at most 100). They are not repeated in `rows`.
   */
  critical: WorklistRow[];
}

export interface Facets {
  /** `more` is true if there may be further rows that were not counted. */
  states: { state: RowState; rows: number; more: boolean }[];
  sources: string[];
  endpoints: { id: string; specialty: Specialty | null }[];
  tags: string[];
  critical: number;
}

/**
 * An event of the stream `GET /events`: `event:` contains the type, `data:` the JSON below. A
 * client may send `id:` back as `Last-Event-ID`, as an EventSource does. Rows are complete and
 * replace those with the same key. If an id is too old to resume from, the first event is `reset`,
 * and the page must reload its data.
 */
export type ConsoleEvent =
  | { type: 'hello'; data: { at: string } }
  | { type: 'reset'; data: { at: string } }
  | { type: 'row'; data: { row: WorklistRow } }
  | { type: 'delivery'; data: Delivery }
  /** The session has ended or its role was changed: the page must load `/session` again. */
  | { type: 'session'; data: { at: string } };

export interface StudyPage {
  row: WorklistRow;
  study: {
    id: string;
    /**
     * The study in the hospital's viewer; null if no viewer is configured, or if the role does not
     * see identity.
     */
    viewer: { label: string; url: string } | null;
    callingAeTitle: string;
    calledAeTitle: string;
    objects: StudyObject[];
    rules: RuleVerdict[];
    /** The rule that a person chose on releasing the study, whatever the rules say; null if none. */
    chosenRule: string | null;
    /** Rules under which a person may release the study. */
    releasableTo: string[];
    /**
     * True if the patient may have been merged with another. A release must then give
     * `ReleaseStudy.under`.
     */
    perhapsMerged: boolean;
  } | null;
  /** The study's requests, newest first. The worklist row shows the first. */
  requests: RequestSummary[];
  /** The study's history, oldest first. */
  timeline: TimelineEntry[];
  deliveries: Delivery[];
  /** The patient's other studies, newest first; empty if the images identify no patient. */
  earlier: {
    key: string;
    arrivedAt: string;
    endpoint: string | null;
    specialty: Specialty | null;
    state: RowState;
    review: ShownReview | null;
  }[];
  /** What this role may do now. */
  actions: StudyAction[];
  /** The reasons for which a result may be withdrawn. */
  withdrawalReasons: { code: WithdrawResult['reason']; text: string }[];
}

export interface UploadOutcome {
  stored: number;
  /** Why objects were refused, in words, with the number of objects for each reason. */
  refused: { reason: string; objects: number }[];
}

export type StudyAction = 'complete' | 'hold' | 'release' | 'rerun' | 'cancel' | 'acknowledge';

export interface StudyObject {
  /** Name of the SOP class, or its UID if the gateway has no name for it. */
  sopClass: string;
  frames: number;
  revision: number;
  /** True if another object had the same SOP Instance UID but different content. */
  conflict: boolean;
}

export interface RequestSummary {
  id: string;
  revision: number | null;
  /** Whether a person has signed a result of the request. */
  signed: boolean;
  /** Null unless the result was withdrawn. */
  withdrawal: ShownWithdrawal | null;
  /** Whether this role may withdraw the result now. */
  mayWithdraw: boolean;
  endpoint: string;
  state: RowState;
  endedAt: string | null;
  error: { code: string; title: string; detail: string } | null;
  artifacts: Artifact[];
}

/** Who withdrew a result, when and why, and what each receiver has done about it. */
export interface ShownWithdrawal {
  at: string;
  /** Null if the role may not see who did it. */
  by: string | null;
  /** The reason in words, with what the person wrote if the role may read it. */
  reason: string;
  receivers: WithdrawalReceiver[];
}

export interface WithdrawResult {
  reason: WithdrawalReason;
  text?: string;
}

/** One step in a study's history, from the first object received to the EHR's acknowledgement. */
export interface TimelineEntry {
  at: string;
  kind:
    | 'received'
    | 'completed'
    | 'routed'
    | 'held'
    | 'refused'
    | 'submitted'
    | 'status'
    | 'stage'
    | 'critical'
    | 'result'
    | 'delivery'
    | 'delivered'
    | 'committed'
    | 'failed'
    | 'looked'
    | 'changed';
  title: string;
  /** The cause; null if no cause is known, or if the role may not read it. */
  detail: string | null;
  /** The person or peer that did this; null when the gateway did it. */
  actor: string | null;
}

export interface HoldStudy {
  reason: string;
}

export interface ReleaseStudy {
  /** One of the rules in `releasableTo`; null to apply all rules except those that hold studies. */
  rule: string | null;
  /** The patient ID under which the study continues, if `perhapsMerged` is true; otherwise null. */
  under: 'surviving-id' | 'own-id' | null;
}
