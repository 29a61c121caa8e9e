import { describe, expect, test } from 'vitest';
import { type ContentItem, walk } from '../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../pipelines/artifacts/sr/decode.ts';
import { echoSite, siteOf } from '../../../pipelines/artifacts/sr/echo-sites.ts';
import { checkTemplate } from '../../../pipelines/artifacts/sr/template-check.ts';
import { buildTid1500 } from '../../../pipelines/artifacts/sr/tid1500.ts';
import { buildTid5200 } from '../../../pipelines/artifacts/sr/tid5200.ts';
import {
  buildTid5300,
  isCoreEchoCode,
  postCoordination,
} from '../../../pipelines/artifacts/sr/tid5300.ts';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { ECHO, echoValue as value } from './example-echo.ts';
import { SUBJECT } from './example-subject.ts';
import { asFile, dciodvfy, installed, run } from './programs.ts';

/**
 * Concepts without a name (`-unnamed`) are never accepted, so no section of a structured report
 * contains them.
 */
const echoKeys = (Object.keys(CONCEPTS) as ConceptKey[]).filter(
  (key) => CONCEPTS[key].group === 'echo' && !key.endsWith('-unnamed'),
);

/** A result with one value for every echo concept. */
const EVERYTHING: Result = { ...ECHO, measurements: echoKeys.map((key) => value(key, 1.5)) };

const items = (bytes: Buffer): ContentItem[] => [...walk(decode(bytes).root)];
const values = (bytes: Buffer) =>
  items(bytes).flatMap(({ name, value: { type, ...rest } }) =>
    type === 'NUM' && 'quantity' in rest && rest.quantity
      ? [[name?.code, rest.quantity.value, rest.quantity.unit.code]]
      : [],
  );

const DOCUMENTS = {
  'TID 1500': buildTid1500,
  'TID 5200': buildTid5200,
  'TID 5300': (result: Result, subject: typeof SUBJECT) => buildTid5300(result, subject),
} as const;

describe.each(Object.entries(DOCUMENTS))('%s', (_template, build) => {
  test.each([
    ['an echo', ECHO],
    ['every concept', EVERYTHING],
    ['nothing measured', { ...ECHO, measurements: [] }],
  ])('%s follows the rows of its template', (_name, result) => {
    expect(checkTemplate(decode(build(result, SUBJECT)))).toEqual([]);
  });

  test.skipIf(!installed('dsrdump'))('dsrdump reads it without error', () => {
    const { code, output } = run('dsrdump', [asFile(build(EVERYTHING, SUBJECT), 'dcm')]);
    expect({ code, errors: output.match(/^[EF]: .*/gm) }).toEqual({ code: 0, errors: null });
  });
});

describe.skipIf(!installed('dciodvfy'))('dciodvfy has no complaint', () => {
  test('about TID 5200', () => {
    const path = asFile(buildTid5200(EVERYTHING, SUBJECT), 'dcm');
    expect(dciodvfy(path)).toEqual({ code: 0, complaints: [] });
  });

  test('about the tree of TID 5300, in the class that dciodvfy supports', () => {
    const path = asFile(buildTid5300(EVERYTHING, SUBJECT, 'comprehensive'), 'dcm');
    expect(dciodvfy(path)).toEqual({ code: 0, complaints: [] });
  });
});

describe('TID 5200', () => {
  test('every echo concept has a section; body surface area belongs to the patient', () => {
    const homeless = EVERYTHING.measurements.filter((one) => echoSite(one) === null);
    expect(homeless.map(({ concept }) => concept.key)).toEqual(['body-surface-area']);
    expect(values(buildTid5200(EVERYTHING, SUBJECT))).toHaveLength(echoKeys.length);
  });

  test('tissue Doppler of an unnamed wall, which may be the tricuspid annulus, has no site', () => {
    expect(siteOf(value('e-prime-septal', 8))?.meaning).toBe('Mitral valve');
    expect(siteOf(value('s-prime-unnamed', 8))).toBeNull();
  });

  test('a value below its gate is left out', () => {
    const codes = values(buildTid5200(ECHO, SUBJECT)).map(([code]) => code);
    expect(codes).not.toContain('29438-9');
    expect(codes).toContain('29436-3');
  });

  test('the depth of an effusion has the effusion as its site, not the pericardium', () => {
    const bytes = buildTid5200({ ...ECHO, measurements: [value('effusion-depth', 12)] }, SUBJECT);
    const depth = items(bytes).find(({ name }) => name?.code === '59089-3');
    const sites = depth?.items.filter(({ name }) => name?.code === '363698007') ?? [];
    expect(sites.map(({ value: of }) => of)).toMatchObject([{ code: { code: '373945007' } }]);
  });

  test('TAPSE is exchanged in cm', () => {
    expect(values(buildTid5200(ECHO, SUBJECT))).toContainEqual(['77903-3', 2.1, 'cm']);
  });
});

