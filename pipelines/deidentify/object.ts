import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import dcmjs, { type TagDataset } from 'dcmjs';
import type { DeidentificationSettings } from '../../config/peers.ts';
import { UnreadableInput } from '../contract/study.ts';
import { readDataSet } from '../dicom/data-set.ts';
import { IMPLEMENTATION_CLASS_UID, IMPLEMENTATION_VERSION } from '../dicom/implementation.ts';
import { fileStart } from '../dicom/part10.ts';
import { ACCEPTED_REPORTS, SECONDARY_CAPTURES, ULTRASOUND_IMAGES } from '../dicom/sop-classes.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN, transferSyntax } from '../dicom/transfer-syntaxes.ts';
import { readDicomClip } from '../input/dicom/clip.ts';
import { inflateDicom } from '../input/dicom/deflated.ts';
import { maskOutside } from '../measure/picture.ts';
import { type Cleaning, cleanAttributes, namesIn, textsOf } from './attributes.ts';
import { contentCleaner } from './content-tree.ts';
import { type Pseudonyms, pseudonymsFor } from './pseudonyms.ts';
import { type Blanking, blankingOf } from './screen.ts';

/**
 * Makes a de-identified copy of a received object (PS3.15 Annex E). The copy is written from
 * scratch and contains only what the action table keeps.
 */

const { DicomDict, DicomMetaDictionary } = dcmjs.data;

/** Maximum number of bytes before the pixel data, or of a report. */
const LONGEST_HEADER = 32 * 1024 * 1024;
/** Maximum length of a value with a 32-bit length field (PS3.5 7.1.1). */
const LONGEST_VALUE = 0xfffffffe;

interface DeidentificationOrder {
  source: string;
  target: string;
  settings: DeidentificationSettings;
  secret: Buffer;
  /** Identifies the patient of the study (`patientKey`). */
  patient: string;
  signal: AbortSignal;
}

/**
 * Writes a de-identified copy of an object.
 *
 * @returns null if the copy was written; otherwise the reason why the object must be held.
 */
export async function deidentifyObject(order: DeidentificationOrder): Promise<string | null> {
  const inflated = `${order.target}.inflated`;
  try {
    const deflated = await inflateDicom(order.source);
    if (deflated) await pipeline(deflated, withinLimit, createWriteStream(inflated));
    return await deidentified(deflated ? { ...order, source: inflated } : order);
  } catch (error) {
    if (error instanceof UnreadableInput) return error.message;
    throw error;
  } finally {
    await rm(inflated, { force: true });
  }
}

/**
 * Maximum inflated size. It is limited because one deflated megabyte can expand to a thousand. No
 * ultrasound object is larger.
 */
const LONGEST_INFLATED = 2 * 1024 ** 3;

async function* withinLimit(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > LONGEST_INFLATED) throw new UnreadableInput('its inflated data set is too large');
    yield chunk;
  }
}

async function deidentified(order: DeidentificationOrder): Promise<string | null> {
  const { source, settings } = order;
  const { dict, meta } = await readHeader(source);
  const sopClass = textAt(dict, '00080016');
  const kind = ACCEPTED_REPORTS.has(sopClass) ? 'report' : 'image';
  if (kind === 'image' && !ULTRASOUND_IMAGES.has(sopClass) && !SECONDARY_CAPTURES.has(sopClass)) {
    return `objects of its class (${sopClass || 'none'}) are not de-identified`;
  }
  const cleaning: Cleaning = {
    ...settings,
    pseudonyms: pseudonymsOf(order),
    names: namesIn(dict),
    content: contentCleaner(dict),
  };
  const clean = cleanAttributes(dict, cleaning);
  if (kind === 'report') {
    await writeObject(order, { ...clean, ...marks(settings, kind), ...UNVERIFIED }, null);
    return null;
  }
  const lossy = transferSyntax(textAt(meta, '00020010')).lossy;
  return await writeImage(order, { ...clean, ...marks(settings, kind) }, lossy);
}

async function readHeader(path: string): Promise<{ dict: TagDataset; meta: TagDataset }> {
  const { start } = await fileStart(path, LONGEST_HEADER);
  return readDataSet(start, 'before-pixels');
}

const textAt = (dict: TagDataset, tag: string): string => {
  const element = dict[tag];
  return element ? textsOf(element).join('\\').trim() : '';
};

function pseudonymsOf({ secret, patient, settings }: DeidentificationOrder): Pseudonyms {
  const { dates, patientCharacteristics, withoutRegions } = settings;
  const variant = `${dates} ${patientCharacteristics} ${withoutRegions}`;
  return pseudonymsFor(secret, patient, variant);
}

/**
 * Flag for a report whose observers were removed. A report without observers is not verified (PS3.3
 * C.17.2).
 */
const UNVERIFIED = DicomMetaDictionary.denaturalizeDataset({ VerificationFlag: 'UNVERIFIED' });

/**
 * Returns the attributes that record that the object was de-identified, and how (PS3.15 E.1.1 step
 * 10, PS3.3 C.12.1.1.7).
 */
