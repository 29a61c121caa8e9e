import { describe, expect, it } from 'vitest';
import { perimeter } from '../../../../pipelines/measure/ellipse.ts';
import { deriveBiometry, weightGap } from '../../../../pipelines/obstetric/biometry/derive.ts';
import { hadlock1984HcTwoSd } from '../../../../pipelines/obstetric/biometry/formulas.ts';
import { consistencyFindings } from '../../../../pipelines/obstetric/biometry/judge.ts';
import { PLANES, type Plane } from '../../../../pipelines/obstetric/shared/plane.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import {
  abdomen,
  clip,
  femur,
  head,
  interpretReadings,
  MEDIAN_28_WEEKS,
  measurementOf,
  sectionOf,
} from '../evidence-sample.ts';

describe('lengths', () => {
  it('are the axes and the perimeter of the outlines, in mm, with their calipers', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });
    expect(measurementOf(result, 'bpd').value).toBeCloseTo(73.5, 9);
    expect(measurementOf(result, 'ofd').value).toBeCloseTo(91.8, 9);
    expect(measurementOf(result, 'hc').value).toBeCloseTo(perimeter(73.5 / 2, 91.8 / 2), 9);
    expect(measurementOf(result, 'fl')).toMatchObject({
      value: expect.closeTo(51.3, 9),
      unit: 'mm',
      derivation: 'measured',
      quality: 'accepted',
      source: {
        frame: 1,
        calipers: [
          {
            type: 'line',
            points: [
              [200, 300],
              [expect.closeTo(328.25, 9), 300],
            ],
          },
        ],
      },
    });
    expect(measurementOf(result, 'hc').source.calipers[0]).toMatchObject({ type: 'ellipse' });
    expect(sectionOf(result, 'biometry')).toMatchObject({ status: 'complete', reason: null });
  });

  it('use the abdominal axis along the beam as the transverse one, whether or not it is longer', () => {
    const upright = abdomen(80, 70);
    if (upright.structure === 'abdomen' && upright.located) {
      upright.located.ellipse.angle = Math.PI / 2 - 0.3;
    }
    const lying = abdomen(80, 70);
    const value = (reading: typeof lying, id: string) =>
      measurementOf(interpretReadings({ readings: [reading] }), id).value;
    expect(value(upright, 'tad')).toBeCloseTo(80, 9);
    expect(value(upright, 'apad')).toBeCloseTo(70, 9);
    expect(value(lying, 'tad')).toBeCloseTo(70, 9);
    const result = interpretReadings({ readings: [lying] });
    expect(measurementOf(result, 'tad').note).toContain('the spine was not located');
    expect(measurementOf(result, 'ac').note).toBeNull();
  });

  it('use the scale of each axis where pixels are not square', () => {
    const region = {
      area: { minX: 0, minY: 0, maxX: 799, maxY: 599 },
      scale: { x: 0.2, y: 0.4 },
      source: 'region' as const,
    };
    const result = interpretReadings({ readings: [femur(50, { clip: { regions: [region] } })] });
    expect(measurementOf(result, 'fl').value).toBeCloseTo(25, 9);
  });

  it('have an interval: in proportion for an outline, in mm for the femur', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });
    const [hc, ac, fl] = ['hc', 'ac', 'fl'].map((id) => measurementOf(result, id));
    expect(hc?.uncertainty).toBeCloseTo(0.03 * (hc?.value ?? 0), 9);
    expect(ac?.uncertainty).toBeCloseTo(0.05 * (ac?.value ?? 0), 9);
    expect(fl?.uncertainty).toBe(4);
    expect(measurementOf(result, 'bpd').uncertainty).toBeNull();
  });

  it.each([
    [99.9, 5],
    [100.1, 3],
  ])('have a wider interval in per cent for a small head: HC %d mm ± %d %%', (mm, percent) => {
    const uncertainty = { hcPercent: 3, smallHcPercent: 5, acPercent: null, flMm: null };
    const share = mm / perimeter(45.9, 36.75);
    const readings = [head(share * 91.8, share * 73.5)];
    const hc = measurementOf(interpretReadings({ readings, evidence: { uncertainty } }), 'hc');
    expect(hc.value).toBeCloseTo(mm, 6);
    expect(hc.uncertainty).toBeCloseTo((percent / 100) * mm, 6);
  });

  it('use the interval of all heads if the stored evidence has none for small ones', () => {
    const uncertainty = { hcPercent: 3, acPercent: null, flMm: null };
    const readings = [head(25, 20)];
    const hc = measurementOf(interpretReadings({ readings, evidence: { uncertainty } }), 'hc');
    expect(hc.uncertainty).toBeCloseTo(0.03 * hc.value, 6);
  });

  it('are the median of up to three frames, each kept under its own number', () => {
    const readings = [52, 50, 54, 70].map((mm) => femur(mm));
    const result = interpretReadings({ readings });
    expect(measurementOf(result, 'fl')).toMatchObject({
      value: expect.closeTo(52, 9),
      derivation: 'median',
      inputs: ['fl-1', 'fl-2', 'fl-3'],
      source: { calipers: [] },
    });
    expect(result.measurements.some(({ id }) => id === 'fl-4')).toBe(false);
  });

  it('come from the transcerebellar plane only if no better one shows a head', () => {
    const tilted = head(100, 80, { plane: 'transcerebellar' });
    const beside = interpretReadings({ readings: [tilted, head(91.8, 73.5)] });
    expect(measurementOf(beside, 'ofd').value).toBeCloseTo(91.8, 9);
    const alone = interpretReadings({ readings: [tilted] });
    expect(measurementOf(alone, 'hc').note).toContain('transcerebellar');
  });

  it('of the transcerebellar plane alone make the section partial, with the criterion', () => {
    const whole = [head(91.8, 73.5, { plane: 'transcerebellar' }), abdomen(75, 73.5), femur(51.3)];
    expect(sectionOf(interpretReadings({ readings: whole }), 'biometry')).toMatchObject({
      status: 'partial',
      reason: {
        code: 'plane_of_last_resort',
        detail: expect.stringContaining('criterion not met: cerebellum not visible'),
      },
    });
    const better = [...whole, head(91.8, 73.5)];
    expect(sectionOf(interpretReadings({ readings: better }), 'biometry').status).toBe('complete');
  });

  it.each([
    ['transcerebellar', 0.8, 'low'],
    ['transcerebellar', 0.79, 'accepted'],
    ['transthalamic', 0.8, 'accepted'],
  ] as const)(
    'of a %s plane with the cerebellum visible at %d are %s',
    (plane, cerebellum, quality) => {
      const structures = { csp: 0.5, thalami: 0.5, cerebellum };
      const result = interpretReadings({ readings: [head(91.8, 73.5, { plane, structures })] });
      const found = result.measurements.filter(({ concept }) => concept.key === 'hc');
      expect(found.map((one) => one.quality)).toEqual([quality]);
      const used = result.measurements.some(({ id }) => id === 'ga-by-hc');
      expect(used).toBe(quality === 'accepted');
      const detail = sectionOf(result, 'biometry').reason?.detail;
      if (!used) expect(detail).toContain('HC not accepted: the cerebellum is in view');
    },
  );

  it.each([
    [44.9, 'accepted'],
    [45, 'accepted'],
    [45.1, 'low'],
  ])('of a femur at %d degrees to the horizontal are %s', (degrees, quality) => {
    const reading = femur(50);
    const turn = (degrees * Math.PI) / 180;
    if (reading.structure === 'femur' && reading.located) {
      const [from] = reading.located.ends;
      const to = { x: from.x + 125 * Math.cos(turn), y: from.y + 125 * Math.sin(turn) };
      reading.located.ends = [from, to];
    }
    const result = interpretReadings({ readings: [reading] });
    expect(result.measurements.map((one) => one.quality)).toEqual([quality]);
    const better = interpretReadings({ readings: [reading, femur(52)] });
    expect(measurementOf(better, 'fl').value).toBeCloseTo(quality === 'low' ? 52 : 51, 9);
  });

  it('in a scale from the request state this', () => {
    const region = {
      area: { minX: 0, minY: 0, maxX: 799, maxY: 599 },
      scale: { x: 0.4, y: 0.4 },
      source: 'user' as const,
    };
    const given = interpretReadings({ readings: [femur(50, { clip: { regions: [region] } })] });
    expect(measurementOf(given, 'fl').note).toContain('with the scale given in the request');
    expect(sectionOf(given, 'biometry').data).toMatchObject({ calibration: 'user' });
    const own = interpretReadings({ readings: [femur(50)] });
    expect(measurementOf(own, 'fl').note).toBeNull();
    expect(sectionOf(own, 'biometry').data).toMatchObject({ calibration: 'region' });
  });

  it('give the BPD by both conventions, outer to outer and outer to inner', () => {
    const one = interpretReadings({ readings: [head(91.8, 73.5)] });
    const both = /outer to outer; outer to inner is about 3 % less, 71\.3 mm \(estimated\)/;
    expect(measurementOf(one, 'bpd').note).toMatch(both);
    const median = interpretReadings({ readings: [head(91.8, 73.5), head(91.8, 73.5)] });
    expect(measurementOf(median, 'bpd').note).toMatch(both);
  });

  it('state that a BPD of the transventricular plane should be measured on the transthalamic', () => {
    const readings = [head(91.8, 73.5, { plane: 'transventricular' })];
    const result = interpretReadings({ readings });
    expect(measurementOf(result, 'bpd').note).toContain('transthalamic');
    expect(measurementOf(result, 'hc').note).toBeNull();
  });
});

