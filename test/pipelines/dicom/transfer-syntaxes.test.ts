import { expect, it } from 'vitest';
import { transferSyntax } from '../../../pipelines/dicom/transfer-syntaxes.ts';

it('an unlisted transfer syntax is unsupported, and reported by its UID', () => {
  expect(transferSyntax('1.2.840.10008.1.2.4.94')).toMatchObject({
    name: '1.2.840.10008.1.2.4.94',
    coding: 'unsupported',
  });
});
