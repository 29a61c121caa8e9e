import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import type { MModeRhythm } from '../../../../pipelines/measure/m-mode.ts';
import type { CardiacActivity } from '../../../../pipelines/measure/periodicity.ts';
import {
  cardiacAxis,
  cardiacSize,
  fetalRateBand,
} from '../../../../pipelines/obstetric/charts/fetal-heart.ts';
import type { FramePlane } from '../../../../pipelines/obstetric/frame-plane.ts';
import { parseOptions } from '../../../../pipelines/obstetric/input.ts';
import type {
  LocatedChest,
  Locator,
  LocatorUncertainty,
  Plane,
} from '../../../../pipelines/obstetric/locator.ts';
import {
  type ChestReading,
  type FetalHeartReadings,
  fetalHeartReader,
} from '../../../../pipelines/obstetric/read/fetal-heart.ts';
import type { ReaderInput } from '../../../../pipelines/obstetric/reader.ts';
import type { ObstetricEvidence } from '../../../../pipelines/obstetric/section.ts';
import { fetalHeart } from '../../../../pipelines/obstetric/sections/fetal-heart.ts';
import type { Measurement } from '../../../../pipelines/result/envelope.ts';
import { clip } from '../evidence-sample.ts';

const NO_MODEL: Locator = {
  planes: null,
  head: null,
  abdomen: null,
  femur: null,
  symphysisHead: null,
  midsagittal: null,
  uterus: null,
  uncertainty: { hc: null, ac: null, fl: null },
  models: [],
};

const BEATING: MModeRhythm = {
  status: 'beating',
  beatsPerMinute: 145,
  variation: 0.03,
  beats: 6,
  strength: 0.8,
  minY: 100,
  maxY: 300,
};

const CINE: CardiacActivity = {
  status: 'beating',
  beatsPerMinute: 150,
  uncertainty: 2,
  strength: 0.8,
  area: { minX: 0, minY: 0, maxX: 9, maxY: 9 },
};

/** A thorax of 100 by 90 pixels about (200, 200), its spine on the right. */
function chest(area: number, degrees: number, given: Partial<LocatedChest> = {}): ChestReading {
  const thorax = { centre: { x: 200, y: 200 }, a: 100, b: 90, angle: 0 };
  const b = Math.sqrt((area * 100 * 90) / 1.25);
  const turn = Math.PI - (degrees * Math.PI) / 180;
  const crux = { x: 195, y: 200 };
  const located: LocatedChest = {
    thorax,
    heart: { centre: { x: 190, y: 205 }, a: 1.25 * b, b, angle: turn },
    confidence: 0.9,
    accepted: true,
    septum: {
      crux,
      apex: { x: crux.x + 60 * Math.cos(turn), y: crux.y + 60 * Math.sin(turn) },
      spine: { x: 296, y: 200 },
      confidence: 0.8,
      accepted: true,
    },
    ...given,
  };
  const at = clip('chest.dcm', { regions: [] });
  const frame = at.frames[0] as FramePlane['frame'];
  return { clip: at, frame, estimate: { label: 'thorax', confidence: 0.9 }, located };
}

interface Given {
  uncertainty?: LocatorUncertainty;
  chests?: ChestReading[] | null;
  views?: FetalHeartReadings['views'];
  chestFrames?: number;
  mMode?: MModeRhythm[];
  cines?: CardiacActivity[];
  gaDays?: number | null;
  earlier?: Measurement[];
}

function run(given: Given = {}) {
  const {
    chests = null,
    views = [],
    chestFrames = 0,
    mMode = [],
    cines = [],
    gaDays = 154,
  } = given;
  const at = { file: 'sweep.dcm', sopInstanceUid: null, frame: 0 };
  const evidence: ObstetricEvidence = {
    study: { clips: [], refused: [], files: 1, series: 1 },
    options: parseOptions(gaDays === null ? {} : { dating: { ga_days: gaDays } }),
    planes: null,
    readings: [],
    withoutModel: [],
    uncertainty: given.uncertainty ?? NO_MODEL.uncertainty,
    priors: [],
    views: {
      fetalHeart: { chests, views, chestFrames, mMode: mMode.map((rhythm) => ({ ...at, rhythm })) },
      presentation: {
        sweeps: [],
        cardiac: cines.map((activity) => ({ clip: clip('chest.dcm'), activity })),
      },
      spectra: [],
    },
  };
  const outcome = fetalHeart.run(evidence, given.earlier ?? []);
  return {
    ...outcome,
    rate: outcome.measurements?.find(({ id }) => id === 'fetal-heart-rate') ?? null,
  };
}

