import { describe, expect, it } from 'vitest';
import { uidOrNull } from '../../../pipelines/dicom/uid.ts';

describe('a UID', () => {
  it.each(['1', '1.2.840.10008.1.2', `1.${'2'.repeat(62)}`, '1.2.03'])('%s is one', (text) => {
    expect(uidOrNull(text)).toBe(text);
  });

  it.each([
    '',
    '.',
    '1..2',
    '1.2.',
    '1.2?4',
    '1.2\\1.3',
    ' 1.2',
    'Beispiel^Zoe',
    `1.${'2'.repeat(63)}`,
  ])('"%s" is not a UID', (text) => {
    expect(uidOrNull(text)).toBeNull();
  });
});
