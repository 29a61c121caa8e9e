import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { codeStreamSize } from '../../../../pipelines/input/pixels/code-stream.ts';
import { generatedSamples } from '../../../fuzz/samples.ts';

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#345' } });

/**
 * Encodes the SOC and SIZ markers of a JPEG 2000 stream that claims this size (ITU-T T.800 A.5.1).
 */
function siz(xSize: number, ySize: number, xOffset: number, yOffset: number, components: number) {
  const bytes = Buffer.alloc(42);
  bytes.writeUInt32BE(0xff4fff51, 0);
  for (const [index, number] of [xSize, ySize, xOffset, yOffset].entries()) {
    bytes.writeUInt32BE(number, 8 + index * 4);
  }
  bytes.writeUInt16BE(components, 40);
  return bytes;
}

describe('the size that a compressed frame states', () => {
  it.each([
    ['baseline', { progressive: false }],
    ['progressive', { progressive: true }],
  ])('of a %s JPEG', async (_, options) => {
    const jpeg = await picture(70, 31).jpeg(options).toBuffer();
    expect(codeStreamSize(jpeg)).toEqual({ width: 70, height: 31, components: 3 });
  });

  it('of JPEG 2000, without the offset of its grid', () => {
    expect(codeStreamSize(siz(80, 50, 10, 5, 3))).toEqual({ width: 70, height: 45, components: 3 });
  });

  it('of JPEG 2000 after the boxes of JP2', () => {
    const boxed = Buffer.concat([Buffer.alloc(85, 7), siz(70, 31, 0, 0, 1)]);
    expect(codeStreamSize(boxed)).toEqual({ width: 70, height: 31, components: 1 });
  });

  it.each(['jpeg-ls.dcm', 'jpeg-lossless.dcm', 'jpeg-2000.dcm'])('of %s', async (name) => {
    const samples = await generatedSamples();
    const file = samples.find((sample) => sample.name === name)?.bytes ?? Buffer.alloc(0);
    // The first item of Pixel Data is the offset table of two frames, and the second is a frame.
    const pixelData = file.indexOf(Buffer.from('e07f1000', 'hex'));
    const frame = file.subarray(pixelData + 12 + 8 + 8 + 8);
    expect(codeStreamSize(frame)).toEqual({ width: 32, height: 16, components: 1 });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['three bytes', Buffer.from('ffd8ff', 'hex')],
    ['a JPEG without a frame', Buffer.from('ffd8ffd9', 'hex')],
    ['a SIZ cut short', siz(70, 31, 0, 0, 1).subarray(0, 41)],
    ['segments of no length', Buffer.from('ffd8ffe00000ffe00000ffe00000', 'hex')],
  ])('none of %s', (_, bytes) => {
    expect(codeStreamSize(bytes)).toBeNull();
  });
});
