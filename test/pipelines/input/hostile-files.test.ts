import { writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../pipelines/input/read-study.ts';
import { generatedSamples } from '../../fuzz/samples.ts';
import {
  dicomFile,
  encapsulated,
  region,
  type Sample,
  SYNTAX,
  ultrasound,
} from './dicom-sample.ts';
import { onDisk } from './on-disk.ts';

async function refusalOf(content: Buffer | string): Promise<string> {
  const { clips, refused } = await readStudy(await onDisk({ file: content }));
  expect(clips).toEqual([]);
  return refused[0]?.reason ?? '';
}

const noise = (width: number, height: number) =>
  sharp(Buffer.from(Array.from({ length: width * height * 3 }, (_, i) => (i * 7919) % 251)), {
    raw: { width, height, channels: 3 },
  });

const jpegFile = (jpegs: readonly Buffer[], sample: Sample = {}) =>
  ultrasound({
    syntax: SYNTAX.jpegBaseline,
    columns: 32,
    rows: 16,
    samples: 3,
    photometric: 'YBR_FULL_422',
    planar: 0,
    pixels: null,
    trailer: encapsulated(jpegs),
    ...sample,
  });

describe('files that cannot be read are refused with a sentence', () => {
  it.each([
    ['nothing', Buffer.alloc(0), 'the file is empty'],
    ['text', 'GET / HTTP/1.1', 'neither DICOM nor a PNG, JPEG, GIF or WebP'],
    ['noise', Buffer.alloc(500, 0x5a), 'neither DICOM nor a PNG, JPEG, GIF or WebP'],
    ['an MP4 video', '\0\0\0\x20ftypisom', 'video'],
    ['an old QuickTime movie', '\0\0\0\x20moov', 'video'],
    ['an AVI video', 'RIFF\x10\0\0\0AVI LIST', 'video'],
    ['an MPEG program stream', Buffer.from([0, 0, 1, 0xba]), 'video'],
    ['a HEIC picture, in the same box as MP4', '\0\0\0\x20ftypheic', 'neither DICOM'],
    ['a header that stops after its prefix', dicomFile('', []), 'names no transfer syntax'],
    [
      'a structured report',
      ultrasound({ sopClass: '1.2.840.10008.5.1.4.1.1.88.33' }),
      'does not report ultrasound measurements',
    ],
    ['no pixel data', ultrasound({ pixels: null }), 'no pixel data'],
    ['no size', ultrasound({ columns: 0 }), 'not state the size'],
    ['65535 x 65535 pixels', ultrasound({ columns: 65535, rows: 65535 }), 'over the limit'],
    ['an unsupported colour model', ultrasound({ photometric: 'HSV' }), 'HSV'],
    ['32 bits per pixel', ultrasound({ bits: 32 }), '32 bits'],
    ['more frames than bytes', ultrasound({ frames: 40 }), '8 of 320 bytes'],
    ['minus one frames', ultrasound({ frames: -1 }), '-1 frames'],
    ['a palette that is missing', ultrasound({ photometric: 'PALETTE COLOR' }), 'palette'],
    ['H.264 video', ultrasound({ syntax: SYNTAX.h264 }), 'damaged'],
    ['an unknown transfer syntax', ultrasound({ syntax: '1.2.3.99' }), '1.2.3.99 is not supported'],
    [
      'no fragment',
      ultrasound({ syntax: SYNTAX.jpegBaseline, pixels: null, trailer: encapsulated([]) }),
      'empty',
    ],
  ])('%s', async (_, content, sentence) => {
    expect(await refusalOf(content)).toContain(sentence);
  });

  it.each([10, 140, 160, 200])('a DICOM file cut after %i bytes', async (length) => {
    expect(await refusalOf(ultrasound().subarray(0, length))).not.toBe('');
  });

  it('a header with any byte overwritten: read or refused, never thrown, and printable', async () => {
    const whole = ultrasound({ regions: [region()] });
    const [file] = await onDisk({ file: whole });
    if (!file) throw new Error('no file');
    for (let at = 128; at < whole.length; at += 1) {
      for (const value of [0x00, 0xff]) {
        const damaged = Buffer.from(whole);
        damaged[at] = value;
        writeFileSync(file.path, damaged);
        const { clips, refused } = await readStudy([file]);
        expect(clips.length + refused.length).toBe(1);
        for (const { reason } of refused) expect(reason).toMatch(/^[ -~]+$/);
      }
    }
  });

  it('a header whose sequences nest without end', async () => {
    const open = Buffer.from('FEFF00E0FFFFFFFF18001160FFFFFFFF', 'hex');
    const nested = Buffer.concat([
      Buffer.from('18001160FFFFFFFF', 'hex'),
      ...Array.from({ length: 5000 }, () => open),
    ]);
    expect(await refusalOf(dicomFile(SYNTAX.implicit, [], nested))).toContain('nested too deeply');
  });

  it('a JPEG or PNG cut in half, as a still and inside DICOM', async () => {
    const jpeg = await noise(32, 16).jpeg().toBuffer();
    const png = await noise(32, 16).png().toBuffer();
    const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);
    expect(await refusalOf(half(jpeg))).toContain('cut short or damaged');
    expect(await refusalOf(half(png))).toContain('cut short or damaged');
    expect(await refusalOf(jpegFile([half(jpeg)]))).toContain('cut short or damaged');
  });

  it('a JPEG of another size than in the header', async () => {
    const jpeg = await noise(16, 16).jpeg().toBuffer();
    expect(await refusalOf(jpegFile([jpeg]))).toContain('16 x 16 pixels, the header says 32 x 16');
  });

  it('but not a JPEG in thousands of fragments', async () => {
    const jpeg = await noise(32, 16).jpeg().toBuffer();
    const pieces = Array.from({ length: jpeg.length }, (_, at) => jpeg.subarray(at, at + 1));
    const empty = Array.from({ length: 100_000 }, () => Buffer.alloc(0));
    const { clips } = await readStudy(await onDisk({ file: jpegFile([...pieces, ...empty]) }));
    const whole = await readStudy(await onDisk({ file: jpegFile([jpeg]) }));
    expect(await clips[0]?.frames[0]?.rgb()).toEqual(await whole.clips[0]?.frames[0]?.rgb());
  });

  it('fewer JPEGs than frames', async () => {
    const jpeg = await noise(32, 16).jpeg().toBuffer();
    expect(await refusalOf(jpegFile([jpeg, jpeg], { frames: 3 }))).toContain(
      'announces 3 frames, the pixel data contain 2',
    );
  });

  it('pixel data of a million empty fragments', async () => {
    const item = Buffer.from('FEFF00E000000000', 'hex');
    const flood = Buffer.concat([encapsulated([]).subarray(0, -8), Buffer.alloc(8e6, item)]);
    for (const syntax of [SYNTAX.jpegBaseline, SYNTAX.h264]) {
      const content = ultrasound({ syntax, pixels: null, trailer: flood });
      expect(await refusalOf(content)).toContain('too many fragments');
    }
  });

  it('a fragment that claims more bytes than the file has', async () => {
    const jpeg = await noise(32, 16).jpeg().toBuffer();
    const whole = jpegFile([jpeg]);
    const cut = whole.subarray(0, whole.length - 60);
    expect(await refusalOf(cut)).toContain('cut short');
  });

  it('a JPEG 2000 that claims 65,535 x 65,535 pixels is refused before it is decoded', async () => {
    const samples = await generatedSamples();
    const file = samples.find(({ name }) => name === 'jpeg-2000.dcm')?.bytes ?? Buffer.alloc(0);
    const claiming = Buffer.from(file);
    const size = claiming.indexOf(Buffer.from('ff4fff51', 'hex')) + 8;
    claiming.writeUInt32BE(65_535, size);
    claiming.writeUInt32BE(65_535, size + 4);
    expect(await refusalOf(claiming)).toContain('is 65535 x 65535 pixels');
  });

  it('a PNG of few bytes that claims 30,000 x 30,000 pixels', async () => {
    const png = Buffer.from(await noise(32, 16).png().toBuffer());
    const header = png.indexOf('IHDR');
    png.writeUInt32BE(30_000, header + 4);
    png.writeUInt32BE(30_000, header + 8);
    png.writeUInt32BE(crc32(png.subarray(header, header + 17)), header + 17);
    expect(await refusalOf(png)).toContain('30000 x 30000 pixels is over the limit');
  });

  it('next to a good file: only the bad one is refused', async () => {
    const files = await onDisk({ bad: 'not an image', good: ultrasound() });
    const { clips, refused, files: count } = await readStudy(files);
    expect(clips.map(({ file }) => file)).toEqual(['good']);
    expect(refused.map(({ file }) => file)).toEqual(['bad']);
    expect(count).toBe(2);
  });
});