function marks(settings: DeidentificationSettings, kind: 'image' | 'report'): TagDataset {
  return DicomMetaDictionary.denaturalizeDataset({
    SpecificCharacterSet: 'ISO_IR 192',
    PatientIdentityRemoved: 'YES',
    DeidentificationMethod: 'Sonogate, PS3.15 Annex E, 2024e',
    DeidentificationMethodCodeSequence: methodCodes(settings, kind).map(
      ([CodeValue, CodeMeaning]) => ({
        CodeValue,
        CodingSchemeDesignator: 'DCM',
        CodeMeaning,
      }),
    ),
    LongitudinalTemporalInformationModified: settings.dates === 'shifted' ? 'MODIFIED' : 'REMOVED',
    ...(kind === 'image' && { BurnedInAnnotation: 'NO' }),
  });
}

/** Returns the CID 7050 (PS3.16) codes for the profile and the options applied to an object. */
function methodCodes(
  { dates, patientCharacteristics }: DeidentificationSettings,
  kind: 'image' | 'report',
): (readonly [code: string, meaning: string])[] {
  return [
    ['113100', 'Basic Application Confidentiality Profile'],
    kind === 'image'
      ? ['113101', 'Clean Pixel Data Option']
      : ['113104', 'Clean Structured Content Option'],
    ['113105', 'Clean Descriptors Option'],
    ...(dates === 'shifted'
      ? [['113107', 'Retain Longitudinal Temporal Information Modified Dates Option'] as const]
      : []),
    ...(patientCharacteristics
      ? [['113108', 'Retain Patient Characteristics Option'] as const]
      : []),
  ];
}

/**
 * Attributes that describe the stored grey samples. They do not apply to the RGB samples that are
 * written instead.
 */
const OF_GRAY = ['00281050', '00281051', '00281052', '00281053', '00281056', '20500020'];

/**
 * Writes the frames uncompressed, one at a time. Grey frames stay grey, and other colour models are
 * converted to RGB.
 */
async function writeImage(
  order: DeidentificationOrder,
  clean: TagDataset,
  lossy: boolean,
): Promise<string | null> {
  const { source, settings, signal } = order;
  const { clip, firstFrame } = await readDicomClip('object', source, null);
  const { width, height, frames } = clip;
  const { channels } = firstFrame;
  if (channels === 1 && Number(textAt(clean, '00280101') || 8) > 8) {
    return 'its grey values have more than 8 bits';
  }
  const bytes = frames.length * width * height * channels;
  if (bytes > LONGEST_VALUE) return 'its frames do not fit into one object without compression';
  const blanking = await blankingOf(clip, settings.withoutRegions);
  if (typeof blanking === 'string') return blanking;

  const changed = channels === 3 || textAt(clean, '00280004') === 'MONOCHROME1' ? OF_GRAY : [];
  const kept = Object.fromEntries(Object.entries(clean).filter(([tag]) => !changed.includes(tag)));
  const [, ...imageType] = textAt(clean, '00080008').split('\\');
  const pixels = DicomMetaDictionary.denaturalizeDataset({
    // The first value is DERIVED because pixel values were changed (PS3.3 C.7.6.1.1.2).
    ImageType: ['DERIVED', ...(imageType.length > 0 ? imageType : ['PRIMARY'])],
    SamplesPerPixel: channels,
    PhotometricInterpretation: channels === 3 ? 'RGB' : 'MONOCHROME2',
    ...(channels === 3 && { PlanarConfiguration: 0 }),
    Rows: height,
    Columns: width,
    BitsAllocated: 8,
    BitsStored: 8,
    HighBit: 7,
    PixelRepresentation: 0,
    ...(frames.length > 1 && { NumberOfFrames: String(frames.length) }),
    ...(lossy && { LossyImageCompression: '01' }),
  });
  await writeObject(
    order,
    { ...kept, ...pixels },
    {
      bytes,
      async *frames() {
        for (const frame of frames) {
          signal.throwIfAborted();
          const image = channels === 3 ? await frame.rgb() : await frame.gray();
          yield blanked(image, channels, blanking);
        }
      },
    },
  );
  return null;
}

function blanked(
  image: { width: number; height: number; data: Uint8Array },
  channels: 1 | 3,
  blanking: Blanking,
): Uint8Array {
  return maskOutside(image, blanking, channels).data;
}

interface PixelStream {
  bytes: number;
  frames(): AsyncGenerator<Uint8Array>;
}

async function writeObject(
  { target }: DeidentificationOrder,
  dataSet: TagDataset,
  pixels: PixelStream | null,
): Promise<void> {
  const file = new DicomDict(
    DicomMetaDictionary.denaturalizeDataset({
      FileMetaInformationVersion: new Uint8Array([0, 1]).buffer,
      MediaStorageSOPClassUID: textAt(dataSet, '00080016'),
      MediaStorageSOPInstanceUID: textAt(dataSet, '00080018'),
      TransferSyntaxUID: EXPLICIT_VR_LITTLE_ENDIAN,
      ImplementationClassUID: IMPLEMENTATION_CLASS_UID,
      ImplementationVersionName: IMPLEMENTATION_VERSION,
    }),
  );
  file.dict = dataSet;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(file.write());
    if (!pixels) return;
    const padding = pixels.bytes % 2;
    yield pixelDataHead(pixels.bytes + padding);
    yield* pixels.frames();
    yield Buffer.alloc(padding);
  }
  await pipeline(bytes, createWriteStream(target, { mode: 0o600 }));
}

/** Encodes the element (7FE0,0010) up to its value, in Explicit VR Little Endian. */
function pixelDataHead(length: number): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16LE(0x7fe0, 0);
  head.writeUInt16LE(0x0010, 2);
  head.write('OB', 4, 'latin1');
  head.writeUInt32LE(length, 8);
  return head;
}
