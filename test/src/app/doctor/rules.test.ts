import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../config/load.ts';
import { checkRules } from '../../../../src/app/doctor/doctor.ts';

const { routing } = loadConfig({}, {});
const rule = (endpoint: string, options: Record<string, unknown>) => ({
  rules: loadConfig({}, { routing: { rules: [{ name: 'own', run: { endpoint, options } }] } })
    .routing.rules,
});

describe('the rules of a site', () => {
  it('are in order if they are the default ones', () => {
    expect(checkRules(routing)).toMatchObject([{ what: 'rules', state: 'ok' }]);
  });

  it.each([
    ['us/echo/interpret', { previews: true }, 'previews'],
    ['us/echo/interpret', { report: 'yes' }, 'options.report'],
    ['us/liver/interpret', {}, 'There is no endpoint "us/liver/interpret"'],
  ])('are at fault with %s and options %o that cannot be run', (endpoint, options, text) => {
    expect(checkRules(rule(endpoint, options))).toMatchObject([
      { what: 'rule own', state: 'fault', detail: expect.stringContaining(text) },
    ]);
  });
});
