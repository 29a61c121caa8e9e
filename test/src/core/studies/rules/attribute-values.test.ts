import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attributeValues } from '../../../../../src/core/studies/rules/attribute-values.ts';
import { dicomFile } from '../../../../dimse/dicom-file.ts';

let folder = '';
let files: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-attributes-'));
  files = ['OB growth', 'OB doppler'].map((_, index) => join(folder, `${index}.dcm`));
  for (const [index, studyDescription] of ['OB growth', 'OB doppler'].entries()) {
    await writeFile(
      files[index] as string,
      dicomFile({ sopInstanceUid: `1.2.3.${index}`, studyInstanceUid: '1.2.3', studyDescription }),
    );
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  [
    'by keyword, the distinct values of all objects',
    'StudyDescription',
    ['OB growth', 'OB doppler'],
  ],
  ['by tag', '(0008,1030)', ['OB growth', 'OB doppler']],
  ['once where all objects agree', 'StudyInstanceUID', ['1.2.3']],
  ['none of an attribute that is not there', 'StationName', []],
  ['none inside a sequence that is not there', 'ProcedureCodeSequence.CodeValue', []],
])('%s', async (_what, path, expected) => {
  expect((await attributeValues(files, [path])).get(path)).toEqual(expected);
});
