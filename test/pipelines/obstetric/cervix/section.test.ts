import { describe, expect, it } from 'vitest';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import { NUMBER_OF_FETUSES } from '../../../../pipelines/input/cart-sr/vocabulary.ts';
import type { CervixReading } from '../../../../pipelines/obstetric/cervix/evidence.ts';
import { namedView } from '../../../../pipelines/obstetric/shared/view-names.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { weeksAndDays } from '../../../../pipelines/result/render/obstetric/shared.ts';
import { cartValue } from '../../cart-sample.ts';
import {
  clip,
  interpretReadings,
  MM_PER_PIXEL,
  measurementOf,
  sectionOf,
} from '../evidence-sample.ts';

interface Shown {
  mm: number;
  /** Distance in mm between the middle of the canal and the straight line. */
  bowMm?: number;
  funnel?: { depthMm: number; widthMm: number; fullness?: number };
  accepted?: boolean;
  calibrated?: boolean;
  bladder?: boolean;
  /** View name from the machine. */
  viewName?: string | null;
}

const LEFT = { x: 200, y: 300 };

/** Returns a horizontal canal with the external os on the left. */
function shown(given: Shown): CervixReading {
  const pixels = (mm: number) => mm / MM_PER_PIXEL;
  const { viewName = 'TRANSVAGINAL CERVIX' } = given;
  const taken = clip(`cervix-${given.mm}-${given.bowMm ?? 0}.dcm`, {
    viewName,
    ...(given.calibrated === false && { regions: [] }),
  });
  const internalOs = { x: LEFT.x + pixels(given.mm), y: LEFT.y };
  const { funnel } = given;
  const mouth = internalOs.x + pixels(funnel?.depthMm ?? 0);
  const half = pixels(funnel?.widthMm ?? 0) / 2;
  return {
    clip: taken,
    frame: taken.frames[0] as (typeof taken.frames)[number],
    estimate: { label: 'cervix', confidence: 0.9 },
    route: namedView(taken).route,
    located: {
      externalOs: LEFT,
      internalOs,
      middle: { x: (LEFT.x + internalOs.x) / 2, y: LEFT.y - pixels(given.bowMm ?? 0) },
      funnel: funnel
        ? {
            shoulders: [
              { x: mouth, y: LEFT.y - half },
              { x: mouth, y: LEFT.y + half },
            ],
            fullness: funnel.fullness ?? 0.5,
          }
        : null,
      bladder: given.bladder ?? false,
      confidence: 0.8,
      accepted: given.accepted ?? true,
    },
  };
}

/** Returns a length as in the machine's report, in the part that belongs to this fetus. */
function ofMachine(value: number, fetus: string | null = null) {
  const concept = { scheme: 'LN', code: '11961-0', meaning: 'Cervix Length' };
  return cartValue({ key: 'cervical-length', concept, value, unit: 'mm', fetus });
}

function interpret(
  frames: CervixReading[] | null,
  gaDays: number | null = 20 * 7,
  machine: number | CartMeasurement[] | null = null,
  uncertainty: number | null = null,
): Result {
  const cart = typeof machine === 'number' ? [ofMachine(machine)] : (machine ?? []);
  return interpretReadings({
    readings: [],
    options: gaDays === null ? {} : { dating: { ga_days: gaDays } },
    evidence: {
      views: { cervix: { frames, uncertainty } },
      study: { clips: [], cart, refused: [], files: 1, series: 1 },
    },
  });
}

const three = (mm: number, others: Partial<Shown> = {}) => [
  shown({ mm, ...others }),
  shown({ mm: mm + 1, ...others }),
  shown({ mm: mm + 2, ...others }),
];

const categoryOf = (result: Result) =>
  result.classifications.find(({ id }) => id === 'cervical-length-category')?.value;

