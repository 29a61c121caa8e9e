import { describe, expect, test } from 'vitest';
import { routingSchema } from '../../../../../config/routing.ts';
import {
  route,
  type StudyFacts,
  whyUnrouted,
} from '../../../../../src/core/studies/rules/route.ts';

const facts: StudyFacts = {
  known: {
    source: ['voluson-3'],
    callingAeTitle: ['VOLUSON3'],
    calledAeTitle: ['SONOGATE'],
    modality: ['US', 'SR'],
    studyDescription: ['OB 2nd trimester'],
    procedureCode: ['USOB'],
    sopClass: ['1.2.840.10008.5.1.4.1.1.6.1'],
  },
  attributes: new Map([
    ['PatientAge', ['034Y']],
    ['StudyDate', ['20260521']],
    ['PatientID', ['MRN-77']],
    ['StationName', []],
  ]),
  at: new Date(2026, 4, 21, 21, 30),
  content: { known: { anatomy: ['fetus'], plane: ['transthalamic', 'femur'], view: [] } },
};
const unseen: StudyFacts = { ...facts, content: { unknown: 'the images were not looked at' } };

const rulesOf = (rules: readonly object[], match = 'first') =>
  routingSchema.parse({
    match,
    rules: rules.map((rule, index) => ({ name: `rule-${index}`, ...rule })),
  });
const run = { endpoint: 'us/obstetric/interpret' };
const matches = (when: object) => route(rulesOf([{ when, run }]), facts).verdicts[0]?.matches;

describe('a condition', () => {
  test.each<[string, object, boolean]>([
    ['without entries', {}, true],
    ['on one modality of several', { modality: 'US' }, true],
    ['on a modality that is not there', { modality: 'MR' }, false],
    ['on part of an AE title', { callingAeTitle: 'VOLUSON' }, false],
    ['of which one entry fails', { modality: 'US', procedureCode: 'USECHO' }, false],
    ['by regular expression, case ignored', { studyDescription: { matches: '^ob\\b' } }, true],
    ['by a list', { procedureCode: { in: ['USECHO', 'USOB'] } }, true],
    ['by a list without the value', { procedureCode: { in: ['USECHO'] } }, false],
    ['that a value is there', { attributes: { PatientAge: { exists: true } } }, true],
    ['that no value is there', { attributes: { StationName: { exists: false } } }, true],
    [
      'that a value is there, which is empty',
      { attributes: { StationName: { exists: true } } },
      false,
    ],
    ['on an attribute that the objects lack', { attributes: { StationName: 'ROOM1' } }, false],
    ['all of which hold', { all: [{ modality: 'US' }, { modality: 'SR' }] }, true],
    ['all of which do not hold', { all: [{ modality: 'US' }, { modality: 'CT' }] }, false],
    ['any of which holds', { any: [{ modality: 'CT' }, { modality: 'SR' }] }, true],
    ['any of which would have to hold', { any: [{ modality: 'CT' }, { modality: 'MR' }] }, false],
    ['that is denied', { not: { modality: 'MR' } }, true],
    ['that is denied and holds', { not: { modality: 'US' } }, false],
    ['of several entries, denied as a whole', { not: { modality: 'US', source: 'other' } }, true],
    [
      'of combinations',
      { any: [{ not: { modality: 'US' } }, { all: [{ source: 'voluson-3' }] }] },
      true,
    ],
  ])('%s', (_what, when, expected) => {
    expect(matches(when)).toBe(expected);
  });

  test.each<[string, object, boolean]>([
    ['from its lower end', { from: 34, to: 40 }, true],
    ['to its upper end', { from: 18, to: 34 }, true],
    ['above it', { from: 18, to: 33 }, false],
    ['below it', { from: 35 }, false],
  ])('on a range of ages in years, %s', (_what, range, expected) => {
    expect(matches({ attributes: { PatientAge: { range } } })).toBe(expected);
  });

  test.each<[string, object, boolean]>([
    ['on its first day', { from: '20260521' }, true],
    ['on its last day', { to: '20260521' }, true],
    ['the day before', { from: '20260522' }, false],
    ['the day after', { to: '20260520' }, false],
  ])('on a range of dates, %s', (_what, range, expected) => {
    expect(matches({ attributes: { StudyDate: { range } } })).toBe(expected);
  });

  test.each<[string, string, string, boolean]>([
    ['which it is', '20:00', '22:00', true],
    ['which begins now', '21:30', '22:00', true],
    ['which ends now', '20:00', '21:30', false],
    ['over midnight', '21:00', '06:00', true],
    ['over midnight, later', '22:00', '06:00', false],
  ])('on a time of day %s', (_what, from, to, expected) => {
    expect(matches({ timeOfDay: { from, to } })).toBe(expected);
  });
});

