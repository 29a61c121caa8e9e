import { describe, expect, it } from 'vitest';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import type { FluidReading } from '../../../../pipelines/obstetric/amniotic-fluid/evidence.ts';
import { quadrantOf } from '../../../../pipelines/obstetric/amniotic-fluid/read.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { impressionOf } from '../../../../pipelines/result/impression.ts';
import { OBSTETRIC_TOPICS } from '../../../../pipelines/result/render/obstetric/impression.ts';
import { writeReport } from '../../../../pipelines/result/render/obstetric/report.ts';
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
  view?: string;
  accepted?: boolean;
  cut?: boolean;
  calibrated?: boolean;
}

const TOP = { x: 400, y: 20 };

function shown({ mm, view, accepted = true, cut = false, calibrated = true }: Shown): FluidReading {
  const taken = clip(`fluid-${mm}-${view ?? 'any'}.dcm`, {
    viewName: view ?? null,
    ...(calibrated ? {} : { regions: [] }),
  });
  return {
    clip: taken,
    frame: taken.frames[0] as (typeof taken.frames)[number],
    estimate: { label: 'amniotic-fluid', confidence: 0.9 },
    calibrated,
    quadrant: quadrantOf(taken),
    pocket: calibrated
      ? {
          top: TOP,
          bottom: { x: TOP.x, y: TOP.y + mm / MM_PER_PIXEL },
          cut,
          confidence: 0.9,
          accepted,
        }
      : null,
  };
}

function interpret(
  frames: FluidReading[] | null,
  gaDays: number | null = 30 * 7,
  cart: CartMeasurement[] = [],
  uncertainty: number | null = null,
): Result {
  return interpretReadings({
    readings: [],
    options: gaDays === null ? {} : { dating: { ga_days: gaDays } },
    evidence: {
      views: { amnioticFluid: { frames, uncertainty } },
      study: { clips: [], cart, refused: [], files: 1, series: 1 },
    },
  });
}

/** Returns a value in mm as found in the machine's structured report. */
function fromMachine(key: 'amniotic-fluid-index' | 'deepest-vertical-pocket', value: number) {
  const concept = { scheme: 'LN', code: '11627-7', meaning: 'Amniotic Fluid Index' };
  return cartValue({ key, concept, value, unit: 'mm' });
}

const quadrants = (...depths: number[]) =>
  depths.map((mm, i) => shown({ mm, view: ['RUQ', 'RLQ', 'LUQ', 'LLQ'][i] ?? '' }));

const categoryOf = (result: Result, id: string) =>
  result.classifications.find((one) => one.id === id)?.value;

describe('pockets that the machine names for two fetuses', () => {
  it('are listed for their fetus, without a category', () => {
    const of = (fetus: string, value: number) => ({
      ...fromMachine('deepest-vertical-pocket', value),
      fetus,
    });
    const result = interpret(null, 210, [of('A', 45), of('B', 15)]);
    const { summary } = sectionOf(result, 'amniotic-fluid');
    expect(summary).toContain(
      'Deepest vertical pocket (fetus A) 45.0 mm, Deepest vertical pocket (fetus B) 15.0 mm.',
    );
    expect(measurementOf(result, 'cart-deepest-vertical-pocket-B').fetus).toBe('B');
    expect(result.classifications).toEqual([]);
  });
});

describe('pockets that all extend beyond the image', () => {
  it('give no amount, but the deepest is listed, so that a person can correct it', () => {
    const result = interpret([shown({ mm: 40, cut: true }), shown({ mm: 55, cut: true })]);
    expect(sectionOf(result, 'amniotic-fluid').status).toBe('inadequate');
    expect(measurementOf(result, 'deepest-vertical-pocket-1')).toMatchObject({
      value: expect.closeTo(55, 6),
      quality: 'low',
      standing: 'withheld',
    });
  });
});

