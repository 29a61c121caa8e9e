import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { findSource, watchFreeSpace } from '../../../dimse/receive/admission.ts';
import { quietDeadline, releaseDeadline } from '../../../src/core/studies/completion.ts';
import { source } from './source.ts';

describe('the source of an association', () => {
  const sources = [
    source('cart', { callingAeTitles: ['VOLUSON3'], addresses: ['10.20.30.0/24', 'fd00::/16'] }),
    source('pacs', { callingAeTitles: ['PACS'], addresses: ['10.20.30.7'] }),
    source('here', {}),
  ];
  test.each([
    ['VOLUSON3', '10.20.30.255', 'cart'],
    ['VOLUSON3', '10.20.31.0', null],
    ['VOLUSON3', '::ffff:10.20.30.1', 'cart'],
    ['VOLUSON3', 'fd00::7', 'cart'],
    ['VOLUSON3', '127.0.0.1', 'here'],
    ['voluson3', '10.20.30.1', null],
    ['PACS', '10.20.30.7', 'pacs'],
    ['PACS', '10.20.30.8', null],
    ['ANY', '::1', 'here'],
    ['ANY', '', null],
  ])('%s at "%s" is %s', (aeTitle, address, name) => {
    const found = findSource(sources, { aeTitle, address, certificate: null });
    expect('refused' in found ? null : found.name).toBe(name);
  });

  test('a title bound to a certificate is not accepted through an entry for any title', () => {
    const bound = source('cart', {
      callingAeTitles: ['VOLUSON3'],
      certificate: { subject: { CN: 'voluson-3' } },
    });
    const caller = { aeTitle: 'VOLUSON3', address: '127.0.0.1', certificate: null };
    expect(findSource([source('here', {}), bound], caller)).toEqual({
      refused: 'certificate_not_of_calling_ae',
    });
    expect(findSource([source('here', {}), bound], { ...caller, aeTitle: 'OTHER' })).toMatchObject({
      name: 'here',
    });
  });
});

describe('completion', () => {
  const at = new Date('2026-01-01T00:00:00Z');
  const release = {
    signal: 'association-release',
    quietSeconds: 60,
    afterReleaseSeconds: 2,
  } as const;
  const sources = [source('quiet', {}), source('release', { completion: release })];
  const seconds = (date: Date | null) => date && (date.getTime() - at.getTime()) / 1000;

  test("happens after the source's quiet time", () => {
    expect(seconds(quietDeadline(sources, 'quiet', at))).toBe(30);
    expect(seconds(quietDeadline(sources, 'release', at))).toBe(60);
  });

  test('is hastened by a release only if this is configured for the source', () => {
    expect(seconds(releaseDeadline(sources, 'quiet', at))).toBeNull();
    expect(seconds(releaseDeadline(sources, 'release', at))).toBe(2);
  });

  test('still happens for a source that was removed from the configuration', () => {
    expect(seconds(quietDeadline(sources, 'gone', at))).toBe(30);
  });
});

test('an object that is refused for lack of space says so in the log, and names the setting', async () => {
  const detail = 'The disk has less free space than dicom.minFreeBytes.';
  const requireRoom = watchFreeSpace(tmpdir(), Number.MAX_SAFE_INTEGER);
  await expect(requireRoom()).rejects.toMatchObject({ code: 'overloaded', detail });
});