describe('cervical length', () => {
  it('is the shortest of three, with its caliper and interval', () => {
    const result = interpret(
      [34, 32, 33].map((mm) => shown({ mm })),
      140,
      null,
      1,
    );
    const length = measurementOf(result, 'cervical-length');
    expect(length.value).toBeCloseTo(32, 6);
    expect(length).toMatchObject({ method: 'cervix-straight', uncertainty: 1 });
    expect(length.source.calipers[0]?.points[0]).toEqual([LEFT.x, LEFT.y]);
    expect(length.note).toContain('simulated images only');
    expect(sectionOf(result, 'cervix').status).toBe('complete');
  });

  it('is the shortest of all clips, of which there may be more than three', () => {
    const result = interpret([34, 33, 32, 24].map((mm) => shown({ mm })));
    expect(measurementOf(result, 'cervical-length').value).toBeCloseTo(24, 6);
    expect(categoryOf(result)).toBe('short');
  });

  it('is not the shortest of the many frames of a clip, but of its best', () => {
    const [first, second, third, ...others] = [34, 33, 32, 24, 23].map((mm) => shown({ mm }));
    if (!first || !second || !third) throw new Error('too few frames');
    const ofFirst = others.map((one) => ({ ...one, clip: first.clip }));
    const all = interpret([first, ...ofFirst, second, third]);
    expect(measurementOf(all, 'cervical-length').value).toBeCloseTo(32, 6);
    const ofTwo = interpret([first, ...ofFirst, second]);
    expect(measurementOf(ofTwo, 'cervical-length').value).toBeCloseTo(24, 6);
  });

  it.each([
    { bowMm: 5, method: 'cervix-straight', value: 30 },
    { bowMm: 5.1, method: 'cervix-two-lines', value: 2 * Math.hypot(15, 5.1) },
  ])('of a canal that bows by $bowMm mm is measured by $method', ({ bowMm, method, value }) => {
    const length = measurementOf(interpret([shown({ mm: 30, bowMm })]), 'cervical-length');
    expect(length.method).toBe(method);
    expect(length.value).toBeCloseTo(value, 6);
  });

  it.each([
    [10, 'extremely-short'],
    [10.1, 'very-short'],
    [15, 'very-short'],
    [15.1, 'short'],
    [25, 'short'],
    [25.1, 'normal'],
    [29.9, 'normal'],
    [30, 'long'],
  ])('of %d mm at 20 weeks is %s', (mm, category) => {
    const result = interpret(three(mm));
    expect(categoryOf(result)).toBe(category);
    const short = result.findings.some(({ id }) => id === 'short-cervix');
    expect(short).toBe(mm <= 25);
    expect(result.guidance.some(({ id }) => id === 'short-cervix')).toBe(short);
  });

  it.each([
    [16 * 7 - 1, false],
    [16 * 7, true],
    [24 * 7, true],
    [24 * 7 + 1, false],
  ])('at %i days is categorised: %s', (days, categorised) => {
    const result = interpret(three(20), days);
    expect(categoryOf(result) !== undefined).toBe(categorised);
    const { status, summary } = sectionOf(result, 'cervix');
    expect(status).toBe(categorised ? 'complete' : 'partial');
    if (!categorised) expect(summary).toContain(`between ${weeksAndDays(112)}`);
  });

  it('is reported without a category if the gestational age is missing', () => {
    const result = interpret(three(20), null);
    expect(measurementOf(result, 'cervical-length').value).toBeCloseTo(20, 6);
    expect(categoryOf(result)).toBeUndefined();
    expect(result.findings).toEqual([]);
    expect(sectionOf(result, 'cervix').reason?.detail).toContain('Gestational age was not given');
  });

  it.each([
    [22, false],
    [22.1, true],
    [27.9, true],
    [34, false],
  ])('of %d mm with an interval of 3 mm is undecided at the cut-off: %s', (mm, undecided) => {
    const result = interpret(three(mm), 140, null, 3);
    const { summary, status } = sectionOf(result, 'cervix');
    expect(summary?.includes('at the cut-off')).toBe(undecided);
    expect(result.classifications.length > 0).toBe(!undecided);
    expect(status).toBe(undecided ? 'partial' : 'complete');
  });

  it('of 14 mm with an interval of 3 mm is short; how short, and its cut-offs, are open', () => {
    const result = interpret(three(14), 140, null, 3);
    expect(categoryOf(result)).toBe('short');
    const [category] = result.classifications;
    expect(category?.criteria.filter(({ met }) => met).map(({ name }) => name)).toEqual([
      'at most 20 mm',
      'at most 25 mm',
    ]);
  });

  it('from fewer than three images, or with urine in the bladder, states this', () => {
    const { status, summary } = sectionOf(interpret([shown({ mm: 30, bladder: true })]), 'cervix');
    expect(status).toBe('partial');
    expect(summary).toContain('Measured once instead of 3 times.');
    expect(summary).toContain('bladder is not empty');
  });

  it('on three frames of one clip is not a repeated measurement', () => {
    const [first, ...others] = three(34);
    if (!first) throw new Error('no frame');
    const frames = [first, ...others.map((one) => ({ ...one, clip: first.clip }))];
    const { status, summary } = sectionOf(interpret(frames), 'cervix');
    expect(status).toBe('partial');
    expect(summary).toContain('do not count as repeated measurements');
  });

  it.each([
    [20, true],
    [20.1, false],
  ])('of %d mm meets the criterion of progesterone: %s', (mm, met) => {
    const [category] = interpret(three(mm)).classifications;
    expect(category?.criteria.find(({ name }) => name === 'at most 20 mm')?.met).toBe(met);
  });

  it('beyond the limits of plausibility is not used', () => {
    const result = interpret([shown({ mm: 80.5 })]);
    expect(sectionOf(result, 'cervix').status).toBe('inadequate');
    expect(measurementOf(result, 'cervical-length-1').quality).toBe('inadequate');
    expect(measurementOf(interpret([shown({ mm: 60.5 })]), 'cervical-length').note).toContain(
      'unusually long',
    );
  });
});

