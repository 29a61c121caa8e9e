import { type ChamberMasks, labelOf } from './chambers.ts';

/**
 * The left heart of one model with the right heart of another that knows it: right ventricle and
 * right atrium stand where the first model sees nothing of the left heart.
 */
export function withRightHeart(left: ChamberMasks, whole: ChamberMasks): ChamberMasks {
  const right = [labelOf('rv'), labelOf('ra')];
  const labels = left.labels.map((label, pixel) => {
    const other = whole.labels[pixel] ?? 0;
    return label === 0 && right.includes(other) ? other : label;
  });
  const { rv, ra } = whole.confidence;
  return { ...left, labels, confidence: { ...left.confidence, rv, ra } };
}
