import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { decodeToRgb, FFMPEG_INSTALLED, makeVideo } from '../../../peers/ffmpeg.ts';
import { encapsulated, type Sample, ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';
import { difference, inFolder } from '../reference-pixels.ts';

if (!FFMPEG_INSTALLED) console.warn('FFmpeg is absent: videos in DICOM are not tested');

const COLUMNS = 96;
const ROWS = 64;
const FRAMES = 12;
const US_MULTIFRAME = '1.2.840.10008.5.1.4.1.1.3.1';

function object(syntax: string, fragments: readonly Buffer[], changes: Sample = {}): Buffer {
  return ultrasound({
    syntax,
    sopClass: US_MULTIFRAME,
    columns: COLUMNS,
    rows: ROWS,
    frames: FRAMES,
    samples: 3,
    photometric: 'YBR_PARTIAL_420',
    planar: 0,
    pixels: null,
    trailer: encapsulated(fragments),
    ...changes,
  });
}

function even(bytes: Buffer): Buffer {
  return bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.of(0)]);
}

async function video(
  extension: string,
  args: readonly string[],
): Promise<{ bytes: Buffer; rgb: Buffer }> {
  return inFolder(async (path) => {
    const file = path(`video.${extension}`);
    await makeVideo(file, args, { width: COLUMNS, height: ROWS, frames: FRAMES });
    return { bytes: even(await readFile(file)), rgb: await decodeToRgb(file) };
  });
}

const H264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p'];
const HEVC = ['-c:v', 'libx265', '-x265-params', 'log-level=none', '-pix_fmt', 'yuv420p'];
/** Uses pale colours, because versions of FFmpeg differ in where they place 10-bit chroma. */
const HEVC_10 = [...HEVC.slice(0, -1), 'yuv420p10le', '-vf', 'eq=saturation=0.2'];
const MPEG2 = ['-c:v', 'mpeg2video', '-bf', '2', '-q:v', '3'];

const MP4_OF_H264 = '1.2.840.10008.1.2.4.102';

describe.skipIf(!FFMPEG_INSTALLED)('a video in DICOM', () => {
  it.each([
    ['MPEG-2, elementary stream', '1.2.840.10008.1.2.4.100', 'm2v', MPEG2],
    ['MPEG-2, program stream', '1.2.840.10008.1.2.4.100', 'mpg', MPEG2],
    ['MPEG-2, transport stream', '1.2.840.10008.1.2.4.101', 'ts', MPEG2],
    ['H.264, MP4', MP4_OF_H264, 'mp4', H264],
    ['H.264, transport stream', '1.2.840.10008.1.2.4.103', 'ts', H264],
    ['H.264, elementary stream', '1.2.840.10008.1.2.4.104', 'h264', H264],
    ['H.264, for 3D', '1.2.840.10008.1.2.4.105', 'mp4', H264],
    ['H.264, stereo, its base view', '1.2.840.10008.1.2.4.106', 'mp4', H264],
    ['HEVC, MP4', '1.2.840.10008.1.2.4.107', 'mp4', HEVC],
    ['HEVC, transport stream', '1.2.840.10008.1.2.4.107', 'ts', HEVC],
    ['HEVC of 10 bits, elementary stream', '1.2.840.10008.1.2.4.108', 'hevc', HEVC_10],
  ])('%s: has the frames that FFmpeg decodes', async (_, syntax, extension, args) => {
    const { bytes, rgb } = await video(extension, args);
    // The stream is in one fragment, or in three, as the fragmentable syntaxes allow.
    const third = 2 * Math.floor(bytes.length / 6);
    const parts = [
      bytes.subarray(0, third),
      bytes.subarray(third, 2 * third),
      bytes.subarray(2 * third),
    ];
    const fragmentable = /\.10[0-6]$/.test(syntax) ? `${syntax}.1` : syntax;
    const size = COLUMNS * ROWS * 3;
    for (const file of [object(syntax, [bytes]), object(fragmentable, parts)]) {
      const { clips, refused } = await readStudy(await onDisk({ file }));
      expect(refused).toEqual([]);
      const frames = clips[0]?.frames ?? [];
      expect(frames).toHaveLength(FRAMES);
      for (const { index, time, rgb: decode } of frames) {
        const data = rgb.subarray(index * size, (index + 1) * size);
        const expected = { width: COLUMNS, height: ROWS, data };
        expect(difference(await decode(), expected).mean).toBeLessThan(2);
        expect(time).toBeCloseTo(index / 25, 3);
      }
    }
  });

  it('prefers the times in its header to those in the stream', async () => {
    const { bytes } = await video('mp4', H264);
    const files = await onDisk({
      dcm: object(MP4_OF_H264, [bytes], { extra: [['00181063', 'DS', '50']] }),
    });
    const { clips } = await readStudy(files);
    expect(clips[0]?.frames[11]?.time).toBeCloseTo(0.55, 6);
  });

  it.each([FRAMES - 1, FRAMES + 1])(
    'has the frames of its stream; a header that announces %i is reported',
    async (frames) => {
      const { bytes } = await video('mp4', H264);
      const files = await onDisk({ dcm: object(MP4_OF_H264, [bytes], { frames }) });
      const { clips, refused } = await readStudy(files);
      expect(clips[0]?.frames).toHaveLength(FRAMES);
      const reason = `read with the 12 frames of its video; its header announces ${frames}`;
      expect(refused).toEqual([{ file: 'dcm', reason, read: true }]);
    },
  );

  it('is refused if its frames do not have the size in the header', async () => {
    const { bytes } = await video('mp4', H264);
    const { refused } = await readStudy(
      await onDisk({ dcm: object(MP4_OF_H264, [bytes], { columns: 200 }) }),
    );
    expect(refused[0]?.reason).toBe('the video is 96 x 64 pixels, the header says 200 x 64');
  });

  it.each([
    ['cut in half', (bytes: Buffer) => even(bytes.subarray(0, bytes.length / 2))],
    ['noise', () => Buffer.alloc(5000, 0x5a)],
    ['two bytes', () => Buffer.alloc(2)],
  ])('is refused if its stream is %s', async (_, change) => {
    const { bytes } = await video('mp4', H264);
    const { clips, refused } = await readStudy(
      await onDisk({ dcm: object(MP4_OF_H264, [change(bytes)]) }),
    );
    expect(clips).toEqual([]);
    expect(refused[0]?.reason).toMatch(/cut short|damaged|not a video/);
  });
});
