import type { PhantomFrame } from '../../../models/phantom/frame.ts';
import type { Clip } from '../../../pipelines/contract/study.ts';
import type { FramePlane, Plane } from '../../../pipelines/obstetric/shared/plane.ts';
import { clip } from './evidence-sample.ts';

/** Returns a phantom frame as a calibrated clip of one frame, classified as `plane`. */
export function onPlane(plane: Plane, shot: PhantomFrame, changes: Partial<Clip> = {}): FramePlane {
  const { columns: width, rows: height, gray, truth } = shot;
  const image = { width, height, data: gray };
  const rgb = { width: 1, height: 1, data: new Uint8Array(3) };
  const frame = { index: 0, time: 0, gray: async () => image, rgb: async () => rgb };
  const region = {
    area: { minX: 0, minY: 0, maxX: width - 1, maxY: height - 1 },
    scale: { x: truth.mmPerPixel, y: truth.mmPerPixel },
    source: 'region' as const,
  };
  const taken = clip('phantom.dcm', {
    width,
    height,
    frames: [frame],
    regions: [region],
    ...changes,
  });
  return { clip: taken, frame, estimate: { label: plane, confidence: 0.95 } };
}