describe("the machine's length", () => {
  it('alone is reported without a category, since its route is unknown', () => {
    const result = interpret([], 140, 20);
    expect(measurementOf(result, 'cervical-length').source.provenance).toBe('cart-sr');
    expect(categoryOf(result)).toBeUndefined();
    expect(sectionOf(result, 'cervix').reason?.detail).toContain('with no route stated');
  });

  it.each([
    [25, true],
    [25.1, false],
  ])('of %d mm next to ours of 29 mm is another category: %s', (mm, said) => {
    const result = interpret(three(29), 140, mm);
    expect(measurementOf(result, 'cervical-length').value).toBeCloseTo(29, 6);
    const { summary } = sectionOf(result, 'cervix');
    expect(summary?.includes('the length is short: measure by hand')).toBe(said);
  });

  it('that is implausible is not used, which is reported', () => {
    const result = interpret([], 140, 81);
    const { status, reason } = sectionOf(result, 'cervix');
    expect(status).toBe('not_assessed');
    expect(reason?.detail).toContain('implausible: CL outside 0 to 80 mm; not used');
    expect(measurementOf(result, 'cart-cervical-length').quality).toBe('inadequate');
  });

  it.each([
    ['under two fetuses', 'A', 'B'],
    ['under one fetus', 'A', 'A'],
    ['under none', null, null],
  ])('that is implausible does not replace another one, %s', (_, first, second) => {
    const result = interpret([], 140, [ofMachine(999, first), ofMachine(30, second)]);
    expect(measurementOf(result, 'cervical-length')).toMatchObject({ value: 30, fetus: null });
    const { status, summary } = sectionOf(result, 'cervix');
    expect(status).toBe('partial');
    expect(summary).toContain('Cervical length 30.0 mm.');
    expect(summary).toContain('implausible');
  });

  it('is the shortest and belongs to the mother, whichever fetus it was stored with', () => {
    const result = interpret([], 140, [ofMachine(30, 'A'), ofMachine(28, 'B')]);
    expect(measurementOf(result, 'cervical-length')).toMatchObject({ value: 28, fetus: null });
  });

  it.each(['A', null])('of another category than ours is reported, for fetus %s', (fetus) => {
    const { summary } = sectionOf(interpret(three(29), 140, [ofMachine(12, fetus)]), 'cervix');
    expect(summary).toContain('12.0 mm, the length is very short: measure by hand');
  });
});

describe("the machine's length beside ours of 17 mm, known to within 3 mm", () => {
  it.each([
    [9, true],
    [10.1, false],
    [14, false],
    [25, false],
    [25.1, true],
  ])('contradicts ours with %d mm: %s', (mm, contradicts) => {
    const { summary } = sectionOf(interpret(three(17), 140, mm, 3), 'cervix');
    expect(summary?.includes('By the ultrasound machine value')).toBe(contradicts);
  });

  it.each([
    [9, 'short'],
    [14, 'short'],
    [25.1, undefined],
  ])('of %d mm leaves the category %s', (mm, category) => {
    const result = interpret(three(17), 140, mm, 3);
    expect(categoryOf(result)).toBe(category);
    const short = result.findings.some(({ id }) => id === 'short-cervix');
    expect(short).toBe(category === 'short');
  });

  it('contradicts it in an interval that includes a cut-off, too', () => {
    const { summary } = sectionOf(interpret(three(27), 140, 12, 3), 'cervix');
    expect(summary).toContain('12.0 mm, the length is very short: measure by hand');
  });
});

