import { describe, expect, it } from 'vitest';
import type { PixelFormat } from '../../../pipelines/input/pixels/pixels.ts';
import { fromStored } from '../../../pipelines/input/pixels/pixels.ts';

const GREY: PixelFormat = {
  width: 3,
  height: 2,
  samples: 1,
  photometric: 'MONOCHROME2',
  planar: false,
  bitsAllocated: 8,
  bitsStored: 8,
  bigEndian: false,
  palette: null,
};

describe('the stored samples of a frame', () => {
  it.each<[string, Partial<PixelFormat>, number]>([
    ['grey', {}, 6],
    ['grey of 16 bits', { bitsAllocated: 16, bitsStored: 12 }, 12],
    ['RGB', { samples: 3, photometric: 'RGB' }, 18],
    ['RGB by planes', { samples: 3, photometric: 'RGB', planar: true }, 18],
    ['YBR_FULL_422', { width: 4, samples: 3, photometric: 'YBR_FULL_422' }, 16],
  ])('%s are refused if there is one byte less than the header states', (_, change, bytes) => {
    const format = { ...GREY, ...change };
    expect(() => fromStored(new Uint8Array(bytes - 1), format)).toThrow('fewer pixels');
    const { width, height } = fromStored(new Uint8Array(bytes), format);
    expect([width, height]).toEqual([format.width, format.height]);
  });

  it('grey of 8 bits is not copied, and padding is left out', () => {
    const data = Buffer.from([1, 2, 3, 4, 5, 6, 0]);
    const pixels = fromStored(data, GREY);
    expect([...pixels.data]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(pixels.data.buffer).toBe(data.buffer);
    expect(Buffer.isBuffer(pixels.data)).toBe(false);
  });

  it('grey of 8 stored bits in 16 uses the lower byte', () => {
    const format: PixelFormat = { ...GREY, width: 2, height: 1, bitsAllocated: 16 };
    expect([...fromStored(Uint8Array.of(7, 0, 200, 0), format).data]).toEqual([7, 200]);
  });
});
