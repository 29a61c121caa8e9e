import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { SYNTAX, ultrasound } from '../input/dicom-sample.ts';
import { onDisk } from '../input/on-disk.ts';

async function reading(image: Buffer) {
  const { clips, refused } = await readStudy(await onDisk({ image }));
  return { clip: clips[0], reason: refused[0]?.reason };
}

describe('a DICOM file (PS3.10 7.1)', () => {
  /**
   * Offset of the data set in a sample: after the preamble, the prefix and the only element of
   * group 2.
   */
  const dataSetAt = (syntax: string) => 128 + 4 + 8 + syntax.length + (syntax.length % 2);

  it.each([
    ['implicit little endian', SYNTAX.implicit],
    ['explicit little endian', SYNTAX.explicit],
    ['explicit big endian', SYNTAX.bigEndian],
  ])('is read without preamble and File Meta Information, in %s', async (_, syntax) => {
    const { clip } = await reading(ultrasound({ syntax }).subarray(dataSetAt(syntax)));
    expect([...((await clip?.frames[0]?.gray())?.data ?? [])]).toEqual([
      0, 10, 20, 30, 40, 50, 60, 70,
    ]);
  });

  it.each(['\x08\0\x05', 'I\0\0\0\0\0\0\0\0', '{"08":1}'])('is not %j', async (text) => {
    expect((await reading(Buffer.from(text, 'latin1'))).reason).toContain('neither DICOM');
  });
});

describe('SOP classes (PS3.4 B.5)', () => {
  const root = '1.2.840.10008.5.1.4.1.1';

  it.each([
    ['Ultrasound Image', '6.1'],
    ['Ultrasound Multi-frame Image', '3.1'],
    ['Ultrasound Image, retired', '6'],
    ['Ultrasound Multi-frame Image, retired', '3'],
    ['Secondary Capture', '7'],
    ['Multi-frame Single Bit Secondary Capture', '7.1'],
    ['Multi-frame Grayscale Byte Secondary Capture', '7.2'],
    ['Multi-frame Grayscale Word Secondary Capture', '7.3'],
    ['Multi-frame True Color Secondary Capture', '7.4'],
  ])('%s is read', async (_, end) => {
    const { clip } = await reading(ultrasound({ sopClass: `${root}.${end}` }));
    expect(clip?.sopClassUid).toBe(`${root}.${end}`);
  });

  it.each([
    ['Enhanced US Volume', '6.2', /Enhanced US Volume is not supported: .*volume/],
    ['Raw Data', '66', /raw data/],
    ['Encapsulated PDF', '104.1', /PDF holds no image/],
    ['CT Image', '2', /not an ultrasound image \(SOP class 1\.2\.840/],
  ])('%s is refused by its name', async (_, end, sentence) => {
    expect((await reading(ultrasound({ sopClass: `${root}.${end}` }))).reason).toMatch(sentence);
  });
});
