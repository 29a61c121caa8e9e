import type { GrayImage } from '../../contract/image.ts';
import { mirror } from '../../inference/mirrored-maps.ts';
import type { RegisteredModel } from '../../inference/model-registry.ts';
import type { ModelSession } from '../../inference/session.ts';
import { type VentriclePose, ventricleCrop } from './ventricle-pose.ts';

/**
 * Side length of the square crop, as a multiple of the ventricle's long axis
 * (models/training/ventricle.py).
 */
const CROP_LENGTHS = 1.7;
/**
 * Difference between the two estimates, in percentage points, at which the confidence reaches 0.
 */
const NO_CONFIDENCE = 50;

/** LVEF combined from two estimates: by discs and by the second network. */
export interface JointEjectionFraction {
  /** LVEF, per cent, recalibrated. */
  percent: number;
  /** 1 if the two estimates are equal, 0 if they are 50 percentage points or more apart. */
  confidence: number;
  /** True if the two estimates agree closely enough to reach the model's gate. */
  accepted: boolean;
}

/**
 * Estimates the LVEF, per cent, with `echo-ejection-fraction` from the end-diastolic and
 * end-systolic frames of one beat. The result is the mean over the view and its mirror image. Both
 * frames are cropped according to the ventricle's pose at end-diastole, so that its shortening
 * remains visible. Masks only determine the crop; the input of the network consists of pixels
 * alone.
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
  const outputs = await session.run([pair, mirror(pair, width)]);
  const sum = outputs.reduce((total, [fraction = Number.NaN]) => total + fraction, 0);
  return (100 * sum) / outputs.length;
}

/**
 * Returns the recalibrated mean of two estimates: the LVEF by discs from the masks of
 * `echo-chambers`, and the LVEF by `echo-ejection-fraction`. The two networks were trained
 * separately, so if they disagree, at least one of them is wrong.
 */
export function jointEjectionFraction(
  byDiscs: number,
  byNetwork: number,
  { gate, recalibration = { slope: 1, offset: 0 } }: RegisteredModel,
): JointEjectionFraction {
  const mean = (byDiscs + byNetwork) / 2;
  const confidence = Math.max(0, 1 - Math.abs(byDiscs - byNetwork) / NO_CONFIDENCE);
  return {
    percent: Math.min(100, Math.max(0, recalibration.slope * mean + recalibration.offset)),
    confidence,
    accepted: confidence >= gate,
  };
}
