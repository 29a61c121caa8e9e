import type { GrayImage } from '../../pipelines/contract/image.ts';
import { type Clip, type Frame, UNDESCRIBED } from '../../pipelines/contract/study.ts';
import type { PhantomFrame } from '../phantom/frame.ts';

/** Converts a phantom to pipeline input: one calibrated frame. */
export function phantomClip({ columns, rows, gray, truth }: PhantomFrame): {
  clip: Clip;
  frame: Frame;
  image: GrayImage;
} {
  const image = { width: columns, height: rows, data: Uint8Array.from(gray) };
  const frame: Frame = {
    index: 0,
    time: 0,
    gray: async () => image,
    rgb: async () => ({ width: 1, height: 1, data: new Uint8Array(3) }),
  };
  const clip: Clip = {
    ...UNDESCRIBED,
    file: 'phantom.dcm',
    width: columns,
    height: rows,
    frames: [frame],
    regions: [
      {
        area: { minX: 0, minY: 0, maxX: columns - 1, maxY: rows - 1 },
        scale: { x: truth.mmPerPixel, y: truth.mmPerPixel },
        source: 'region',
      },
    ],
    calibrationRefused: null,
    mode: '2d',
  };
  return { clip, frame, image };
}
