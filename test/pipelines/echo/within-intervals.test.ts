import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EchoConcept, EchoMethod } from '../../../pipelines/concepts/echo.ts';
import { EVIDENCE, evidenceFor, halfWidth95 } from '../../../pipelines/concepts/method-evidence.ts';
import { SECTIONS } from '../../../pipelines/echo/sections.ts';
import { withPlausibility } from '../../../pipelines/echo/shared/plausibility.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import { isOfMachine, NO_FRAME } from '../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../pipelines/result/measurement.ts';
import { reviewOf, withInterval } from '../../../pipelines/result/needs-review.ts';
import { NOTHING_CONCLUDED } from '../../../pipelines/result/render/report-lines.ts';
import { interpreted } from './interpret-sample.ts';

const MODELS = new Set([
  'echo-chambers-research',
  'echo-ejection-fraction-research',
  'echo-parasternal',
]);

/**
 * For each quantity, our method of measuring it on images, followed by the values of a sick and a
 * healthy heart.
 */
const MEASURED = {
  'lvef-networks': ['mean-of-networks', 10, 75],
  'lvef-4c': ['disc-summation', 10, 75],
  'lvedv-4c': ['disc-summation', 60, 300],
  'lvesv-4c': ['disc-summation', 20, 200],
  'lvedv-biplane': ['biplane-discs', 60, 300],
  'lvesv-biplane': ['biplane-discs', 20, 200],
  ivsd: ['outlined-dimension', 0.6, 2],
  lvidd: ['outlined-dimension', 3.5, 7.5],
  lvpwd: ['outlined-dimension', 0.6, 2],
  lvids: ['outlined-dimension', 2.2, 6.5],
  'la-volume-biplane': ['biplane-discs', 30, 160],
  'la-diameter': ['outlined-dimension', 2.5, 6],
  'rv-ed-area': ['outlined-area', 10, 40],
  'rv-es-area': ['outlined-area', 5, 30],
  'rv-basal': ['outlined-width', 25, 60],
  'rv-to-lv': ['ratio-of-diameters', 0.4, 1.6],
  'rv-to-lv-area': ['ratio-of-areas', 0.3, 1.4],
  'ra-area': ['outlined-area', 10, 35],
  tapse: ['m-mode-trace', 6, 28],
  'rv-s-prime': ['spectral-trace', 5, 16],
  'gls-end-systolic-4c': ['contour-strain', -25, -6],
  'gls-end-systolic-2c': ['contour-strain', -25, -6],
  'gls-end-systolic-3c': ['contour-strain', -25, -6],
  'mitral-e': ['spectral-trace', 30, 140],
  'mitral-a': ['spectral-trace', 25, 110],
  'deceleration-time': ['spectral-trace', 90, 300],
  'e-prime-septal': ['spectral-trace', 3, 14],
  'e-prime-lateral': ['spectral-trace', 4, 18],
  'tr-vmax': ['spectral-trace', 1.6, 4.8],
  'ivc-diameter': ['m-mode-trace', 10, 32],
  'ivc-collapse': ['m-mode-trace', 5, 90],
  'rvot-acceleration': ['spectral-trace', 50, 160],
  'av-vmax': ['spectral-trace', 0.8, 5.8],
  'av-mean-gradient': ['spectral-trace', 3, 75],
  'ar-half-time': ['spectral-trace', 120, 700],
  'mv-half-time': ['spectral-trace', 50, 260],
  'pv-vmax': ['spectral-trace', 0.6, 4.6],
  'effusion-depth': ['echo-free-space', 2, 32],
} as const satisfies Partial<Record<EchoConcept, readonly [EchoMethod, number, number]>>;

type Key = keyof typeof MEASURED;
const KEYS = Object.keys(MEASURED) as Key[];

function onImages(key: Key, value: number): Measurement {
  const section = SECTIONS.find(({ measures }) => measures.some((one) => one === key))?.id;
  const one = createMeasurement(`${key}-outlined`, key, value, MEASURED[key][0], {
    section: section ?? 'lv-size',
    source: { ...NO_FRAME, provenance: 'model' },
  });
  return withInterval(withPlausibility(one, key), MODELS);
}

