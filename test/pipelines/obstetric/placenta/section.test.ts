import { describe, expect, it } from 'vitest';
import type {
  BodyReading,
  EdgeReading,
} from '../../../../pipelines/obstetric/placenta/evidence.ts';
import { placenta as section } from '../../../../pipelines/obstetric/placenta/section.ts';
import { namedView } from '../../../../pipelines/obstetric/shared/view-names.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import type { PlacentalSide } from '../../../../pipelines/result/render/obstetric/placenta.ts';
import { cartValue } from '../../cart-sample.ts';
import {
  clip,
  evidenceWith,
  interpretReadings,
  MM_PER_PIXEL,
  measurementOf,
  runSection,
  sectionOf,
} from '../evidence-sample.ts';

const OS = { x: 400, y: 300 };

interface Shown {
  accepted?: boolean;
  calibrated?: boolean;
  view?: string;
}

function onClip(file: string, { calibrated = true, view }: Shown) {
  const taken = clip(file, {
    ...(calibrated ? {} : { regions: [] }),
    ...(view && { viewName: view }),
  });
  return { clip: taken, frame: taken.frames[0] as (typeof taken.frames)[number] };
}

/** Returns a lower placental edge `mm` from the os. If negative, it overlaps the os. */
function edge(mm: number, shown: Shown = {}): EdgeReading {
  const taken = onClip(`edge-${mm}.dcm`, shown);
  return {
    ...taken,
    route: namedView(taken.clip).route,
    estimate: { label: 'cervix', confidence: 0.9 },
    located: {
      internalOs: OS,
      edge: { x: OS.x + Math.abs(mm) / MM_PER_PIXEL, y: OS.y },
      overlaps: mm < 0,
      confidence: 0.8,
      accepted: shown.accepted ?? true,
    },
  };
}

function body(side: PlacentalSide, lacunae = 0, shown: Shown = {}): BodyReading {
  return {
    ...onClip(`body-${side}.dcm`, shown),
    estimate: { label: 'placenta', confidence: 0.9 },
    located: {
      side,
      thickness: [
        { x: 300, y: 100 },
        { x: 300, y: 180 },
      ],
      lacunae,
      confidence: 0.9,
      accepted: shown.accepted ?? true,
    },
  };
}

interface Seen {
  bodies?: BodyReading[] | null;
  edges?: EdgeReading[] | null;
}

function interpret({ bodies = [], edges = [] }: Seen, gaDays: number | null = 20 * 7): Result {
  return interpretReadings({
    readings: [],
    options: gaDays === null ? {} : { dating: { ga_days: gaDays } },
    evidence: {
      views: { placenta: { bodies, edges, uncertainty: { toOs: 4, thickness: null } } },
    },
  });
}

const positionOf = (result: Result) =>
  result.classifications.find(({ id }) => id === 'placental-position')?.value;

