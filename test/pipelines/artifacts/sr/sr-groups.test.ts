import { describe, expect, test } from 'vitest';
import { type ContentItem, walk } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../../../pipelines/artifacts/sr/template-check.ts';
import { buildTid1500 } from '../../../../pipelines/artifacts/sr/tid1500.ts';
import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { Measurement } from '../../../../pipelines/result/envelope.ts';
import { HC, measurement } from '../example-measurements.ts';
import { RESULT } from '../example-result.ts';
import { SUBJECT } from '../example-subject.ts';

const named = (bytes: Buffer, meaning: string): ContentItem[] =>
  [...walk(decode(bytes).root)].filter(({ name }) => name?.meaning === meaning);

describe('the author of a group in TID 1500', () => {
  const groupOf = (source: Partial<Measurement['source']>, inputs: string[] = []) => {
    const one = measurement('m', 'hc', 262, { source: { ...HC.source, ...source }, inputs });
    const bytes = buildTid1500({ ...RESULT, measurements: [one] }, SUBJECT);
    const [group] = named(bytes, 'Measurement Group');
    const meanings = group?.items.map(({ name }) => name?.meaning) ?? [];
    const comments = group?.items.flatMap(({ name, value }) =>
      name?.meaning === 'Comment' && value.type === 'TEXT' ? [value.text] : [],
    );
    return { algorithm: meanings.filter((name) => name?.startsWith('Algorithm')), comments };
  };

  test.each(['model', 'image-analysis'] as const)('%s: our algorithm, with its name', (ours) => {
    const { algorithm, comments } = groupOf({ provenance: ours });
    expect(algorithm).toEqual(expect.arrayContaining(['Algorithm Name', 'Algorithm Version']));
    expect(comments).toEqual([]);
  });

  test.each([
    ['cart-sr', [], 'Value of the ultrasound machine, from its structured report'],
    [
      'cart-sr',
      ['bpd'],
      'Calculated from values of the ultrasound machine, from its structured report',
    ],
    ['input', [], 'Value given with the request'],
  ] as const)('%s %j: not our algorithm, which is stated', (provenance, inputs, word) => {
    expect(groupOf({ provenance }, [...inputs])).toEqual({ algorithm: [], comments: [word] });
  });
});

test.each([
  [4.3, 1],
  [0, 0],
  [null, 0],
])(
  'an interval of ± %s mmHg is written %i times: an estimate in steps is not exact',
  (half, times) => {
    const measurements = [
      measurement('m', 'ra-pressure', 3, { unit: 'mm[Hg]', uncertainty: half, reference: null }),
    ];
    const bytes = buildTid1500({ ...RESULT, measurements, sections: [] }, SUBJECT);
    expect(named(bytes, '+/-, range of measurement uncertainty')).toHaveLength(times);
  },
);

test.each([
  ['hc', 'Skull'],
  ['efw', 'Fetus'],
  ['hc-ac-ratio', 'Fetus'],
  ['uterine-artery-mean-pi', 'Uterine artery'],
  ['percent-funnelling', 'Cervix'],
  ['unnamed-vessel-pi', 'Blood vessel'],
  ['flow-peak-unnamed', 'Heart'],
  ['body-surface-area', 'Patient'],
] as const)('a group of TID 1500 with %s states the finding: %s', (key, finding) => {
  const { unit } = CONCEPTS[key];
  const measurements = [measurement('m', key, 1, { unit })];
  const bytes = buildTid1500({ ...RESULT, measurements, sections: [] }, SUBJECT);
  const [group] = named(bytes, 'Measurement Group');
  const found = group?.items.filter(({ name }) => name?.meaning === 'Finding') ?? [];
  expect(found.map(({ value }) => value.type === 'CODE' && value.code.meaning)).toEqual([finding]);
});

test('a group of TID 1500 has a finding for every concept', () => {
  const keys = Object.keys(CONCEPTS) as ConceptKey[];
  const measurements = keys.map((key) => measurement(key, key, 1, { unit: CONCEPTS[key].unit }));
  expect(checkTemplate(decode(buildTid1500({ ...RESULT, measurements }, SUBJECT)))).toEqual([]);
});
