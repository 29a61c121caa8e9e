import { describe, expect, it } from 'vitest';
import { bestFrames, candidateFrames } from '../../../../pipelines/obstetric/shared/key-frames.ts';
import type { FramePlane, Plane } from '../../../../pipelines/obstetric/shared/plane.ts';
import { clip } from '../evidence-sample.ts';

/** Returns frames of one clip with these planes. Their confidence increases with the index. */
function frames(file: string, labels: readonly Plane[]): FramePlane[] {
  const [still] = clip(file).frames;
  if (!still) throw new Error('a clip has a frame');
  const taken = clip(file, { frames: labels.map((_, index) => ({ ...still, index })) });
  return labels.flatMap((label, index) => {
    const frame = taken.frames[index];
    const estimate = { label, confidence: 0.9 + index / 100 };
    return frame ? [{ clip: taken, frame, estimate }] : [];
  });
}

const files = (found: readonly FramePlane[]) => found.map(({ clip: of }) => of.file);

describe('frames on which a structure is measured', () => {
  const sweep = frames('sweep.dcm', ['transthalamic', 'thorax', 'abdominal']);
  const still = frames('still.dcm', ['abdominal']);

  it('are not from a sweep through the fetus if another clip shows the plane', () => {
    expect(files(candidateFrames([...sweep, ...still], 'abdomen', 6))).toEqual(['still.dcm']);
  });

  it('are from the sweep if no other clip shows it', () => {
    expect(files(candidateFrames([...sweep, ...still], 'head', 6))).toEqual(['sweep.dcm']);
  });

  it('are not from a clip that is called a sweep, for any structure', () => {
    const named = frames('named.dcm', ['four-chamber', 'four-chamber']).map((one) => ({
      ...one,
      clip: { ...one.clip, viewName: 'SWEEP CAUDAL TO CRANIAL' },
    }));
    const chest = frames('chest.dcm', ['four-chamber']);
    expect(files(bestFrames([...named, ...chest], ['four-chamber'], 6))).toEqual(['chest.dcm']);
  });

  it.each([
    ['a frame in ten is misnamed: still one part', 11, 'cine.dcm'],
    ['a tenth of the frames shows another part: a sweep', 9, 'other.dcm'],
  ])('%s', (_, count, used) => {
    const chest = Array.from({ length: count }, (): Plane => 'four-chamber');
    const cine = frames('cine.dcm', [...chest, 'abdominal']);
    const other = frames('other.dcm', ['four-chamber']);
    expect(files(bestFrames([...cine, ...other], ['four-chamber'], 1))).toEqual([used]);
  });

  it('are all frames of a cine that stays at one part, whatever the level of the head', () => {
    const cine = frames('cine.dcm', ['transthalamic', 'transventricular', 'other']);
    expect(candidateFrames(cine, 'head', 6)).toHaveLength(2);
  });
});
