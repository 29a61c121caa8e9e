import { type Clip, UNDESCRIBED } from '../contract/study.ts';
import { withByteSource } from './byte-source.ts';
import { type DicomHeader, numberOf, readDicomHeader, textOf } from './dicom-header.ts';
import { openPixels } from './dicom-pixels.ts';
import { readCalibration, readMode } from './dicom-regions.ts';
import { type FrameSource, framesOf } from './frame-source.ts';
import { Refusal } from './refusal.ts';

/** Ultrasound (current and retired) and secondary capture; PS3.4 B.5. */
const IMAGE_CLASSES = new Set([
  '1.2.840.10008.5.1.4.1.1.3',
  '1.2.840.10008.5.1.4.1.1.3.1',
  '1.2.840.10008.5.1.4.1.1.6',
  '1.2.840.10008.5.1.4.1.1.6.1',
  '1.2.840.10008.5.1.4.1.1.7',
  '1.2.840.10008.5.1.4.1.1.7.1',
  '1.2.840.10008.5.1.4.1.1.7.2',
  '1.2.840.10008.5.1.4.1.1.7.3',
  '1.2.840.10008.5.1.4.1.1.7.4',
]);

function checkImage(header: DicomHeader): void {
  const sopClass = textOf(header, 'SOPClassUID');
  if (!IMAGE_CLASSES.has(sopClass)) {
    throw new Refusal(`the object is not an ultrasound image (SOP class ${sopClass || 'missing'})`);
  }
  if (!header.pixelData) throw new Refusal('the object holds no pixel data');
}

/** Seconds of each frame from the first; 0 where neither header (in ms) nor video gives any. */
function frameTimes(header: DicomHeader, { frames, times }: FrameSource): readonly number[] {
  const vector = textOf(header, 'FrameTimeVector').split('\\').map(Number);
  if (vector.length === frames && vector.every(Number.isFinite)) {
    let milliseconds = 0;
    return vector.map((step, index) => {
      milliseconds += index === 0 ? 0 : step;
      return milliseconds / 1000;
    });
  }
  const step = numberOf(header, 'FrameTime');
  if (step === null) return times ?? [];
  return Array.from({ length: frames }, (_, index) => (index * step) / 1000);
}

/**
 * Reads a DICOM image or cine. Frames are decoded when asked for, by their place in the file; the
 * first is decoded once here, so that a file that cannot be decoded is refused as a whole.
 * `mmPerPx` is the user's scale for an image that brings none.
 */
export async function readDicomClip(
  file: string,
  path: string,
  mmPerPx: number | null,
): Promise<Clip> {
  return withByteSource(path, async (source) => {
    const header = await readDicomHeader(source);
    checkImage(header);
    const pixels = await openPixels(path, source, header);
    await pixels.decode(0);
    const { width, height } = pixels;
    const calibration = readCalibration(header, width, height);
    const uncalibrated = calibration.regions.length === 0 && calibration.refused === null;
    return {
      file,
      ...UNDESCRIBED,
      sopInstanceUid: textOf(header, 'SOPInstanceUID') || null,
      sopClassUid: textOf(header, 'SOPClassUID') || null,
      seriesInstanceUid: textOf(header, 'SeriesInstanceUID') || null,
      width,
      height,
      frames: framesOf(pixels, frameTimes(header, pixels)),
      regions: uncalibrated ? userScale(width, height, mmPerPx) : calibration.regions,
      calibrationRefused: calibration.refused,
      mode: readMode(header),
    };
  });
}

/** The whole image with the scale that the user gave; nothing where none was given. */
export function userScale(width: number, height: number, mmPerPx: number | null): Clip['regions'] {
  if (mmPerPx === null) return [];
  const area = { minX: 0, minY: 0, maxX: width - 1, maxY: height - 1 };
  return [{ area, scale: { x: mmPerPx, y: mmPerPx }, source: 'user' }];
}
