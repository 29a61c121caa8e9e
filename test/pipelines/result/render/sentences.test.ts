import { describe, expect, it } from 'vitest';
import type { Measurement } from '../../../../pipelines/result/envelope.ts';
import {
  renderOutcome,
  renderStatement,
  sectionOf,
} from '../../../../pipelines/result/render/render.ts';
import { TABLES } from '../../../../pipelines/result/render/sentences.ts';
import {
  ORIGINS,
  originStatement,
  sectionStatement,
} from '../../../../pipelines/result/render/statement.ts';
import type { Params } from '../../../../pipelines/result/statement.ts';
import { measurement } from '../../artifacts/example-measurements.ts';

describe('the sentence tables', () => {
  it('have one sentence for each code', () => {
    const codes = TABLES.flatMap((table) => Object.keys(table));
    expect(codes.filter((code, place) => codes.indexOf(code) !== place)).toEqual([]);
  });
});

function said(code: string, params: Params, ...values: readonly number[]): string {
  const about = values.map((mm, at) => measurement(`edge-${at}`, 'placenta-to-os', mm));
  const ids = about.map(({ id }) => id);
  return renderStatement(
    { kind: 'value', code, params, about: ids, fetus: null },
    new Map(about.map((one) => [one.id, one])),
  );
}

describe('a sentence about one', () => {
  it.each([
    [
      'growth.no-change',
      { reason: 'interval-too-short', days: 1, least: 14 },
      'the interval of 1 day since',
    ],
    [
      'growth.no-change',
      { reason: 'interval-too-short', days: 2, least: 14 },
      'the interval of 2 days since',
    ],
    ['cervix.fewer-repeats', { used: 1, wanted: 3 }, 'Measured once instead of 3 times.'],
    [
      'cervix.fewer-repeats',
      { used: 2, wanted: 3 },
      'The shortest of 2 instead of 3 measurements.',
    ],
    [
      'views.uncertain',
      { unnamed: 1, pictures: 1, suspected: [] },
      'The view of the only clip was not recognised reliably, and nothing was measured on it.',
    ],
    [
      'views.uncertain',
      { unnamed: 2, pictures: 3, suspected: [] },
      'The view of 2 of 3 clips was not recognised reliably, and nothing was measured on them.',
    ],
    [
      'views.no-model',
      { unnamed: 1, pictures: 4 },
      'for 1 of 4 clips the header names no view, and it was not measured.',
    ],
  ])('%s %j', (code, params, text) => {
    expect(said(code, params)).toContain(text);
  });
});

it.each([
  [1, '1 beat'],
  [2, '2 beats'],
])('a remark on %d beats', (count, text) => {
  expect(said('doppler.beats', { count })).toBe(text);
});

it.each([
  [[20], 'was measured and needs review: '],
  [[20, 25], 'were measured and need review: '],
])('values of %j mm that need review', (values, text) => {
  expect(said('run.needs-review', { reason: 'simulated-only' }, ...values)).toContain(text);
});

describe('the lower edge of a placenta', () => {
  it.each([
    [24, 'Lower edge 24.0 mm from the internal os: not low-lying.'],
    [-8, 'Lower edge overlapping the internal os (-8.0 mm): placenta praevia.'],
  ])('%d mm from the os', (mm, text) => {
    const category = mm < 0 ? 'praevia' : 'normal';
    expect(said('placenta.edge', { category }, mm)).toBe(text);
  });

  it('is placed by each image that disagrees', () => {
    expect(said('placenta.edges-disagree', {}, 4, 12, -3)).toBe(
      'The images disagree: on other images it is 12.0 mm from the internal os and overlapping the internal os (-3.0 mm). Measure by hand.',
    );
  });
});

describe('an interval over several cut-offs names the categories between them', () => {
  const about = measurement('value', 'deepest-vertical-pocket', 34.2);
  it.each([
    ['cervix.at-cut-off', ['short', 'long'], 'short, normal length or long'],
    ['cervix.at-cut-off', ['short', 'normal'], 'short or normal length'],
    [
      'fluid.at-cut-off',
      ['anhydramnios', 'normal'],
      'anhydramnios, oligohydramnios or normal amniotic fluid',
    ],
    [
      'impression.fluid-open',
      ['normal', 'polyhydramnios-mild'],
      'normal amniotic fluid or mild polyhydramnios',
    ],
    [
      'obstetric.at-cut-off',
      ['praevia', 'normal'],
      'placenta praevia, low-lying placenta or normal',
    ],
    ['obstetric.at-cut-off', ['slow', 'normal'], 'slow or normal'],
    // A cardiac axis of 60 ± 42°, of which 25° to 65° are normal.
    ['obstetric.at-cut-off', ['small', 'large'], 'small, normal or large'],
    ['obstetric.at-cut-off', ['normal', 'large'], 'normal or large'],
    [
      'obstetric.at-cut-off',
      ['L', 'H'],
      'below the usual range, within the usual range or above the usual range',
    ],
    ['nt.at-cut-off', ['normal', 'high'], 'normal, increased or high'],
    ['nt.at-cut-off', [null, 'high'], 'below 3.5 mm or high'],
  ])('%s %j', (code, between, text) => {
    const statement = {
      ...{ kind: 'gap' as const, code, params: { between, high: 3.5 }, fetus: null },
      about: [about.id],
    };
    expect(renderStatement(statement, new Map([[about.id, about]]))).toContain(`: ${text}`);
  });
});

