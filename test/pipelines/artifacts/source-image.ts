import { data } from 'dcmjs';
import { IDENTITY, SUBJECT, US_IMAGE } from './example-subject.ts';

/** Returns the image of `SUBJECT` on which the head was measured, as a cart would have sent it. */
export function sourceImage(): Buffer {
  const [head] = SUBJECT.instances;
  if (!head) throw new Error('the subject has no image');
  const { SpecificCharacterSet: _, AcquisitionDateTime: __, ...identity } = IDENTITY;
  const dataset = {
    SpecificCharacterSet: 'ISO_IR 192',
    ...identity,
    SOPClassUID: US_IMAGE,
    SOPInstanceUID: head.sopInstanceUid,
    SeriesInstanceUID: head.seriesInstanceUid,
    SeriesNumber: '1',
    InstanceNumber: '1',
    Modality: 'US',
    Manufacturer: 'Cart',
    PatientOrientation: '',
    Laterality: '',
    ImageType: ['ORIGINAL', 'PRIMARY'],
    SamplesPerPixel: 1,
    PhotometricInterpretation: 'MONOCHROME2',
    Rows: 2,
    Columns: 2,
    BitsAllocated: 8,
    BitsStored: 8,
    HighBit: 7,
    PixelRepresentation: 0,
    PixelData: [new Uint8Array([0, 80, 160, 240]).buffer],
    _vrMap: { PixelData: 'OB' },
  };
  const meta = data.DicomMetaDictionary.denaturalizeDataset({
    FileMetaInformationVersion: new Uint8Array([0, 1]).buffer,
    MediaStorageSOPClassUID: US_IMAGE,
    MediaStorageSOPInstanceUID: head.sopInstanceUid,
    TransferSyntaxUID: '1.2.840.10008.1.2.1',
    ImplementationClassUID: '2.25.1',
  });
  const file = new data.DicomDict(meta);
  file.dict = data.DicomMetaDictionary.denaturalizeDataset(dataset);
  return Buffer.from(file.write());
}