describe('the deepest vertical pocket', () => {
  it('is the deepest of all images, with its vertical caliper', () => {
    const result = interpret([shown({ mm: 41 }), shown({ mm: 52 }), shown({ mm: 30 })], 210, [], 4);
    const pocket = measurementOf(result, 'deepest-vertical-pocket');
    expect(pocket.value).toBeCloseTo(52, 6);
    expect(pocket.source.calipers[0]?.points.map(([x]) => x)).toEqual([TOP.x, TOP.x]);
    expect(pocket.uncertainty).toBe(4);
  });

  it.each([
    [19.9, 'oligohydramnios', 'oligohydramnios'],
    [20, 'normal', null],
    [79.9, 'normal', null],
    [80, 'polyhydramnios-mild', 'polyhydramnios'],
    [119.9, 'polyhydramnios-mild', 'polyhydramnios'],
    [120, 'polyhydramnios-moderate', 'polyhydramnios'],
    [160, 'polyhydramnios-severe', 'polyhydramnios'],
  ])('of %d mm is %s', (mm, category, finding) => {
    const result = interpret([shown({ mm })], null);
    expect(categoryOf(result, 'fluid-by-deepest-pocket')).toBe(category);
    expect(result.findings[0]?.concept?.key ?? null).toBe(finding);
  });

  it.each([
    [83.9, true],
    [84, false],
    [16.1, true],
    [16, false],
    [50, false],
  ])('of %d mm, known to 4 mm, is at a cut-off and has no category: %s', (mm, said) => {
    const result = interpret([shown({ mm })], 210, [], 4);
    const { summary } = sectionOf(result, 'amniotic-fluid');
    expect(summary?.includes('at the cut-off')).toBe(said);
    expect(result.classifications.length > 0).toBe(!said);
  });

  it('at a cut-off is reported with both sides of it', () => {
    const { summary } = sectionOf(interpret([shown({ mm: 80.3 })], 210, [], 5.6), 'amniotic-fluid');
    expect(summary).toContain(
      '80.3 mm, at the cut-off: normal amniotic fluid or mild polyhydramnios; measure by hand.',
    );
  });

  it('at a cut-off is mentioned in the impression, but not together with a category', () => {
    const result = interpret([shown({ mm: 80.3 })], 210, [], 5.6);
    const { statements } = sectionOf(result, 'amniotic-fluid');
    expect(statements?.map(({ code }) => code)).not.toContain('fluid.amount');
    const said = impressionOf(result, OBSTETRIC_TOPICS).flatMap((line) => line.statements);
    expect(said).toContainEqual(
      expect.objectContaining({
        code: 'impression.fluid-open',
        params: { between: ['normal', 'polyhydramnios-mild'] },
      }),
    );
    expect(said.map(({ code }) => code)).not.toContain('impression.fluid');
  });

  it('at a cut-off is stated in the impression and not repeated among the limitations', () => {
    const { impression, limitations } = writeReport(interpret([shown({ mm: 80.3 })], 210, [], 5.6));
    const stating = (texts: readonly string[]) =>
      texts.filter((text) => text.includes('measure by hand')).length;
    expect([stating(impression), stating(limitations)]).toEqual([1, 0]);
  });

  it('that is too deep at both ends of its interval is a finding without a grade', () => {
    const result = interpret([shown({ mm: 120 })], 210, [], 4);
    expect(result.classifications).toEqual([]);
    expect(result.findings.map(({ concept, severity }) => [concept?.key, severity])).toEqual([
      ['polyhydramnios', 'abnormal'],
    ]);
  });

  it('that extends beyond the picture is only a lower limit, and no category is based on a smaller one', () => {
    const result = interpret([shown({ mm: 60 }), shown({ mm: 90, cut: true })]);
    expect(measurementOf(result, 'deepest-vertical-pocket').value).toBeCloseTo(60, 6);
    expect(measurementOf(result, 'deepest-vertical-pocket-2')).toMatchObject({ quality: 'low' });
    expect(result.classifications).toEqual([]);
    expect(sectionOf(result, 'amniotic-fluid').summary).toContain('extends beyond the image');
  });
});

describe('a value just beside a cut-off', () => {
  it.each([
    ['deepest-vertical-pocket', 19.97, '19.97 mm'],
    ['deepest-vertical-pocket', 20, '20.0 mm'],
    ['amniotic-fluid-index', 50.03, '50.03 mm'],
  ] as const)('%s of %d mm is shown as %s', (key, mm, text) => {
    const result = interpret([], 210, [fromMachine(key, mm)]);
    expect(sectionOf(result, 'amniotic-fluid').summary).toContain(` ${text} (ultrasound machine)`);
    expect(result.classifications[0]?.criteria[0]?.value).toBe(text);
  });
});

