import { describe, expect, it } from 'vitest';
import type { Point } from '../../../../pipelines/contract/image.ts';
import type { EarlyClip } from '../../../../pipelines/obstetric/early-pregnancy/evidence.ts';
import { parseOptions } from '../../../../pipelines/obstetric/input.ts';
import type { ObstetricReviewed } from '../../../../pipelines/obstetric/review.ts';
import type { Measurement } from '../../../../pipelines/result/envelope.ts';
import { clip, MM_PER_PIXEL, NO_MODELS, outline } from '../evidence-sample.ts';
import { type PersonChange, reviewedWith } from '../reviewed-study.ts';

function embryo(mm: number, index: number): EarlyClip {
  const taken = clip(`${index}.dcm`);
  const ends: [Point, Point] = [
    { x: 300, y: 300 },
    { x: 300 + mm / MM_PER_PIXEL, y: 300 },
  ];
  const found = { yolkSac: null, embryo: { ends, confidence: 0.9 } };
  const ellipse = outline(40, 30, 0);
  const sac = { ellipse, levels: { inside: 20, outside: 120 }, confidence: 0.9, accepted: true };
  return {
    clip: taken,
    plane: 'sagittal',
    route: 'transvaginal',
    cardiac: null,
    frames: taken.frames.map((frame) => ({
      clip: taken,
      frame,
      sac,
      contents: found,
      bodies: 'one',
    })),
  };
}

const studyOf = (lengths: readonly number[]): ObstetricReviewed => ({
  given: {
    study: { clips: [], refused: [], files: 5, series: 1 },
    options: parseOptions({}),
    accept: 'simulated',
    planes: null,
    readings: [],
    withoutModel: [],
    uncertainty: NO_MODELS.uncertainty,
    views: { earlyPregnancy: lengths.map(embryo) },
    priors: [],
  },
  refusedFrames: [],
  models: [],
  indication: null,
});
/** More clips than the section lists lengths for. The embryos on the remaining clips are longer. */
const STUDY = studyOf([18, 19, 17, 30, 31]);

const lengthsOf = (study: ObstetricReviewed, ...changes: readonly PersonChange[]): Measurement[] =>
  reviewedWith(study, ...changes).measurements.filter(({ concept }) => concept.key === 'crl');

const lengthsAfter = (...changes: readonly PersonChange[]) => lengthsOf(STUDY, ...changes);

const counting = (lengths: readonly Measurement[]) =>
  lengths.filter(({ standing }) => standing === 'counts').map(({ value }) => value);

describe('a crown-rump length that a reader', () => {
  it('did not touch is the median of the first three', () => {
    expect(counting(lengthsAfter())).toEqual([expect.closeTo(18, 5)]);
  });

  it('typed in counts alone: no length from a further image replaces it', () => {
    const typed = { kind: 'set-value', measurement: 'crl', value: 17.4 } as const;
    expect(counting(lengthsAfter(typed))).toEqual([17.4]);
    expect(counting(lengthsAfter(typed, { ...typed, value: 17 }))).toEqual([17]);
  });

  it('rejected is not replaced by one from a further image', () => {
    expect(counting(lengthsAfter({ kind: 'reject', measurement: 'crl' }))).toEqual([]);
  });

  it('chose among the repeats is the only one that counts', () => {
    const chosen = { kind: 'choose-repeat', measurement: 'crl-2' } as const;
    expect(counting(lengthsAfter(chosen))).toEqual([expect.closeTo(19, 5)]);
  });

  it('rejected still contradicts the length of a part of the embryo', () => {
    const rejected = { kind: 'reject', measurement: 'crl' } as const;
    expect(counting(lengthsOf(studyOf([18, 19, 8]), rejected))).toEqual([]);
  });
});