describe('of the head planes', () => {
  it('BPD is from the transthalamic if there is one, and HC from both', () => {
    const other = head(94, 75, { plane: 'transventricular' });
    const result = interpretReadings({ readings: [head(91.8, 73.5), other] });
    expect(measurementOf(result, 'bpd')).toMatchObject({ value: expect.closeTo(73.5, 9) });
    expect(measurementOf(result, 'hc')).toMatchObject({ inputs: ['hc-1', 'hc-2'] });
  });

  it('a median states how many frames it is from and how far they differ', () => {
    const result = interpretReadings({ readings: [femur(50), femur(51), femur(52.5)] });
    expect(measurementOf(result, 'fl').note).toBe('3 frames, 50.0 mm to 52.5 mm');
  });
});

describe('what is withheld', () => {
  it('a length below the gate is listed with quality low but not used', () => {
    const readings = [head(91.8, 73.5, { accepted: false, confidence: 0.4 }), femur(51.3)];
    const result = interpretReadings({ readings });
    expect(measurementOf(result, 'hc-1')).toMatchObject({ quality: 'low', confidence: 0.4 });
    expect(result.measurements.some(({ id }) => id === 'ga-by-hc')).toBe(false);
    expect(sectionOf(result, 'biometry').reason?.detail).toContain('HC not accepted');
  });

  it.each([
    ['BPD 115 mm is the last that counts', head(140, 115), 'accepted'],
    ['BPD 115.1 mm does not', head(140, 115.1), 'inadequate'],
    ['FL 3.9 mm does not', femur(3.9), 'inadequate'],
    ['FL 4 mm does', femur(4), 'accepted'],
  ])('plausibility: %s', (_, reading, quality) => {
    const result = interpretReadings({ readings: [reading] });
    const id = reading.structure === 'head' ? 'bpd' : 'fl';
    expect(result.measurements.find(({ concept }) => concept.key === id)?.quality).toBe(quality);
  });

  it('one implausible length of an outline withholds all of its lengths', () => {
    const result = interpretReadings({ readings: [head(146, 110)] });
    expect(result.measurements.map(({ quality }) => quality)).toEqual([
      'inadequate',
      'inadequate',
      'inadequate',
    ]);
    expect(measurementOf(result, 'bpd-1').note).toContain('OFD outside 10 to 145 mm');
    expect(sectionOf(result, 'biometry')).toMatchObject({
      status: 'inadequate',
      reason: { code: 'implausible', detail: expect.stringContaining('implausible') },
    });
  });

  it.each([
    ['head, axes 0.61', head(100, 61), 'accepted'],
    ['head, axes 0.59', head(100, 59), 'inadequate'],
    ['abdomen, axes 0.71', abdomen(100, 71), 'accepted'],
    ['abdomen, axes 0.69', abdomen(100, 69), 'inadequate'],
  ])('an outline must have the shape of its structure: %s', (_, reading, quality) => {
    const { measurements } = interpretReadings({ readings: [reading] });
    expect(measurements[0]?.quality).toBe(quality);
  });

  // The longer axis of 250 pixels ends at 280.6, and 5 % of it are 12.5 pixels.
  it.each([
    [280, 1, 'without a remark'],
    [293, 1, 'as extrapolated'],
    [294, 1, 'not at all'],
    [293, 2, 'not at all'],
  ])('an outline in a region from column %d on, one of %i, is measured %s', (minX, count, how) => {
    const { regions } = clip('abdomen.png');
    const cut = regions.map((one) => ({ ...one, area: { ...one.area, minX } }));
    const shot = { clip: { regions: Array(count).fill(cut).flat() } };
    const { measurements } = interpretReadings({ readings: [abdomen(100, 90, shot)] });
    const notes = measurements
      .filter(({ concept }) => concept.key === 'ac')
      .map(({ note }) => note);
    const remark = notes[0]?.includes('was extrapolated') ? 'as extrapolated' : 'without a remark';
    expect(notes.length > 0 ? remark : 'not at all').toBe(how);
  });

  it('an implausible frame is skipped if another is plausible', () => {
    const result = interpretReadings({ readings: [head(146, 110), head(91.8, 73.5)] });
    expect(measurementOf(result, 'ofd').value).toBeCloseTo(91.8, 9);
  });

  it('ten times too large (cm read as mm) gives no age and no weight', () => {
    const region = {
      area: { minX: 0, minY: 0, maxX: 799, maxY: 599 },
      scale: { x: 4, y: 4 },
      source: 'user' as const,
    };
    const huge = { clip: { regions: [region] } };
    const readings = [head(91.8, 73.5, huge), abdomen(75, 73.5, huge), femur(51.3, huge)];
    const result = interpretReadings({ readings });
    expect(result.measurements.every(({ quality }) => quality === 'inadequate')).toBe(true);
    expect(result.measurements.every(({ derivation }) => derivation === 'measured')).toBe(true);
  });

  it('without calibration nothing is in mm, and the reason is given', () => {
    const bare = { clip: { regions: [] } };
    const readings = [head(91.8, 73.5, bare), abdomen(75, 73.5, bare), femur(51.3, bare)];
    const result = interpretReadings({ readings });
    expect(result.measurements).toMatchObject([
      {
        id: 'cephalic-index',
        value: expect.closeTo((100 * 73.5) / 91.8, 9),
        unit: '%',
        reference: null,
        note: expect.stringContaining('without a physical scale'),
      },
    ]);
    expect(sectionOf(result, 'biometry')).toMatchObject({
      status: 'not_assessed',
      reason: { code: 'no_calibration' },
      data: { calibration: 'none' },
    });
    expect(sectionOf(result, 'biometry').summary).toContain('no physical scale was available');
  });

  it.each([
    ['a scale that was refused', { regions: [], calibrationRefused: 'it is wrong' }, {}],
    ['an outline below the gate', { regions: [] }, { accepted: false }],
  ])('no ratio is calculated from %s', (_, changes, shot) => {
    const readings = [head(91.8, 73.5, { clip: changes, ...shot })];
    expect(interpretReadings({ readings }).measurements).toEqual([]);
  });

  it('a refused calibration has a reason', () => {
    const refused = {
      clip: { regions: [], calibrationRefused: 'the calibrated region reaches outside the image' },
    };
    const result = interpretReadings({ readings: [femur(51.3, refused)] });
    expect(sectionOf(result, 'biometry').reason?.detail).toContain('reaches outside the image');
  });

  it('an outline across two calibrated regions is not measured', () => {
    const half = (minX: number, maxX: number) => ({
      area: { minX, minY: 0, maxX, maxY: 599 },
      scale: { x: 0.4, y: 0.4 },
      source: 'region' as const,
    });
    const split = { clip: { regions: [half(0, 399), half(400, 799)] } };
    const result = interpretReadings({ readings: [head(91.8, 73.5, split)] });
    expect(result.measurements).toEqual([]);
    expect(sectionOf(result, 'biometry').reason?.code).toBe('outside_calibrated_region');
  });

  it('a missing plane is named; the rest is partial', () => {
    const result = interpretReadings({ readings: [head(91.8, 73.5), femur(51.3)] });
    expect(sectionOf(result, 'biometry')).toMatchObject({
      status: 'partial',
      reason: { code: 'plane_missing', needs: ['abdominal circumference plane'] },
    });
    expect(sectionOf(result, 'biometry').summary).toContain(
      'Estimated weight was not computed because AC was not measured.',
    );
  });
});

