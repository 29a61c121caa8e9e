import { describe, expect, it } from 'vitest';
import { headerView } from '../../../../pipelines/echo/locate/header-view.ts';
import { familyOf, showsVentricle } from '../../../../pipelines/echo/locate/names.ts';

const coded = (viewCode: string) => headerView({ viewCode, viewName: null });

describe('the view that the header codes', () => {
  it.each([
    ['SCT:399214001', 'A4C', 'A4C'],
    // In RV-focused views the classifier recognizes an A4C, but the LV is not measured on them.
    ['DCM:130681', 'A4C-RV', 'A4C'],
    ['DCM:130682', 'A4C-RV', 'A4C'],
    ['SCT:399139001', 'PLAX', 'PLAX'],
    ['SCT:398998003', 'RV-INFLOW', 'RV inflow'],
    ['SCT:443082005', 'RV-INFLOW', 'RV inflow'],
    ['SCT:399195005', 'RV-OUTFLOW', 'RV outflow'],
    ['SCT:443083000', 'RV-OUTFLOW', 'RV outflow'],
  ] as const)('%s is %s, listed as %s', (code, view, family) => {
    expect(coded(code)).toBe(view);
    expect(familyOf(view)).toBe(family);
  });
  it('is unknown for another code', () => expect(coded('SCT:1')).toBeNull());
});

it.each([
  ['A4C', 'A4C'],
  ['A4C_', 'A4C'],
  ['apical_4_chamber', 'A4C'],
  ['Apical Four-Chamber', 'A4C'],
  ['4-CH', 'A4C'],
  ['AP 2', 'A2C'],
  ['APLAX', 'A3C'],
  ['PSAX', 'PSAX'],
  ['PSAX_PM', 'PSAX-PM'],
  ['PSAX PAP', 'PSAX-PM'],
  ['SAX MID', 'PSAX-PM'],
  ['PSAX AV', 'PSAX-AV'],
  ['PSAX MV', 'PSAX-MV'],
  ['PSAX APEX', 'PSAX-AP'],
  ['Parasternal short axis at the papillary muscles', 'PSAX-PM'],
  ['Parasternal Short Axis, aortic valve level', 'PSAX-AV'],
  ['PSAX AVG', 'PSAX'],
  ['PSAX base', 'PSAX'],
  ['Parasternal/Long.Axis', 'PLAX'],
  ['4 chambers of the fetus', null],
  ['', null],
  [null, null],
] as const)('a view named %s is %s', (viewName, view) => {
  expect(headerView({ viewCode: null, viewName })).toBe(view);
});

it.each([
  ['SUBCOSTAL-4C', true],
  ['SUBCOSTAL-IVC', false],
  ['PSAX-PM', true],
  ['PSAX-AV', false],
] as const)('%s shows the left ventricle: %s', (view, expected) => {
  expect(showsVentricle(view)).toBe(expected);
});
