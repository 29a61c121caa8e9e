import { expect, test } from 'vitest';
import { routingSchema } from '../../../../../config/routing.ts';
import { translateEndpoint } from '../../../../../pipelines/translate/endpoint.ts';
import { ENDPOINTS } from '../../../../../src/app/endpoints.ts';
import {
  requireUsableRules,
  ruleFaults,
} from '../../../../../src/core/studies/rules/check-rules.ts';

const ruleOn = (path: string) =>
  routingSchema.parse({
    rules: [{ name: 'r', when: { any: [{ attributes: { [path]: 'x' } }] }, ignore: true }],
  });
const running = (endpoint: string, options: object = {}) =>
  routingSchema.parse({
    rules: [
      { name: 'first', ignore: true },
      { name: 'second', run: { endpoint, options } },
    ],
  });

test('a rule on an attribute that DICOM does not have is at fault', () => {
  expect(ruleFaults(ruleOn('ProcedureCodeSequence.CodeValeu'), ENDPOINTS)).toEqual([
    { rule: 'r', index: 0, detail: 'attributes that do not exist in DICOM: CodeValeu' },
  ]);
});

test.each(['ProcedureCodeSequence.CodeValue', '(0008,1030)', '(0009,1001)'])(
  'a rule on %s is in order',
  (path) => {
    expect(ruleFaults(ruleOn(path), ENDPOINTS)).toEqual([]);
  },
);

test.each([
  ['us/liver/interpret', {}, 'Endpoints: us/obstetric/interpret, us/echo/interpret.'],
  ['us/echo/interpret', { reprot: true }, 'reprot'],
  ['us/echo/interpret', { report: 'yes' }, 'options.report'],
  [translateEndpoint.id, {}, 'There is no endpoint'],
])('a rule that runs %s with %o is at fault', (endpoint, options, detail) => {
  expect(ruleFaults(running(endpoint, options), ENDPOINTS)).toEqual([
    { rule: 'second', index: 1, detail: expect.stringContaining(detail) },
  ]);
});

test('rules that could never match or act are refused by name', () => {
  const routing = running('us/liver/interpret');
  expect(() => requireUsableRules(routing, ENDPOINTS)).toThrow('rule "second": There is no');
  expect(() => requireUsableRules(running('us/echo/interpret'), ENDPOINTS)).not.toThrow();
});
