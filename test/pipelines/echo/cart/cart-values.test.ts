import { describe, expect, it } from 'vitest';
import { hasValidCheckDigit } from '../../../../pipelines/concepts/coding.ts';
import { ECHO_CONCEPTS } from '../../../../pipelines/concepts/echo.ts';
import type { CartCode, CartMeasurement } from '../../../../pipelines/contract/study.ts';
import { echoCartValues } from '../../../../pipelines/echo/cart/cart-values.ts';
import { inConceptTable } from '../../../../pipelines/input/cart-sr/values.ts';
import { cartValue } from '../../cart-sample.ts';

const code = (scheme: string, value: string): CartCode => ({ scheme, code: value, meaning: value });
const ln = (value: string) => code('LN', value);
const sct = (value: string) => code('SCT', value);
const dcm = (value: string) => code('DCM', value);

function cart(concept: CartCode, given: Partial<CartMeasurement> = {}): CartMeasurement {
  return cartValue({ concept, value: 1, unit: 'm/s', ...given });
}

const keys = (...values: CartMeasurement[]) => echoCartValues(values).map(({ key }) => key);

const AORTIC = sct('34202007');
const MITRAL = sct('91134007');
const TRICUSPID = sct('46030003');
const FORWARD = sct('263677008');
const INSPIRATION = sct('14910006');
const REGURGITANT = sct('397417004');
const PEAK = ln('11726-7');

