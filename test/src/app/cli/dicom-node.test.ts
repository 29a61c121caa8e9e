import { describe, expect, it } from 'vitest';
import { parseDicomNode } from '../../../../src/app/cli/dicom.ts';

describe('a DICOM node on the command line', () => {
  it.each([
    ['PACS@localhost:104', { aeTitle: 'PACS', host: 'localhost', port: 104 }],
    ['ECHO ROOM 1@10.1.2.3:11112', { aeTitle: 'ECHO ROOM 1', host: '10.1.2.3', port: 11112 }],
    ['PACS@[::1]:65535', { aeTitle: 'PACS', host: '::1', port: 65535 }],
  ])('reads %s', (text, node) => {
    expect(parseDicomNode(text)).toEqual(node);
  });

  it.each([
    'localhost:104',
    'PACS@localhost',
    'PACS@localhost:0',
    'PACS@localhost:65536',
    'A-TITLE-OF-SEVENTE@localhost:104',
    'PA\\CS@localhost:104',
    '@localhost:104',
  ])('refuses %s and states the expected form', (text) => {
    expect(() => parseDicomNode(text)).toThrow('AE@host:port');
  });
});