it.each([
  [
    'middle-cerebral-artery-psv-mom',
    ['no-signal', 'severe'],
    'no sign of anaemia, mild, moderate to severe or severe',
  ],
  ['middle-cerebral-artery-psv-mom', ['mild', 'severe'], 'mild, moderate to severe or severe'],
  ['atrial-width', ['mild', 'severe'], 'mild, moderate or severe'],
] as const)('%s over %j names the bands of its scale', (concept, between, text) => {
  const value = measurement('value', concept, 1, { unit: '1' });
  const statement = {
    ...{ kind: 'gap' as const, code: 'obstetric.at-cut-off', fetus: null, about: [value.id] },
    params: { between },
  };
  expect(renderStatement(statement, new Map([[value.id, value]]))).toContain(`cut-off: ${text};`);
});

it('an angle over several bands names the bands between them', () => {
  const angle = measurement('value', 'angle-of-progression', 115, { unit: 'deg' });
  const statement = {
    ...{ kind: 'gap' as const, code: 'labor.at-cut-off', fetus: null, about: [angle.id] },
    params: { between: ['high', 'low-or-mid'] },
  };
  expect(renderStatement(statement, new Map([[angle.id, angle]]))).toContain(
    'between "high", "intermediate" and "low or mid";',
  );
});

describe('the outcome of a section', () => {
  it('does not repeat a gap that its statements already state', () => {
    const notJudged = {
      ...{ kind: 'limitation' as const, code: 'screen.not-judged', about: [], fetus: null },
      params: { sized: false },
    };
    const notExamined = {
      ...{ kind: 'gap' as const, code: 'screen.not-examined', about: [], fetus: null },
      params: { items: ['face'] },
    };
    const section = sectionOf(
      { id: 'anomaly-screen', title: 'Anomaly screen' },
      renderOutcome('anomaly-screen', {
        status: 'partial',
        reason: { code: 'items_missing', gaps: [notJudged, notExamined], needs: [] },
        statements: [notJudged],
      }),
    );
    expect(sectionStatement(section, { measurements: [] })).toBe(
      'Partial. Whether the structures appear normal was not assessed. Not examined: face.',
    );
  });
});

describe('values that need review', () => {
  it('are named with their side, beginning with a capital letter', () => {
    const about = [
      measurement('thickness', 'placental-thickness', 30.1),
      measurement('left', 'uterine-artery-ri', 0.58, { unit: '1', laterality: 'left' }),
      measurement('right', 'uterine-artery-ri', 0.6, { unit: '1', laterality: 'right' }),
    ];
    const statement = {
      ...{ kind: 'gap' as const, code: 'run.needs-review', fetus: null },
      about: about.map(({ id }) => id),
      params: { reason: 'simulated-only' },
    };
    expect(renderStatement(statement, new Map(about.map((one) => [one.id, one])))).toBe(
      'Placental thickness 30.1 mm, UtA RI (left) 0.58, UtA RI (right) 0.60 were measured and need review: the method was validated on simulated images only.',
    );
  });
});

describe('the origin of a value', () => {
  it.each<[string, Partial<Measurement>, string | null]>([
    ['image-analysis', {}, null],
    ['cart-sr', { origin: 'machine' }, ORIGINS.machine],
    ['cart-sr', { origin: 'machine', inputs: ['a'] }, ORIGINS.calculated],
    ['cart-sr', { origin: 'person', inputs: ['a'] }, ORIGINS.corrected],
    ['input', { origin: 'request' }, ORIGINS.input],
    ['person', { origin: 'person' }, null],
  ])('from %s, %j: %s', (provenance, given, text) => {
    const one = measurement('edge', 'placenta-to-os', 20);
    const source = { ...one.source, provenance: provenance as Measurement['source']['provenance'] };
    expect(originStatement({ ...one, ...given, source })).toBe(text);
  });
});