describe('the amniotic fluid index', () => {
  // At 30 weeks the chart ranges from 90 to 234 mm. Four intervals of 4 mm make one of 8 mm.
  it.each([
    [20.4, 'L'],
    [20.6, null],
    [24.4, null],
    [24.6, 'N'],
    [56.4, 'N'],
    [57, null],
    [60.6, 'H'],
  ])('of four times %s mm ± 4 mm is interpreted as %s', (mm, interpretation) => {
    const result = interpret(quadrants(mm, mm, mm, mm), 210, [], 4);
    expect(measurementOf(result, 'amniotic-fluid-index').interpretation).toBe(interpretation);
  });

  it('is the sum of the deepest pockets of four labelled quadrants, with its chart', () => {
    const result = interpret([...quadrants(40, 30, 35, 25), shown({ mm: 20, view: 'RUQ' })]);
    const index = measurementOf(result, 'amniotic-fluid-index');
    expect(index.value).toBeCloseTo(130, 6);
    expect(index.reference).toMatchObject({ low: 90, high: 234, chart: 'moore-cayle-1990' });
    expect(index.inputs).toEqual([1, 2, 3, 4].map((n) => `fluid-quadrant-${n}`));
    const pockets = result.measurements.filter(
      ({ concept, standing }) => concept.key === 'deepest-vertical-pocket' && standing === 'counts',
    );
    expect(pockets.map(({ value }) => Math.round(value))).toEqual([40]);
    expect(categoryOf(result, 'fluid-by-index')).toBe('normal');
    expect(sectionOf(result, 'amniotic-fluid').status).toBe('complete');
  });

  it.each([
    [[20, 10, 10, 10], 'oligohydramnios'],
    [[20, 10, 10, 10.5], 'normal'],
    [[60, 60, 60, 59], 'normal'],
    [[60, 60, 60, 60.5], 'polyhydramnios-mild'],
    [[75, 75, 75, 75.5], 'polyhydramnios-moderate'],
    [[90, 90, 85, 85.5], 'polyhydramnios-severe'],
  ])('of %j mm is %s', (depths, category) => {
    expect(categoryOf(interpret(quadrants(...depths)), 'fluid-by-index')).toBe(category);
  });

  it.each([
    [51.9, 'normal'],
    [52.1, undefined],
  ])(
    'of 180 and %d mm, each pocket known to 4 mm and so their sum to 8 mm, is %s',
    (last, category) => {
      const result = interpret(quadrants(60, 60, 60, last), 210, [], 4);
      expect(measurementOf(result, 'amniotic-fluid-index').uncertainty).toBeCloseTo(8, 6);
      expect(categoryOf(result, 'fluid-by-index')).toBe(category);
    },
  );

  it('states which quadrant had no pocket if all four are labelled', () => {
    const frames = quadrants(40, 30, 35, 25).map((one, index) =>
      index === 2 ? { ...one, pocket: null } : one,
    );
    const { reason } = sectionOf(interpret(frames), 'amniotic-fluid');
    expect(reason?.detail).toContain('no complete pocket was found in the left upper quadrant');
    expect(reason?.detail).not.toContain('distinguish the four quadrants');
  });

  it('is not summed from three quadrants', () => {
    const result = interpret(quadrants(40, 30, 35));
    expect(result.measurements.map(({ id }) => id)).toEqual(['deepest-vertical-pocket']);
    const { status, reason } = sectionOf(result, 'amniotic-fluid');
    expect(status).toBe('partial');
    expect(reason?.detail).toContain('do not distinguish the four quadrants');
  });

  it.each([
    [24 * 7 - 1, false],
    [24 * 7, true],
  ])('at %i days is used: %s', (days, used) => {
    const { measurements } = interpret(quadrants(40, 30, 35, 25), days);
    expect(measurements.some(({ id }) => id === 'amniotic-fluid-index')).toBe(used);
  });

  it('has neither chart nor category if the gestational age is missing', () => {
    const result = interpret(quadrants(40, 30, 35, 25), null);
    expect(measurementOf(result, 'amniotic-fluid-index')).toMatchObject({ reference: null });
    expect(categoryOf(result, 'fluid-by-index')).toBeUndefined();
    expect(categoryOf(result, 'fluid-by-deepest-pocket')).toBe('normal');
    expect(sectionOf(result, 'amniotic-fluid').reason?.detail).toContain(
      'Gestational age was not given',
    );
  });
});

