import { describe, expect, test } from 'vitest';
import {
  EVENTS,
  type Role,
  type State,
  type UpperLayerEvent,
  UpperLayerMachine,
} from '../../../dimse/network/state-machine.ts';

/** Creates a state machine and lets it process these events. */
function after(role: Role, events: readonly UpperLayerEvent[]): UpperLayerMachine {
  const machine = new UpperLayerMachine(role);
  for (const event of events) machine.on(event);
  return machine;
}

/** A role and a sequence of events that lead to each state. */
const REACHED: Readonly<Record<State, readonly [Role, ...UpperLayerEvent[]]>> = {
  Sta1: ['acceptor'],
  Sta2: ['acceptor', 'connection-accepted'],
  Sta3: ['acceptor', 'connection-accepted', 'associate-rq-pdu'],
  Sta4: ['requestor', 'associate-request'],
  Sta5: ['requestor', 'associate-request', 'connected'],
  Sta6: ['requestor', 'associate-request', 'connected', 'associate-ac-pdu'],
  Sta7: ['requestor', 'associate-request', 'connected', 'associate-ac-pdu', 'release-request'],
  Sta8: [
    'acceptor',
    'connection-accepted',
    'associate-rq-pdu',
    'accept-response',
    'release-rq-pdu',
  ],
  Sta9: [
    'requestor',
    'associate-request',
    'connected',
    'associate-ac-pdu',
    'release-request',
    'release-rq-pdu',
  ],
  Sta10: [
    'acceptor',
    'connection-accepted',
    'associate-rq-pdu',
    'accept-response',
    'release-request',
    'release-rq-pdu',
  ],
  Sta11: [
    'requestor',
    'associate-request',
    'connected',
    'associate-ac-pdu',
    'release-request',
    'release-rq-pdu',
    'release-response',
  ],
  Sta12: [
    'acceptor',
    'connection-accepted',
    'associate-rq-pdu',
    'accept-response',
    'release-request',
    'release-rq-pdu',
    'release-rp-pdu',
  ],
  Sta13: ['acceptor', 'connection-accepted', 'associate-rq-pdu', 'reject-response'],
};
const STATES = Object.keys(REACHED) as State[];

const reach = (state: State): UpperLayerMachine => {
  const [role, ...events] = REACHED[state];
  return after(role, events);
};

/**
 * PS3.8 table 9-10 as printed: one line for each event, and one column for each state from Sta1 to
 * Sta13. It agrees with the table in pynetdicom 3.0 (fsm.py), an independent reading of the
 * standard.
 */
const PRINTED = `
  AE-1 -    -    -    -    -    -    -    -    -     -    -     -
  -    -    -    AE-2 -    -    -    -    -    -     -    -     -
  -    AA-1 AA-8 -    AE-3 AA-8 AA-8 AA-8 AA-8 AA-8  AA-8 AA-8  AA-6
  -    AA-1 AA-8 -    AE-4 AA-8 AA-8 AA-8 AA-8 AA-8  AA-8 AA-8  AA-6
  AE-5 -    -    -    -    -    -    -    -    -     -    -     -
  -    AE-6 AA-8 -    AA-8 AA-8 AA-8 AA-8 AA-8 AA-8  AA-8 AA-8  AA-7
  -    -    AE-7 -    -    -    -    -    -    -     -    -     -
  -    -    AE-8 -    -    -    -    -    -    -     -    -     -
  -    -    -    -    -    DT-1 -    AR-7 -    -     -    -     -
  -    AA-1 AA-8 -    AA-8 DT-2 AR-6 AA-8 AA-8 AA-8  AA-8 AA-8  AA-6
  -    -    -    -    -    AR-1 -    -    -    -     -    -     -
  -    AA-1 AA-8 -    AA-8 AR-2 AR-8 AA-8 AA-8 AA-8  AA-8 AA-8  AA-6
  -    AA-1 AA-8 -    AA-8 AA-8 AR-3 AA-8 AA-8 AR-10 AR-3 AA-8  AA-6
  -    -    -    -    -    -    -    AR-4 AR-9 -     -    AR-4  -
  -    -    AA-1 AA-2 AA-1 AA-1 AA-1 AA-1 AA-1 AA-1  AA-1 AA-1  -
  -    AA-2 AA-3 -    AA-3 AA-3 AA-3 AA-3 AA-3 AA-3  AA-3 AA-3  AA-2
  -    AA-5 AA-4 AA-4 AA-4 AA-4 AA-4 AA-4 AA-4 AA-4  AA-4 AA-4  AR-5
  -    AA-2 -    -    -    -    -    -    -    -     -    -     AA-2
  -    AA-1 AA-8 -    AA-8 AA-8 AA-8 AA-8 AA-8 AA-8  AA-8 AA-8  AA-7`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

describe('the state machine of PS3.8 table 9-10', () => {
  test.each(STATES)('reaches %s', (state) => {
    expect(reach(state).state).toBe(state);
  });

  test.each(EVENTS.map((event, row) => [event, row] as const))(
    'has the printed actions for %s',
    (event, row) => {
      const actions = STATES.map((state) => reach(state).on(event) ?? '-');
      expect(actions).toEqual(PRINTED[row]);
    },
  );

  test('has 19 events, and keeps its state for an event that cannot occur', () => {
    expect(EVENTS).toHaveLength(19);
    const machine = reach('Sta6');
    expect(machine.on('accept-response')).toBeNull();
    expect(machine.state).toBe('Sta6');
  });
});

describe('the next state', () => {
  test('after the peer has aborted is idle', () => {
    const machine = reach('Sta6');
    expect(machine.on('abort-pdu')).toBe('AA-3');
    expect(machine.state).toBe('Sta1');
  });

  test.each<[State, UpperLayerEvent]>([
    ['Sta2', 'invalid-pdu'],
    ['Sta5', 'data-pdu'],
    ['Sta6', 'associate-rq-pdu'],
    ['Sta8', 'release-response'],
  ])('from %s after %s is to wait until the connection is closed', (state, event) => {
    const machine = reach(state);
    machine.on(event);
    expect(machine.state).toBe('Sta13');
  });
});
