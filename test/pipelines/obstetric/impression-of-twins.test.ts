import { describe, expect, it } from 'vitest';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import { cartValue } from '../cart-sample.ts';
import { spectrum } from './doppler/doppler-sample.ts';
import { clip, MM_PER_PIXEL } from './evidence-sample.ts';
import { reviewedViews, reviewedWith } from './reviewed-study.ts';

function machine(key: ConceptKey, value: number, fetus: string | null = null) {
  const { unit } = CONCEPTS[key];
  return cartValue({ key, concept: { scheme: 'LN', code: key, meaning: key }, value, unit, fetus });
}

function impressionOf(...[views, given]: Parameters<typeof reviewedViews>): string {
  const { report } = reviewedWith(reviewedViews(views, { accept: 'simulated', ...given }));
  return report?.impression.join('\n') ?? '';
}

describe('in the impression of twins', () => {
  const umbilical = (fetus: string, edv: number, tamx: number) =>
    spectrum('umbilical-artery', { psv: 40, edv, tamx }, { fetus });

  it('usual flow and indices are those of the fetus on whose spectrum they were seen', () => {
    const impression = impressionOf({ spectra: [umbilical('A', 14, 24), umbilical('B', 0, 18)] });
    expect(impression).toMatch(
      /fetus A: Doppler: UA PI 1\.08 \(centile 70\), forward umbilical end-diastolic flow/i,
    );
    expect(impression).toContain('fetus B: Umbilical artery: absent end-diastolic flow');
    const both = impressionOf({ spectra: [umbilical('A', 14, 24), umbilical('B', 15, 24)] });
    expect(both).toMatch(/fetus A: Doppler: UA PI 1\.08.*; fetus B: Doppler: UA PI 1\.04/i);
  });

  it('the heart rate of each is given', () => {
    const impression = impressionOf({ spectra: [umbilical('A', 14, 24), umbilical('B', 15, 24)] });
    expect(impression).toMatch(
      /fetus A: Fetal heart rate 140\/min; fetus B: Fetal heart rate 140\/min/i,
    );
  });

  it('lengths of the machine are those of the fetus that it names', () => {
    const cart = ['A', 'B'].flatMap((fetus, at) => [
      machine('hc', 250 + 5 * at, fetus),
      machine('ac', 230 + 5 * at, fetus),
    ]);
    expect(impressionOf({}, { cart })).toMatch(
      /fetus A: HC 250\.0 mm, AC 230\.0 mm; fetus B: HC 255\.0 mm, AC 235\.0 mm/i,
    );
    expect(impressionOf({}, { cart: [machine('hc', 255, 'B')] })).toMatch(/^Fetus B: HC 255/m);
  });
});

describe('in the impression of one fetus', () => {
  it('the name that the machine gives it is left out', () => {
    const cart = [machine('umbilical-artery-pi', 1, '1'), machine('fetal-heart-rate', 140, '1')];
    const impression = impressionOf({}, { cart });
    expect(impression).toContain('Doppler: UA PI 1.00');
    expect(impression).not.toMatch(/fetus 1/i);
  });

  it('a fluid index that is abnormal is not hidden by a pocket at a cut-off', () => {
    const pocket = (mm: number, quadrant: number) => {
      const taken = clip(`quadrant-${quadrant}.dcm`);
      const frame = taken.frames[0];
      if (!frame) throw new Error('a clip without a frame');
      const bottom = { x: 300, y: 100 + mm / MM_PER_PIXEL };
      return {
        clip: taken,
        frame,
        estimate: { label: 'amniotic-fluid' as const, confidence: 0.9 },
        quadrant,
        calibrated: true,
        pocket: { top: { x: 300, y: 100 }, bottom, cut: false, confidence: 0.9, accepted: true },
      };
    };
    // A pocket of 79 ± 4 mm may be normal; the index of 302 ± 8 mm is mild or moderate polyhydramnios.
    const frames = [79, 75, 74, 74].map(pocket);
    const impression = impressionOf({ amnioticFluid: { frames, uncertainty: 4 } });
    expect(impression).toContain('DVP 79.0 mm is at the cut-off');
    expect(impression).toContain('AFI 302.0 mm is at the cut-off');
  });
});