describe('a plane below the gate', () => {
  /** Returns frames in which the head planes together have these probabilities. */
  const study = (...shares: number[]) => {
    const planes = shares.map((share) => {
      const shown = clip('head.dcm');
      const [frame] = shown.frames;
      if (!frame) throw new Error('no frame');
      const none = Object.fromEntries(PLANES.map((plane) => [plane, 0]));
      const probabilities = {
        ...none,
        transthalamic: share / 2,
        transcerebellar: share / 2,
        femur: 1 - share,
      } as Record<Plane, number>;
      const estimate = {
        label: 'other',
        confidence: 0,
        belowGate: 'transthalamic',
        probabilities,
      } as const;
      return { clip: shown, frame, estimate };
    });
    const result = interpretReadings({ readings: [], evidence: { planes } });
    return sectionOf(result, 'biometry');
  };

  it.each([
    [[0.51], '1 frame probably shows one'],
    [[0.51, 0.5, 0.9], '2 frames probably show one'],
  ])('of shares %j is reported with its frames, and is inadequate', (shares, said) => {
    expect(study(...shares)).toMatchObject({
      status: 'inadequate',
      reason: {
        code: 'low_confidence',
        detail: expect.stringContaining(
          `BPD, OFD, HC not measured: no head plane (transthalamic or transventricular) was found with certainty; ${said}.`,
        ),
      },
    });
  });

  it('that is no more probable than not is not reported', () => {
    expect(study(0.5)).toMatchObject({
      status: 'not_assessed',
      reason: {
        code: 'plane_missing',
        detail: expect.stringContaining(
          'BPD, OFD, HC not measured: no head plane (transthalamic or transventricular) was found.',
        ),
      },
    });
  });
});