describe('what contradicts itself', () => {
  it('an index and a pocket of different categories: the pocket is preferred, which is reported', () => {
    const { summary } = sectionOf(interpret(quadrants(25, 8, 8, 8)), 'amniotic-fluid');
    expect(summary).toContain(
      'normal amniotic fluid by the deepest pocket, oligohydramnios by the index',
    );
    expect(summary).toContain('the deepest pocket is preferred');
  });

  it.each([
    { others: [30, 30, 30], pocket: 120, said: false },
    { others: [30, 30, 30], pocket: 120.5, said: true },
  ])('an index below its deepest pocket of $pocket mm: $said', ({ others, pocket, said }) => {
    const result = interpret([...quadrants(30, ...others), shown({ mm: pocket })]);
    const { summary } = sectionOf(result, 'amniotic-fluid');
    expect(summary?.includes('contradict each other')).toBe(said);
  });
});

describe("the machine's own values", () => {
  it('are used if nothing was measured, with their category', () => {
    const result = interpret([], 210, [fromMachine('amniotic-fluid-index', 50)]);
    expect(measurementOf(result, 'amniotic-fluid-index').source.provenance).toBe('cart-sr');
    expect(categoryOf(result, 'fluid-by-index')).toBe('oligohydramnios');
    expect(sectionOf(result, 'amniotic-fluid').summary).toContain('pocket was not measured');
  });

  it('are shown with ours; if the categories differ there is none, which is reported', () => {
    const cart = [fromMachine('deepest-vertical-pocket', 19)];
    const result = interpret([shown({ mm: 25 })], 210, cart);
    expect(measurementOf(result, 'cart-deepest-vertical-pocket').note).toContain('24.0 % below');
    expect(result.classifications).toEqual([]);
    expect(result.findings).toMatchObject([{ id: 'fluid-contradiction', severity: 'abnormal' }]);
    expect(result.findings[0]?.text).toContain(
      '25.0 mm as measured here (normal amniotic fluid), 19.0 mm by the ultrasound machine (oligohydramnios): measure by hand.',
    );
  });

  it.each([
    [15, []],
    [0, []],
    [69.9, []],
    [70, ['normal']],
  ])('of %s mm beside a pocket of ours of at least 70 mm give %j', (mm, categories) => {
    const cart = [fromMachine('deepest-vertical-pocket', mm)];
    const result = interpret([shown({ mm: 70, cut: true })], 210, cart);
    expect(result.classifications.map(({ value }) => value)).toEqual(categories);
    const against = categories.length === 0;
    expect(result.findings.map(({ id }) => id)).toEqual(against ? ['fluid-contradiction'] : []);
    const { summary } = sectionOf(result, 'amniotic-fluid');
    expect(summary?.includes('at least 70.0 mm deep')).toBe(against);
  });

  it.each([
    [69.9, false],
    [70, true],
  ])('an index of %s mm beside a pocket of at least 70 mm fits: %s', (mm, fits) => {
    const cart = [
      fromMachine('amniotic-fluid-index', mm),
      fromMachine('deepest-vertical-pocket', 70),
    ];
    const result = interpret([shown({ mm: 70, cut: true })], 210, cart);
    expect(result.classifications.length > 0).toBe(fits);
    expect(sectionOf(result, 'amniotic-fluid').summary?.includes('contradict')).toBe(!fits);
  });

  it('are named as the source of a finding', () => {
    const texts = (frames: FluidReading[], cart: CartMeasurement[]) =>
      interpret(frames, 210, cart).findings.map(({ text }) => text);
    const machine = texts([], [fromMachine('deepest-vertical-pocket', 15)]);
    expect(machine).toEqual([
      'Oligohydramnios: 15.0 mm (cut-off below 20 mm), by the ultrasound machine.',
    ]);
    expect(texts([shown({ mm: 15 })], [])).toEqual([
      'Oligohydramnios: 15.0 mm (cut-off below 20 mm), on the images supplied.',
    ]);
  });

  it('of an index are not categorised before 24 weeks', () => {
    const cart = [fromMachine('amniotic-fluid-index', 50)];
    expect(interpret([], 24 * 7 - 1, cart).classifications).toEqual([]);
    expect(interpret([], 24 * 7, cart).classifications).toHaveLength(1);
  });

  it('are not used if they are implausible or belong to several sacs', () => {
    const large = interpret([], 210, [fromMachine('amniotic-fluid-index', 601)]);
    expect(sectionOf(large, 'amniotic-fluid').status).toBe('not_assessed');
    const sacs = ['A', 'B'].map((fetus) => ({
      ...fromMachine('deepest-vertical-pocket', 50),
      fetus,
    }));
    expect(sectionOf(interpret([], 210, sacs), 'amniotic-fluid').status).toBe('not_assessed');
  });
});

