import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../config/load.ts';

const PACS = { type: 'dicom', name: 'pacs', host: 'pacs.example', port: 104, aeTitle: 'PACS' };
const source = (archive: string) => ({
  name: 'cart',
  callingAeTitles: ['CART'],
  addresses: ['10.0.0.0/8'],
  completion: {
    signal: 'quiet-time',
    quietSeconds: 30,
    afterReleaseSeconds: 5,
    expectedCount: { archive },
  },
});
const rule = (over: object) => ({
  name: 'ob',
  run: { endpoint: 'us/obstetric/interpret' },
  ...over,
});
const refusal = (settings: Record<string, unknown>) => {
  try {
    loadConfig({}, settings);
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

describe('archives', () => {
  test('fetch over our own association by default', () => {
    const { archives } = loadConfig({}, { archives: [PACS] });
    expect(archives).toEqual([{ ...PACS, retrieve: 'c-get', timeoutSeconds: 30 }]);
  });

  test('must be configured if a source refers to them', () => {
    expect(refusal({ archives: [PACS], sources: [source('pacs')] })).toBeNull();
    expect(refusal({ archives: [PACS], sources: [source('vna')] })).toContain(
      'found "vna"; allowed: pacs',
    );
  });

  test('must be configured if a rule refers to them', () => {
    const rules = (from: string[]) => ({ routing: { rules: [rule({ priors: { from } })] } });
    expect(refusal({ archives: [PACS], ...rules(['pacs']) })).toBeNull();
    expect(refusal(rules(['pacs']))).toContain('found "pacs"; allowed: no archive is configured');
    expect(refusal({ archives: [PACS], ...rules([]) })).not.toBeNull();
  });
});

test('a rule that requests priors but runs no endpoint is refused', () => {
  const tags = { name: 'ob', tags: ['seen'], priors: { from: ['pacs'] } };
  expect(refusal({ archives: [PACS], routing: { rules: [tags] } })).toContain(
    'priors have no effect without run',
  );
});

test.each([
  ['studies', { studies: 0 }],
  ['studies', { studies: 11 }],
  ['withinDays', { withinDays: 0 }],
  ['waitSeconds', { waitSeconds: 0 }],
  ['description', { description: '(' }],
])('the setting %s of priors must be within its bounds: %o', (field, over) => {
  const priors = { from: ['pacs'], ...over };
  expect(refusal({ archives: [PACS], routing: { rules: [rule({ priors })] } })).toContain(field);
});