describe('derived values', () => {
  it('follow Hadlock from the accepted lengths and list their inputs', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });
    expect(measurementOf(result, 'ga-by-hc')).toMatchObject({
      unit: 'd',
      inputs: ['hc'],
      note: 'the interval (Hadlock 1984) was not checked against the original paper',
    });
    // 10.33 + 0.031 × 26.04 × 5.13 + 0.361 × 26.04 + 0.0298 × 23.33 × 5.13 weeks
    expect(measurementOf(result, 'ga-by-hc-ac-fl').value / 7).toBeCloseTo(27.44, 2);
    expect(measurementOf(result, 'efw')).toMatchObject({
      method: 'hadlock-1985-efw-hc-ac-fl',
      inputs: ['hc', 'ac', 'fl'],
      unit: 'g',
    });
    expect(measurementOf(result, 'hc-ac-ratio').value).toBeCloseTo(260.4 / 233.3, 1);
    expect(measurementOf(result, 'cephalic-index').note).toContain('outer to outer');
  });

  it('a weight without HC is flagged as having reduced inputs', () => {
    const result = interpretReadings({ readings: [abdomen(75, 73.5), femur(51.3)] });
    expect(measurementOf(result, 'efw')).toMatchObject({
      method: 'hadlock-1985-efw-ac-fl',
      note: expect.stringContaining('reduced inputs'),
    });
  });

  it('without FL the INTERGROWTH weight is given from 22+0, or from an AC of 160 mm', () => {
    const readings = (mm: number) => [head(72, 58), abdomen(mm, mm)];
    const weight = (mm: number, gaDays?: number) =>
      interpretReadings({
        readings: readings(mm),
        options: gaDays ? { dating: { ga_days: gaDays } } : {},
      }).measurements.find(({ id }) => id === 'efw')?.method;
    expect(weight(75, 154)).toBe('intergrowth-2017-efw-hc-ac');
    expect(weight(75, 153)).toBeUndefined();
    expect(weight(161 / Math.PI)).toBe('intergrowth-2017-efw-hc-ac');
    expect(weight(159 / Math.PI)).toBeUndefined();
  });
});