describe('encapsulated frames', () => {
  const frames = async () => {
    const red = await sharp({
      create: { width: 32, height: 16, channels: 3, background: '#f00' },
    })
      .jpeg()
      .toBuffer();
    const blue = await sharp({
      create: { width: 32, height: 16, channels: 3, background: '#00f' },
    })
      .jpeg()
      .toBuffer();
    return { red, blue };
  };
  const split = (bytes: Buffer) => {
    const even = bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(1)]);
    return [even.subarray(0, 300), even.subarray(300)];
  };
  const redness = async (file: Buffer, frame: number) => {
    const { clips } = await readStudy(await onDisk({ file }));
    const { data } = (await clips[0]?.frames[frame]?.rgb()) ?? { data: [] };
    return [data[0], data[2]].map((value) => (value ?? 0) > 128);
  };

  it('takes one fragment per frame', async () => {
    const { red, blue } = await frames();
    const file = jpegFile([red, blue], { frames: 2 });
    expect(await redness(file, 0)).toEqual([true, false]);
    expect(await redness(file, 1)).toEqual([false, true]);
  });

  it('joins fragments by the offset table, or by their markers if it is empty', async () => {
    const { red, blue } = await frames();
    const parts = [...split(red), ...split(blue)];
    const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = parts;
    const offsets = [0, first.length + second.length + 16];
    for (const table of [offsets, []]) {
      const file = jpegFile([], { frames: 2, trailer: encapsulated(parts, table) });
      expect(await redness(file, 0)).toEqual([true, false]);
      expect(await redness(file, 1)).toEqual([false, true]);
    }
  });
});
