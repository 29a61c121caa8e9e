import { PDU, type PduType } from './pdu.ts';
import type { PduEvent } from './pdu-reader.ts';

/**
 * The state machine of the DICOM upper layer (PS3.8 9.2), with table 9-10 as data. The acceptor and
 * the requestor of an association report each event to it and carry out the resulting action.
 */

/** States of the protocol machine (PS3.8 tables 9-1 to 9-5). */
export const STATES = {
  Sta1: 'idle',
  Sta2: 'awaiting A-ASSOCIATE-RQ',
  Sta3: 'awaiting the local A-ASSOCIATE response',
  Sta4: 'awaiting the transport connection',
  Sta5: 'awaiting A-ASSOCIATE-AC or A-ASSOCIATE-RJ',
  Sta6: 'association established',
  Sta7: 'awaiting A-RELEASE-RP',
  Sta8: 'awaiting the local A-RELEASE response',
  Sta9: 'release collision, requestor awaiting the local A-RELEASE response',
  Sta10: 'release collision, acceptor awaiting A-RELEASE-RP',
  Sta11: 'release collision, requestor awaiting A-RELEASE-RP',
  Sta12: 'release collision, acceptor awaiting the local A-RELEASE response',
  Sta13: 'awaiting the end of the transport connection',
} as const;
export type State = keyof typeof STATES;

/** Which side of the association we are on. It determines how a release collision is resolved. */
export type Role = 'requestor' | 'acceptor';

/**
 * Actions (PS3.8 tables 9-6 to 9-9).
 *
 *   AE-1  open the transport connection       AR-1  send A-RELEASE-RQ
 *   AE-2  send A-ASSOCIATE-RQ                 AR-2  the peer wants to release
 *   AE-3  the peer accepted                   AR-3  released: close the connection
 *   AE-4  the peer rejected: close            AR-4  send A-RELEASE-RP, start ARTIM
 *   AE-5  start ARTIM                         AR-5  stop ARTIM
 *   AE-6  stop ARTIM, examine the request     AR-6  data while we release
 *   AE-7  send A-ASSOCIATE-AC                 AR-7  send data while the peer releases
 *   AE-8  send A-ASSOCIATE-RJ, start ARTIM    AR-8  both sides release
 *   DT-1  send P-DATA-TF                      AR-9  send A-RELEASE-RP
 *   DT-2  data arrived                        AR-10 the peer confirmed the release
 *
 *   AA-1  send A-ABORT, start ARTIM           AA-5  stop ARTIM
 *   AA-2  stop ARTIM, close the connection    AA-6  ignore the PDU
 *   AA-3  the peer aborted: close             AA-7  send A-ABORT
 *   AA-4  the connection was lost             AA-8  protocol error: send A-ABORT, start ARTIM
 */
export type Action =
  | `AE-${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`
  | `AR-${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10}`
  | `DT-${1 | 2}`
  | `AA-${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`;

interface Transition {
  action: Action;
  next: State | Readonly<Record<Role, State>>;
}

type Row = Readonly<Partial<Record<State, Transition>>>;

const to = (action: Action, next: Transition['next']): Transition => ({ action, next });

const from = (states: readonly State[], transition: Transition): Row =>
  Object.fromEntries(states.map((state) => [state, transition]));

const AA_1 = to('AA-1', 'Sta13');
const AA_3 = to('AA-3', 'Sta1');
const AA_4 = to('AA-4', 'Sta1');
const AA_8 = to('AA-8', 'Sta13');
const IGNORED: Row = { Sta13: to('AA-6', 'Sta13') };

/** States in which an association is established or being released. */
const OPEN = ['Sta6', 'Sta7', 'Sta8', 'Sta9', 'Sta10', 'Sta11', 'Sta12'] as const;

/**
 * Transitions for a PDU that is not expected in a state. In Sta2, before an association has been
 * requested, it leads to A-ABORT (AA-1). In later states, it is a protocol error (AA-8).
 */
const UNEXPECTED: Row = { Sta2: AA_1, ...from(['Sta3', 'Sta5', ...OPEN], AA_8), ...IGNORED };

/**
 * PS3.8 table 9-10, by event (E1 to E19) and state. If a cell is missing, the event cannot occur in
 * that state.
 */