describe("values outside a formula's validity", () => {
  it.each([
    [55, 'inadequate'],
    [56, 'accepted'],
    [357, 'accepted'],
    [358, 'inadequate'],
  ])('an age by an HC of %d mm is %s: the equation is of 12 to 42 weeks', (hc, quality) => {
    const [age] = deriveBiometry(
      [createMeasurement('hc', 'hc', hc, 'hc-ellipse', { section: 'biometry' })],
      null,
    );
    expect(age?.quality).toBe(quality);
    const outside = age?.remarks.some(({ code }) => code === 'biometry.outside-equation');
    expect(outside).toBe(quality === 'inadequate');
  });

  it('a weight below 500 g states that the error grows', () => {
    const of = (scale: number) =>
      interpretReadings({
        readings: [
          head(91.8 * scale, 73.5 * scale),
          abdomen(75 * scale, 73.5 * scale),
          femur(51.3 * scale),
        ],
      });
    expect(measurementOf(of(0.6), 'efw').note).toContain('outside 500 to 4500 g');
    expect(measurementOf(of(1), 'efw').note).toBeNull();
  });

  it.each([
    ['no AC', [head(91.8, 73.5), femur(51.3)], undefined, 'AC was not measured'],
    ['AC alone', [abdomen(75, 73.5)], undefined, 'neither HC nor FL was measured'],
    ['HC and AC at 21+6', [head(91.8, 73.5), abdomen(75, 75)], 153, 'starts at 22+0 weeks'],
    ['HC and a small AC', [head(72, 58), abdomen(50, 50)], undefined, 'at an AC of 160 mm'],
  ])('a missing weight has a reason: %s', (_, readings, gaDays, why) => {
    const options = gaDays ? { dating: { ga_days: gaDays } } : {};
    const { summary } = sectionOf(interpretReadings({ readings, options }), 'biometry');
    expect(summary).toContain('Estimated weight was not computed because');
    expect(summary).toContain(why);
  });

  it.each([
    [60, 'biometry.weight-implausible'],
    [63, null],
  ])('an implausible weight is reported: AC %d mm and FL 4 mm give %s', (ac, said) => {
    const lengths = [
      createMeasurement('ac', 'ac', ac, 'ac-ellipse', { section: 'biometry' }),
      createMeasurement('fl', 'fl', 4, 'fl-outer-outer', { section: 'biometry' }),
    ];
    expect(weightGap(lengths, null)?.code ?? null).toBe(said);
  });

  it.each([
    [159.9, null, false],
    [160, null, true],
    [300, 22 * 7 - 1, false],
    [150, 22 * 7, true],
  ])('HC and an AC of %d mm at %s days give a weight: %s', (ac, gaDays, given) => {
    const lengths = (['hc', 'ac'] as const).map((key) =>
      createMeasurement(key, key, ac, 'hc-ellipse', { section: 'biometry' }),
    );
    expect(weightGap(lengths, gaDays) === null).toBe(given);
  });
});

