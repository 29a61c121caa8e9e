import { expect, test } from 'vitest';
import { explanationLines } from '../../../../src/app/cli/studies.ts';

type Explanation = Parameters<typeof explanationLines>[0];

const at = '2026-11-24T05:01:41.630Z';
const held: Explanation = {
  id: '01a20bee-619e-7c1a-a849-5a1445188654',
  studyInstanceUid: '1.2.3',
  source: 'cart',
  callingAeTitle: 'CART',
  calledAeTitle: 'SONOGATE',
  state: 'held',
  reason: 'Held by the rule “rest”.',
  revision: 1,
  firstReceivedAt: at,
  lastReceivedAt: at,
  completeAfter: at,
  completeBecause: 'quiet-time',
  nextAttemptAt: null,
  archiveCount: null,
  priors: [],
  order: null,
  corrections: [],
  perhapsMerged: false,
  chosenRule: null,
  tags: [],
  objects: [{ file: 'a.dcm', sopInstanceUid: '1.2.3.4', bytes: 1, conflict: false }],
  rules: [
    {
      rule: 'echo',
      matches: false,
      acts: false,
      conditions: [
        { condition: 'studyDescription', wanted: 'text', found: '', holds: false },
        { condition: 'modality', wanted: 'US', found: 'US', holds: true },
      ],
    },
  ],
  requests: [],
};
const text = (change: Partial<Explanation> = {}) =>
  explanationLines({ ...held, ...change }).join('\n');

test('explain counts objects and says where nothing was found', () => {
  expect(text()).toContain('  1 object, first');
  expect(text()).toContain('no: studyDescription: expected text, found nothing');
  expect(text()).toContain('yes: modality: expected US, found "US"');
});

test.each([
  ['held', 'to continue: npx sonogate studies release 1.2.3 --rule NAME'],
  ['unrouted', 'or change the rules and then npx sonogate studies rerun 1.2.3'],
  ['refused', 'correct the cause, and then npx sonogate studies rerun 1.2.3'],
])('explain says how a person continues a study that is %s', (state, command) => {
  expect(text({ state })).toContain(command);
});

test.each<Partial<Explanation>>([{ state: 'submitted' }, { perhapsMerged: true }])(
  'explain names no such command for %o',
  (change) => expect(text(change)).not.toContain('to continue'),
);

test('explain says what became of each request, and why one failed', () => {
  const request = {
    revision: 1,
    rule: 'echo',
    submitted_at: at,
    status: 'succeeded',
    code: null,
    withdrawn: false,
  };
  const requests = [
    { ...request, request_id: 'req_1' },
    { ...request, request_id: 'req_2', status: 'failed', code: 'pipeline_timeout' },
    { ...request, request_id: 'req_3', withdrawn: true },
  ] as Explanation['requests'];
  expect(text({ state: 'submitted', requests })).toContain(
    'req_1 (revision 1, rule echo): succeeded',
  );
  expect(text({ state: 'submitted', requests })).toContain(
    'req_3 (revision 1, rule echo): succeeded, withdrawn',
  );
  expect(text({ state: 'submitted', requests })).toMatch(
    /req_2 \(revision 1, rule echo\): failed, .+ \(pipeline_timeout\)/,
  );
});

test('explain names the rule that a person chose, although the rule does not match', () => {
  expect(text({ state: 'submitted', chosenRule: 'echo' })).toContain(
    '  released by a person to the rule "echo"',
  );
  expect(text()).not.toContain('released by');
});