describe('the lower placental edge', () => {
  it.each([
    [-12, 'praevia', 'critical'],
    [-4.01, 'praevia', 'critical'],
    [-3.99, undefined, 'abnormal'],
    [0, undefined, 'abnormal'],
    [3.99, undefined, 'abnormal'],
    [4.01, 'low-lying', 'abnormal'],
    [15.99, 'low-lying', 'abnormal'],
    [16.01, undefined, undefined],
    [20, undefined, undefined],
    [23.99, undefined, undefined],
    [24.01, 'normal', undefined],
  ])('%d ± 4 mm from the internal os at 20 weeks is %s, %s', (mm, category, severity) => {
    const result = interpret({ bodies: [body('anterior')], edges: [edge(mm)] });
    expect(measurementOf(result, 'placenta-to-os').value).toBeCloseTo(mm, 6);
    expect(positionOf(result)).toBe(category);
    const low = severity !== undefined;
    expect(result.findings.find(({ id }) => id === 'low-placenta')?.severity).toBe(severity);
    expect(result.guidance.some(({ id }) => id === 'low-placenta')).toBe(low);
    const undecided = category === undefined;
    const { status, summary } = sectionOf(result, 'placenta');
    expect(status).toBe(undecided ? 'partial' : 'complete');
    expect(summary?.includes('at a cut-off')).toBe(undecided);
    const places = summary?.match(/overlapping the internal os \(|mm from the internal os/g);
    expect(places).toEqual([mm < 0 ? 'overlapping the internal os (' : 'mm from the internal os']);
  });

  it.each([
    [-80.1, 'inadequate'],
    [-79.9, 'accepted'],
  ])('%d mm from the internal os is %s', (mm, quality) => {
    const result = interpret({ bodies: [body('anterior')], edges: [edge(mm)] });
    const distances = result.measurements.filter(({ concept }) => concept.key === 'placenta-to-os');
    expect(distances.map((one) => one.quality)).toEqual([quality]);
    const { summary } = sectionOf(result, 'placenta');
    expect(summary?.includes('implausible')).toBe(quality === 'inadequate');
  });

  it.each([
    [16 * 7 - 1, 'too-early'],
    [16 * 7, 'low-lying'],
  ])('at %i days is %s', (days, category) => {
    const result = interpret({ edges: [edge(10)] }, days);
    expect(positionOf(result)).toBe(category);
    expect(result.findings.length > 0).toBe(category === 'low-lying');
  });

  it.each([
    [32 * 7 - 1, 'repeat transvaginal scan at 32 weeks'],
    [32 * 7, 'repeat transvaginal scan at 36 weeks'],
    [36 * 7 - 1, 'repeat transvaginal scan at 36 weeks'],
    [36 * 7, 'still low at or after 36 weeks'],
  ])('at %i days is followed up by the scans that are still to come', (days, text) => {
    const [advice] = interpret({ edges: [edge(10)] }, days).guidance;
    expect(advice?.text).toContain(text);
    expect(advice?.text.includes('at 32 weeks')).toBe(days < 32 * 7);
  });

  it('on several images is their median, and each of them is shown', () => {
    const result = interpret({ edges: [edge(8), edge(10), edge(15)] });
    expect(measurementOf(result, 'placenta-to-os')).toMatchObject({ derivation: 'median' });
    expect(measurementOf(result, 'placenta-to-os').value).toBeCloseTo(10, 6);
    expect(measurementOf(result, 'placenta-to-os-3').source.calipers).toHaveLength(1);
  });

  it.each([
    [[-12, 30, 31], -12, 'praevia', 'critical', '30.0 mm and 31.0 mm'],
    [[25, 15.97, 30], 15.97, 'low-lying', 'abnormal', '25.0 mm and 30.0 mm'],
    [[12, 30], 12, 'low-lying', 'abnormal', 'another image it is 30.0 mm'],
  ])(
    'of %j mm, which disagree, is the shortest, and the disagreement is reported',
    (mm, shortest, category, severity, others) => {
      const result = interpret({ bodies: [body('anterior')], edges: mm.map((one) => edge(one)) });
      expect(measurementOf(result, 'placenta-to-os').value).toBeCloseTo(shortest, 6);
      expect(positionOf(result)).toBe(category);
      const finding = result.findings.find(({ id }) => id === 'low-placenta');
      expect(finding).toMatchObject({ severity, text: expect.stringContaining(others) });
      expect(finding?.text).toContain('The images disagree');
      const { status, reason, summary } = sectionOf(result, 'placenta');
      expect(status).toBe('partial');
      expect(reason?.detail).toContain(others);
      expect(summary).not.toContain('not low-lying');
    },
  );

  it('is looked for on an image of every clip: an overlap on the fourth counts', () => {
    const result = interpret({ edges: [30, 31, 32, -12].map((mm) => edge(mm)) });
    expect(measurementOf(result, 'placenta-to-os').value).toBeCloseTo(-12, 6);
    expect(positionOf(result)).toBe('praevia');
  });

  it('prefers accepted images: three implausible ones do not hide an overlap', () => {
    const edges = [210, 211, 212, -12].map((mm) => edge(mm));
    expect(positionOf(interpret({ edges }))).toBe('praevia');
  });

  it.each([
    ['TRANSABDOMINAL CERVIX', undefined, 'transabdominal'],
    ['TRANSVAGINAL CERVIX', 'normal', 'transvaginal'],
    [undefined, 'normal', 'not_known'],
  ])('30 mm from the os on a view named %s is categorised %s', (view, category, route) => {
    const result = interpret({ edges: [edge(30, view ? { view } : {})] });
    expect(positionOf(result)).toBe(category);
    const { summary, data } = sectionOf(result, 'placenta');
    expect(summary?.includes('a transvaginal scan is needed')).toBe(category === undefined);
    expect(data.route).toBe(route);
  });

  it.each([
    ['TRANSVAGINAL CERVIX', 'internal os, transvaginal.'],
    [undefined, 'internal os, on an image not named transvaginal.'],
  ])('that is low on a view named %s has the route in its finding', (view, text) => {
    const edges = [5, 6].map((mm) => edge(mm, view ? { view } : {}));
    expect(interpret({ edges }).findings.map((one) => one.text)).toEqual([
      expect.stringContaining(text),
    ]);
  });

  it('on a transabdominal view is not an overlap either, and is not used for another category', () => {
    const view = { view: 'TA sagittal' };
    expect(interpret({ edges: [edge(-12, view)] }).findings).toEqual([]);
    const both = interpret({ edges: [edge(-12, view), edge(30)] });
    expect(positionOf(both)).toBe('normal');
    expect(measurementOf(both, 'placenta-to-os-2')).toMatchObject({ quality: 'low' });
  });

  it('has a distance but no category if the gestational age is missing', () => {
    const result = interpret({ edges: [edge(10)] }, null);
    expect(measurementOf(result, 'placenta-to-os').value).toBeCloseTo(10, 6);
    expect(positionOf(result)).toBeUndefined();
    expect(sectionOf(result, 'placenta').reason?.detail).toContain('Gestational age was not given');
  });

  it('without a physical scale is not measured', () => {
    const result = interpret({ edges: [edge(10, { calibrated: false })] });
    expect(result.measurements).toEqual([]);
    expect(sectionOf(result, 'placenta').summary).toContain('no physical scale');
  });

  it('that is not visible leads to advice on a transvaginal scan', () => {
    const { status, summary } = sectionOf(interpret({ bodies: [body('posterior')] }), 'placenta');
    expect(status).toBe('partial');
    expect(summary).toContain('Placenta posterior');
    expect(summary).toContain('not assessed and needs a transvaginal scan');
  });
});

describe('the wall of the placenta', () => {
  const summaryOf = (...sides: readonly PlacentalSide[]) =>
    sectionOf(interpret({ bodies: sides.map((side) => body(side)) }), 'placenta').summary;

  it('is that of most images', () => {
    expect(summaryOf('anterior', 'anterior', 'posterior')).toContain('Placenta anterior,');
  });
  it('may extend to a side', () => {
    expect(summaryOf('anterior', 'lateral-or-fundal')).toContain(
      'Placenta anterior and at the side',
    );
  });
  it('is undecided if as many images show the opposite one', () => {
    const summary = summaryOf('anterior', 'posterior');
    expect(summary).toContain('on opposite walls, anterior and posterior');
    expect(summary).not.toContain('Placenta anterior');
    const three = summaryOf('anterior', 'posterior', 'lateral-or-fundal');
    expect(three).toContain('on opposite walls, anterior and posterior');
  });
  it.each([
    { sides: ['anterior', 'posterior'] as const },
    { sides: ['anterior', 'anterior', 'posterior'] as const },
  ])(
    'may be opposite walls if there are twins, who may have two placentas: $sides',
    ({ sides }) => {
      const bodies = sides.map((side) => body(side));
      const placenta = { bodies, edges: [], uncertainty: { toOs: null, thickness: null } };
      const concept = { scheme: 'LN', code: '11984-2', meaning: 'HC' };
      const hc = cartValue({ key: 'hc', concept, value: 260, unit: 'mm', fetus: 'B' });
      const twins = evidenceWith({
        views: { placenta },
        study: { clips: [], refused: [], files: 1, series: 1, cart: [hc] },
      });
      const { summary } = runSection(section, twins);
      expect(summary).toContain('or there is a second placenta or lobe');
    },
  );
});

describe('signs of placenta accreta', () => {
  const signsOf = (result: Result) =>
    (sectionOf(result, 'placenta').data.pas as { signs: Record<string, string> }).signs;

  it('are never called absent', () => {
    const signs = signsOf(interpret({ bodies: [body('anterior')] }));
    expect(new Set(Object.values(signs))).toEqual(new Set(['not-assessable']));
  });

  it.each([
    [3, 'not-assessable'],
    [4, 'present'],
  ])('%i lacunae: %s', (lacunae, sign) => {
    const result = interpret({ bodies: [body('anterior', lacunae)] });
    expect(signsOf(result)['abnormal-lacunae']).toBe(sign);
  });

  it('raise suspicion only with a low placenta', () => {
    const textOf = (result: Result) =>
      result.findings.find(({ id }) => id === 'accreta-signs')?.text ?? '';
    const many = [body('anterior', 5)];
    expect(textOf(interpret({ bodies: many, edges: [edge(-5)] }))).toContain('Suspected');
    expect(textOf(interpret({ bodies: many, edges: [edge(40)] }))).not.toContain('Suspected');
  });
});

describe('the section placenta is not assessed', () => {
  it('without a view', () => {
    const { status, reason } = sectionOf(interpret({}), 'placenta');
    expect(status).toBe('not_assessed');
    expect(reason?.detail).toContain('the distance to the internal os was not assessed');
  });

  it('without a permitted model', () => {
    const result = interpret({ bodies: null, edges: null });
    expect(sectionOf(result, 'placenta').reason?.code).toBe('no_model');
  });

  it('if the outline is not clear: inadequate', () => {
    const result = interpret({ bodies: [body('anterior', 0, { accepted: false })] });
    expect(sectionOf(result, 'placenta').status).toBe('inadequate');
    expect(result.measurements).toEqual([]);
  });
});

it.each([
  [-12, 'abnormal'],
  [40, 'info'],
])('five lacunae with an edge %d mm from the internal os are %s', (mm, severity) => {
  const { findings } = interpret({ bodies: [body('anterior', 5)], edges: [edge(mm)] });
  expect(findings.find(({ id }) => id === 'accreta-signs')?.severity).toBe(severity);
});

it('the largest thickness on several images counts', () => {
  const thick = (mm: number) => {
    const { located, ...one } = body('anterior');
    const [from] = located?.thickness ?? [];
    if (!located || !from) throw new Error('a body without a thickness');
    const to = { x: from.x, y: from.y + mm / MM_PER_PIXEL };
    return { ...one, located: { ...located, thickness: [from, to] as const } };
  };
  const { measurements } = interpret({ bodies: [thick(28), thick(36), thick(31)] });
  const thicknesses = measurements.filter(({ concept }) => concept.key === 'placental-thickness');
  expect(thicknesses.map(({ value }) => Math.round(value))).toEqual([36]);
});
