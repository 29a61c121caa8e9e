import { describe, expect, it } from 'vitest';
import type { ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import type { BrainReading } from '../../../../pipelines/obstetric/anomaly-screen/evidence.ts';
import {
  ageByCerebellum,
  brainStructureAt,
  CHECKLIST,
  cisternaMagnaCategory,
  nuchalFoldCategory,
  ventricleCategory,
} from '../../../../pipelines/obstetric/anomaly-screen/guideline.ts';
import { cartValue } from '../../cart-sample.ts';
import {
  clip,
  head,
  interpretReadings,
  MEDIAN_28_WEEKS,
  MM_PER_PIXEL,
  measurementOf,
  sectionOf,
} from '../evidence-sample.ts';

const fromCart = (key: ConceptKey, value: number, fetus: string | null = null): CartMeasurement =>
  cartValue({
    key,
    fetus,
    concept: { scheme: 'LN', code: 'code', meaning: key },
    value,
    unit: 'mm',
    derivation: 'measured',
  });

function interpret(
  days: number | null,
  cart: CartMeasurement[] = [],
  readings = MEDIAN_28_WEEKS(),
) {
  const clips = readings.map((reading) => reading.clip);
  return interpretReadings({
    readings,
    options: days === null ? {} : { dating: { ga_days: days } },
    evidence: { study: { clips, refused: [], files: clips.length, series: 1, cart } },
  });
}

const screen = (result: ReturnType<typeof interpret>) => sectionOf(result, 'anomaly-screen');

describe('the section anomaly-screen', () => {
  it('is not assessed without a gestational age', () => {
    expect(screen(interpret(null)).reason?.code).toBe('no_gestational_age');
  });

  it.each([
    [125, 'not_assessed'],
    [126, 'partial'],
    [168, 'partial'],
    [169, 'not_assessed'],
  ])('at %s days is %s', (days, status) => {
    expect(screen(interpret(days)).status).toBe(status);
  });

  it('is not assessed if none of its planes was found', () => {
    expect(screen(interpret(140, [], [])).reason?.code).toBe('view_missing');
  });

  it('lists the plane of each item that was found, and what was not examined', () => {
    const section = screen(interpret(140));
    const items = section.data.checklist as { item: string; status: string; plane: string }[];
    const status = (id: string) => items.find(({ item }) => item === id)?.status;
    expect(status('thalami')).toBe('plane-seen');
    expect(status('stomach')).toBe('plane-seen');
    expect(status('cerebellum')).toBe('not-examined');
    expect(status('kidneys')).toBe('not-examined');
    expect(section.reason?.detail).toContain('both kidneys');
  });

  it('is never normal, and states that this was not assessed', () => {
    const section = screen(interpret(140));
    const items = section.data.checklist as { status: string }[];
    expect(new Set(items.map(({ status }) => status))).not.toContain('normal');
    expect(section.summary).toContain('Whether the structures appear normal was not assessed.');
    expect(section.status).toBe('partial');
  });

  it('counts mandatory items only', () => {
    const mandatory = Object.values(CHECKLIST)
      .flat()
      .filter((item) => item.mandatory).length;
    expect(screen(interpret(140)).data.expected).toBe(mandatory);
  });

  it.each(Object.values(CHECKLIST).flat())(
    'lists what was visible, not how it looked: $text',
    ({ text }) => {
      expect(text).not.toMatch(/\b(no|not|normal|intact)\b/);
    },
  );

  it('loses its item with the plane', () => {
    const found = (readings: ReturnType<typeof MEDIAN_28_WEEKS>) =>
      Number(screen(interpret(140, [], readings)).data.found);
    expect(found([head(60, 48)])).toBeLessThan(found(MEDIAN_28_WEEKS()));
  });
});

describe('the draft report of a checklist', () => {
  it('contains only what the result contains, with the number that caused a category', () => {
    const readings = MEDIAN_28_WEEKS();
    const clips = readings.map((reading) => reading.clip);
    const cart = [fromCart('atrial-width', 11.2), fromCart('cisterna-magna', 5)];
    const { report } = interpretReadings({
      readings,
      options: { report: true, dating: { ga_days: 140 } },
      evidence: { study: { clips, refused: [], files: clips.length, series: 1, cart } },
    });
    expect(report?.impression).toContainEqual(expect.stringContaining('11.2 mm'));
  });
});

describe('brain measurements of the machine', () => {
  it('are judged by their cut-offs, with the number that caused the category', () => {
    const result = interpret(140, [fromCart('atrial-width', 11.2)]);
    expect(result.classifications.find(({ name }) => name.includes('ventricle'))?.value).toBe(
      'mild',
    );
    const finding = result.findings.find(({ section }) => section === 'anomaly-screen');
    expect(finding?.text).toContain('11.2 mm');
    expect(finding?.severity).toBe('abnormal');
  });

  it('have the centile of their chart: the median of the cerebellum at 20 weeks is 20.47 mm', () => {
    const result = interpret(140, [fromCart('transcerebellar-diameter', 20.47)]);
    const { reference } = measurementOf(result, 'cart-transcerebellar-diameter');
    expect(reference?.chart).toBe('intergrowth-2021-tcd');
    expect(reference?.centile).toBeCloseTo(50, 0);
  });

  it('outside their plausible limits are not evaluated', () => {
    const result = interpret(140, [fromCart('atrial-width', 61)]);
    expect(measurementOf(result, 'cart-atrial-width').quality).toBe('inadequate');
    expect(result.findings.filter(({ section }) => section === 'anomaly-screen')).toEqual([]);
  });

  it.each([
    [9.9, 'normal'],
    [10, 'mild'],
    [12.9, 'mild'],
    [13, 'moderate'],
    [15, 'moderate'],
    [15.1, 'severe'],
  ])('atrium of %s mm: %s', (mm, category) => {
    expect(ventricleCategory(mm)).toBe(category);
  });

  it.each([
    [1.9, 'effaced'],
    [2, 'normal'],
    [10, 'normal'],
    [10.1, 'mega'],
  ])('cisterna magna of %s mm: %s', (mm, category) => {
    expect(cisternaMagnaCategory(mm)).toBe(category);
  });

  it.each([
    [5.9, 140, 'normal'],
    [6, 140, 'thick'],
    [6, 111, null],
    [6, 112, 'thick'],
    [6, 168, 'thick'],
    [6, 169, null],
  ])('nuchal fold of %s mm at %s days: %s', (mm, days, category) => {
    expect(nuchalFoldCategory(mm, days)).toBe(category);
  });

  it('without a dated study are shown but not evaluated', () => {
    const result = interpret(null, [fromCart('atrial-width', 20)]);
    expect(result.findings.filter(({ section }) => section === 'anomaly-screen')).toEqual([]);
    expect(screen(result).status).toBe('not_assessed');
    expect(screen(result).summary).toContain('Measured but not interpreted: Atrial width 20.0 mm');
    expect(measurementOf(result, 'cart-atrial-width').reference).toBeNull();
  });

  it.each([
    [97, 0],
    [98, 1],
    [125, 1],
    [210, 1],
    [280, 1],
    [281, 0],
  ])(
    'outside the checklist are judged from 14+0 to 40+0 weeks: at %s days %s findings',
    (days, n) => {
      const result = interpret(days, [fromCart('atrial-width', 16)]);
      const found = result.findings.filter(({ section }) => section === 'anomaly-screen');
      expect(found).toHaveLength(n);
      expect(screen(result)).toMatchObject({
        status: 'partial',
        reason: { code: 'outside_window' },
      });
      expect(screen(result).summary).toContain('16.0 mm');
    },
  );

  it.each([
    ['cisterna-magna', 5, 'from 2 to 10 mm', true],
    ['cisterna-magna', 11, 'from 2 to 10 mm', false],
    ['atrial-width', 11, 'at least 10 mm', true],
    ['atrial-width', 9, 'at least 10 mm', false],
  ] as const)('%s of %s mm: "%s" is %s', (key, mm, name, met) => {
    const result = interpret(140, [fromCart(key, mm)]);
    const criteria = result.classifications
      .filter(({ section }) => section === 'anomaly-screen')
      .flatMap((one) => one.criteria);
    expect(criteria).toEqual([expect.objectContaining({ name, met })]);
  });
});

/**
 * Returns a cerebellum, a cistern and an atrium of these sizes, each on the plane where it is
 * measured.
 */
function brain(
  sizes: { tcd?: number; cistern?: number; atrium?: number },
  given: { calibrated?: boolean; accepted?: boolean } = {},
): BrainReading[] {
  const { calibrated = true, accepted = true } = given;
  const across = (mm: number | undefined) =>
    mm === undefined
      ? null
      : {
          ends: [
            { x: 200, y: 300 },
            { x: 200 + mm / MM_PER_PIXEL, y: 300 },
          ] as const,
          confidence: 0.8,
          accepted,
        };
  return (['transcerebellar', 'transventricular'] as const).map((label) => {
    const at = clip(`${label}.dcm`, calibrated ? {} : { regions: [] });
    return {
      clip: at,
      frame: at.frames[0] as BrainReading['frame'],
      estimate: { label, confidence: 0.9 },
      located: {
        cerebellum: across(sizes.tcd),
        cisternaMagna: across(sizes.cistern),
        atrium: across(sizes.atrium),
      },
    };
  });
}

function screened(
  fetalBrain: BrainReading[],
  days: number | null = 140,
  cart: CartMeasurement[] = [],
) {
  return interpretReadings({
    readings: MEDIAN_28_WEEKS(),
    options: days === null ? {} : { dating: { ga_days: days } },
    evidence: {
      study: { clips: [], refused: [], files: 1, series: 1, cart },
      views: { fetalBrain: { frames: fetalBrain } },
    },
  });
}

const statusOf = (result: ReturnType<typeof screened>, id: string) =>
  (screen(result).data.checklist as { item: string; status: string }[]).find(
    ({ item }) => item === id,
  )?.status;

describe('brain measurements on images', () => {
  const NORMAL = { tcd: 20.5, cistern: 4.5, atrium: 6.5 };

  it('are given with their chart, and their items as measured', () => {
    const result = screened(brain(NORMAL));
    expect(measurementOf(result, 'transcerebellar-diameter').value).toBeCloseTo(20.5, 6);
    expect(measurementOf(result, 'transcerebellar-diameter').reference?.centile).toBeCloseTo(
      50,
      -1,
    );
    expect(statusOf(result, 'cerebellum')).toBe('measured');
    expect(screen(result).summary).toContain('Apart from the sizes given');
  });

  it.each([
    [{ ...NORMAL, atrium: 10 }, 'ventricles', 'mild ventriculomegaly'],
    [{ ...NORMAL, cistern: 10.1 }, 'cisterna-magna', 'mega cisterna magna'],
    [{ ...NORMAL, cistern: 1.9 }, 'cisterna-magna', 'effaced cisterna magna'],
  ])('outside their limits are a finding: %o', (sizes, item, text) => {
    const result = screened(brain(sizes));
    const found = result.findings.filter(({ section }) => section === 'anomaly-screen');
    expect(found.map((one) => one.text)).toEqual([expect.stringContaining(text)]);
    expect(statusOf(result, item)).toBe('abnormal');
  });

  const UNCERTAIN = {
    cerebellum: { mm: 0.8, percent: 14 },
    atrium: { mm: 3, percent: 25 },
    cisternaMagna: { mm: null, percent: null },
  };
  const uncertain = (sizes: Parameters<typeof brain>[0]) =>
    interpretReadings({
      readings: MEDIAN_28_WEEKS(),
      options: { dating: { ga_days: 140 } },
      evidence: {
        views: { fetalBrain: { frames: brain(sizes) } },
        uncertainty: { hcPercent: null, acPercent: null, flMm: null, brain: UNCERTAIN },
      },
    });

  it.each([
    ['per cent, the wider here', 'transcerebellar-diameter', { tcd: 20 }, 2.8],
    ['millimetres, the wider here', 'atrial-width', { atrium: 8 }, 3],
    ['per cent of a wide atrium', 'atrial-width', { atrium: 16 }, 4],
    ['none was measured', 'cisterna-magna', { cistern: 4 }, null],
  ] as const)('have the interval of phantoms or of real heads: %s', (_, key, sizes, halfWidth) => {
    const { uncertainty } = measurementOf(uncertain(sizes), key);
    expect(uncertainty === null ? null : Number(uncertainty.toFixed(6))).toBe(halfWidth);
  });

  it.each([
    [7, ['normal'], null],
    [7.1, [], 'normal or mild'],
    [12.9, [], 'normal, mild, moderate or severe'],
    [14, [], 'mild, moderate or severe'],
    [20.1, ['severe'], null],
  ])('an atrium of %s ± 3 mm or 25 %% has the category %j', (atrium, categories, sides) => {
    const result = uncertain({ atrium });
    const own = result.classifications.filter(({ section }) => section === 'anomaly-screen');
    expect(own.map(({ value }) => value)).toEqual(categories);
    if (sides) expect(screen(result).summary).toContain(`at a cut-off: ${sides}`);
    else expect(screen(result).summary).not.toContain('at a cut-off');
    // The atrium is enlarged in both categories.
    const enlarged = result.findings.filter(({ text }) => text.includes('ventriculomegaly'));
    expect(enlarged).toHaveLength(atrium >= 14 ? 1 : 0);
  });

  it('give no millimetres without calibration', () => {
    const result = screened(brain(NORMAL, { calibrated: false }));
    expect(result.measurements.filter(({ section }) => section === 'anomaly-screen')).toEqual([]);
  });

  it('below the gate are listed but have no consequences', () => {
    const result = screened(brain({ ...NORMAL, atrium: 14 }, { accepted: false }));
    expect(measurementOf(result, 'atrial-width-1').quality).toBe('low');
    expect(statusOf(result, 'ventricles')).not.toBe('abnormal');
  });

  it.each([
    [14, 8, 'moderate ventriculomegaly', 'within its limits'],
    [8, 14, 'within its limits', 'moderate ventriculomegaly'],
    [12.9, 13, 'mild ventriculomegaly', 'moderate ventriculomegaly'],
  ])(
    'of %s mm where the machine gives %s: no category, and both are reported',
    (ours, machine, oursIs, machineIs) => {
      const result = screened(brain({ ...NORMAL, atrium: ours }), 140, [
        fromCart('atrial-width', machine),
      ]);
      const own = result.classifications.filter(({ section }) => section === 'anomaly-screen');
      expect(own.map(({ name }) => name)).toEqual(['Cisterna magna']);
      const found = result.findings.filter(({ section }) => section === 'anomaly-screen');
      expect(found).toEqual([
        expect.objectContaining({
          severity: 'abnormal',
          text: `Width of the lateral ventricle ${ours.toFixed(1)} mm as measured here (${oursIs}), ${machine.toFixed(1)} mm by the ultrasound machine (${machineIs}): measure by hand.`,
          evidence: ['atrial-width', 'cart-atrial-width'],
        }),
      ]);
      expect(screen(result).summary).toContain(found[0]?.text);
    },
  );

  it.each([
    [11, 12, 'mild', 'Width of the lateral ventricle 11.0 mm: mild ventriculomegaly (measured'],
    [8, 7, 'normal', null],
  ])(
    'of %s mm count where the machine gives %s of the same category: %s',
    (ours, machine, category, text) => {
      const result = screened(brain({ ...NORMAL, atrium: ours }), 140, [
        fromCart('atrial-width', machine),
      ]);
      const [atrium] = result.classifications.filter(({ name }) => name.includes('ventricle'));
      expect(atrium).toMatchObject({
        id: 'ventriculomegaly-atrial-width',
        value: category,
        criteria: [{ value: `${ours.toFixed(1)} mm` }],
      });
      const found = result.findings.filter(({ section }) => section === 'anomaly-screen');
      expect(found.map((one) => one.text)).toEqual(
        text === null ? [] : [expect.stringContaining(text)],
      );
    },
  );

  it("are replaced by the machine's values if they are below the gate", () => {
    const frames = brain({ ...NORMAL, atrium: 8 }, { accepted: false });
    const result = screened(frames, 140, [fromCart('atrial-width', 16)]);
    const found = result.findings.filter(({ section }) => section === 'anomaly-screen');
    expect(found.map(({ text }) => text)).toEqual([
      expect.stringContaining(
        '16.0 mm: severe ventriculomegaly (value from the ultrasound machine)',
      ),
    ]);
  });

  it.each([
    [9.97, '9.97 mm', 'normal'],
    [10, '10.0 mm', 'mild'],
    [15, '15.0 mm', 'moderate'],
    [15.04, '15.04 mm', 'severe'],
  ])('of %s mm are shown on their side of a cut-off: %s', (mm, value, category) => {
    const { classifications } = screened(brain({ ...NORMAL, atrium: mm }));
    const [atrium] = classifications.filter(({ name }) => name.includes('ventricle'));
    expect(atrium).toMatchObject({ value: category, criteria: [{ value }] });
  });

  it('that are missing have a reason: uncertain ends, head not outlined, no scale, no model', () => {
    const summary = (frames: BrainReading[]) => screen(screened(frames)).summary;
    expect(summary(brain(NORMAL, { accepted: false }))).toContain(
      'its ends were not found with enough confidence',
    );
    const headless = brain(NORMAL).map((one) => ({ ...one, located: null }));
    expect(summary(headless)).toContain('the head was not outlined with enough confidence');
    expect(summary(brain(NORMAL, { calibrated: false }))).toContain('no physical scale');
    expect(summary(brain(NORMAL))).not.toContain('was not measured');
    expect(screen(interpret(140)).summary).toContain('no permitted model locates them');
  });

  it('are not made without a gestational age', () => {
    expect(screen(screened(brain(NORMAL), null)).status).toBe('not_assessed');
  });
});

describe('sizes of several fetuses', () => {
  const TWINS = [fromCart('atrial-width', 8, 'A'), fromCart('atrial-width', 16, 'B')];
  const own = (result: ReturnType<typeof screened>) => ({
    names: result.classifications
      .filter(({ section }) => section === 'anomaly-screen')
      .map(({ name, value }) => `${name}: ${value}`),
    texts: result.findings
      .filter(({ section }) => section === 'anomaly-screen')
      .map(({ text }) => text),
  });

  it('from the machine are evaluated for each fetus, and the checklist is refused', () => {
    const result = interpret(140, TWINS);
    expect(own(result)).toEqual({
      names: [
        'Width of the lateral ventricle (fetus A): normal',
        'Width of the lateral ventricle (fetus B): severe',
      ],
      texts: [
        'Width of the lateral ventricle (fetus B) 16.0 mm: severe ventriculomegaly (value from the ultrasound machine).',
      ],
    });
    expect(screen(result)).toMatchObject({
      status: 'partial',
      reason: { code: 'several_fetuses', needs: ['a study of each fetus by itself'] },
    });
    expect(screen(result).data.checklist).toBeUndefined();
    expect(screen(result).summary).toContain('Atrial width (fetus A) 8.0 mm');
  });

  it('on images that identify no fetus have no category and no median, but are reported if abnormal', () => {
    const frames = [...brain({ atrium: 14 }), ...brain({ atrium: 8 })];
    const result = screened(frames, 140, [fromCart('hc', 170, 'A'), fromCart('hc', 172, 'B')]);
    expect(own(result)).toEqual({
      names: [],
      texts: [
        'Width of the lateral ventricle 14.0 mm: moderate ventriculomegaly (measured on the image; which fetus it belongs to is unknown).',
      ],
    });
    const values = result.measurements.filter(({ section }) => section === 'anomaly-screen');
    expect(values.map(({ id }) => id)).toEqual(['atrial-width-1', 'atrial-width-2']);
  });

  it('are given without an age as well, each with its fetus', () => {
    const { summary } = screen(interpret(null, TWINS));
    expect(summary).toContain('Atrial width (fetus A) 8.0 mm, Atrial width (fetus B) 16.0 mm');
  });

  it('without any: the checklist is not assessed', () => {
    const result = interpret(140, [fromCart('hc', 170, 'A'), fromCart('hc', 172, 'B')]);
    expect(screen(result).status).toBe('not_assessed');
  });

  it('pass the check of the report', () => {
    const { report } = interpretReadings({
      readings: [],
      options: { report: true, dating: { ga_days: 140 } },
      evidence: { study: { clips: [], refused: [], files: 1, series: 1, cart: TWINS } },
    });
    expect(report?.findings).toContainEqual(
      expect.stringContaining('Atrial width (fetus B): 16.0 mm'),
    );
  });
});

it.each([
  ['cisterna-magna', 15, 36],
  ['cerebellum', 14, 40],
] as const)('the chart of the %s is for %d to %d weeks', (structure, from, to) => {
  const ages = [from - 0.1, from, to, to + 0.1];
  expect(ages.map((weeks) => brainStructureAt(structure, weeks, 0) !== null)).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

it('the age by the cerebellum is for 12 to 55 mm', () => {
  const diameters = [11.9, 12, 55, 55.1];
  expect(diameters.map((mm) => ageByCerebellum(mm) !== null)).toEqual([false, true, true, false]);
});
