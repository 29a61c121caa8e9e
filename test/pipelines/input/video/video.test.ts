import { execFile } from 'node:child_process';
import { appendFile, copyFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { decodeToRgb, FFMPEG_INSTALLED, ffmpeg, makeVideo } from '../../../peers/ffmpeg.ts';
import { difference, inFolder } from '../reference-pixels.ts';

if (!FFMPEG_INSTALLED) console.warn('FFmpeg is absent: videos are not tested');

async function read(path: string, mmPerPx?: number): Promise<Clip> {
  const { clips, refused } = await readStudy([{ name: 'video', path }], {
    mmPerPx: () => mmPerPx ?? null,
  });
  const [clip] = clips;
  if (!clip) throw new Error(refused[0]?.reason);
  return clip;
}

/** Returns the reason why the file was refused, after checking that it was. */
async function refusalOf(path: string): Promise<string> {
  const { clips, refused } = await readStudy([{ name: 'video', path }]);
  expect(clips).toEqual([]);
  return refused[0]?.reason ?? '';
}

const H264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p'];
const HEVC = ['-c:v', 'libx265', '-x265-params', 'log-level=none', '-pix_fmt', 'yuv420p'];
/** At the edges of strong colours, versions of FFmpeg differ in where they place 10-bit chroma. */
const PALE = ['-vf', 'eq=saturation=0.2'];
const MPEG4 = ['-c:v', 'mpeg4', '-bf', '2', '-q:v', '3'];
const FAST = ['-preset', 'ultrafast'];
const MJPEG = ['-c:v', 'mjpeg', '-q:v', '3'];
const MPEG2 = ['-c:v', 'mpeg2video', '-bf', '2', '-q:v', '3'];

/**
 * Checks every frame: its pixels must be those that FFmpeg decodes, and the times must increase
 * from 0.
 */
async function expectAsFfmpeg(path: string, clip: Clip): Promise<void> {
  const expected = await decodeToRgb(path);
  const size = clip.width * clip.height * 3;
  expect(clip.frames).toHaveLength(expected.length / size);
  for (const { index, time, rgb } of clip.frames) {
    const data = expected.subarray(index * size, (index + 1) * size);
    expect(difference(await rgb(), { ...clip, data }).mean).toBeLessThanOrEqual(2);
    expect(time).toBeCloseTo(index / 25, 3);
  }
}

describe.skipIf(!FFMPEG_INSTALLED)('a video', () => {
  it('of a handheld scanner is read together with seven others: none waits for another forever', async () => {
    await inFolder(async (path) => {
      const names = Array.from({ length: 8 }, (_, n) => `v${n}.mp4`);
      await makeVideo(path('v0.mp4'), MPEG4);
      for (const name of names.slice(1)) await copyFile(path('v0.mp4'), path(name));
      // The files must differ; otherwise they would count as one clip.
      for (const name of names) await appendFile(path(name), name);
      const { clips, refused } = await readStudy(
        names.map((name) => ({ name, path: path(name) })),
        {},
      );
      expect(refused).toEqual([]);
      expect(clips).toHaveLength(8);
      const first = await Promise.all(clips.map(({ frames }) => frames[1]?.gray()));
      expect(first.every((image) => image?.width === 96)).toBe(true);
    });
  });

  it.each([
    ['MP4, H.264', 'mp4', H264],
    ['MP4, H.264 with a key frame every 4', 'mp4', [...H264, '-g', '4']],
    ['MP4, H.264 of full range', 'mp4', ['-c:v', 'libx264', '-pix_fmt', 'yuvj420p']],
    ['MP4, HEVC', 'mp4', [...HEVC, '-tag:v', 'hvc1']],
    ['MP4, HEVC of 10 bits', 'mp4', [...HEVC.slice(0, -1), 'yuv420p10le', ...PALE]],
    ['MP4, MPEG-4', 'mp4', MPEG4],
    ['MP4 in fragments', 'mp4', [...H264, '-movflags', 'frag_keyframe+empty_moov']],
    ['MOV, H.264', 'mov', H264],
    ['MOV, MJPEG', 'mov', MJPEG],
    ['AVI, H.264 with B-frames', 'avi', H264],
    ['AVI, MPEG-4', 'avi', MPEG4],
    ['AVI, MJPEG', 'avi', MJPEG],
    ['MPEG program stream', 'mpg', MPEG2],
  ])('%s: is a clip of the frames that FFmpeg decodes', async (_, extension, args) => {
    await inFolder(async (path) => {
      await makeVideo(path(`v.${extension}`), args);
      const clip = await read(path(`v.${extension}`));
      expect(clip).toMatchObject({ width: 96, height: 64, timing: 'container', regions: [] });
      await expectAsFfmpeg(path(`v.${extension}`), clip);
    });
  });

  it.each([
    ['by its index', 'mp4', [...H264, '-g', '5']],
    ['from the begin where it has none', 'mpg', MPEG2],
  ])('returns the same frame in any order, %s', async (_, extension, args) => {
    await inFolder(async (path) => {
      await makeVideo(path(`v.${extension}`), args);
      const [one, other] = [await read(path(`v.${extension}`)), await read(path(`v.${extension}`))];
      const inOrder: Uint8Array[] = [];
      for (const { rgb } of one.frames) inOrder.push((await rgb()).data);
      for (const index of [19, 3, 4, 12, 11, 0, 7, 7, 18]) {
        const data = (await other.frames[index]?.rgb())?.data;
        expect(Buffer.compare(data ?? Buffer.alloc(0), inOrder[index] ?? Buffer.alloc(1))).toBe(0);
      }
      const together = await Promise.all(other.frames.map(({ rgb }) => rgb()));
      expect(Buffer.concat(together.map(({ data }) => data)).equals(Buffer.concat(inOrder))).toBe(
        true,
      );
    });
  });

  it('with a variable frame rate has the times from its container', async () => {
    await inFolder(async (path) => {
      // Every frame lasts longer than the previous one.
      const times = [
        '-vf',
        'settb=1/1000,setpts=N*N*10',
        '-fps_mode',
        'vfr',
        '-enc_time_base',
        '1:1000',
      ];
      await makeVideo(path('v.mp4'), [...H264, ...times], { frames: 6 });
      const { frames } = await read(path('v.mp4'));
      const seconds = frames.map(({ time }) => Math.round(time * 100) / 100);
      expect(seconds).toEqual([0, 0.01, 0.04, 0.09, 0.16, 0.25]);
    });
  });

  it.each([90, 180, 270])('recorded at %i degrees is upright', async (degrees) => {
    await inFolder(async (path) => {
      await makeVideo(path('v.mp4'), H264, { frames: 3 });
      const turn = ['-metadata:s:v:0', `rotate=${degrees}`];
      await ffmpeg(['-i', path('v.mp4'), '-c', 'copy', ...turn, path('turned.mp4')]);
      const clip = await read(path('turned.mp4'));
      expect([clip.width, clip.height]).toEqual(degrees === 180 ? [96, 64] : [64, 96]);
      await expectAsFfmpeg(path('turned.mp4'), clip);
    });
  });

  it('with pixels that are not square is as wide as a player shows it', async () => {
    await inFolder(async (path) => {
      await makeVideo(path('v.mp4'), [...H264, '-vf', 'setsar=3/2'], { frames: 2 });
      const clip = await read(path('v.mp4'));
      expect([clip.width, clip.height]).toEqual([144, 64]);
      expect((await clip.frames[0]?.rgb())?.data).toHaveLength(144 * 64 * 3);
    });
  });

  it('has only the scale that the user gives', async () => {
    await inFolder(async (path) => {
      await makeVideo(path('v.mp4'), H264, { frames: 2 });
      const { regions } = await read(path('v.mp4'), 0.3);
      const area = { minX: 0, minY: 0, maxX: 95, maxY: 63 };
      expect(regions).toEqual([{ area, scale: { x: 0.3, y: 0.3 }, source: 'user' }]);
    });
  });

  it('is read where nothing may be written and no program may be started', async () => {
    await inFolder(async (path) => {
      await makeVideo(path('v.mp4'), H264);
      const module = new URL('../../../../pipelines/input/read-study.ts', import.meta.url).href;
      const script = `
        const { readStudy } = await import(${JSON.stringify(module)});
        const file = { name: 'video', path: ${JSON.stringify(path('v.mp4'))} };
        const { clips: [clip] } = await readStudy([file]);
        await clip.frames[19].gray();
        console.log(clip.frames.length);`;
      const permissions = ['--permission', '--allow-fs-read=*', '--allow-addons', '--allow-worker'];
      const args = [...permissions, '--no-warnings', '--input-type=module', '-e', script];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      expect(stdout.trim()).toBe('20');
    });
  });
});

describe.skipIf(!FFMPEG_INSTALLED)('a video is refused', () => {
  it.each([
    ['MP4 with its index behind the frames', 'mp4', H264],
    ['MP4 with its index before the frames', 'mp4', [...H264, '-movflags', '+faststart']],
    ['AVI', 'avi', MJPEG],
  ])('cut short: %s', async (_, extension, args) => {
    await inFolder(async (path) => {
      await makeVideo(path(`v.${extension}`), args);
      const { length } = await readFile(path(`v.${extension}`));
      for (const part of [0.3, 0.7, 0.99]) {
        await makeVideo(path(`v.${extension}`), args);
        await truncate(path(`v.${extension}`), Math.floor(length * part));
        expect(await refusalOf(path(`v.${extension}`))).toMatch(/cut short|damaged/);
      }
    });
  });

  it('with its frames overwritten', async () => {
    await inFolder(async (path) => {
      await makeVideo(path('v.mp4'), [...H264, '-movflags', '+faststart']);
      const bytes = await readFile(path('v.mp4'));
      bytes.fill(0xa5, bytes.indexOf('mdat') + 4);
      await writeFile(path('v.mp4'), bytes);
      expect(await refusalOf(path('v.mp4'))).toMatch(/cut short|damaged/);
    });
  });

  it('whose frames are larger than H.264 allows at its highest level', async () => {
    await inFolder(async (path) => {
      const grey = async (size: string) =>
        ffmpeg([
          '-f',
          'lavfi',
          '-i',
          `color=gray:s=${size}:d=0.04`,
          ...H264,
          ...FAST,
          path('v.mp4'),
        ]);
      await grey('4096x2306');
      expect(await refusalOf(path('v.mp4'))).toBe(
        'the video of 4096 x 2306 pixels is over the limit',
      );
      await grey('4096x2304');
      expect((await read(path('v.mp4'))).frames).toHaveLength(1);
    });
  });

  it('in an unlisted coding', async () => {
    await inFolder(async (path) => {
      await makeVideo(path('v.mp4'), ['-c:v', 'libvpx-vp9']);
      expect(await refusalOf(path('v.mp4'))).toBe('the video coding vp9 is not supported');
    });
  });

  it('that is sound only', async () => {
    await inFolder(async (path) => {
      await ffmpeg(['-f', 'lavfi', '-i', 'sine=d=0.2', '-c:a', 'aac', path('v.mp4')]);
      expect(await refusalOf(path('v.mp4'))).toBe('the file holds no video');
    });
  });

  it('if one frame is damaged, only that frame is refused, when it is requested', async () => {
    await inFolder(async (path) => {
      await makeVideo(path('v.mp4'), [...H264, '-g', '1', '-movflags', '+faststart']);
      const bytes = await readFile(path('v.mp4'));
      const begin = bytes.indexOf('mdat') + 4;
      const middle = begin + Math.floor((bytes.length - begin) / 2);
      bytes.fill(0, middle, middle + 200);
      await writeFile(path('v.mp4'), bytes);
      const clip = await read(path('v.mp4'));
      const results = await Promise.allSettled(clip.frames.map(({ gray }) => gray()));
      const refused = results.filter(({ status }) => status === 'rejected');
      expect(clip.frames).toHaveLength(20);
      expect(refused.length).toBeGreaterThanOrEqual(1);
      expect(refused.length).toBeLessThanOrEqual(3);
    });
  });
});