describe('fetal heart rate', () => {
  it('of an M-mode goes before that of a cine, and both are kept', () => {
    const outcome = run({ mMode: [BEATING], cines: [CINE] });
    expect(outcome.rate?.value).toBe(145);
    expect(outcome.measurements).toHaveLength(2);
    expect(outcome.summary).toContain('The beats on the sweep were regular.');
  });

  it('of a cine alone says nothing of the rhythm', () => {
    const { rate, summary } = run({ cines: [CINE] });
    expect(rate?.value).toBe(150);
    expect(summary).toContain('Rhythm was not assessed.');
  });

  it('whose beats could not be told apart is not accepted', () => {
    const outcome = run({ mMode: [{ ...BEATING, variation: null }] });
    expect(outcome.rate).toBeNull();
    expect(outcome.measurements?.[0]?.quality).toBe('low');
  });

  it.each([
    { rate: 109.9, band: 'slow' },
    { rate: 110, band: 'normal' },
    { rate: 160, band: 'normal' },
    { rate: 160.1, band: 'fast' },
    { rate: 180, band: 'fast' },
    { rate: 180.1, band: 'tachycardia' },
  ])('$rate per minute at 22 weeks: $band', ({ rate, band }) => {
    expect(fetalRateBand(154, rate)).toBe(band);
    const outcome = run({ mMode: [{ ...BEATING, beatsPerMinute: rate }] });
    expect(outcome.findings).toHaveLength(band === 'normal' ? 0 : 1);
  });

  it('before 14 weeks the bands of the embryo hold', () => {
    expect(fetalRateBand(97, 170)).toBe('normal');
    expect(fetalRateBand(98, 170)).toBe('fast');
    expect(fetalRateBand(97, 119)).toBe('slow');
  });

  it('without a gestational age has no range', () => {
    const outcome = run({ mMode: [{ ...BEATING, beatsPerMinute: 200 }], gaDays: null });
    expect(outcome.rate?.value).toBe(200);
    expect(outcome.classifications).toEqual([]);
    expect(outcome.findings).toEqual([]);
  });

  it('outside 40 to 260 per minute is implausible', () => {
    expect(run({ mMode: [{ ...BEATING, beatsPerMinute: 39 }] }).rate).toBeNull();
    expect(run({ mMode: [{ ...BEATING, beatsPerMinute: 40 }] }).rate?.value).toBe(40);
  });

  it('is not measured where nothing was seen to beat', () => {
    const outcome = run({ chestFrames: 1, cines: [{ status: 'not-seen', strength: 0.2 }] });
    expect(outcome.measurements).toEqual([]);
    expect(outcome.summary).toContain('Fetal heart rate was not measured.');
  });
});

describe('views', () => {
  const seen = {
    view: 'four-chamber',
    file: 'a.dcm',
    frame: 0,
    by: 'classifier',
    confidence: 0.9,
  } as const;

  it('none and no sweep: not assessed, and nothing is called normal', () => {
    const outcome = run();
    expect(outcome).toMatchObject({ status: 'not_assessed', reason: { code: 'view_missing' } });
    expect(outcome.summary).not.toContain('normal');
  });

  it('one view is never a whole heart: the section stays partial and names the rest', () => {
    const outcome = run({ views: [seen], mMode: [BEATING] });
    expect(outcome.status).toBe('partial');
    expect(outcome.summary).toContain('Seen: four-chamber view.');
    expect(outcome.summary).toContain('name only, and not named: left outflow tract');
    expect(outcome.summary).toContain('valves, flow and outflow tracts were not assessed');
  });

  it("a name is the machine's word and not a view that was seen", () => {
    const outcome = run({ views: [{ ...seen, by: 'named', confidence: null }] });
    expect(outcome.data?.views).toMatchObject({ 'four-chamber': 'named-by-machine' });
  });

  const input = (clips: Clip[], labels: Plane[] = []): ReaderInput => ({
    study: { clips, refused: [], files: clips.length, series: 1 },
    planes: clips.map(
      (one, i): FramePlane => ({
        clip: one,
        frame: one.frames[0] as FramePlane['frame'],
        estimate: { label: labels[i] ?? 'other', confidence: 0.9 },
      }),
    ),
    options: parseOptions({}),
    locator: NO_MODEL,
    signal: new AbortController().signal,
  });

  it('come from the classifier, or from the words of the machine', async () => {
    const clips = [
      clip('a.dcm'),
      clip('b.dcm', { viewName: 'LVOT' }),
      clip('c.dcm', { viewName: '3VT' }),
      clip('d.dcm'),
    ];
    const found = await fetalHeartReader.read(
      input(clips, ['four-chamber', 'other', 'other', 'thorax']),
    );
    expect(found.views.map(({ view, by, file }) => [view, by, file])).toEqual([
      ['four-chamber', 'classifier', 'a.dcm'],
      ['left-outflow-tract', 'named', 'b.dcm'],
      ['three-vessel-trachea', 'named', 'c.dcm'],
    ]);
    expect(found.chestFrames).toBe(1);
  });

  it('are none on images without either', async () => {
    const found = await fetalHeartReader.read(input([clip('a.dcm')]));
    expect(found).toEqual({ chests: null, views: [], chestFrames: 0, mMode: [] });
  });
});

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

  it('below the gate are named and judge nothing', () => {
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
    const uncertainty = { ...NO_MODEL.uncertainty, chest: chestUncertainty };
    const outcome = run({ chests: [chest(area, 45)], uncertainty });
    expect(outcome.findings).toHaveLength(findings);
    expect(outcome.summary.includes('measure by hand')).toBe(findings === 0);
  });

  it('without a septum have no axis', () => {
    const outcome = run({ chests: [chest(0.3, 45, { septum: null })] });
    expect(measured(outcome, 'cardiac-axis')).toBeUndefined();
    expect(outcome.summary).toContain('The axis of the heart was not measured.');
  });

  it('say who could not outline the heart: no model, or no such view', () => {
    expect(run({ mMode: [BEATING] }).summary).toContain('no permitted model outlines the heart');
    expect(run({ mMode: [BEATING], chests: [] }).summary).toContain('shows the whole thorax');
  });
});