const SURFACE = createMeasurement('body-surface-area', 'body-surface-area', 1.85, 'du-bois', {
  section: 'lv-size',
  source: { ...NO_FRAME, provenance: 'input' },
});

/** Returns the result for values that were measured on images and that all count. */
const counting = (given: Readonly<Partial<Record<Key, number>>>, sex: 'male' | null = 'male') =>
  interpreted(
    {},
    'model',
    { sex },
    {
      measured: [
        SURFACE,
        ...Object.entries(given).map(([key, value]) => onImages(key as Key, value)),
      ],
    },
  );

const grade = (percent: number) => {
  const { category, summary, finding, result } = counting({ 'lvef-networks': percent });
  return { category, said: summary('lvef'), finding, impression: result.report?.impression };
};

describe('LVEF, of which the error on patients is up to 12.7 points in 95 %', () => {
  it('has a grade if its interval contains no cut-off; values above the normal range are normal', () => {
    expect(EVIDENCE['lvef-networks'].intervals['lvef-networks']).toBe(12.7);
    expect(grade(65).category('lvef-grade')?.value).toBe('normal');
    expect(grade(15).category('lvef-grade')?.value).toBe('severely abnormal');
  });

  it.each([
    // In men, 52 is the lower limit; a value is rounded before it is graded.
    [64.3, 'normal'],
    [64.1, null],
    [58, null],
    [16.7, 'severely abnormal'],
    [16.9, null],
  ])('of %d %% is graded as %s', (percent, expected) => {
    expect(grade(percent).category('lvef-grade')?.value ?? null).toBe(expected);
  });

  it.each([
    [74, 'normal or above normal range', 'LVEF 74 ± 13 % (A4C, two networks), normal or above'],
    [86, 'above normal range', 'LVEF 86 % (A4C, two networks), above the normal range'],
  ])('of %d %% is called %s', (percent, said, line) => {
    const graded = grade(percent);
    expect(graded.said).toContain(`LV systolic function by LVEF: ${said}`);
    expect(graded.impression?.[0]).toContain(line);
    expect(graded.category('lvef-grade')?.value ?? said).toBe(said);
  });

  it('states both sides and its interval', () => {
    const { said, finding, impression } = grade(58);
    expect(impression?.[0]).toContain(
      'LVEF 58 ± 13 % (A4C, two networks), normal or mildly reduced',
    );
    expect(said).toContain(
      'LV systolic function by LVEF: normal or mildly abnormal; LVEF range, if clinical heart failure is present: HFmrEF range or HFpEF range; a cut-off is within the 95 % interval of LVEF 58 ± 13 %.',
    );
    expect(said).not.toContain('LV systolic function by LVEF: normal.');
    expect(finding('lv-dysfunction')).toBeUndefined();
  });

  it('names the normal range once if one end is above it and the other below', () => {
    expect(grade(61).said).toContain('by LVEF: normal or mildly abnormal; LVEF range');
  });

  it('is a finding if it is abnormal on both sides', () => {
    const { finding } = grade(36);
    expect(finding('lv-dysfunction')?.severity).toBe('abnormal');
    expect(finding('lv-dysfunction')?.text).toContain('mildly to severely abnormal;');
  });

  it('is a critical finding below 30 %, which states that it may be less severe', () => {
    const { finding } = grade(27);
    expect(finding('severe-lv-dysfunction')?.severity).toBe('critical');
    expect(finding('severe-lv-dysfunction')?.text).toContain('moderately to severely abnormal');
    expect(grade(30).finding('severe-lv-dysfunction')).toBeUndefined();
  });

  it('of the machine is graded by its value', () => {
    expect(interpreted({ 'lvef-biplane': 58 }).category('lvef-grade')?.value).toBe('normal');
  });

  it('does not contradict another LVEF only at an end of its interval', () => {
    const one = counting({ 'lvef-networks': 66, 'lvedv-biplane': 120, 'lvesv-biplane': 45 });
    expect(one.category('lvef-grade')?.value).toBe('normal');
  });
});

