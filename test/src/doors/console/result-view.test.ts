import { describe, expect, it } from 'vitest';
import type { Measurement, Result } from '../../../../pipelines/result/envelope.ts';
import { asRepeat, NO_FRAME } from '../../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { categoryText } from '../../../../pipelines/result/render/categories.ts';
import { conclusionTexts } from '../../../../pipelines/result/render/conclusion.ts';
import { withStanding } from '../../../../pipelines/result/standing.ts';
import { keyValuesOf, keyValueText } from '../../../../src/doors/console/key-values.ts';
import { measurementRows, viewResult } from '../../../../src/doors/console/result-view.ts';
import { abbreviationOf, VIEW_NAMES } from '../../../../src/doors/console/wording.ts';
import { glanceOf } from '../../../../src/doors/console/worklist.ts';
import { RESULT } from '../../../pipelines/artifacts/example-result.ts';

type Section = Result['sections'][number];
type Provenance = Measurement['source']['provenance'];

const hc = (
  id: string,
  value: number,
  provenance: Provenance,
  more: Partial<Measurement> = {},
): Measurement => ({
  ...createMeasurement(id, 'hc', value, 'hc-ellipse', {
    section: 'biometry',
    derivation: 'measured',
    source: { ...NO_FRAME, provenance },
  }),
  ...more,
});

const rowsOf = (measurements: Measurement[], prior: Measurement[] = []) =>
  measurementRows(measurements, prior);

const echo = (
  key: 'lvef-networks' | 'lvef-biplane' | 'lvef-4c',
  value: number,
  more: Partial<Measurement> = {},
): Measurement => ({
  ...createMeasurement(key, key, value, 'biplane-discs', {
    section: 'lvef',
    derivation: 'calculated',
    source: { ...NO_FRAME, provenance: 'model' },
  }),
  ...more,
});
const keysOf = (measurements: Measurement[]) => keyValuesOf({ measurements }).map(({ id }) => id);

describe('the impression', () => {
  it('is that of PDF, SR and FHIR, even if no report was requested', () => {
    const shown = (result: Result) =>
      viewResult({
        ...{ requestId: 'req_1', result, gestationalAge: null, prior: null },
      }).impression;
    const without = { ...RESULT, report: null };
    expect(shown(without)).toEqual(conclusionTexts(without));
    expect(shown(without).length).toBeGreaterThan(0);
  });
});

describe('the values that a reader looks for first', () => {
  it('have one ejection fraction: the one that was rated', () => {
    const rated = echo('lvef-biplane', 59.9, { interpretation: 'N' });
    expect(keysOf([echo('lvef-networks', 65), rated, echo('lvef-4c', 60)])).toEqual([
      'lvef-biplane',
    ]);
    expect(keysOf([echo('lvef-4c', 60), echo('lvef-biplane', 59)])).toEqual(['lvef-biplane']);
  });

  it('prefer an accepted value to one that a person must confirm, which is marked', () => {
    const proposed = withStanding([echo('lvef-biplane', 59, { quality: 'review' })]);
    expect(keysOf([...proposed, echo('lvef-4c', 60)])).toEqual(['lvef-4c']);
    expect(keyValuesOf({ measurements: proposed })).toMatchObject([
      { label: 'LVEF (biplane)', text: '59', toConfirm: true },
    ]);
  });

  it('omit a value that was withheld', () => {
    expect(keysOf(withStanding([hc('low', 250, 'model', { quality: 'low' })]))).toEqual([]);
  });

  it('are at most eight, and separate for each fetus', () => {
    const twins = ['A', 'B'].map((fetus) => hc(`hc-${fetus}`, 260, 'model', { fetus }));
    expect(keysOf(twins)).toEqual(['hc-A', 'hc-B']);
    const many = Array.from({ length: 12 }, (_, n) =>
      hc(`hc-${n}`, 260, 'model', { fetus: `${n}` }),
    );
    expect(keysOf(many)).toHaveLength(8);
  });

  it('are shown with unit and centile in the worklist', () => {
    const reference = { low: null, high: null, centile: 99.3, z_score: 2.5, chart: 'x' };
    const [value] = keyValuesOf({ measurements: [hc('hc', 287.4, 'model', { reference })] });
    expect(value && keyValueText(value)).toBe('HC 287.4 mm, centile >99');
  });
});

describe('a category', () => {
  it.each([
    [
      'size-for-gestational-age',
      'lga-severe',
      'very large for gestational age (above the 97th centile)',
    ],
    ['fetal-anaemia-signal', 'no-signal', 'no sign of anaemia'],
    [null, 'not-assessable', 'not assessable'],
    [null, 'low', 'low'],
  ])('of %s is shown as %s in words', (concept, value, text) => {
    expect(categoryText(concept, value)).toBe(text);
  });
});