describe('the rules', () => {
  const acting = (match: string, ...rules: object[]) =>
    route(rulesOf(rules, match), facts).acting.map(({ name }) => name);

  test('the first one that matches acts', () => {
    expect(acting('first', { when: { modality: 'MR' }, run }, { run }, { run })).toEqual([
      'rule-1',
    ]);
  });

  test('all that match act, if configured', () => {
    expect(acting('all', { tags: ['ob'] }, { when: { modality: 'MR' }, run }, { run })).toEqual([
      'rule-0',
      'rule-2',
    ]);
  });

  test.each(['ignore', 'hold'])('a rule with %s ends the list', (action) => {
    expect(acting('all', { tags: ['ob'] }, { [action]: true }, { run })).toEqual([
      'rule-0',
      'rule-1',
    ]);
  });

  test('for a study without a rule, the verdicts state which condition kept each from matching', () => {
    const { verdicts } = route(
      rulesOf([
        { when: { modality: 'US', any: [{ procedureCode: 'USECHO' }, { source: 'x' }] }, run },
      ]),
      facts,
    );
    expect(verdicts[0]?.conditions.map(({ condition, holds }) => [condition, holds])).toEqual([
      ['modality', true],
      ['any of', false],
    ]);
    expect(whyUnrouted(verdicts)).toBe(
      'No routing rule matched (rule-0: At least one of these (' +
        'Procedure code is "USOB", expected USECHO, Source is "voluson-3", expected x)).',
    );
    expect(whyUnrouted([])).toBe('No routing rule is configured.');
  });

  test('what identifies the patient is evaluated but not shown', () => {
    const { verdicts } = route(
      rulesOf([{ when: { attributes: { PatientID: 'MRN-77' } }, run }]),
      facts,
    );
    expect(verdicts[0]?.matches).toBe(true);
    expect(verdicts[0]?.conditions[0]?.found).not.toContain('77');
  });

  test('the age is shown, because it does not identify the patient', () => {
    const { verdicts } = route(
      rulesOf([{ when: { attributes: { PatientAge: '034Y' } }, run }]),
      facts,
    );
    expect(verdicts[0]?.conditions[0]?.found).toBe('034Y');
  });
});

describe('an invalid rule is refused', () => {
  test.each<[string, object]>([
    ['without an action', { when: { modality: 'US' } }],
    ['that ignores and runs', { ignore: true, run }],
    ['that holds and forwards', { hold: true, forwardTo: ['pacs'] }],
    ['that delivers results of nothing', { forwardTo: ['pacs'], deliverTo: ['pacs'] }],
    ['with an unknown fact', { when: { modalty: 'US' }, run }],
    ['with a broken regular expression', { when: { modality: { matches: '(' } }, run }],
    ['with an empty range', { when: { attributes: { PatientAge: { range: {} } } }, run }],
    [
      'with an hour that does not exist',
      { when: { timeOfDay: { from: '24:00', to: '06:00' } }, run },
    ],
    ['with a malformed attribute path', { when: { attributes: { 'patient age': '1' } }, run }],
  ])('%s', (_what, rule) => {
    expect(() => rulesOf([rule])).toThrow();
  });
});

describe('a condition on what the images show', () => {
  test.each<[string, object, boolean]>([
    ['on the anatomy', { anatomy: 'fetus' }, true],
    ['on another anatomy', { anatomy: 'adult heart' }, false],
    ['on one plane of several', { plane: { in: ['abdominal', 'femur'] } }, true],
    ['that no view of the heart is there', { view: { exists: false } }, true],
    ['that a view is there', { view: { exists: true } }, false],
  ])('%s, for a study that was classified', (_, when, holds) => {
    expect(matches(when)).toBe(holds);
    expect(route(rulesOf([{ when, run }]), facts).open).toBe(false);
  });

  test.each<[string, object, boolean]>([
    ['alone', { plane: 'femur' }, true],
    ['that is denied', { not: { plane: 'femur' } }, true],
    ['that no view is there', { view: { exists: false } }, true],
    ['beside one that holds', { modality: 'US', plane: 'femur' }, true],
    ['beside one that fails', { modality: 'MR', plane: 'femur' }, false],
    ['of all that must hold, one fails', { all: [{ plane: 'femur' }, { source: 'x' }] }, false],
    ['of any of which one holds', { any: [{ plane: 'femur' }, { modality: 'US' }] }, false],
    ['of any of which none holds', { any: [{ plane: 'femur' }, { modality: 'MR' }] }, true],
    ['within one that is denied', { not: { any: [{ modality: 'US' }, { view: 'A4C' }] } }, false],
  ])(
    '%s, for a study that was not classified, leaves the rule open or decides',
    (_, when, open) => {
      const routed = route(rulesOf([{ when, run }]), unseen);
      expect(routed.open).toBe(open);
      if (open) expect(routed.acting).toEqual([]);
    },
  );

  test('is not evaluated if an earlier rule acts', () => {
    const rules = [
      { when: { modality: 'US' }, run },
      { when: { plane: 'femur' }, run },
    ];
    expect(route(rulesOf(rules), unseen).open).toBe(false);
    expect(route(rulesOf(rules, 'all'), unseen).open).toBe(true);
  });
});