describe('a calculated value', () => {
  it('has the interval of its inputs, as independent errors', () => {
    const { value } = counting({ lvidd: 5, lvpwd: 1 });
    // The terms are approximately 2 x 0.29 / 5 and 2 x 1 x 0.12 / 25.
    expect(value('relative-wall-thickness')?.uncertainty).toBeCloseTo(Math.hypot(0.116, 0.0096), 3);
  });

  it('has the interval that was measured for it, if there is one', () => {
    expect(counting({ 'rv-ed-area': 20, 'rv-es-area': 11 }).value('rv-fac')?.uncertainty).toBe(14);
  });

  it('of the machine has no interval', () => {
    expect(
      interpreted({ lvidd: 5, lvpwd: 1 }).value('relative-wall-thickness')?.uncertainty,
    ).toBeNull();
  });

  it('decides nothing if its own interval contains the cut-off', () => {
    // Walls of 9 mm around a cavity of 50 mm result in an RWT of 0.36 ± 0.12, and the cut-off is
    // 0.42.
    const { category, summary } = counting({ ivsd: 0.9, lvidd: 5, lvpwd: 0.9 });
    expect(category('relative-wall-thickness-grade')).toBeUndefined();
    expect(category('lv-geometry')).toBeUndefined();
    expect(summary('lv-size')).toContain('LV geometry: normal geometry or concentric');
  });
});

describe('a table of criteria', () => {
  it('states both results if one value decides between them', () => {
    const { category, summary } = counting({ 'tr-vmax': 2.9, 'rv-to-lv': 0.6 });
    expect(category('ph-probability')).toBeUndefined();
    expect(summary('pulmonary-hypertension')).toMatch(
      /hypertension: low or intermediate; a cut-off/,
    );
  });

  it('is valid if a criterion at its cut-off does not change it, and marks that criterion', () => {
    const { category } = counting({ 'tr-vmax': 4.4, 'ra-area': 18 });
    expect(category('ph-probability')?.value).toBe('high');
    expect(category('ph-probability')?.criteria.at(-1)).toMatchObject({
      value: null,
      outcome: 'at_cut_off',
      met: false,
    });
  });

  it('is valid if a value at its cut-off is only one more reason for it', () => {
    const walls = { ivsd: 1, lvidd: 6.4, lvpwd: 1.3 };
    const flow = { 'mitral-e': 103, 'mitral-a': 42, 'tr-vmax': 3.2 } as const;
    const { finding } = counting({ ...walls, ...flow, 'e-prime-septal': 4, 'e-prime-lateral': 5 });
    expect(finding('lap-elevated')?.text).toContain('grade III');
    expect(finding('lap-elevated')?.text).not.toContain('normal or abnormal');
  });

  it('says that there is no grade at one end', () => {
    expect(counting({ 'pv-vmax': 3.2 }).summary('valves')).toContain(
      'Pulmonary stenosis by peak velocity: no grade or moderate PS; a cut-off',
    );
  });

  it('states that a value is at its cut-off if it has no category', () => {
    const { finding, summary } = counting({ 'ra-area': 19 });
    expect(finding('ra-enlarged')).toBeUndefined();
    expect(summary('pulmonary-hypertension')).toContain(
      'RA area 19.0 ± 3.9 cm²: normal or abnormal',
    );
    expect(counting({ 'ra-area': 22 }).finding('ra-enlarged')?.severity).toBe('abnormal');
  });
});

/** Generates up to a dozen values of a healthy or sick heart. */
const PHYSIOLOGICAL = fc
  .subarray([...KEYS], { maxLength: 12 })
  .chain((keys) =>
    fc.tuple(
      ...keys.map((key) => {
        const [, min, max] = MEASURED[key];
        return fc.double({ min, max, noNaN: true }).map((value) => [key, value] as const);
      }),
    ),
  )
  .map((given): Partial<Record<Key, number>> => Object.fromEntries(given));

