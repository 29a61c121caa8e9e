import { type ChamberMasks, labelOf } from './chambers.ts';

/**
 * The left heart of one model with the right heart of another that knows it: right ventricle and
 * right atrium stand where the first model sees nothing of the left heart.
 */
export function withRightHeart(left: ChamberMasks, whole: ChamberMasks): ChamberMasks {
  const [ventricle, atrium] = [labelOf('rv'), labelOf('ra')];
  const labels = left.labels.slice();
  for (let pixel = 0; pixel < labels.length; pixel++) {
    const other = whole.labels[pixel] ?? 0;
    if (labels[pixel] === 0 && (other === ventricle || other === atrium)) labels[pixel] = other;
  }
  const { rv, ra } = whole.confidence;
  return { ...left, labels, confidence: { ...left.confidence, rv, ra } };
}
