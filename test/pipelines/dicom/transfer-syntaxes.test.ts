import { expect, it } from 'vitest';
import { transferSyntax } from '../../../pipelines/dicom/transfer-syntaxes.ts';

it('a transfer syntax that is not on the list is unsupported and named by its UID', () => {
  expect(transferSyntax('1.2.840.10008.1.2.4.94')).toMatchObject({
    name: '1.2.840.10008.1.2.4.94',
    coding: 'unsupported',
  });
});