describe('the section amniotic-fluid is not assessed', () => {
  it.each([
    ['without the view', [], 'view_missing'],
    ['without a physical scale', [shown({ mm: 40, calibrated: false })], 'no_calibration'],
    ['without a permitted model', null, 'no_model'],
  ])('%s', (_, frames, code) => {
    const { status, reason } = sectionOf(interpret(frames), 'amniotic-fluid');
    expect(status).toBe('not_assessed');
    expect(reason?.code).toBe(code);
    expect(reason?.detail).not.toContain('normal');
  });

  it('if no pocket is clear: inadequate, and anhydramnios is not concluded', () => {
    const result = interpret([shown({ mm: 40, accepted: false })]);
    const { status, summary } = sectionOf(result, 'amniotic-fluid');
    expect(status).toBe('inadequate');
    expect(summary).toContain('Anhydramnios is not concluded');
    expect(result.classifications).toEqual([]);
  });
});

it("the machine's pockets of two fetuses are not used, which is reported", () => {
  const cart = (['A', 'B'] as const).map((fetus) => ({
    ...fromMachine('deepest-vertical-pocket', fetus === 'A' ? 15 : 50),
    fetus,
  }));
  const outcome = sectionOf(interpret([], 210, cart), 'amniotic-fluid');
  expect(outcome.status).toBe('not_assessed');
  expect(outcome.summary).toContain('its reports name several fetuses');
});

it.each([
  ['of fluid', ['deepest-vertical-pocket', 15, 50], 'its reports name several fetuses'],
  ['of a head', ['hc', 250, 262], 'the fetus that the values belong to is unknown'],
] as const)(
  'pockets of two sacs are kept apart if the machine identifies two fetuses in values %s',
  (_, [key, first, second], unused) => {
    const concept = { scheme: 'LN', code: '11984-2', meaning: key };
    const named = (value: number, fetus: string) =>
      cartValue({ key, concept, value, unit: 'mm', fetus });
    const single = key === 'hc' ? [fromMachine('amniotic-fluid-index', 50)] : [];
    const cart = [named(first, 'A'), named(second, 'B'), ...single];
    const result = interpret([...quadrants(15, 60, 30, 25)], 210, cart);
    const section = sectionOf(result, 'amniotic-fluid');
    const own = result.measurements.filter((one) => one.section === 'amniotic-fluid');
    expect(section).toMatchObject({ status: 'partial', reason: { code: 'several_fetuses' } });
    expect(own.map(({ id }) => id)).toEqual([
      ...[1, 2, 3, 4].map((n) => `deepest-vertical-pocket-${n}`),
      ...(key === 'hc' ? [] : ['A', 'B'].map((fetus) => `cart-deepest-vertical-pocket-${fetus}`)),
    ]);
    expect(result.classifications.filter((one) => one.section === 'amniotic-fluid')).toEqual([]);
    expect(section.summary).not.toContain('normal');
    expect(section.summary).toContain(unused);
    expect(section.summary).toMatch(/Twin-twin transfusion, .* was not assessed/);
  },
);
