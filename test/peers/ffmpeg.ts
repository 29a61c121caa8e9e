import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';

export const FFMPEG_INSTALLED = existsSync('/usr/bin/ffmpeg');

const TIMEOUT_MILLISECONDS = 180_000;
const LARGEST_OUTPUT = 512 * 1024 * 1024;

/**
 * Runs Debian's FFmpeg and returns its standard output.
 * @throws Error with FFmpeg's message if it fails.
 */
export function ffmpeg(args: readonly string[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const all = ['-v', 'error', '-y', '-nostdin', ...args];
    const options = {
      encoding: 'buffer' as const,
      timeout: TIMEOUT_MILLISECONDS,
      maxBuffer: LARGEST_OUTPUT,
    };
    execFile('/usr/bin/ffmpeg', all, options, (error, stdout, stderr) => {
      if (error) reject(new Error(`ffmpeg: ${stderr.toString()}`));
      else resolve(stdout);
    });
  });
}

/** Writes FFmpeg's moving test pattern, encoded according to `args`. */
export async function makeVideo(
  path: string,
  args: readonly string[],
  { width = 96, height = 64, frames = 20, rate = 25 } = {},
): Promise<void> {
  const source = `testsrc2=size=${width}x${height}:rate=${rate}`;
  await ffmpeg(['-f', 'lavfi', '-i', source, '-frames:v', String(frames), ...args, path]);
}

/**
 * Returns every frame as RGB, upright and concatenated. Frames are neither dropped nor repeated
 * because of their times.
 */
export function decodeToRgb(path: string): Promise<Buffer> {
  const output = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-fps_mode', 'passthrough', '-'];
  return ffmpeg(['-i', path, ...output]);
}
