import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../config/load.ts';

const HIS = { type: 'hl7v2', name: 'his', host: 'his.example', port: 2575 };
const refusal = (settings: Record<string, unknown>) => {
  try {
    loadConfig({}, settings);
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};
const rules = (rule: object) => ({
  routing: { rules: [{ name: 'ob', run: { endpoint: 'us/obstetric/interpret' }, ...rule }] },
});

describe('a destination of HL7 v2 messages', () => {
  test('has defaults, and uses TLS only if it is configured', () => {
    expect(loadConfig({}, { destinations: [HIS] }).destinations).toEqual([
      {
        ...HIS,
        release: 'at-once',
        processingId: 'P',
        sendingApplication: 'SONOGATE',
        characterSet: 'UNICODE UTF-8',
        pdf: true,
        timeoutSeconds: 30,
      },
    ]);
  });

  test('receives results but no received objects', () => {
    expect(refusal({ destinations: [HIS], ...rules({ deliverTo: ['his'] }) })).toBeNull();
    expect(refusal({ destinations: [HIS], ...rules({ forwardTo: ['his'] }) })).toContain(
      'forwardTo',
    );
  });

  test.each(['HIS|MSH', 'a^b', 'a&b', 'a\\b', 'a~b', 'a\rb', ''])(
    'cannot use the application name %j, which would change the meaning of a header',
    (receivingApplication) => {
      expect(refusal({ destinations: [{ ...HIS, receivingApplication }] })).toContain(
        'receivingApplication',
      );
    },
  );
});

describe('worklists', () => {
  test('are off by default', () => {
    expect(loadConfig({}, {}).orders).toEqual({ worklists: [], waitSeconds: 20 });
  });

  test('hold a study for at most five minutes', () => {
    expect(refusal({ orders: { waitSeconds: 301 } })).toContain('waitSeconds');
  });
});
