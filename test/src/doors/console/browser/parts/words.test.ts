import { afterEach, describe, expect, it, vi } from 'vitest';
import type { GrowthChart } from '../../../../../../pipelines/artifacts/display/overlay-contract.ts';
import type {
  MeasurementRow,
  ReviewStep,
  Subject,
} from '../../../../../../src/doors/console/contract.ts';
import { endOf } from '../../../../../../src/doors/console/pages/account.ts';
import { attemptsText } from '../../../../../../src/doors/console/pages/delivery-parts.ts';
import { asReviewed, weeksText } from '../../../../../../src/doors/console/pages/growth-chart.ts';
import { bindingFor } from '../../../../../../src/doors/console/pages/keyboard.ts';
import {
  differenceText,
  rangeText,
} from '../../../../../../src/doors/console/pages/measurements.ts';
import {
  changedSince,
  nextOpen,
  type Review,
  typedNumber,
} from '../../../../../../src/doors/console/pages/review.ts';
import { reviewPanel } from '../../../../../../src/doors/console/pages/review-panel.ts';
import { addressOf, placeOf } from '../../../../../../src/doors/console/pages/router.ts';
import {
  daText,
  endpointText,
  examinationText,
  readersText,
} from '../../../../../../src/doors/console/pages/row-words.ts';
import { takenText } from '../../../../../../src/doors/console/pages/rules.ts';
import { artifactText, sizeText } from '../../../../../../src/doors/console/pages/study-parts.ts';
import { foldStages } from '../../../../../../src/doors/console/pages/timeline.ts';
import { distanceText, durationText } from '../../../../../../src/doors/console/pages/words.ts';
import { shownText } from '../../shown-text.ts';

describe('a delivery that waits', () => {
  const now = new Date(2026, 10, 29, 13, 46);
  const at = (minute: number) => new Date(2026, 10, 29, 13, minute).toISOString();
  it.each([
    ['is attempted at a time to come', at(49), '5 attempts, next in 3 min'],
    ['is due, but its destination is paused', at(33), '5 attempts, due since 13:33'],
  ])('%s', (_, nextAttemptAt, words) => {
    const delivery = { state: 'pending', attempts: 5, nextAttemptAt, endedAt: null } as const;
    expect(attemptsText(delivery, now)).toBe(words);
  });
});

describe('the last day of a key', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each(['America/Los_Angeles', 'Europe/Berlin', 'Pacific/Auckland'])(
    'ends at midnight in %s, so that the list shows the chosen day',
    (zone) => {
      vi.stubEnv('TZ', zone);
      const end = new Date(endOf('2026-12-01'));
      expect([end.getDate(), end.getHours()]).toEqual([1, 23]);
    },
  );
});

describe('addresses', () => {
  it.each([
    ['/console', 'worklist', ''],
    ['/console/', 'worklist', ''],
    ['/console/worklist', 'worklist', ''],
    ['/console/worklist/7c9%2F1', 'study', '7c9/1'],
    ['/console/worklist/%E0', 'study', '%E0'],
    ['/console/account/', 'account', ''],
    ['/console/elsewhere', null, ''],
  ])('%s opens %s', (path, name, id) => {
    expect(placeOf(new URL(path, 'http://gateway'))).toMatchObject({ name, id });
  });

  it('contain an id and a query that lead back to the same place', () => {
    const address = addressOf('study', { id: 'a/b c', query: { part: 'x&y', none: '' } });
    const place = placeOf(new URL(address, 'http://gateway'));
    expect(place).toMatchObject({ name: 'study', id: 'a/b c' });
    expect([...place.query]).toEqual([['part', 'x&y']]);
  });
});

describe('words of the review', () => {
  it.each([
    [[], ''],
    [['Dr A'], 'Dr A is reading'],
    [['Dr A', 'Dr B'], 'Dr A and Dr B are reading'],
    [['Dr A', 'Dr B', 'Dr C'], 'Dr A and 2 others are reading'],
  ])('list the readers %j', (readers, text) => expect(readersText(readers)).toBe(text));

  it.each([
    ['report.pdf', 'PDF report'],
    ['report-signed-1.pdf', 'PDF report, signed'],
    ['seg-3-signed-2.dcm', 'Segmentation 3, signed, amendment 1'],
    ['sr-tid1500.dcm', 'Structured report (measurements, TID 1500)'],
  ])('describe %s', (name, text) => expect(artifactText(name)).toBe(text));

  it.each([
    [{ wouldAct: ['echo'], open: false }, 'Handled by echo.'],
    [{ wouldAct: [], open: false }, 'No rule applies.'],
    [{ wouldAct: [], open: true }, /what the images show/],
  ])('state which rule matches a file, %j', (outcome, text) => {
    expect(takenText(outcome)).toMatch(text);
  });
});

