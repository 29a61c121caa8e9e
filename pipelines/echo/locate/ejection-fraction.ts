import type { GrayImage } from '../../contract/image.ts';
import type { ModelSession } from '../../inference/session.ts';
import type { VentriclePose } from './ventricle-pose.ts';
import { ventricleCrop } from './ventricle-pose.ts';

/** Side of the view in long axes of the ventricle (models/training/ventricle_crop.py). */
export const CROP_LENGTHS = 1.7;

/**
 * LVEF in percent by `echo-ejection-fraction`, from an end-diastolic and an end-systolic frame of one
 * beat. Both are cut out by the pose of the ventricle at end-diastole, so that its shortening stays
 * visible. The network looks at the pixels alone: the masks place the view and say nothing else.
 */
export async function estimateEjectionFraction(
  session: ModelSession,
  endDiastole: GrayImage,
  endSystole: GrayImage,
  pose: VentriclePose,
): Promise<number> {
  const { width, height } = session.model.input;
  const pair = new Float32Array(width * height);
  pair.set(ventricleCrop(endDiastole, pose, width, CROP_LENGTHS));
  pair.set(ventricleCrop(endSystole, pose, width, CROP_LENGTHS), width * width);
  const [output] = await session.run([pair]);
  return 100 * (output?.[0] ?? Number.NaN);
}
