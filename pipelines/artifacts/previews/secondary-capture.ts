import sharp from 'sharp';
import { encodePart10, evenBytes } from '../../dicom/part10.ts';
import { STORAGE_CLASS } from '../../dicom/sop-classes.ts';
import type { Subject } from '../../dicom/subject.ts';
import type { Result } from '../../result/envelope.ts';
import { DRAFT_NOTICE, SIGNED_NOTICE } from '../../result/render/statement.ts';
import { commonModules, contentDateTime, lossyHistory, sopReference } from '../modules.ts';
import { codeSequence } from '../sr/encode.ts';
import { instanceOf } from '../sr/references.ts';
import { SR } from '../sr/vocabulary.ts';
import type { PreviewOverlay } from './overlays.ts';

/**
 * Writes a preview, with calipers and values in its pixels, as a Secondary Capture (PS3.3 A.8.1).
 * It is meant for viewers that show neither SR nor presentation states.
 * @param png the stored preview of `overlay`.
 * @param number the number of this preview, counted from 1.
 * @returns a DICOM Part 10 file, RGB, uncompressed.
 */
export async function buildSecondaryCapture(
  result: Result,
  subject: Subject,
  { name, frame, measurements }: PreviewOverlay,
  png: Buffer,
  number: number,
): Promise<Buffer> {
  const { data, info } = await sharp(png)
    .flatten()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const [measured] = measurements;
  const source = measured ? instanceOf(measured, subject) : null;
  const reference = source && {
    ...sopReference(source),
    ...(source.numberOfFrames > 1 && { ReferencedFrameNumber: String(frame) }),
    PurposeOfReferenceCodeSequence: codeSequence(SR.sourceImage),
  };
  return encodePart10({
    ...commonModules(result, subject, {
      sopClassUid: STORAGE_CLASS.secondaryCapture,
      series: 'sc',
      role: `secondary-capture ${name}`,
      number,
    }),
    ConversionType: 'WSD',
    ImageType: ['DERIVED', 'SECONDARY'],
    ...contentDateTime(result, subject),
    Laterality: '',
    PatientOrientation: '',
    BurnedInAnnotation: 'YES',
    DerivationDescription: `${result.draft ? DRAFT_NOTICE : SIGNED_NOTICE}: calipers and values drawn on the image`,
    ...(reference && { SourceImageSequence: [reference] }),
    ...lossyHistory(source ? [source] : []),
    SamplesPerPixel: 3,
    PhotometricInterpretation: 'RGB',
    PlanarConfiguration: 0,
    Rows: info.height,
    Columns: info.width,
    BitsAllocated: 8,
    BitsStored: 8,
    HighBit: 7,
    PixelRepresentation: 0,
    PixelData: evenBytes(data),
    _vrMap: { PixelData: 'OB' },
  });
}