describe('TID 5300', () => {
  const bytes = buildTid5300(ECHO, SUBJECT);
  const section = (meaning: string) =>
    items(bytes).find(({ name }) => name?.meaning === meaning)?.items ?? [];

  test('is a Simplified Adult Echo SR', () => {
    expect(decode(bytes).header.SOPClassUID).toBe('1.2.840.10008.5.1.4.1.1.88.72');
  });

  test('uses pre-coordinated codes from CID 12300, and the modifiers of TID 5302 for all others', () => {
    const codes = (meaning: string) => section(meaning).map(({ name }) => name?.code);
    expect(codes('Pre-coordinated Measurements')).toEqual(
      expect.arrayContaining(['79991-6', '77903-3', '80070-6']),
    );
    expect(codes('Post-coordinated Measurements')).toEqual(['18154-5', '29436-3', '399023006']);
  });

  const modifiersOf = (key: ConceptKey) =>
    (postCoordination(key) ?? []).map((one) => [
      one.name?.code,
      one.value.type === 'CODE' ? one.value.code.code : null,
    ]);

  test.each([
    ['lvef-networks', '70822001'],
    ['rvsp', '125329'],
    ['ra-pressure', '6797001'],
    ['ivc-collapse', '81827009'],
    ['effusion-depth', '59089-3'],
    ['e-to-e-prime', '20355-4'],
    ['velocity-index', '20354-7'],
    ['tapse-to-spap', '125327'],
    ['rv-to-lv', '81827009'],
  ] as const)('contains %s as the property %s of its site', (key, property) => {
    expect(modifiersOf(key)).toContainEqual(['125307', property]);
    const bytes = buildTid5300({ ...ECHO, measurements: [value(key, 2)] }, SUBJECT);
    expect(values(bytes)).toHaveLength(1);
    expect(checkTemplate(decode(bytes))).toEqual([]);
  });

  test('states what every ratio and index is divided by, and only for those', () => {
    for (const key of echoKeys) {
      const modifiers = new Map(modifiersOf(key) as [string, string][]);
      const divided = ['118586006', '125313'].includes(modifiers.get('125306') ?? '');
      expect([key, modifiers.has('125308')]).toEqual([key, divided]);
    }
  });

  test('has the valve area index by peak velocity under its code of CID 12300', () => {
    const bytes = buildTid5300(
      { ...ECHO, measurements: [value('av-area-vmax-index', 0.5)] },
      SUBJECT,
    );
    expect(items(bytes).map(({ name }) => name?.code)).toContain('79957-7');
  });

  test('has no property for a wall motion score index', () => {
    expect(postCoordination('wall-motion-score-index')).toBeNull();
  });

  test('selects exactly one of two values with the same code', () => {
    const waves = section('Pre-coordinated Measurements').filter(
      ({ name }) => name?.code === '80070-6',
    );
    const selected = waves.filter((wave) => wave.items.some(({ name }) => name?.code === '121404'));
    expect([waves.length, selected.length]).toEqual([2, 1]);
  });

  test('states the image and the frame of a caliper', () => {
    const [first] = section('Post-coordinated Measurements');
    const caliper = first?.items.find(({ value: { type } }) => type === 'SCOORD');
    expect(caliper?.items[0]?.value).toMatchObject({
      image: { sopInstanceUid: '2.25.2002', frame: 3 },
    });
  });

  test.each([
    ['79909-8', true],
    ['80091-2', true],
    ['79908-0', false],
    ['80092-0', false],
    ['77903-3', true],
    ['18154-5', false],
  ])('LOINC %s is of CID 12300: %s', (code, core) => {
    expect(isCoreEchoCode({ scheme: 'LN', code, meaning: '' })).toBe(core);
  });

  test.each([
    ['130685', false],
    ['130686', true],
    ['130698', true],
    ['130699', false],
  ])('DCM %s is of CID 12300: %s', (code, core) => {
    expect(isCoreEchoCode({ scheme: 'DCM', code, meaning: '' })).toBe(core);
  });
});