describe('a growth chart after a review', () => {
  const chart = {
    concept: 'fl',
    measured: [{ measurement: 'fl', fetus: null, weeks: 23, value: 39.5, centile: 52 }],
  } as unknown as GrowthChart;
  const row = (model: object) =>
    ({ concept: 'fl', fetus: null, model, cart: null, given: null }) as unknown as MeasurementRow;

  it.each([
    ["the reader's value", { quality: 'accepted', value: 37.5 }, [37.5]],
    ['nothing for a rejected value', { quality: 'low', value: 39.5 }, []],
  ])('shows %s', (_, model, values) => {
    expect(asReviewed(chart, [row(model)], 23).measured.map(({ value }) => value)).toEqual(values);
  });

  it.each([
    [
      'a value that was accepted since',
      { quality: 'accepted', value: 38, reference: { centile: '30' } },
      [38],
    ],
    ['no value without a centile', { quality: 'accepted', value: 38, reference: null }, []],
    ['no value that is still proposed', { quality: 'review', value: 38, reference: null }, []],
  ])('that had no value in the draft shows %s', (_, model, values) => {
    const empty = { ...chart, measured: [] };
    const { measured } = asReviewed(empty, [row(model)], 23);
    expect(measured.map(({ weeks, value }) => [weeks, value])).toEqual(
      values.map((value) => [23, value]),
    );
  });

  it('shows a value only on the chart on which it was placed', () => {
    const [point] = chart.measured;
    const placed = [
      row({ quality: 'accepted', value: 38, reference: { centile: '30', chart: 'B' } }),
    ];
    const on = (name: string, measured: (typeof point)[]) =>
      asReviewed({ ...chart, chart: name, measured } as GrowthChart, placed, 23).measured;
    expect(on('A', [point])).toEqual([]);
    expect(on('A', [])).toEqual([]);
    expect(on('B', [])).toMatchObject([{ value: 38 }]);
  });

  it('leaves values whose fetus is not identified', () => {
    const [point] = chart.measured;
    const two = { ...chart, measured: [point, { ...point, value: 31 }] } as GrowthChart;
    const rows = [row({ quality: 'accepted', value: 39.5 })];
    expect(asReviewed(two, rows, 23).measured.map(({ value }) => value)).toEqual([39.5, 31]);
  });
});

describe('the next value to decide on', () => {
  const steps = (...decisions: ('accepted' | null)[]) =>
    decisions.map((decision) => ({ decision }));

  it.each([
    ['the next open one', steps(null, 'accepted', null), 0, 2],
    ['the first open one after the end', steps(null, 'accepted', 'accepted'), 2, 0],
    ['the one after it, where all are decided', steps('accepted', 'accepted'), 0, 1],
    ['the last one, where all are decided', steps('accepted', 'accepted'), 1, 1],
  ] as const)('is %s', (_case, all, at, next) => expect(nextOpen(all, at)).toBe(next));

  it('must be decided again if the previous change moved it', () => {
    const seen = { label: 'EFW', text: '1656', decision: null } as ReviewStep;
    expect(changedSince(seen, seen)).toBeNull();
    expect(changedSince(seen, { ...seen, text: '1702' })).toMatch(/EFW was affected/);
    expect(changedSince(seen, undefined)).toMatch(/Look at it again/);
  });
});

describe('a value that a reader types', () => {
  it.each([
    ['48.2', 48.2],
    ['48,2', 48.2],
    ['0,123', 0.123],
    ['-12,5', -12.5],
    ['1234', 1234],
    ['1,2345', 1.2345],
  ])('%s is read as %f', (text, value) => expect(typedNumber(text)).toBe(value));

  it.each([
    ['1,234', '“1,234” could be 1234 or 1.234. Type it in one of these ways.'],
    ['-12,345', '“-12,345” could be -12345 or -12.345. Type it in one of these ways.'],
    ['1,234,567', '“1,234,567” is not a number.'],
    ['forty', '“forty” is not a number.'],
    ['Infinity', '“Infinity” is not a number.'],
  ])('%s is refused', (text, why) => expect(typedNumber(text)).toBe(why));
});

describe('the name of an image', () => {
  const panelOf = (file: string | null) => {
    const step = { id: 'x', label: 'X', decision: null, quality: 'accepted', others: [], file };
    const names = { kind: 'name-view', options: [{ value: 'PLAX', text: 'PLAX' }], given: [] };
    const data = { steps: [step], readers: [], changes: [], signatures: [], may: {}, names };
    const image = { file: 'object-0001.dcm', frame: 1, view: 'PLAX' };
    const review = { data, step, steps: [step], place: 0, image, editable: true, isSigned: true };
    return shownText(reviewPanel(review as unknown as Review));
  };

  it.each([
    ['offered beside a value that an image shows', 'object-0001.dcm', true],
    ['not offered beside a value of the patient, such as the body surface area', null, false],
  ] as const)('is %s', (_, file, offered) => {
    expect(panelOf(file).includes('This image shows')).toBe(offered);
  });
});