describe('the length with several fetuses', () => {
  const two = cartValue({ concept: NUMBER_OF_FETUSES.inContext, value: 2, unit: '1' });
  const ofTwins = (mm: number, uncertainty: number | null = null, machine: number | null = null) =>
    interpret(
      three(mm),
      140,
      [two, ...(machine === null ? [] : [ofMachine(machine)])],
      uncertainty,
    );
  const met = (result: Result) =>
    result.classifications.flatMap(({ criteria }) => criteria).map((one) => [one.name, one.met]);

  it.each([
    [8, 'short'],
    [14, 'short'],
    [25, 'short'],
    [25.1, undefined],
    [34, undefined],
  ])(
    'of %d mm has the category %s, for the cut-offs of a singleton do not apply',
    (mm, category) => {
      const result = ofTwins(mm);
      expect(categoryOf(result)).toBe(category);
      expect(met(result)).toEqual(category ? [['at most 25 mm', true]] : []);
      expect(result.findings.some(({ id }) => id === 'short-cervix')).toBe(category === 'short');
      const { status, summary } = sectionOf(result, 'cervix');
      expect(status).toBe(category ? 'complete' : 'partial');
      expect(summary?.includes('only the cut-off of 25 mm applies')).toBe(category === undefined);
    },
  );

  it('states no guideline of a singleton', () => {
    const result = ofTwins(18);
    expect(result.classifications[0]?.scheme).toMatch(/^several fetuses, .*ISUOG 2022$/);
    expect(result.guidance.map(({ source }) => source).join()).not.toContain('SMFM');
  });

  it.each([
    [14, 3, 'short', false],
    [26, 3, undefined, true],
    [29, 3, undefined, false],
  ])('of %d mm, known to within %d mm, is %s', (mm, uncertainty, category, undecided) => {
    const result = ofTwins(mm, uncertainty);
    expect(categoryOf(result)).toBe(category);
    expect(sectionOf(result, 'cervix').summary?.includes('at the cut-off')).toBe(undecided);
  });

  it('is contradicted only by a machine value on the other side of 25 mm', () => {
    const differs = (mm: number) =>
      sectionOf(ofTwins(17, null, mm), 'cervix').summary?.includes(
        'By the ultrasound machine value',
      );
    expect([9, 24, 26].map(differs)).toEqual([false, false, true]);
  });
});

describe('the route of the images', () => {
  it.each(['TRANSABDOMINAL CERVIX', 'TA CERVIX'])(
    'called %s provides neither a category nor an accepted length',
    (viewName) => {
      const result = interpret(three(22, { viewName }));
      const { status, reason, summary } = sectionOf(result, 'cervix');
      expect(status).toBe('not_assessed');
      expect(reason?.code).toBe('view_missing');
      expect(summary).toContain('cervical length needs a transvaginal measurement');
      expect(measurementOf(result, 'cervical-length-1').quality).toBe('inadequate');
      expect(categoryOf(result)).toBeUndefined();
      expect(result.findings).toEqual([]);
    },
  );

  it('is transvaginal for the length on one such image among transabdominal ones', () => {
    const result = interpret([shown({ mm: 22, viewName: 'TA' }), shown({ mm: 28 })]);
    expect(measurementOf(result, 'cervical-length').value).toBeCloseTo(28, 6);
    expect(categoryOf(result)).toBe('normal');
    expect(sectionOf(result, 'cervix').summary).toContain('Measured once instead of 3 times.');
  });

  it('is unknown if one of three images does not state it', () => {
    const [shortest, ...others] = three(35);
    if (!shortest) throw new Error('no frame');
    const longest = shown({ mm: 39, viewName: null });
    const section = sectionOf(interpret([shortest, ...others.slice(0, 1), longest]), 'cervix');
    expect(section).toMatchObject({ status: 'partial', data: { route: 'not_known' } });
  });

  it.each([
    ['TRANSVAGINAL CERVIX', 'complete', 'transvaginal'],
    ['CERVIX', 'partial', 'not_known'],
    [null, 'partial', 'not_known'],
  ])('is read from the view name %s: %s, %s', (viewName, status, route) => {
    const section = sectionOf(interpret(three(35, { viewName })), 'cervix');
    expect(section).toMatchObject({ status, data: { route } });
    expect(section.summary?.includes('do not state the scanning route')).toBe(status === 'partial');
  });

  it('gives no category if it is unknown', () => {
    const result = interpret(three(22, { viewName: 'CERVIX' }));
    expect(measurementOf(result, 'cervical-length').quality).toBe('accepted');
    expect(categoryOf(result)).toBeUndefined();
    expect(result.findings).toEqual([]);
  });
});

