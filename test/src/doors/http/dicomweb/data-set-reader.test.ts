import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  dicomJson,
  type JsonDataSet,
  readTagDataSet,
} from '../../../../../pipelines/dicom/dicom-json.ts';
import { encodeFileMeta } from '../../../../../pipelines/dicom/part10.ts';
import { readOnThread } from '../../../../../src/doors/http/dicomweb/data-set-reader.ts';
import { DCMTK_INSTALLED } from '../../../../peers/dcmtk.ts';
import { type Element, SYNTAX, ultrasound } from '../../../../pipelines/input/dicom-sample.ts';
import { temporaryFolder } from '../../../../pipelines/temporary-folder.ts';

const BULK_DATA = 'https://gateway.example/bulkdata';

/** An ultrasound image with further elements, as the gateway stores it. */
function stored(extra: Element[] = []): Buffer {
  const image = ultrasound({ extra });
  const meta = encodeFileMeta({
    sopClassUid: '1.2.840.10008.5.1.4.1.1.6.1',
    sopInstanceUid: '1.2.3.4',
    transferSyntax: SYNTAX.explicit,
    sourceAeTitle: 'CART',
    receivingAeTitle: 'SONOGATE',
  });
  return Buffer.concat([meta, image.subarray(image.indexOf(Buffer.from([8, 0, 0x16, 0])))]);
}

async function fileOf(object: Buffer): Promise<string> {
  const file = join(await temporaryFolder(), 'object.dcm');
  await writeFile(file, object);
  return file;
}

async function jsonOf(file: string): Promise<JsonDataSet> {
  const bytes = await readOnThread({ file, bulkData: BULK_DATA });
  return JSON.parse(Buffer.from(bytes).toString());
}

/** Items of a sequence that a machine could send, with one short text each. */
const manyItems = (count: number): Element => [
  '00081032',
  'SQ',
  Array.from({ length: count }, (): Element[] => [['00080104', 'LO', 'a meaning']]),
];

describe('the data set of a stored object', () => {
  it('is the same JSON as without the thread', async () => {
    const file = await fileOf(stored());
    const here = dicomJson(await readTagDataSet(file), (tag) => `${BULK_DATA}/${tag}`);
    expect(await jsonOf(file)).toEqual(here);
    expect(here['7FE00010']).toMatchObject({ BulkDataURI: `${BULK_DATA}/7FE00010` });
  });

  it('keeps an empty item and an empty sequence, like dcm2json (PS3.18 F.2.5)', async () => {
    const file = await fileOf(
      stored([
        ['00081140', 'SQ', []],
        ['52009229', 'SQ', [[]]],
        ['52009230', 'SQ', [[], [['00209111', 'SQ', [[], [['00209056', 'SH', 'A']], []]]], []]],
      ]),
    );
    const json = await jsonOf(file);
    expect(json['00081140']).toEqual({ vr: 'SQ' });
    expect(json['52009229']).toEqual({ vr: 'SQ', Value: [{}] });
    const content = { vr: 'SQ', Value: [{}, { '00209056': { vr: 'SH', Value: ['A'] } }, {}] };
    expect(json['52009230']).toEqual({ vr: 'SQ', Value: [{}, { '00209111': content }, {}] });
    if (!DCMTK_INSTALLED) return;
    const peer = await promisify(execFile)('dcm2json', [file]);
    expect(json).toMatchObject(
      Object.fromEntries(
        Object.entries(JSON.parse(peer.stdout) as JsonDataSet).filter(([, { vr }]) => vr === 'SQ'),
      ),
    );
  });

  it('is read while other work continues', async () => {
    const file = await fileOf(stored([manyItems(30_000)]));
    await jsonOf(file);
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 1);
    const json = await jsonOf(file);
    clearInterval(counting);
    expect(json['00081032']?.Value).toHaveLength(30_000);
    expect(turns).toBeGreaterThan(20);
  });

  it('is read although the table of frames before the pixels is long', async () => {
    const table: Element = ['7FE00001', 'OB', Buffer.alloc(200_000)];
    const file = await fileOf(stored([table]));
    expect(Object.keys(await jsonOf(file))).toEqual(
      expect.arrayContaining(['7FE00001', '7FE00010']),
    );
  });

  it('gives the bytes of a binary value', async () => {
    const icc: Element = ['00282000', 'OB', Buffer.from('an ICC profile')];
    const file = await fileOf(stored([icc]));
    const bytes = await readOnThread({ file, tag: '00282000' });
    expect(Buffer.from(bytes).toString()).toBe('an ICC profile');
    expect(await readOnThread({ file, tag: '00420011' })).toHaveLength(0);
  });

  it('is refused if it is damaged', async () => {
    const file = await fileOf(Buffer.from('not DICOM'));
    await expect(readOnThread({ file, bulkData: BULK_DATA })).rejects.toMatchObject({
      code: 'object_not_understood',
    });
    await expect(readOnThread({ file: `${file}.gone`, tag: '00420011' })).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });
});