describe('any study', () => {
  it('has an interval for every quantity that is measured on images', () => {
    for (const key of KEYS) {
      const evidence = evidenceFor(MEASURED[key][0], key, MODELS);
      expect([key, evidence && halfWidth95(evidence, key, 1)]).not.toEqual([key, null]);
    }
  });

  it('keeps its categories when one value moves within its interval', () => {
    fc.assert(
      fc.property(
        PHYSIOLOGICAL,
        fc.nat(),
        fc.double({ min: -0.999, max: 0.999, noNaN: true }),
        (given, chosen, share) => {
          const keys = Object.keys(given) as Key[];
          const key = keys[chosen % keys.length];
          const value = key && given[key];
          if (!key || value === undefined) return;
          const half = onImages(key, value).uncertainty ?? 0;
          const moved = value + share * half;
          const before = counting(given);
          // Implausible values are withheld and therefore affect the conclusions differently.
          if (onImages(key, moved).quality !== 'accepted') return;
          const own = before.result.classifications.filter(({ section }) => ONE_VALUE.has(section));
          const point = interpreted(
            {},
            'model',
            {},
            {
              measured: [
                SURFACE,
                ...Object.entries(given).map(([name, one]) => ({
                  ...onImages(name as Key, name === key ? moved : one),
                  uncertainty: null,
                })),
              ],
            },
          );
          for (const { id, value: category } of own) {
            const other = point.category(id)?.value;
            expect([id, bandOf(other)]).toEqual([id, bandOf(category)]);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('bases no category, finding or line of the impression on a value under review', () => {
    fc.assert(
      fc.property(
        PHYSIOLOGICAL,
        fc.subarray([...KEYS]),
        fc.record(
          { 'av-vmax': fc.double({ min: 1, max: 5.5, noNaN: true }) },
          { requiredKeys: [] },
        ),
        (given, accepted, machine) => {
          const setting = { accept: 'real', gaDays: null, models: MODELS } as const;
          const ours = Object.entries(given).map(([key, value]) => onImages(key as Key, value));
          const ofMachine = Object.entries(machine).map(([key, value]) =>
            createMeasurement(`cart-${key}`, key as EchoConcept, value, 'cart-sr', {
              section: 'valves',
              source: { ...NO_FRAME, provenance: 'cart-sr' },
            }),
          );
          // Any subset of the methods may have been validated on patients.
          const counts = (one: Measurement) =>
            accepted.some((key) => key === one.concept.key) || reviewOf(one, setting) === null;
          const measured = [...ofMachine, ...ours];
          const alone = interpreted(
            {},
            'model',
            {},
            { measured: measured.filter((one) => isOfMachine(one) || counts(one)) },
          );
          const { result } = interpreted(
            {},
            'model',
            {},
            { measured, review: { setting, counting: alone.evidence } },
          );
          const under = new Set(
            result.measurements.filter(({ quality }) => quality === 'review').map(({ id }) => id),
          );
          expect(result.classifications).toEqual(alone.result.classifications);
          expect(result.findings).toEqual(alone.result.findings);
          for (const one of result.findings) {
            expect(one.evidence.filter((id) => under.has(id))).toEqual([]);
            for (const { about } of one.statements ?? []) {
              expect(about.filter((id) => under.has(id))).toEqual([]);
            }
          }
          for (const { statements = [] } of result.sections) {
            const concluded = statements.filter(({ kind }) => kind === 'conclusion');
            for (const { about } of concluded) {
              expect(about.filter((id) => under.has(id))).toEqual([]);
            }
          }
          for (const one of result.measurements.filter(({ id }) => under.has(id))) {
            expect([one.standing, one.interpretation, one.reference]).not.toContain('counts');
            expect(one.interpretation).toBeNull();
          }
          const lines = (of: typeof result) =>
            (of.report?.impression ?? [])
              .map((line) => line.replace(' Assessed in part, see limitations.', ''))
              .filter((line) => line !== NOTHING_CONCLUDED);
          for (const line of lines(result)) expect(lines(alone.result)).toContain(line);
        },
      ),
      { numRuns: 40 },
    );
  });
});

/**
 * Sections in which each category depends on a single value. Tables in other sections depend on
 * several.
 */
const ONE_VALUE: ReadonlySet<string> = new Set(['lvef', 'la-volume', 'pericardial-effusion']);

const bandOf = (value: string | undefined) =>
  value === 'above normal range' || value === 'below normal range' ? 'normal' : value;