describe('the rows of measurements', () => {
  it('show model and machine side by side, rounded according to the concept table', () => {
    const rows = rowsOf([hc('m', 262.14, 'model'), hc('c', 259.96, 'cart-sr')]);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      concept: 'hc',
      model: { id: 'm', text: '262.1' },
      cart: { id: 'c', text: '260.0' },
      given: null,
      more: [],
      prior: null,
    });
  });

  it.each([
    [209.4, '29+6'],
    [209.6, '30+0'],
    [213.25, '30+3'],
  ])('show a gestational age of %d days as %s weeks', (days, weeks) => {
    const age = createMeasurement('ga', 'ga-by-hc-ac-fl', days, 'hadlock-1984-ga-hc-ac-fl', {
      section: 'biometry',
      derivation: 'calculated',
      source: { ...NO_FRAME, provenance: 'model' },
    });
    expect(rowsOf([age])[0]).toMatchObject({
      unitText: 'weeks',
      model: { text: weeks, value: days },
    });
    const glance = glanceOf({ ...RESULT, measurements: [age] });
    expect(glance.values).toEqual([`${abbreviationOf('ga-by-hc-ac-fl')} ${weeks} weeks`]);
  });

  it('describe method and chart in words, and keep those of a machine unchanged', () => {
    const reference = {
      low: 240,
      high: 280,
      centile: 60,
      z_score: 0.2,
      chart: 'intergrowth-2014-size',
    };
    const [row] = rowsOf([
      hc('m', 262, 'model', { reference }),
      hc('c', 260, 'cart-sr', { method: 'HC by hand' }),
    ]);
    expect(row?.model?.method).toBe('ellipse on the outer skull border, Ramanujan perimeter');
    expect(row?.model?.reference?.chart).toBe(
      'INTERGROWTH-21st fetal growth standards 2014 (singleton)',
    );
    expect(row?.cart?.method).toBe('HC by hand');
  });

  it.each([
    [96.96, 1.88, '96.96', '1.9'],
    [0.4, -2.02, '<1', '-2.02'],
  ])('show centile %s and z-score %s as the PDF does', (centile, z_score, ...texts) => {
    const reference = { low: null, high: null, centile, z_score, chart: 'intergrowth-2014-size' };
    const [row] = rowsOf([hc('m', 262, 'model', { reference })]);
    expect([row?.model?.reference?.centile, row?.model?.reference?.zScore]).toEqual(texts);
  });

  it('show the mean of repeats, which are listed below it', () => {
    const repeats = [hc('a', 260, 'model'), hc('b', 264, 'model')];
    const mean = hc('mean', 262, 'model', { derivation: 'mean', inputs: ['a', 'b'] });
    const [row] = rowsOf(withStanding([...repeats, mean]));
    expect(row?.model?.id).toBe('mean');
    expect(row?.more.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('show the value that was chosen of several, as the PDF does, wherever it is listed', () => {
    const rows = rowsOf(withStanding([asRepeat(hc('hc-2', 250, 'model')), hc('hc', 262, 'model')]));
    expect(rows[0]?.model?.id).toBe('hc');
    expect(rows[0]?.more.map(({ id }) => id)).toEqual(['hc-2']);
  });

  it('prefer an accepted value to one earlier in the list that is below its gate', () => {
    const low = hc('low', 250, 'model', { quality: 'low' });
    const [row] = rowsOf([low, hc('ok', 262, 'image-analysis')]);
    expect(row?.model?.id).toBe('ok');
    expect(row?.more.map(({ id }) => id)).toEqual(['low']);
  });

  it('show a value below its gate as such if there is no other', () => {
    const [row] = rowsOf([hc('low', 250, 'model', { quality: 'inadequate' })]);
    expect(row?.model).toMatchObject({
      id: 'low',
      quality: 'inadequate',
      doubt: 'not reliable',
    });
  });

  it.each([
    ['fetus', { fetus: 'B' }],
    ['side', { laterality: 'left' }],
    ['site', { site: 'Skull of another' }],
    ['phase', { phase: 'End systole' }],
  ] as const)('are separate for a different %s', (_, more) => {
    const rows = rowsOf([hc('one', 262, 'model'), hc('other', 255, 'model', more)]);
    expect(rows.map(({ model }) => model?.id)).toEqual(['one', 'other']);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
  });

  it('contain the accepted value from the earlier examination, only for the same place', () => {
    const prior = [
      hc('p', 201.26, 'model'),
      hc('q', 99, 'model', { fetus: 'B' }),
      hc('r', 300, 'model', { quality: 'low' }),
    ];
    const [row] = rowsOf([hc('m', 262, 'model')], prior);
    expect(row?.prior).toEqual({ value: 201.26, text: '201.3' });
    expect(rowsOf([hc('m', 262, 'model')], [prior[2] as Measurement])[0]?.prior).toBeNull();
  });
});

describe('a result at a glance', () => {
  it('shows the value that counts: the mean rather than its first part, ours rather than the machine’s', () => {
    const measurements = withStanding([
      hc('c', 259, 'cart-sr'),
      hc('a', 260, 'model'),
      hc('b', 264, 'model'),
      hc('mean', 262, 'model', { derivation: 'mean', inputs: ['a', 'b'] }),
    ]);
    expect(glanceOf({ ...RESULT, measurements }).values).toEqual(['HC 262.0 mm']);
  });

  it('counts the requested sections, except for the report', () => {
    const section = (id: string, status: Section['status']): Section => ({
      ...(RESULT.sections[0] as Section),
      id,
      status,
    });
    const sections = [
      section('biometry', 'complete'),
      section('doppler', 'partial'),
      section('cervix', 'not_assessed'),
      section('nt', 'not_requested'),
      section('report', 'complete'),
    ];
    expect(glanceOf({ ...RESULT, sections })).toMatchObject({
      assessed: 2,
      sections: 3,
    });
  });
});

it.each([
  ['tricuspid-regurgitation', 'Tricuspid regurgitation'],
  ['rvot', 'RVOT'],
  ['vena-cava', 'Inferior vena cava'],
  ['umbilical-artery', 'umbilical artery'],
  ['middle-cerebral-artery', 'MCA'],
  ['transthalamic', 'transthalamic head'],
  ['abdominal', 'abdominal circumference plane'],
])('the page receives words for %s: %s', (id, words) => {
  expect(VIEW_NAMES[id]).toBe(words);
});
