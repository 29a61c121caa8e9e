import { describe, expect, it } from 'vitest';
import { criteria2016B } from '../../../../pipelines/echo/diastolic/guideline-2016.ts';
import {
  criteria2025,
  fibrillationMarkers,
  presence2025,
  supplementalSigns2025,
} from '../../../../pipelines/echo/diastolic/guideline-2025.ts';
import { DIASTOLIC_SENTENCES } from '../../../../pipelines/result/render/echo/diastolic.ts';

const NONE_2025 = {
  septal: null,
  lateral: null,
  early: null,
  ratio: null,
  jet: null,
  systolicPressure: null,
  atrialIndex: null,
  veinRatio: null,
  reservoirStrain: null,
  relaxationTime: null,
};

describe('presence of dysfunction by ASE 2025, apart from LA pressure (echo 10.5)', () => {
  // E/e' is 10 for both values.
  const reduced = { septal: 6, lateral: 8, early: 70 };
  const preserved = { septal: 8, lateral: 10, early: 90 };
  const negative = { reservoirStrain: 19, ratio: 0.81, atrialIndex: 34 };
  it.each([
    ["reduced e' and no sign", { ...reduced, ...negative }, 'no-dysfunction'],
    ["reduced e' and LARS 18", { ...reduced, ...negative, reservoirStrain: 18 }, 'dysfunction'],
    ["reduced e' and E/A 0.8", { ...reduced, ...negative, ratio: 0.8 }, 'dysfunction'],
    ["reduced e' and E/A 1.99", { ...reduced, ...negative, ratio: 1.99 }, 'no-dysfunction'],
    ["reduced e' and E/A 2", { ...reduced, ...negative, ratio: 2 }, 'dysfunction'],
    ["reduced e' and LAVi 35", { ...reduced, ...negative, atrialIndex: 35 }, 'dysfunction'],
    ["reduced e' and E/e' 14", { ...reduced, ...negative, early: 98 }, 'dysfunction'],
    ["preserved e' and one sign", { ...preserved, ...negative, ratio: 2 }, 'no-dysfunction'],
    [
      "preserved e' and two signs",
      { ...preserved, ...negative, ratio: 2, atrialIndex: 35 },
      'dysfunction',
    ],
    [
      "preserved e' and one sign, another not measured",
      { ...preserved, ...negative, ratio: 2, reservoirStrain: null },
      'indeterminate',
    ],
    [
      "preserved e' and no sign, one not measured",
      { ...preserved, ...negative, reservoirStrain: null },
      'no-dysfunction',
    ],
    [
      "reduced e' and no sign, one not measured",
      { ...reduced, ...negative, reservoirStrain: null },
      'indeterminate',
    ],
    ["no e'", { ...negative, ratio: 2, atrialIndex: 40 }, 'insufficient-data'],
  ])('%s', (_, given, expected) => {
    expect(presence2025({ ...NONE_2025, ...given })).toBe(expected);
  });
});

describe('supplemental signs of ASE 2025', () => {
  const met = (regurgitationEnd: number | null, diastolicPressure: number | null) =>
    supplementalSigns2025({ regurgitationEnd, diastolicPressure }).map((one) => one.met);
  it('are inclusive, and unknown where not measured', () => {
    expect(met(2, 16)).toEqual([true, true]);
    expect(met(1.94, 15.4)).toEqual([false, false]);
    expect(met(null, null)).toEqual([null, null]);
  });
});

describe('the criteria that are named with a grade (echo 10.7)', () => {
  const named = (criteria: readonly { name: string }[]) => criteria.map(({ name }) => name);
  const PRESSURE = ['average-ratio-above-14', 'tr-above-2.8', 'lavi-above-34'];
  const b = (given: object) =>
    named(
      criteria2016B({
        averageRatio: null,
        septalRatio: null,
        lateralRatio: null,
        septal: null,
        lateral: null,
        jet: null,
        atrialIndex: null,
        ratio: null,
        early: null,
        veinRatio: null,
        reducedEf: false,
        ...given,
      }),
    );

  it('of algorithm B are those of the steps that it came to', () => {
    expect(b({ ratio: 2, early: 90 })).toEqual(['e-to-a-from-2']);
    expect(b({ ratio: 0.8, early: 50 })).toEqual(['e-to-a-from-2', 'e-to-a-to-0.8-and-e-to-50']);
    expect(b({ ratio: 0.8, early: 51 })).toEqual([
      'e-to-a-from-2',
      'e-to-a-to-0.8-and-e-to-50',
      ...PRESSURE,
    ]);
  });
  it('include S/D only where the EF is reduced and one of two criteria is positive', () => {
    const open = { ratio: 1.2, early: 90, averageRatio: 15, atrialIndex: 30 };
    expect(b({ ...open, reducedEf: true })).toContain('vein-ratio-below-1');
    expect(b(open)).not.toContain('vein-ratio-below-1');
    expect(b({ ...open, reducedEf: true, jet: 2.9 })).not.toContain('vein-ratio-below-1');
  });
  it('of 2025 include step 2 and E/A only where they decided', () => {
    const of = (given: object) => named(criteria2025({ ...NONE_2025, ...given }));
    const healthy = { septal: 8, lateral: 11, early: 70, jet: 2.4 };
    expect(of(healthy)).toEqual(['reduced-e-prime', 'raised-ratio', 'raised-tr-or-pasp']);
    expect(of({ septal: 6, lateral: 9, early: 60, jet: 2.5, ratio: 0.8 })).toContain(
      'e-to-a-to-0.8',
    );
    const raised = of({ ...healthy, jet: 2.8, atrialIndex: 35, ratio: 1 });
    expect(raised).toEqual(expect.arrayContaining(['lavi-above-34', 'e-to-a-from-2']));
  });
  it('of atrial fibrillation include LARS and S/D only beside exactly two positive ones', () => {
    const inputs = {
      early: 100,
      septalRatio: 11,
      jet: 2.8,
      systolicPressure: null,
      deceleration: 160,
      reservoirStrain: null,
      veinRatio: 0.9,
    };
    expect(fibrillationMarkers(inputs)).toEqual([
      { name: 'lars-below-18', met: null },
      { name: 'vein-ratio-below-1', met: true },
    ]);
    expect(fibrillationMarkers({ ...inputs, early: 99 })).toEqual([]);
    expect(fibrillationMarkers({ ...inputs, jet: 2.9 })).toEqual([]);
  });
  it('are worded by their outcome', () => {
    const criteria = [
      { name: 'padp-from-16', met: true },
      { name: 'dt-to-160', met: false },
      { name: 'ivrt-to-70', met: null },
      { name: 'reduced-e-prime', met: true },
    ] as const;
    expect(DIASTOLIC_SENTENCES['diastolic.supplemental']({ criteria })).toContain(
      "(met: PADP >= 16 mmHg, reduced e'; not met: DT <= 160 ms; not available: IVRT <= 70 ms)",
    );
  });
});