const TABLE = {
  /** E1: we want to associate. */
  'associate-request': { Sta1: to('AE-1', 'Sta4') },
  /** E2: the transport connection is open. */
  connected: { Sta4: to('AE-2', 'Sta5') },
  /** E3: an A-ASSOCIATE-AC has arrived. */
  'associate-ac-pdu': { ...UNEXPECTED, Sta5: to('AE-3', 'Sta6') },
  /** E4: an A-ASSOCIATE-RJ has arrived. */
  'associate-rj-pdu': { ...UNEXPECTED, Sta5: to('AE-4', 'Sta1') },
  /** E5: a peer has opened a transport connection to us. */
  'connection-accepted': { Sta1: to('AE-5', 'Sta2') },
  /**
   * E6: an A-ASSOCIATE-RQ has arrived. Even a request that is not admitted leads to Sta3, and is
   * rejected from there.
   */
  'associate-rq-pdu': { ...UNEXPECTED, Sta2: to('AE-6', 'Sta3'), Sta13: to('AA-7', 'Sta13') },
  /** E7: we accept the association request. */
  'accept-response': { Sta3: to('AE-7', 'Sta6') },
  /** E8: we reject the association request. */
  'reject-response': { Sta3: to('AE-8', 'Sta13') },
  /** E9: we want to send data. */
  'data-request': { Sta6: to('DT-1', 'Sta6'), Sta8: to('AR-7', 'Sta8') },
  /** E10: a P-DATA-TF has arrived. */
  'data-pdu': { ...UNEXPECTED, Sta6: to('DT-2', 'Sta6'), Sta7: to('AR-6', 'Sta7') },
  /** E11: we want to release the association. */
  'release-request': { Sta6: to('AR-1', 'Sta7') },
  /** E12: an A-RELEASE-RQ has arrived. */
  'release-rq-pdu': {
    ...UNEXPECTED,
    Sta6: to('AR-2', 'Sta8'),
    Sta7: to('AR-8', { requestor: 'Sta9', acceptor: 'Sta10' }),
  },
  /** E13: an A-RELEASE-RP has arrived. */
  'release-rp-pdu': {
    ...UNEXPECTED,
    Sta7: to('AR-3', 'Sta1'),
    Sta10: to('AR-10', 'Sta12'),
    Sta11: to('AR-3', 'Sta1'),
  },
  /** E14: we confirm the release. */
  'release-response': {
    Sta8: to('AR-4', 'Sta13'),
    Sta9: to('AR-9', 'Sta11'),
    Sta12: to('AR-4', 'Sta13'),
  },
  /** E15: we want to abort the association. */
  'abort-request': { ...from(['Sta3', 'Sta5', ...OPEN], AA_1), Sta4: to('AA-2', 'Sta1') },
  /** E16: an A-ABORT has arrived. */
  'abort-pdu': {
    ...from(['Sta2', 'Sta13'], to('AA-2', 'Sta1')),
    ...from(['Sta3', 'Sta5', ...OPEN], AA_3),
  },
  /** E17: the transport connection has been closed. */
  'connection-closed': {
    Sta2: to('AA-5', 'Sta1'),
    ...from(['Sta3', 'Sta4', 'Sta5', ...OPEN], AA_4),
    Sta13: to('AR-5', 'Sta1'),
  },
  /** E18: the ARTIM timer has expired. */
  'artim-expired': from(['Sta2', 'Sta13'], to('AA-2', 'Sta1')),
  /** E19: bytes that are not a DICOM PDU, or a PDU with invalid contents. */
  'invalid-pdu': { ...UNEXPECTED, Sta13: to('AA-7', 'Sta13') },
} as const satisfies Record<string, Row>;

export type UpperLayerEvent = keyof typeof TABLE;
export const EVENTS = Object.keys(TABLE) as readonly UpperLayerEvent[];

const PDU_EVENT: Readonly<Record<PduType, UpperLayerEvent>> = {
  [PDU.associateRequest]: 'associate-rq-pdu',
  [PDU.associateAccept]: 'associate-ac-pdu',
  [PDU.associateReject]: 'associate-rj-pdu',
  [PDU.data]: 'data-pdu',
  [PDU.releaseRequest]: 'release-rq-pdu',
  [PDU.releaseResponse]: 'release-rp-pdu',
  [PDU.abort]: 'abort-pdu',
};

/** Returns the event for a PDU or a piece of data that was read from the connection. */
export function eventOfPdu(read: PduEvent): UpperLayerEvent {
  return PDU_EVENT[read.kind === 'fragment' ? PDU.data : read.type];
}

export class UpperLayerMachine {
  readonly #role: Role;
  #state: State = 'Sta1';

  constructor(role: Role) {
    this.#role = role;
  }

  get state(): State {
    return this.#state;
  }

  /**
   * Moves to the next state.
   * @returns the action to carry out; null if the event cannot occur in this state.
   */
  on(event: UpperLayerEvent): Action | null {
    const row: Row = TABLE[event];
    const transition = row[this.#state];
    if (!transition) return null;
    const { action, next } = transition;
    this.#state = typeof next === 'string' ? next : next[this.#role];
    return action;
  }
}
