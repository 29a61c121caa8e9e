import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../config/load.ts';
import { checkRules } from '../../../../src/app/doctor/rules.ts';

const { routing } = loadConfig({}, {});
const rule = (endpoint: string, options: Record<string, unknown>) => ({
  rules: loadConfig({}, { routing: { rules: [{ name: 'own', run: { endpoint, options } }] } })
    .routing.rules,
});

describe('the rules of a site', () => {
  it('that are the default ones are in order', () => {
    expect(checkRules(routing)).toMatchObject([{ what: 'rules', state: 'ok' }]);
  });

  it.each([
    ['us/echo/interpret', { previews: true }, 'previews'],
    ['us/echo/interpret', { report: 'yes' }, 'options.report'],
    ['us/liver/interpret', {}, 'There is no endpoint "us/liver/interpret"'],
  ])('with %s and options %o that it cannot run are a fault', (endpoint, options, text) => {
    expect(checkRules(rule(endpoint, options))).toMatchObject([
      { what: 'rule own', state: 'fault', detail: expect.stringContaining(text) },
    ]);
  });
});
