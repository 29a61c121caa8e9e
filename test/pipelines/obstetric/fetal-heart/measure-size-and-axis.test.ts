import { describe, expect, it } from 'vitest';
import type { ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { ChestReading } from '../../../../pipelines/obstetric/fetal-heart/evidence.ts';
import { cardiacAxis, cardiacSize } from '../../../../pipelines/obstetric/fetal-heart/guideline.ts';
import { fromMachine } from '../doppler/doppler-sample.ts';
import { clip, NO_MODELS } from '../evidence-sample.ts';
import { BEATING, chest, run } from './fetal-heart-sample.ts';

describe('size and axis of the heart', () => {
  it.each([
    { ratio: 0.249, size: 'small' },
    { ratio: 0.25, size: 'normal' },
    { ratio: 0.35, size: 'normal' },
    { ratio: 0.351, size: 'large' },
  ])('area ratio $ratio: $size', ({ ratio, size }) => {
    expect(cardiacSize(ratio)).toBe(size);
  });

  it.each([
    { degrees: -1, axis: 'right-sided' },
    { degrees: 24.9, axis: 'small' },
    { degrees: 25, axis: 'normal' },
    { degrees: 65, axis: 'normal' },
    { degrees: 65.1, axis: 'large' },
  ])('axis of $degrees degrees: $axis', ({ degrees, axis }) => {
    expect(cardiacAxis(degrees)).toBe(axis);
  });

  const measured = (outcome: ReturnType<typeof run>, id: string) =>
    outcome.measurements?.find((one) => one.id === id);

  it('come from the outlines of one image, without calibration', () => {
    const outcome = run({ chests: [chest(0.3, 45)] });
    expect(measured(outcome, 'cardiothoracic-area-ratio')?.value).toBeCloseTo(0.3, 6);
    expect(measured(outcome, 'cardiac-axis')?.value).toBeCloseTo(45, 6);
    expect(outcome.findings).toEqual([]);
    expect(outcome.summary).toContain('the side of the axis');
    expect(outcome.summary).not.toContain('normal');
  });

  it.each([
    { area: 0.36, degrees: 45, finding: 'cardiac-size' },
    { area: 0.24, degrees: 45, finding: 'cardiac-size' },
    { area: 0.3, degrees: 20, finding: 'cardiac-axis' },
    { area: 0.3, degrees: 70, finding: 'cardiac-axis' },
  ])('area ratio $area and axis $degrees: a finding of $finding', ({ area, degrees, finding }) => {
    const { findings } = run({ chests: [chest(area, degrees)] });
    expect(findings?.map(({ id }) => id)).toEqual([finding]);
  });

  it('are the median of three frames, each of which is kept', () => {
    const outcome = run({ chests: [chest(0.28, 40), chest(0.3, 45), chest(0.34, 60)] });
    expect(measured(outcome, 'cardiothoracic-area-ratio')).toMatchObject({ derivation: 'median' });
    expect(measured(outcome, 'cardiothoracic-area-ratio')?.value).toBeCloseTo(0.3, 6);
    expect(measured(outcome, 'cardiothoracic-area-ratio-3')?.value).toBeCloseTo(0.34, 6);
  });

  describe('of a cine', () => {
    const cine = clip('cine.dcm');
    const beat = (areas: number[]) => areas.map((area) => ({ ...chest(area, 45), clip: cine }));
    const ratioOf = (chests: ChestReading[]) =>
      measured(run({ chests }), 'cardiothoracic-area-ratio')?.value;

    it('are those at end diastole: the median of the three frames with the largest heart', () => {
      expect(ratioOf(beat([0.27, 0.29, 0.31, 0.33, 0.28, 0.26]))).toBeCloseTo(0.31, 6);
    });

    it('do not prefer a large heart of one cine to the frame of another clip', () => {
      const [first, ...others] = beat([0.3, 0.31, 0.32, 0.33]) as [ChestReading, ...ChestReading[]];
      // The areas, in this order: cine 0.33, still 0.26, cine 0.32.
      expect(ratioOf([first, chest(0.26, 45), ...others])).toBeCloseTo(0.32, 6);
      const outcome = run({ chests: [first, chest(0.26, 45), ...others] });
      expect(measured(outcome, 'cardiothoracic-area-ratio-2')?.value).toBeCloseTo(0.26, 6);
    });

    it('use no frame below the gate, however large its heart is', () => {
      const doubtful = { ...chest(0.6, 45, { accepted: false }), clip: cine };
      expect(ratioOf([...beat([0.28, 0.29, 0.3]), doubtful])).toBeCloseTo(0.29, 6);
    });
  });

  it('below the gate are listed but have no consequences', () => {
    const outcome = run({ chests: [chest(0.5, 90, { accepted: false })], mMode: [BEATING] });
    expect(measured(outcome, 'cardiothoracic-area-ratio-1')?.quality).toBe('low');
    expect(outcome.findings).toEqual([]);
    expect(outcome.summary).toContain('The cardiothoracic ratio was not measured');
  });

  it.each([
    { area: 0.36, halfWidth: 0.02, findings: 0 },
    { area: 0.38, halfWidth: 0.02, findings: 1 },
    { area: 0.24, halfWidth: 0.02, findings: 0 },
    { area: 0.22, halfWidth: 0.02, findings: 1 },
  ])('area ratio $area +/- $halfWidth: $findings findings', ({ area, halfWidth, findings }) => {
    const chestUncertainty = { areaRatio: halfWidth, circumferenceRatio: null, axisDegrees: null };
    const uncertainty = { ...NO_MODELS.uncertainty, chest: chestUncertainty };
    const outcome = run({ chests: [chest(area, 45)], uncertainty });
    expect(outcome.findings).toHaveLength(findings);
    expect(outcome.summary?.includes('measure by hand')).toBe(findings === 0);
    expect(outcome.summary).not.toContain('cardiothoracic ratio was not measured');
  });

  it('without a septum have no axis', () => {
    const outcome = run({ chests: [chest(0.3, 45, { septum: null })] });
    expect(measured(outcome, 'cardiac-axis')).toBeUndefined();
    expect(outcome.summary).toContain('The cardiac axis was not measured.');
  });

  it('state what could not outline the heart: no model, or no such view', () => {
    expect(run({ mMode: [BEATING] }).summary).toContain('no permitted model outlines the heart');
    expect(run({ mMode: [BEATING], chests: [] }).summary).toContain('shows the whole thorax');
  });

  describe("with the machine's ratios", () => {
    const machine = (value: number, key: ConceptKey = 'cardiothoracic-area-ratio') =>
      fromMachine(key, value);
    const sized = ({ classifications }: ReturnType<typeof run>) =>
      classifications?.find(({ id }) => id === 'cardiac-size')?.value ?? null;
    const texts = ({ findings }: ReturnType<typeof run>) =>
      findings?.filter(({ id }) => id === 'cardiac-size').map(({ text }) => text) ?? [];

    it('ours is evaluated, and a contradicting value of the machine is reported', () => {
      const outcome = run({ chests: [chest(0.55, 45)], cart: [machine(0.3)] });
      expect(sized(outcome)).toBe('large');
      expect(outcome.summary).toContain('By the ultrasound machine value, 0.30, the heart');
      expect(texts(outcome)).toEqual([expect.stringContaining('0.55: the heart is large')]);
    });

    it('a large heart is found by the machine although ours is normal: it has no size', () => {
      const outcome = run({ chests: [chest(0.3, 45)], cart: [machine(0.45)] });
      expect(sized(outcome)).toBeNull();
      expect(texts(outcome)).toEqual([expect.stringContaining('0.45, the heart is large')]);
    });

    it.each([0.34, 0.36])('ours at a cut-off (%d) has no size, the machine decides', (area) => {
      const chestUncertainty = { areaRatio: 0.02, circumferenceRatio: null, axisDegrees: null };
      const outcome = run({
        chests: [chest(area, 45)],
        cart: [machine(0.45)],
        uncertainty: { ...NO_MODELS.uncertainty, chest: chestUncertainty },
      });
      expect(sized(outcome)).toBe(null);
      expect(texts(outcome)).toEqual([
        expect.stringMatching(/undetermined, as a cut-off .* 0\.45, the heart is large/),
      ]);
    });

    it('nothing more is reported if they agree', () => {
      const outcome = run({ chests: [chest(0.3, 45)], cart: [machine(0.34)] });
      expect(texts(outcome)).toEqual([]);
      expect(outcome.summary).not.toContain('measure by hand');
    });

    it.each([
      { round: 0.499, findings: 0 },
      { round: 0.5, findings: 1 },
    ])('a doubt about the area does not hide a circumference of $round', ({ round, findings }) => {
      const chestUncertainty = { areaRatio: 0.03, circumferenceRatio: null, axisDegrees: null };
      const outcome = run({
        chests: [chest(0.34, 45)],
        cart: [machine(round, 'cardiothoracic-circumference-ratio')],
        uncertainty: { ...NO_MODELS.uncertainty, chest: chestUncertainty },
      });
      expect(outcome.summary).toContain('at a cut-off: normal or large; measure by hand');
      expect(texts(outcome)).toHaveLength(findings);
    });

    it('one beyond its limits is listed but not evaluated', () => {
      const outcome = run({ cart: [machine(30)] });
      expect(sized(outcome)).toBeNull();
      expect(outcome.findings).toEqual([]);
      expect(outcome.summary).toContain('is implausible and was not used');
    });

    it('of several fetuses are not used, which is reported', () => {
      const twins = ['A', 'B'].map((fetus) => ({ ...machine(0.45), fetus }));
      const outcome = run({ cart: twins });
      expect(outcome.findings ?? []).toEqual([]);
      expect(outcome.summary).toContain('its reports name several fetuses');
    });
  });

  describe('of several fetuses', () => {
    const named = (area: number, viewName: string | null) => {
      const one = chest(area, 45);
      return { ...one, clip: { ...one.clip, viewName } };
    };
    const twins = ['A', 'B'].map((fetus) => ({ ...fromMachine('hc', 270), fetus }));

    it('are evaluated for each by its own images', () => {
      const outcome = run({
        chests: [named(0.3, 'FETUS A 4CH'), named(0.38, 'FETUS B 4CH')],
        cart: twins,
      });
      expect(measured(outcome, 'cardiothoracic-area-ratio-fetus-a')?.value).toBeCloseTo(0.3, 6);
      expect(measured(outcome, 'cardiothoracic-area-ratio-fetus-b')?.value).toBeCloseTo(0.38, 6);
      expect(outcome.findings?.map(({ text }) => text)).toEqual([
        expect.stringContaining('Fetus B: Cardiothoracic area ratio 0.38: the heart is large'),
      ]);
    });

    it('are not pooled on images that identify none', () => {
      const chests = [named(0.3, null), named(0.38, null)];
      const outcome = run({ chests, chestFrames: chests.length, cart: twins });
      expect(outcome.measurements).toEqual([]);
      expect(outcome.summary).toContain('were not assessed on images that do not name the fetus');
    });
  });
});
