import { data, type NaturalDataset } from 'dcmjs';
import { IMPLEMENTATION_CLASS_UID, IMPLEMENTATION_VERSION } from '../implementation.ts';

const EXPLICIT_LITTLE_ENDIAN = '1.2.840.10008.1.2.1';

/**
 * A data set by keyword as a DICOM Part 10 file, Explicit VR Little Endian, text in UTF-8.
 * `dataset` has at least SOPClassUID and SOPInstanceUID; `_vrMap` of a data set says the VR of an
 * element that may have several (Pixel Data).
 */
export function part10(dataset: NaturalDataset): Buffer {
  const meta = data.DicomMetaDictionary.denaturalizeDataset({
    FileMetaInformationVersion: new Uint8Array([0, 1]).buffer,
    MediaStorageSOPClassUID: dataset.SOPClassUID,
    MediaStorageSOPInstanceUID: dataset.SOPInstanceUID,
    TransferSyntaxUID: EXPLICIT_LITTLE_ENDIAN,
    ImplementationClassUID: IMPLEMENTATION_CLASS_UID,
    ImplementationVersionName: IMPLEMENTATION_VERSION,
  });
  const file = new data.DicomDict(meta);
  file.dict = data.DicomMetaDictionary.denaturalizeDataset(dataset);
  return Buffer.from(file.write({ fragmentMultiframe: false }));
}

/** Bytes as the value of an OB element: padded to an even length (PS3.5 7.1.1). */
export function bytesValue(bytes: Uint8Array): ArrayBuffer[] {
  const even = new Uint8Array(bytes.length + (bytes.length % 2));
  even.set(bytes);
  return [even.buffer];
}
