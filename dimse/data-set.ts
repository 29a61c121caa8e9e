import dcmjs, { type NaturalDataset } from 'dcmjs';
import { SonogateError } from '../src/errors/catalogue.ts';
import { decodeTexts, takeCharacterSets } from './element-text.ts';
import { decodeFileMeta, encodeFileMeta } from './part10.ts';

/** Data sets of normalized requests, as they stand on the wire, from and to keywords. */

/** dcmjs reads and writes files: their meta information names an object, which these are not. */
const NO_UID = '0.0';

/** @throws SonogateError `object_not_understood` when the bytes are no data set of this syntax. */
export function decodeDataSet(bytes: Buffer, transferSyntax: string): NaturalDataset {
  const file = Buffer.concat([
    encodeFileMeta({
      sopClassUid: NO_UID,
      sopInstanceUid: NO_UID,
      transferSyntax,
      sourceAeTitle: '',
      receivingAeTitle: '',
    }),
    bytes,
  ]);
  try {
    const sets = takeCharacterSets(file);
    const part = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer;
    const { dict } = dcmjs.data.DicomMessage.readFile(part);
    decodeTexts(dict, sets);
    return dcmjs.data.DicomMetaDictionary.naturalizeDataset(dict);
  } catch (error) {
    throw new SonogateError('object_not_understood', undefined, { cause: error });
  }
}

export function encodeDataSet(dataSet: NaturalDataset, transferSyntax: string): Buffer {
  const meta = dcmjs.data.DicomMetaDictionary.denaturalizeDataset({
    MediaStorageSOPClassUID: NO_UID,
    MediaStorageSOPInstanceUID: NO_UID,
    TransferSyntaxUID: transferSyntax,
  });
  const dictionary = new dcmjs.data.DicomDict(meta);
  dictionary.dict = dcmjs.data.DicomMetaDictionary.denaturalizeDataset(dataSet);
  const file = Buffer.from(dictionary.write());
  return file.subarray(decodeFileMeta(file).dataSetOffset);
}

/** The items of a sequence; none when it is absent or no sequence. */
export function itemsOf(value: unknown): NaturalDataset[] {
  const items = Array.isArray(value) ? value : [value];
  return items.filter((item): item is NaturalDataset => typeof item === 'object' && item !== null);
}
