import { type Clip, READ } from '../contract/study.ts';
import { withByteSource } from './byte-source.ts';
import { readCalibration, userScale } from './dicom-calibration.ts';
import { readDescription } from './dicom-description.ts';
import { type DicomHeader, numberOf, readDicomHeader, textOf } from './dicom-header.ts';
import type { Taken } from './dicom-instant.ts';
import { readMode } from './dicom-mode.ts';
import { openPixels } from './dicom-pixels.ts';
import { readRegions } from './dicom-regions.ts';
import { readFrameTimes } from './dicom-timing.ts';
import { framesOf } from './frame-source.ts';
import type { Pixels } from './pixels.ts';
import { checkSopClass } from './sop-classes.ts';
import { asUid } from './uid.ts';

/** A clip whose place in the study is not known yet. */
export interface DicomClip {
  clip: Clip;
  taken: Taken | null;
  /** Study Instance UID; null: not said. */
  study: string | null;
  firstFrame: Pixels;
  /** What of the file does not fit, though it is read; null: nothing. */
  remark: string | null;
}

/** Of a video the stream is believed: it alone knows how many frames can be decoded. */
function frameCountRemark(header: DicomHeader, frames: number): string | null {
  const announced = numberOf(header, 'NumberOfFrames');
  if (announced === null || announced === frames) return null;
  return `${READ} with the ${frames} frames of its video; its header announces ${announced}`;
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
): Promise<DicomClip> {
  return withByteSource(path, async (source) => {
    const header = await readDicomHeader(source);
    checkSopClass(textOf(header, 'SOPClassUID'));
    const pixels = await openPixels(path, source, header);
    const firstFrame = await pixels.decode(0);
    const { width, height } = pixels;
    const { timing, seconds } = readFrameTimes(header, pixels.frames, pixels.times);
    const found = readRegions(header, width, height);
    const ofHeader = readCalibration(header, found, width, height);
    const uncalibrated = ofHeader.regions.length === 0 && ofHeader.refused === null;
    const calibration = uncalibrated ? userScale(width, height, mmPerPx) : ofHeader;
    const clip: Clip = {
      file,
      ...readDescription(header, found, timing),
      width,
      height,
      frames: framesOf(pixels, seconds),
      regions: calibration.regions,
      calibrationRefused: calibration.refused,
      mode: readMode(header, found.regions),
    };
    const remark = frameCountRemark(header, pixels.frames);
    const study = asUid(textOf(header, 'StudyInstanceUID'));
    return { clip, taken: header.taken, study, firstFrame, remark };
  });
}