describe('a length near a cut-off', () => {
  it.each([
    [25, 'Cervical length 25.0 mm, short.'],
    [25.04, 'Cervical length 25.04 mm, normal length.'],
    [29.97, 'Cervical length 29.97 mm, normal length.'],
    [10.04, 'Cervical length 10.04 mm, very short.'],
  ])('of %d mm is never shown on its other side', (mm, text) => {
    expect(sectionOf(interpret(three(mm)), 'cervix').summary).toContain(text);
  });
});

describe('a funnel', () => {
  it('on another image than the shortest is reported with the length on that image', () => {
    const funnel = { depthMm: 10, widthMm: 12 };
    const result = interpret([shown({ mm: 30 }), shown({ mm: 28 }), shown({ mm: 32, funnel })]);
    expect(measurementOf(result, 'cervical-length').value).toBeCloseTo(28, 6);
    expect(measurementOf(result, 'percent-funnelling')).toMatchObject({
      inputs: ['funnel-depth', 'cervical-length-3'],
    });
    expect(measurementOf(result, 'percent-funnelling').value).toBeCloseTo(1000 / 42, 6);
  });

  it('of 5 mm is reported with depth, width and its share of the whole', () => {
    const result = interpret(three(20, { funnel: { depthMm: 5, widthMm: 12 } }));
    expect(measurementOf(result, 'funnel-depth').value).toBeCloseTo(5, 6);
    expect(measurementOf(result, 'funnel-width').value).toBeCloseTo(12, 6);
    expect(measurementOf(result, 'percent-funnelling').value).toBeCloseTo(20, 6);
    expect(result.findings.map(({ id }) => id)).toContain('cervical-funnelling');
  });

  it('of less than 5 mm is neither reported nor excluded', () => {
    const result = interpret(three(35, { funnel: { depthMm: 4.9, widthMm: 12 } }));
    expect(result.measurements.map(({ id }) => id)).not.toContain('funnel-depth');
    expect(sectionOf(result, 'cervix').data.funnel_shape).toBe('not_seen');
  });

  it.each([
    [0.42, 'Y'],
    [0.5, 'V'],
    [0.64, 'U'],
  ])('that fills %d of mouth times depth has the shape %s', (fullness, shape) => {
    const result = interpret(three(20, { funnel: { depthMm: 10, widthMm: 12, fullness } }));
    expect(sectionOf(result, 'cervix').data.funnel_shape).toBe(shape);
  });
});

describe('the section cervix is not assessed', () => {
  it('without the view', () => {
    const { status, reason } = sectionOf(interpret([]), 'cervix');
    expect(status).toBe('not_assessed');
    expect(reason).toMatchObject({ code: 'view_missing' });
    expect(reason?.detail).toContain('needs a transvaginal measurement');
  });

  it('without a physical scale', () => {
    const { status, reason } = sectionOf(
      interpret([shown({ mm: 30, calibrated: false })]),
      'cervix',
    );
    expect(status).toBe('not_assessed');
    expect(reason?.code).toBe('no_calibration');
  });

  it('without a permitted model', () => {
    expect(sectionOf(interpret(null), 'cervix').reason?.code).toBe('no_model');
  });

  it('if no canal reaches the gate: inadequate, and the value is not accepted', () => {
    const result = interpret([shown({ mm: 30, accepted: false })]);
    expect(sectionOf(result, 'cervix').status).toBe('inadequate');
    expect(measurementOf(result, 'cervical-length-1').quality).toBe('low');
    expect(result.classifications).toEqual([]);
  });
});