describe('words of times and sizes', () => {
  it.each([
    [0, '0 s'],
    [119, '119 s'],
    [120, '2 min'],
    [7199, '120 min'],
    [7200, '2 h'],
    [172_800, '2 d'],
    [-5, '0 s'],
  ])('%i seconds are %s', (seconds, text) => expect(durationText(seconds)).toBe(text));

  it('distinguish past and future', () => {
    const now = new Date('2026-01-01T10:00:00Z');
    expect(distanceText('2026-01-01T10:00:30Z', now)).toBe('in 30 s');
    expect(distanceText('2026-01-01T09:57:00Z', now)).toBe('3 min ago');
  });

  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1000, '1.0 kB'],
    [2_650_788, '2.7 MB'],
  ])('%i bytes are %s', (bytes, text) => expect(sizeText(bytes)).toBe(text));

  it('format DICOM dates, and leave other text unchanged', () => {
    expect(daText('19930405')).toBe('1993-04-05');
    expect(daText('unknown')).toBe('unknown');
  });

  it('count weeks and days', () => {
    expect(weeksText(29)).toBe('29+0');
    expect(weeksText(203.0 / 7 + 6 / 7)).toBe('29+6');
    expect(weeksText(29.9999)).toBe('30+0');
  });

  it.each([
    ['us/obstetric/interpret', 'obstetric', 'Obstetric'],
    ['us/report/translate', null, 'us/report/translate'],
    [null, null, 'Not routed yet'],
  ] as const)('name what the endpoint %s interprets (%s)', (endpoint, specialty, text) => {
    expect(endpointText({ endpoint, specialty })).toBe(text);
  });

  it.each([
    ['us/obstetric/interpret', 'obstetric', 'Obstetric ultrasound', 'Obstetric ultrasound'],
    ['us/echo/interpret', 'echo', 'Fetal echo', 'Echo · Fetal echo'],
    ['us/echo/interpret', 'echo', '', 'Echo'],
    [null, null, 'Thyroid', 'Thyroid'],
    [null, null, '', ''],
  ] as const)(
    'name the examination: %s (%s), “%s”',
    (endpoint, specialty, studyDescription, text) => {
      const subject = { shown: 'identity', studyDescription } as Subject;
      expect(examinationText({ endpoint, specialty, subject })).toBe(text);
    },
  );
});

describe('words of measurements', () => {
  const reference = { low: 62, high: 80.25, centile: null, zScore: null, chart: 'chart' };
  const model = (value: number, quality: 'accepted' | 'low' = 'accepted') => ({
    id: 'm',
    value,
    text: '',
    provenance: 'model' as const,
    derivation: 'measured' as const,
    method: '',
    confidence: null,
    uncertainty: null,
    quality,
    doubt: null,
    reference: null,
    interpretation: null,
    file: null,
    frame: null,
    note: null,
  });

  it.each([
    [reference, '62.0 – 80.3'],
    [{ ...reference, high: null }, 'from 62.0'],
    [{ ...reference, low: null }, 'up to 80.3'],
    [{ ...reference, low: null, high: null }, ''],
    [null, ''],
  ])('a reference reads %#: %s', (given, text) => expect(rangeText(given, 1)).toBe(text));

  it('a difference has its sign, and is not shown for a value that was not accepted', () => {
    expect(differenceText(model(50), { value: 48 }, 1)).toBe('+2.0');
    expect(differenceText(model(48), { value: 50 }, 1)).toBe('−2.0');
    expect(differenceText(model(48), { value: 48.04 }, 1)).toBe('±0.0');
    expect(differenceText(model(48, 'low'), { value: 50 }, 1)).toBe('');
    expect(differenceText(null, { value: 50 }, 1)).toBe('');
  });
});

describe('the timeline', () => {
  const entry = (kind: 'stage' | 'status') => ({
    at: '2026-01-01T10:00:00Z',
    kind,
    title: kind,
    detail: null,
    actor: null,
    requestId: null,
  });

  it('folds four or more consecutive stages', () => {
    const few = [entry('status'), entry('stage'), entry('stage'), entry('stage'), entry('status')];
    expect(foldStages(few)).toEqual(few);
    const many = [entry('status'), ...Array.from({ length: 4 }, () => entry('stage'))];
    expect(foldStages(many)).toEqual([many[0], many.slice(1)]);
  });
});

describe('keys', () => {
  const bindings = [{ key: 'j', does: 'next', run() {} }];
  const press = (key: string, more = {}) => ({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    target: null,
    ...more,
  });

  it("run the page's actions, but not with a modifier key", () => {
    globalThis.HTMLElement ??= class {} as typeof HTMLElement;
    expect(bindingFor(press('j'), bindings)).toBe(bindings[0]);
    expect(bindingFor(press('x'), bindings)).toBeNull();
    for (const modifier of ['ctrlKey', 'metaKey', 'altKey']) {
      expect(bindingFor(press('j', { [modifier]: true }), bindings)).toBeNull();
    }
  });
});
