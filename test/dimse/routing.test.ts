import { describe, expect, test } from 'vitest';
import type { RoutingRule } from '../../config/schema.ts';
import { route, type StudyFacts, whyUnrouted } from '../../dimse/routing.ts';

const facts: StudyFacts = {
  callingAeTitle: 'VOLUSON3',
  calledAeTitle: 'SONOGATE',
  modalities: ['US', 'SR'],
  studyDescription: 'OB 2nd trimester',
  procedureCodes: ['USOB'],
};

const rule = (when: RoutingRule['when'], name = 'rule'): RoutingRule => ({
  name,
  when,
  run: { endpoint: 'us/obstetric', options: {}, priority: 'normal' },
  deliverTo: [],
});

describe('a routing rule', () => {
  test.each<[string, RoutingRule['when']]>([
    ['without conditions', {}],
    ['for one modality of the study', { modality: 'US' }],
    ['for the calling AE title', { callingAeTitle: 'VOLUSON3' }],
    ['for the called AE title', { calledAeTitle: 'SONOGATE' }],
    ['for a description, case ignored', { studyDescription: '^ob\\b' }],
    ['for a procedure code', { procedureCode: 'USOB' }],
  ])('%s matches', (_what, when) => {
    expect(route([rule(when)], facts).rule?.name).toBe('rule');
  });

  test.each<[string, RoutingRule['when']]>([
    ['for another modality', { modality: 'MR' }],
    ['for part of an AE title', { callingAeTitle: 'VOLUSON' }],
    ['of which one condition fails', { modality: 'US', procedureCode: 'USECHO' }],
  ])('%s does not', (_what, when) => {
    expect(route([rule(when)], facts).rule).toBeNull();
  });
});

test('the first rule that matches wins', () => {
  const rules = [rule({ modality: 'MR' }, 'a'), rule({}, 'b'), rule({ modality: 'US' }, 'c')];
  expect(route(rules, facts).rule?.name).toBe('b');
});

test('a study without a rule is told which condition kept each from matching', () => {
  const { verdicts } = route([rule({ modality: 'US', procedureCode: 'USECHO' }, 'echo')], facts);
  expect(verdicts[0]?.conditions.map(({ condition, holds }) => [condition, holds])).toEqual([
    ['modality', true],
    ['procedureCode', false],
  ]);
  expect(whyUnrouted(verdicts)).toBe(
    'No routing rule matched (echo: procedureCode is "USOB", not "USECHO").',
  );
  expect(whyUnrouted([])).toBe('No routing rule is configured.');
});