describe('the concept of a value of the machine', () => {
  it.each([
    ['a peak at the aortic valve, antegrade', { site: AORTIC, flowDirection: FORWARD }, 'av-vmax'],
    ['a peak at the aortic valve, regurgitant', { site: AORTIC, flowDirection: REGURGITANT }, null],
    ['a peak at the aortic valve, direction not said', { site: AORTIC }, null],
    [
      'a peak at the tricuspid valve, regurgitant',
      { site: TRICUSPID, flowDirection: REGURGITANT },
      'tr-vmax',
    ],
    ['a peak at the tricuspid valve, antegrade', { site: TRICUSPID, flowDirection: FORWARD }, null],
    ['a peak in the outflow tract', { site: sct('13418002') }, 'lvot-vmax'],
    ['a peak without a site', {}, null],
    ['an indexed value', { site: AORTIC, flowDirection: FORWARD, divisor: ln('8277-6') }, null],
    ['a deviation', { site: AORTIC, flowDirection: FORWARD, derivation: 'other' }, null],
    ['a peak in another kind of unit', { site: AORTIC, flowDirection: FORWARD, unit: 'ms' }, null],
  ] as const)('of %s', (_, given, expected) => expect(keys(cart(PEAK, given))).toEqual([expected]));

  it.each([
    ['E', '59080-2', 'cm/s', sct('91134007'), 'mitral-e'],
    ['A', '59081-0', 'cm/s', sct('91134007'), 'mitral-a'],
    ['E/A', '59104-0', '1', sct('91134007'), 'e-to-a'],
    ['deceleration', '20217-6', 'ms', sct('91134007'), 'deceleration-time'],
    ["E/e' of the septal annulus", '59111-5', '1', sct('399093001'), 'e-to-e-prime-septal'],
    ["E/e' of the lateral annulus", '59111-5', '1', sct('399086000'), 'e-to-e-prime-lateral'],
    ["E/e' of no wall", '59111-5', '1', sct('91134007'), null],
    ['E of no site', '59080-2', 'cm/s', null, null],
  ] as const)('of mitral filling under its general name: %s', (_, loinc, unit, site, expected) => {
    expect(keys(cart(ln(loinc), { unit, site }))).toEqual([expected]);
  });

  it("knows E/e' by its SNOMED CT code too", () => {
    const ratio = cart(sct('399140004'), { unit: '1', site: sct('399093001') });
    expect(keys(ratio)).toEqual(['e-to-e-prime-septal']);
  });

  it.each([
    ['biplane discs', { method: dcm('125207') }, 'lvef-biplane'],
    ['modified Simpson', { method: dcm('125227') }, 'lvef-biplane'],
    ['one plane, A4C', { method: dcm('125208'), imageView: sct('399214001') }, 'lvef-4c'],
    ['one plane, A2C', { method: dcm('125208'), imageView: sct('399232001') }, 'lvef-2c'],
    ['one plane, A3C', { method: dcm('125208'), imageView: sct('399339008') }, 'lvef'],
    ['one plane, view not stated', { method: dcm('125208') }, 'lvef'],
    ['Teichholz', { method: dcm('125209') }, 'lvef-teichholz'],
    ['no method', {}, 'lvef'],
  ])('of LVEF by %s', (_, given, expected) => {
    expect(keys(cart(ln('18043-0'), { unit: '%', ...given }))).toEqual([expected]);
  });

  it('takes a volume for a biplane one only where the method says so', () => {
    const volume = { unit: 'ml', value: 118 };
    expect(keys(cart(ln('18026-5'), volume))).toEqual([null]);
    expect(keys(cart(ln('18026-5'), { ...volume, method: dcm('125207') }))).toEqual([
      'lvedv-biplane',
    ]);
  });

  it.each([
    ['aortic, antegrade', { site: AORTIC, flowDirection: FORWARD }, 'av-area'],
    [
      'aortic, antegrade, by peak velocity',
      { site: AORTIC, flowDirection: FORWARD, method: dcm('125214') },
      'av-area-vmax',
    ],
    [
      'aortic, antegrade, by planimetry: another quantity',
      { site: AORTIC, flowDirection: FORWARD, method: dcm('125220') },
      null,
    ],
    ['aortic, regurgitant', { site: AORTIC, flowDirection: REGURGITANT }, 'ar-orifice'],
    ['aortic, direction not said', { site: AORTIC }, null],
    ['mitral, by half-time', { site: MITRAL, method: dcm('125210') }, 'mv-area-half-time'],
    [
      'mitral, antegrade, by planimetry',
      { site: MITRAL, flowDirection: FORWARD, method: dcm('125220') },
      'mv-area-planimetry',
    ],
    ['mitral, by no method', { site: MITRAL, flowDirection: FORWARD }, null],
    ['mitral, regurgitant', { site: MITRAL, flowDirection: REGURGITANT }, 'mr-orifice'],
  ] as const)('of an orifice area, %s', (_, given, expected) => {
    expect(keys(cart(sct('399367004'), { unit: 'cm2', ...given }))).toEqual([expected]);
  });

  it('distinguishes the regurgitant fraction of the aortic from that of the mitral valve', () => {
    const fraction = (site: CartCode) => cart(sct('399301000'), { site, unit: '%' });
    expect(keys(fraction(AORTIC), fraction(MITRAL), fraction(TRICUSPID))).toEqual([
      'ar-fraction',
      'mr-fraction',
      null,
    ]);
  });

  it.each([
    ['of the effusion', sct('373945007'), 'effusion-depth'],
    ['of the pericardium, which may be its own thickness', sct('76848001'), null],
    ['of no site', null, null],
  ])('takes the thickness %s as %s', (_, site, expected) => {
    const thickness = { concept: ln('59089-3'), site, of: null, derivation: null, divisor: null };
    expect(inConceptTable({ ...thickness, value: 1.2, unit: 'cm' }).key).toBe(expected);
  });

  it('leaves out the depth of an effusion at end-systole', () => {
    const at = (phase: string) =>
      cart(ln('59089-3'), { key: 'effusion-depth', unit: 'mm', phase: sct(phase) });
    expect(keys(at('416190007'), at('416430001'))).toEqual(['effusion-depth']);
  });

  it.each([
    ['nothing', {}, 'ivc-diameter'],
    ['the minimum', { derivation: 'minimum' }, 'ivc-least-diameter'],
    [
      'the maximum, in inspiration',
      { derivation: 'maximum', respiration: INSPIRATION },
      'ivc-diameter',
    ],
    ['inspiration', { respiration: INSPIRATION }, 'ivc-least-diameter'],
    ['expiration', { respiration: sct('58322009') }, 'ivc-diameter'],
  ] as const)('of an IVC diameter that says %s', (_, given, expected) => {
    expect(keys(cart(ln('18006-7'), { unit: 'mm', ...given }))).toEqual([expected]);
  });

  it('distinguishes the septal from the lateral annulus', () => {
    const velocity = (site: string) => cart(sct('399133000'), { site: sct(site), unit: 'cm/s' });
    expect(keys(velocity('399093001'), velocity('399086000'), velocity('87878005'))).toEqual([
      'e-prime-septal',
      'e-prime-lateral',
      null,
    ]);
  });

  it('leaves out what was measured under stress, and keeps what was at rest', () => {
    const at = (stage: string) => cart(ln('79964-3'), { key: 'av-vmax', stage: sct(stage) });
    expect(keys(at('128975004'), at('18139000'))).toEqual(['av-vmax']);
  });

  it('converts to the unit of the concept table', () => {
    const [value] = echoCartValues([
      cart(PEAK, { site: AORTIC, flowDirection: FORWARD, value: 420, unit: 'cm/s' }),
    ]);
    expect(value?.value).toBeCloseTo(4.2, 10);
    expect(value?.unit).toBe('m/s');
  });
});

describe('the codes of echocardiography', () => {
  it('have valid check digits where they are of LOINC', () => {
    const codes = Object.values(ECHO_CONCEPTS).flatMap(({ codings }) =>
      codings.flatMap((coding) => (coding.scheme === 'LN' ? [coding.code] : [])),
    );
    expect(codes.length).toBeGreaterThan(60);
    expect(codes.filter((one) => !hasValidCheckDigit(one))).toEqual([]);
  });
  it('mean one concept each', () => {
    const all = Object.values(ECHO_CONCEPTS).flatMap(({ codings }) => codings.map((c) => c.code));
    expect(new Set(all).size).toBe(all.length);
  });
});
