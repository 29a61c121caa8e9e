import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { type Sample, SYNTAX, ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';

async function pixelsOf(sample: Sample, frame = 0) {
  const { clips, refused } = await readStudy(await onDisk({ image: ultrasound(sample) }));
  expect(refused).toEqual([]);
  const read = clips[0]?.frames[frame];
  return {
    gray: Array.from((await read?.gray())?.data ?? []),
    rgb: Array.from((await read?.rgb())?.data ?? []),
  };
}

const bytes = (...values: number[]) => Buffer.from(values);
const RAMP = [0, 10, 20, 30, 40, 50, 60, 70];

describe('native pixels', () => {
  it.each(['explicit', 'implicit', 'bigEndian'] as const)(
    'reads 8-bit grey in %s encoding',
    async (name) => {
      expect((await pixelsOf({ syntax: SYNTAX[name] })).gray).toEqual(RAMP);
    },
  );

  it('unswaps the 8-bit pixels that a big endian file keeps in 16-bit words', async () => {
    const pixels = ['7FE00010', 'OW', bytes(10, 0, 30, 20, 50, 40, 70, 60)] as const;
    expect((await pixelsOf({ syntax: SYNTAX.bigEndian, pixels })).gray).toEqual(RAMP);
  });

  it('unswaps big endian frames of odd size, which begin and end within a word', async () => {
    const pixels = ['7FE00010', 'OW', bytes(2, 1, 4, 3, 6, 5, 8, 7, 0, 9)] as const;
    const odd = { syntax: SYNTAX.bigEndian, columns: 3, rows: 1, frames: 3, pixels };
    expect((await pixelsOf(odd, 0)).gray).toEqual([1, 2, 3]);
    expect((await pixelsOf(odd, 1)).gray).toEqual([4, 5, 6]);
    expect((await pixelsOf(odd, 2)).gray).toEqual([7, 8, 9]);
  });

  it.each([
    ['MONOCHROME2', [0, 4, 20, 255]],
    ['MONOCHROME1', [255, 251, 235, 0]],
  ])('scales fewer than 8 stored bits of %s to the whole range', async (photometric, gray) => {
    // The unused bits of the last sample contain an overlay.
    const pixels = ['7FE00010', 'OB', bytes(0, 1, 5, 0b11_111111)] as const;
    const six = { bits: 8, bitsStored: 6, columns: 4, rows: 1, photometric, pixels } as const;
    expect((await pixelsOf(six)).gray).toEqual(gray);
  });

  it('inverts MONOCHROME1, in which 0 is white', async () => {
    const { gray } = await pixelsOf({ photometric: 'MONOCHROME1' });
    expect(gray).toEqual(RAMP.map((value) => 255 - value));
  });

  it('uses the upper 8 of 16 stored bits', async () => {
    const words = Buffer.alloc(16);
    for (const [index, value] of RAMP.entries()) words.writeUInt16LE(value * 256 + 99, index * 2);
    expect((await pixelsOf({ bits: 16, pixels: ['7FE00010', 'OW', words] })).gray).toEqual(RAMP);
  });

  it('refuses samples that are not in the lower bits of their cell', async () => {
    const image = ultrasound({
      ...{ bits: 16, bitsStored: 12, highBit: 15 },
      pixels: ['7FE00010', 'OW', Buffer.alloc(16)],
    });
    const { clips, refused } = await readStudy(await onDisk({ image }));
    expect(clips).toEqual([]);
    expect(refused[0]?.reason).toContain('pixels of 12 bits below the high bit 15');
  });

  it('ignores a wrong high bit of samples that fill their cell', async () => {
    expect((await pixelsOf({ highBit: 0 })).gray).toEqual(RAMP);
  });

  it.each([
    ['interleaved', 0, [200, 100, 50, 10, 20, 30]],
    ['planar', 1, [200, 10, 100, 20, 50, 30]],
  ] as const)('reads %s RGB', async (_, planar, stored) => {
    const { rgb, gray } = await pixelsOf({
      columns: 2,
      rows: 1,
      samples: 3,
      photometric: 'RGB',
      planar,
      pixels: ['7FE00010', 'OB', bytes(...stored)],
    });
    expect(rgb).toEqual([200, 100, 50, 10, 20, 30]);
    expect(gray).toEqual([124, 18]);
  });

  it('converts YBR_FULL, and YBR_FULL_422 with one chroma sample for two pixels', async () => {
    const full = await pixelsOf({
      columns: 2,
      rows: 1,
      samples: 3,
      photometric: 'YBR_FULL',
      planar: 0,
      pixels: ['7FE00010', 'OB', bytes(76, 85, 255, 100, 128, 128)],
    });
    expect(full.rgb).toEqual([254, 0, 0, 100, 100, 100]);
    const shared = await pixelsOf({
      columns: 2,
      rows: 1,
      samples: 3,
      photometric: 'YBR_FULL_422',
      planar: 0,
      pixels: ['7FE00010', 'OB', bytes(76, 176, 85, 255)],
    });
    expect(shared.rgb.slice(0, 3)).toEqual([254, 0, 0]);
    expect(shared.rgb.slice(3, 6)).toEqual([255, 100, 100]);
  });

  it('refuses YBR_FULL_422 with three samples per pixel, of which the colour model is unknown', async () => {
    const image = ultrasound({
      ...{ columns: 2, rows: 2, samples: 3, photometric: 'YBR_FULL_422', planar: 0 },
      pixels: ['7FE00010', 'OB', bytes(...[9, 9, 9], ...[8, 8, 8], ...[7, 7, 7], ...[6, 6, 6])],
    });
    const { clips, refused } = await readStudy(await onDisk({ image }));
    expect(clips).toEqual([]);
    expect(refused[0]?.reason).toContain('three samples per pixel');
  });

  it('maps palette colour of 16-bit entries, and clamps values before and after the table', async () => {
    const table = Buffer.alloc(6);
    [0x1000, 0x8000, 0xff00].forEach((entry, index) => {
      table.writeUInt16LE(entry, index * 2);
    });
    const { rgb } = await pixelsOf({
      columns: 4,
      rows: 1,
      photometric: 'PALETTE COLOR',
      extra: (['1', '2', '3'] as const).flatMap((channel) => [
        [`0028110${channel}`, 'US', [3, 10, 16]] as const,
        [`0028120${channel}`, 'OW', table] as const,
      ]),
      pixels: ['7FE00010', 'OB', bytes(0, 10, 11, 99)],
    });
    expect(rgb).toEqual([0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x80, 0x80, 0x80, 255, 255, 255]);
  });

  it('finds each frame of a cine by its position in the file', async () => {
    const pixels = ['7FE00010', 'OB', bytes(1, 2, 3, 4, 5, 6)] as const;
    const cine = { columns: 2, rows: 1, frames: 3, pixels };
    expect((await pixelsOf(cine, 0)).gray).toEqual([1, 2]);
    expect((await pixelsOf(cine, 2)).gray).toEqual([5, 6]);
  });
});