describe('findings', () => {
  const ids = (readings: Parameters<typeof interpretReadings>[0]['readings']) =>
    interpretReadings({ readings }).findings.map(({ id }) => id);

  it('repeats of FL more than 3 mm apart are flagged, 3 mm apart are not', () => {
    expect(ids([femur(50), femur(53)])).not.toContain('repeatability-fl');
    expect(ids([femur(50), femur(53.1)])).toContain('repeatability-fl');
  });

  it('repeats of HC more than 5 % of it apart are flagged', () => {
    expect(ids([head(90, 72), head(94, 75)])).not.toContain('repeatability-hc');
    expect(ids([head(90, 72), head(96, 77)])).toContain('repeatability-hc');
  });

  it('a cephalic index whose interval is outside of 70 to 86 prefers HC to BPD', () => {
    // Each axis is known to within 3 %, so the index is known to within 3 % times the square root
    // of two. It is 2 to 3 points above an index with the BPD outer to inner, as in the range.
    const share = 0.03 * Math.SQRT2;
    const low = (70 + 2) / (1 + share);
    const high = (86 + 3) / (1 - share);
    expect(ids([head(100, low + 0.1)])).not.toContain('head-shape');
    expect(ids([head(100, low - 0.1)])).toContain('head-shape');
    expect(ids([head(100, high - 0.1)])).not.toContain('head-shape');
    expect(ids([head(100, high + 0.1)])).toContain('head-shape');
    const { findings } = interpretReadings({ readings: [head(100, 94)] });
    expect(findings.find(({ id }) => id === 'head-shape')?.text).toContain(
      'Cephalic index 94.0 % with BPD outer to outer, about 91.0 % to 92.0 % outer to inner (brachycephaly)',
    );
  });

  it('a cephalic index without a scale has the interval of the outline, too', () => {
    const bare = (bpd: number) => head(100, bpd, { clip: { regions: [] } });
    const { measurements } = interpretReadings({ readings: [bare(75)] });
    expect(measurements).toMatchObject([
      { id: 'cephalic-index', uncertainty: expect.closeTo(75 * 0.03 * Math.SQRT2, 9) },
    ]);
    expect(ids([bare(90)])).not.toContain('head-shape');
    expect(ids([bare(94)])).toContain('head-shape');
  });

  it('a femur that does not fit the abdomen asks to check both', () => {
    expect(ids([abdomen(75, 75), femur(70)])).toContain('consistency-fl-ac');
    expect(ids([abdomen(75, 75), femur(50)])).not.toContain('consistency-fl-ac');
  });

  type Length = 'bpd' | 'ofd' | 'hc' | 'tad' | 'apad' | 'ac' | 'fl';
  const standingLengths = (lengths: Partial<Record<Length, number>>) =>
    Object.entries(lengths).map(([key, mm]) =>
      createMeasurement(key, key as keyof typeof lengths, mm, 'hc-ellipse', {
        section: 'biometry',
      }),
    );
  const doubts = (lengths: Parameters<typeof standingLengths>[0]) =>
    consistencyFindings(standingLengths(lengths)).map(({ id }) => id);

  it('a circumference more than 6 % off its diameters asks to check them', () => {
    const expected = (Math.PI * (70 + 90)) / 2;
    expect(doubts({ bpd: 70, ofd: 90, hc: expected * 1.0599 })).toEqual([]);
    expect(doubts({ bpd: 70, ofd: 90, hc: expected * 1.0601 })).toEqual(['consistency-hc']);
    expect(doubts({ bpd: 70, ofd: 90, hc: expected * 0.9399 })).toEqual(['consistency-hc']);
  });

  it.each([
    [11.9, null],
    [12, 1.19],
    [17.9, 1.19],
    [18, 1.48],
    [23.9, 1.48],
    [24, 2.06],
    [29.9, 2.06],
    [30, 2.98],
    [35.9, 2.98],
    [36, 2.7],
    [42, 2.7],
    [42.1, null],
  ])('an age by HC of %d weeks has an interval of ± %s weeks', (weeks, twoSd) => {
    expect(hadlock1984HcTwoSd(weeks)).toBe(twoSd);
  });

  it.each([
    [74, ['consistency-tad-apad']],
    [75, []],
    [135, []],
    [136, ['consistency-tad-apad']],
  ])('a TAD of %d mm with an APAD of 100 mm: %j', (tad, expected) => {
    expect(doubts({ tad, apad: 100 })).toEqual(expected);
  });

  it('a BPD must be shorter than the OFD', () => {
    expect(doubts({ bpd: 89.9, ofd: 90 })).toEqual([]);
    expect(doubts({ bpd: 90, ofd: 90 })).toEqual(['consistency-bpd-ofd']);
  });

  it('two weights more than 10 % apart ask to check the lengths', () => {
    expect(doubts({ hc: 306, ac: 233, fl: 51 })).not.toContain('consistency-efw');
    expect(doubts({ hc: 308, ac: 233, fl: 51 })).toContain('consistency-efw');
  });
});
