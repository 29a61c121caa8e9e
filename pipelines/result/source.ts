import type { Point } from '../contract/image.ts';
import type { Clip } from '../contract/study.ts';
import type { Caliper, Measurement } from './envelope.ts';

type Source = Measurement['source'];

/**
 * Where a value was measured.
 * @param frame index, 0-based as readers count (a result counts from 1); null: of no single frame.
 * @param calipers what was drawn there.
 */
export function measuredOn(
  { file, sopInstanceUid }: Pick<Clip, 'file' | 'sopInstanceUid'>,
  frame: number | null,
  provenance: Source['provenance'],
  calipers: readonly Caliper[] = [],
): Source {
  return {
    provenance,
    file,
    sop_instance_uid: sopInstanceUid,
    frame: frame === null ? null : frame + 1,
    calipers: [...calipers],
  };
}

/** A straight caliper, in pixel coordinates of the frame. */
export function lineBetween(from: Point, to: Point): Caliper {
  return {
    type: 'line',
    points: [
      [from.x, from.y],
      [to.x, to.y],
    ],
  };
}
