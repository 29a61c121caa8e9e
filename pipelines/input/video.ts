import { stat } from 'node:fs/promises';
import { type Clip, UNDESCRIBED } from '../contract/study.ts';
import { userScale } from './dicom-calibration.ts';
import { framesOf } from './frame-source.ts';
import { listVideo, openVideo } from './video-frames.ts';

/**
 * Reads a video file (MP4, MOV, AVI, MPEG), upright and with square pixels. The first frame is
 * decoded once here, so that a video that cannot be decoded is refused as a whole. `mmPerPx` is the
 * user's scale of the frame as a player shows it.
 */
export async function readVideo(file: string, path: string, mmPerPx: number | null): Promise<Clip> {
  const { size } = await stat(path);
  const listing = await listVideo({ path, spans: [{ offset: 0, length: size }] }, 'as shown');
  const source = openVideo(listing);
  await source.decode(0);
  const { width, height } = source;
  const { regions, refused } = userScale(width, height, mmPerPx);
  return {
    file,
    ...UNDESCRIBED,
    timing: 'container',
    width,
    height,
    frames: framesOf(source, source.times ?? []),
    regions,
    calibrationRefused: refused,
    mode: 'unknown',
  };
}
