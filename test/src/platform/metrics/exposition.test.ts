import { describe, expect, test } from 'vitest';
import {
  createCounter,
  createHistogram,
  renderMetrics,
} from '../../../../src/platform/metrics/metrics.ts';
import { parseExposition } from '../../app/monitoring/exposition-parser.ts';

describe('a histogram', () => {
  const histogram = () => createHistogram({ name: 'wait_seconds', help: 'Wait.', buckets: [1, 5] });

  test.each([
    [1, [1, 1, 1]],
    [1.001, [0, 1, 1]],
    [5, [0, 1, 1]],
    [5.001, [0, 0, 1]],
  ])('counts %d s into every bucket that it does not exceed', (value, buckets) => {
    const meter = histogram();
    meter.observe(value, { endpoint: 'a' });
    const family = parseExposition(renderMetrics([meter.read()])).get('wait_seconds');
    expect(family?.samples.map((sample) => sample.value)).toEqual([...buckets, value, 1]);
  });

  test('keeps one distribution for each set of labels', () => {
    const meter = histogram();
    meter.observe(1, { endpoint: 'a' });
    meter.observe(9, { endpoint: 'b' });
    const family = parseExposition(renderMetrics([meter.read()])).get('wait_seconds');
    const counts = family?.samples.filter(({ name }) => name.endsWith('_count'));
    expect(counts?.map(({ labels, value }) => [labels.endpoint, value])).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
  });
});

test('a counter adds up, and what was read before does not change', () => {
  const counter = createCounter({ name: 'objects_total', help: 'Objects.' });
  counter.add(2, { source: 'cart' });
  const before = counter.read();
  counter.add(3, { source: 'cart' });
  expect(before.samples[0]?.value).toBe(2);
  expect(counter.read().samples).toEqual([{ labels: { source: 'cart' }, value: 5 }]);
});

test('hostile label values come back as they were', () => {
  const hostile = 'a "quoted" \\ name\nof two lines, {le="1"}';
  const counter = createCounter({ name: 'objects_total', help: 'One\nline \\ only.' });
  counter.add(1, { source: hostile });
  const family = parseExposition(renderMetrics([counter.read()])).get('objects_total');
  expect(family?.samples[0]?.labels).toEqual({ source: hostile });
});

test('a metric without samples is left out', () => {
  expect(renderMetrics([createCounter({ name: 'objects_total', help: 'Objects.' }).read()])).toBe(
    '',
  );
});
