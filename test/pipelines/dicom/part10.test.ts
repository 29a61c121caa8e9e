import dcmjs from 'dcmjs';
import { describe, expect, it } from 'vitest';
import {
  IMPLEMENTATION_CLASS_UID,
  IMPLEMENTATION_VERSION,
} from '../../../pipelines/dicom/implementation.ts';
import { encodePart10 } from '../../../pipelines/dicom/part10.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
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

describe('an object that we write', () => {
  const uids = { SOPClassUID: '1.2.840.10008.5.1.4.1.1.88.34', SOPInstanceUID: '2.25.5' };

  it('has the bytes that dcmjs would write, in each value representation', () => {
    const { DicomDict, DicomMetaDictionary } = dcmjs.data;
    const codes = [{ CodeValue: '1', CodeMeaning: 'Kopf, quer: größer' }, {}];
    const dataSet = {
      ...uids,
      SpecificCharacterSet: 'ISO_IR 192',
      PatientName: 'Müller^Zoë=山田^花子',
      PatientAge: '031Y',
      PatientComments: null,
      StudyDate: '20260101',
      ContentTime: '',
      ImageType: ['DERIVED', 'SECONDARY'],
      RetrieveAETitle: 'SONOGATE',
      StationName: 'Größe',
      FrameIncrementPointer: 0x00181063,
      Rows: 480,
      PixelSpacing: ['0.25', 0.5],
      InstanceNumber: 7,
      GraphicData: [1.5, -2.25, 3],
      FloatingPointValue: 158.0247,
      ReferencedPixelValueReal: undefined,
      SelectorSLValue: -5,
      SelectorSSValue: [-1, 2],
      DisplayedAreaTopLeftHandCorner: [1, -1],
      SimpleFrameList: [1, 70_000],
      TextValue: 'straight',
      LongCodeValue: 'a code of more than sixteen characters',
      ConceptCodeSequence: codes,
      MeasuredValueSequence: [],
      ContentSequence: [{ ConceptNameCodeSequence: codes, ContentSequence: codes }],
      PixelData: [new Uint8Array([1, 2, 3, 4]).buffer],
      _vrMap: { PixelData: 'OB' },
    };
    const peer = new DicomDict(
      DicomMetaDictionary.denaturalizeDataset({
        FileMetaInformationVersion: new Uint8Array([0, 1]).buffer,
        MediaStorageSOPClassUID: uids.SOPClassUID,
        MediaStorageSOPInstanceUID: uids.SOPInstanceUID,
        TransferSyntaxUID: EXPLICIT_VR_LITTLE_ENDIAN,
        ImplementationClassUID: IMPLEMENTATION_CLASS_UID,
        ImplementationVersionName: IMPLEMENTATION_VERSION,
      }),
    );
    peer.dict = DicomMetaDictionary.denaturalizeDataset(dataSet);
    expect(encodePart10(dataSet)).toEqual(Buffer.from(peer.write()));
  });

  it('writes a text that is too long for a 16-bit length as UN (PS3.5 6.2.2)', () => {
    const comments = 'x'.repeat(70_000);
    const bytes = encodePart10({ ...uids, ImageComments: comments });
    const at = bytes.indexOf(Buffer.from([0x20, 0, 0, 0x40]));
    expect(bytes.toString('latin1', at + 4, at + 6)).toBe('UN');
    expect(bytes.readUInt32LE(at + 8)).toBe(comments.length);
  });
});
