import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FFMPEG_INSTALLED, makeVideo } from '../peers/ffmpeg.ts';
import type { FuzzSample } from './samples.ts';

/** One video for every container and codec that the reader supports. */
const VIDEOS: Readonly<Record<string, readonly string[]>> = {
  'h264.mp4': ['-c:v', 'libx264', '-pix_fmt', 'yuv420p'],
  'hevc.mov': ['-c:v', 'libx265', '-x265-params', 'log-level=none', '-pix_fmt', 'yuv420p'],
  'mpeg4.mp4': ['-c:v', 'mpeg4'],
  'mjpeg.avi': ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p'],
  'h264.avi': ['-c:v', 'libx264', '-pix_fmt', 'yuv420p'],
  'mpeg2.mpg': ['-c:v', 'mpeg2video'],
};

/**
 * Encodes eight small frames as each of the videos. Returns an empty list if FFmpeg is not
 * installed.
 */
export async function videoSamples(): Promise<FuzzSample[]> {
  if (!FFMPEG_INSTALLED) return [];
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-video-'));
  try {
    const samples: FuzzSample[] = [];
    for (const [name, codec] of Object.entries(VIDEOS)) {
      const path = join(folder, name);
      await makeVideo(path, codec, { width: 64, height: 48, frames: 8 });
      samples.push({ name, bytes: await readFile(path) });
    }
    return samples;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
