import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { TRANSFER_SYNTAXES, transferSyntax } from '../../../pipelines/dicom/transfer-syntaxes.ts';

const DEFLATED = '1.2.840.10008.1.2.1.99';

it('docs/input.md names each transfer syntax that is read, and no other', async () => {
  const page = await readFile('docs/input.md', 'utf8');
  const rows = [...page.matchAll(/^\| (1\.2\.840\.[0-9.]+) \| ([^|]+) \|/gm)];
  const documented = Object.fromEntries(rows.map(([, uid = '', name = '']) => [uid, name.trim()]));
  const known = Object.entries(TRANSFER_SYNTAXES).map(([uid, { name }]) => [uid, name]);
  expect(documented).toEqual({
    ...Object.fromEntries(known),
    [DEFLATED]: 'Deflated Explicit VR Little Endian',
  });
});

it('a transfer syntax that is not on the list is unsupported under its own UID', () => {
  expect(transferSyntax('1.2.840.10008.1.2.4.94')).toEqual({
    name: '1.2.840.10008.1.2.4.94',
    coding: 'unsupported',
  });
});
