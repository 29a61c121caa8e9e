import type { Clip } from '../contract/study.ts';

/** Number of handheld clips allowed in one request (api 2.4). */
const HANDHELD_CLIPS = { least: 1, most: 5 } as const;

type EchoInput = { kind: 'study' } | { kind: 'handheld' } | { kind: 'none'; reason: string };

function isVideo({ sopInstanceUid, timing, frames }: Clip): boolean {
  return sopInstanceUid === null && timing === 'container' && frames.length > 1;
}

/**
 * Determines what the clips are: an echo study (DICOM objects, with or without videos) or one to
 * five videos from a handheld scanner (MP4, MOV, AVI). Stills alone are neither, because they show
 * no heartbeat.
 */
export function echoInputOf(clips: readonly Clip[]): EchoInput {
  if (clips.some(({ sopInstanceUid }) => sopInstanceUid !== null)) return { kind: 'study' };
  const videos = clips.filter(isVideo).length;
  if (videos < HANDHELD_CLIPS.least) {
    return { kind: 'none', reason: 'there is neither a DICOM image nor a video among the files' };
  }
  if (videos > HANDHELD_CLIPS.most) {
    const reason = `${videos} videos are more than the ${HANDHELD_CLIPS.most} of a handheld study`;
    return { kind: 'none', reason };
  }
  return { kind: 'handheld' };
}
