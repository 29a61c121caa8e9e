import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import { withConsistency } from '../../../../pipelines/echo/shared/consistency.ts';
import { PLAUSIBLE, withPlausibility } from '../../../../pipelines/echo/shared/plausibility.ts';
import { NO_FRAME } from '../../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { noteOf } from '../rendered.ts';

const judged = (key: EchoConcept, value: number, provenance: 'cart-sr' | 'model' = 'model') =>
  withPlausibility(
    createMeasurement(`${key}-${provenance}`, key, value, 'spectral-trace', {
      section: 'valves',
      source: { ...NO_FRAME, provenance },
    }),
    key,
  );

it.each([
  ['tr-vmax', 1.49, 'inadequate'],
  ['tr-vmax', 1.5, 'accepted'],
  ['mitral-a-duration', 250, 'accepted'],
  ['mitral-a-duration', 251, 'inadequate'],
  ['ivsd', 0.37, 'inadequate'],
  ['ivsd', 0.5, 'accepted'],
  // A massive septum (echo 14.1).
  ['ivsd', 4.4, 'accepted'],
  ['ivsd', 5.1, 'inadequate'],
  ['rv-fac', 5, 'inadequate'],
  ['rv-fac', 5.1, 'accepted'],
  ['rv-ed-area', 0.07, 'inadequate'],
  // A difference of two stroke volumes, which may be negative, is no regurgitation.
  ['mr-fraction', -20, 'inadequate'],
  ['ar-volume', -15, 'inadequate'],
  ['ar-orifice', 0, 'inadequate'],
  ['mr-fraction', 101, 'inadequate'],
  // Values in another unit.
  ['mv-area-planimetry', 0.02, 'inadequate'],
  ['mv-half-time', 2200, 'inadequate'],
  ['lvot-gradient-rest', 251, 'inadequate'],
  ['lvot-gradient-rest', 250, 'accepted'],
] as const)('%s of %d is %s', (key: EchoConcept, value, quality) => {
  expect(judged(key, value).quality).toBe(quality);
});

const RANGES = Object.entries(PLAUSIBLE) as [EchoConcept, readonly [number, number]][];

it.each(RANGES)('%s is accepted from %j up to the end, and withheld beyond', (key, [low, high]) => {
  const step = 1e-6 * Math.max(1, Math.abs(high));
  const quality = (value: number) => judged(key, value).quality;
  expect([low - step, low, high, high + step].map(quality)).toEqual([
    'inadequate',
    'accepted',
    'accepted',
    'inadequate',
  ]);
});

describe('a value derived from an implausible one', () => {
  const rest = (given: Readonly<Partial<Record<EchoConcept, number>>>, of?: 'cart-sr' | 'model') =>
    withConsistency(
      Object.entries(given).map(([key, value]) => judged(key as EchoConcept, value, of)),
    );
  const accepted = (...of: Parameters<typeof rest>) =>
    rest(...of)
      .filter(({ quality }) => quality === 'accepted')
      .map(({ concept }) => concept.key);

  it.each([
    [
      'RVSP and TAPSE/sPAP on a jet of 1.2 m/s',
      { 'tr-vmax': 1.2, rvsp: 20, 'tapse-to-spap': 1 },
      [],
    ],
    [
      'LV mass on a septum of 4 mm',
      { ivsd: 0.4, lvidd: 5, lvpwd: 1, 'lv-mass': 150 },
      ['lvidd', 'lvpwd'],
    ],
    ['FAC on an RV of 0.07 cm²', { 'rv-ed-area': 0.07, 'rv-fac': 40 }, []],
    [
      'volumes, LVEF and strain on an LV of 4.9 cm',
      {
        'lv-length-4c': 4.9,
        'lvedv-4c': 100,
        'lvesv-4c': 40,
        'lvef-networks': 60,
        'gls-end-systolic-4c': -18,
      },
      [],
    ],
    [
      'the biplane LVEF, over the volumes',
      { 'lv-length-4c': 4.9, 'lvedv-biplane': 100, 'lvef-biplane': 60 },
      [],
    ],
    [
      'the LA volume index on an LA of 5 cm²',
      { 'la-area-4c': 5, 'la-volume-biplane': 40, 'la-volume-index': 22 },
      [],
    ],
    ['MVA on a half-time of 0 ms', { 'mv-half-time': 0, 'mv-area-half-time': 2 }, []],
    [
      'RA pressure and RVSP on an IVC of 60 mm',
      { 'ivc-diameter': 60, 'ra-pressure': 15, 'tr-vmax': 3, rvsp: 51 },
      ['tr-vmax'],
    ],
    ['GLS on one view of -40 %', { 'gls-end-systolic-4c': -40, 'gls-end-systolic': -22 }, []],
    [
      "E/e' on an E of 5 cm/s",
      { 'mitral-e': 5, 'e-prime-septal': 8, 'e-to-e-prime-septal': 6 },
      ['e-prime-septal'],
    ],
  ] as const)('is withheld: %s', (_, given, left) => {
    expect(accepted(given)).toEqual(left);
    expect(accepted(given, 'cart-sr')).toEqual(left);
  });

  it('is withheld with the reason', () => {
    const [, pressure] = rest({ 'tr-vmax': 1.2, rvsp: 20 });
    expect(noteOf(pressure)).toContain('based on TR peak velocity, which was withheld');
  });

  it('of the machine is kept if only the images are implausible', () => {
    const measured = withConsistency([judged('tr-vmax', 1.2), judged('rvsp', 30, 'cart-sr')]);
    expect(measured.map(({ quality }) => quality)).toEqual(['inadequate', 'accepted']);
  });

  it('is kept if another value of the same quantity is plausible', () => {
    const one = judged('tr-vmax', 2.5);
    const measured = withConsistency([
      judged('tr-vmax', 1.2),
      { ...one, id: 'second' },
      judged('rvsp', 30),
    ]);
    expect(measured.map(({ quality }) => quality)).toEqual(['inadequate', 'accepted', 'accepted']);
  });
});
