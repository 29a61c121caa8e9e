import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { encodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { dicomFile, type Element, encapsulated, SYNTAX } from '../pipelines/input/dicom-sample.ts';

/**
 * A study with two series, for queries and retrievals: a grey cine of two frames, and a colour
 * JPEG.
 */

export const WIDTH = 32;
export const HEIGHT = 24;
const US_MULTIFRAME = '1.2.840.10008.5.1.4.1.1.3.1';
const US_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';

export interface HeldStudy {
  study: string;
  cine: string;
  still: string;
  patientId: string;
  patientName: string;
  studyDate: string;
}

export const heldStudy = (
  root: string,
  over: Partial<Omit<HeldStudy, 'study' | 'cine' | 'still'>> = {},
): HeldStudy => ({
  study: root,
  cine: `${root}.1.1`,
  still: `${root}.2.1`,
  patientId: 'P-1',
  patientName: 'Example^Eve',
  studyDate: '20260115',
  ...over,
});

export async function writeStudy(
  { study, cine, still, patientId, patientName, studyDate }: HeldStudy,
  folder: string,
): Promise<string[]> {
  const jpeg = await sharp({
    create: { width: WIDTH, height: HEIGHT, channels: 3, background: '#c04020' },
  })
    .jpeg()
    .toBuffer();
  const common = (series: string, number: string): Element[] => [
    ['00080020', 'DA', studyDate],
    ['00080030', 'TM', '101500'],
    ['00080050', 'SH', `A-${studyDate}`],
    ['00080060', 'CS', 'US'],
    ['00080090', 'PN', 'Doe^Dora'],
    ['00081030', 'LO', 'Obstetric ultrasound'],
    ['00100010', 'PN', patientName],
    ['00100020', 'LO', patientId],
    ['00100030', 'DA', '19900101'],
    ['00100040', 'CS', 'F'],
    ['0020000D', 'UI', study],
    ['0020000E', 'UI', series],
    ['00200010', 'SH', 'S1'],
    ['00200011', 'IS', number],
    ['00200013', 'IS', '1'],
  ];
  const pixels = (samples: number, photometric: string): Element[] => [
    ['00280002', 'US', [samples]],
    ['00280004', 'CS', photometric],
    ...(samples === 3 ? [['00280006', 'US', [0]] as const] : []),
    ...(samples === 1 ? [['00280008', 'IS', '2'] as const] : []),
    ['00280010', 'US', [HEIGHT]],
    ['00280011', 'US', [WIDTH]],
    ['00280100', 'US', [8]],
    ['00280101', 'US', [8]],
    ['00280102', 'US', [7]],
    ['00280103', 'US', [0]],
  ];
  const object = (
    sopClassUid: string,
    sopInstanceUid: string,
    syntax: string,
    elements: Element[],
    trailer?: Buffer,
  ) => {
    const uids: Element[] = [
      ['00080016', 'UI', sopClassUid],
      ['00080018', 'UI', sopInstanceUid],
    ];
    const file = dicomFile(syntax, [...uids, ...elements], trailer);
    const meta = encodeFileMeta({
      sopClassUid,
      sopInstanceUid,
      transferSyntax: syntax,
      sourceAeTitle: 'CART',
      receivingAeTitle: 'SONOGATE',
    });
    return Buffer.concat([meta, file.subarray(file.indexOf(Buffer.from([8, 0, 0x16, 0])))]);
  };
  const files = [
    object(US_MULTIFRAME, cine, SYNTAX.explicit, [
      ...common(`${study}.1`, '1'),
      ...pixels(1, 'MONOCHROME2'),
      ['7FE00010', 'OB', Buffer.alloc(2 * WIDTH * HEIGHT, 0x60)],
    ]),
    object(
      US_IMAGE,
      still,
      SYNTAX.jpegBaseline,
      [...common(`${study}.2`, '2'), ...pixels(3, 'YBR_FULL_422')],
      // An item has an even length (PS3.5 A.4).
      encapsulated([Buffer.concat([jpeg, Buffer.alloc(jpeg.length % 2)])]),
    ),
  ];
  const paths = files.map((_, index) => join(folder, `${study}-${index}.dcm`));
  await Promise.all(files.map((bytes, index) => writeFile(paths[index] ?? '', bytes)));
  return paths;
}

/** Sends the study as a cart does. */
export async function sendStudy(study: HeldStudy, folder: string, port: number): Promise<void> {
  const cart = { host: '127.0.0.1', port, aeTitle: 'SONOGATE', callingAeTitle: 'CART' };
  const results = await sendFiles({ ...cart, timeoutSeconds: 20 }, await writeStudy(study, folder));
  const failed = results.filter(({ outcome }) => outcome !== 'stored');
  if (failed.length > 0) throw new Error(JSON.stringify(failed));
}
