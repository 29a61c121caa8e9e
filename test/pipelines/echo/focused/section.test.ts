import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import type { ClipView } from '../../../../pipelines/echo/locate/reader.ts';
import { NO_FRAME } from '../../../../pipelines/result/measured.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { clipOf } from '../clip-sample.ts';
import { interpreted } from '../interpret-sample.ts';
import { parasternalClip } from '../parasternal/parasternal-sample.ts';

const ID = 'focused';
const REMARK = 'Focused study, not a comprehensive echocardiogram';

type Given = Parameters<typeof interpreted>[0];

const summaryOf = (given: Given, clips: readonly ClipView[] = []) =>
  interpreted(given, 'cart-sr', {}, { clips }).summary(ID);

describe('LV function', () => {
  it('has the ACC bands only if there is no sex-specific grade of the same LVEF', () => {
    const of = (sex: 'male' | null) => interpreted({ 'lvef-3d': 48 }, 'cart-sr', { sex });
    expect(of('male').category('lvef-grade')).toBeDefined();
    expect(of('male').summary(ID)).toContain(
      'LV function on the three-level scale: reduced (LVEF 30 to 49 %); LVEF about 45 %.',
    );
    // An LVEF of 52 % is normal for a man and mildly reduced for a woman.
    const unknown = interpreted({ 'lvef-3d': 52 }, 'cart-sr', { sex: null });
    expect(unknown.category('lvef-grade')).toBeUndefined();
    expect(unknown.summary(ID)).toContain('LVEF about 50 % (normal).');
    expect(of(null).category('lvef-grade')).toMatchObject({ value: 'mildly abnormal' });
    expect(of(null).summary(ID)).toContain('LVEF about 45 %.');
  });
  it('that is normal also states the limit for the sex, by which the LVEF can be graded as reduced', () => {
    const of = (sex: 'male' | 'female' | null) =>
      interpreted({ 'lvef-3d': 51 }, 'cart-sr', { sex });
    expect(of('male').category('lvef-grade')).toMatchObject({ value: 'mildly abnormal' });
    expect(of('male').summary(ID)).toContain(
      'normal (LVEF 50 % or more); LVEF about 50 %. The grade of the LVEF uses another limit: normal from 52 % (male).',
    );
    expect(of('female').summary(ID)).toContain('normal from 54 % (female)');
    expect(of(null).summary(ID)).toContain('normal from 52 % (male) or 54 % (female)');
  });
  it.each([
    ['no focused view', [], 'No focused-view clip shows the LV'],
    ['one', [clipOf('PLAX')], 'Limited, single window.'],
    ['one and a spectrum', [clipOf('PLAX'), clipOf('A4C', 'spectral')], 'Limited, single window.'],
    ['one and the IVC', [clipOf('A4C'), clipOf('SUBCOSTAL-IVC')], 'Limited, single window.'],
  ])('by %s is limited, and the summary states why', (_, clips, expected) => {
    expect(summaryOf({ 'lvef-3d': 60 }, clips)).toContain(expected);
  });
  it('by two windows is not limited', () => {
    const summary = summaryOf({ 'lvef-3d': 60 }, [clipOf('PLAX'), clipOf('SUBCOSTAL-4C')]);
    expect(summary).toContain('Focused views in the upload: PLAX, subcostal');
    expect(summary).not.toMatch(/single window|No focused-view clip/);
  });
});

describe('RV function', () => {
  it.each([
    [16, 'RV function reduced by TAPSE alone: TAPSE 16 mm'],
    [17, 'RV function normal by TAPSE alone: TAPSE 17 mm'],
  ])('with a TAPSE of %d mm', (tapse, expected) => {
    expect(summaryOf({ tapse })).toContain(expected);
  });
  it('without TAPSE is a gap', () => {
    expect(summaryOf({ 'lvef-3d': 60 })).toContain('RV function was not assessed');
  });
});

describe('the IVC', () => {
  it.each([
    [21, 51, 'small, collapsing'],
    [21, 49, 'intermediate'],
    [22, 51, 'intermediate'],
    [22, 49, 'plethoric'],
  ])('of %d mm that collapses by %d %% is %s', (diameter, collapse, expected) => {
    const summary = summaryOf({ 'ivc-diameter': diameter, 'ivc-collapse': collapse });
    expect(summary).toContain(`IVC ${expected}: IVC ${diameter} mm, IVC collapse ${collapse} %`);
  });
  it.each([21, 22])('of %d mm that collapses by exactly 50 % has no class anywhere', (diameter) => {
    const { summary } = interpreted({ 'ivc-diameter': diameter, 'ivc-collapse': 50, 'tr-vmax': 3 });
    expect(summary(ID)).toContain(
      `The IVC was not classified, because its collapse is at the limit of 50 %: IVC ${diameter} mm, IVC collapse 50 %.`,
    );
    expect(summary(ID)).not.toMatch(/plethoric|intermediate|collapsing/);
  });
  it('without its collapse is a gap', () => {
    expect(summaryOf({ 'ivc-diameter': 18, tapse: 20 })).toContain('its collapse was not measured');
  });
});

describe('pericardial effusion', () => {
  it('that was outlined but not measured is possible, and not "not assessed"', () => {
    const clips = [parasternalClip('PLAX', 8), parasternalClip('subcostal', 8)];
    const views = { apical: { clips: null, volumesTrusted: false }, parasternal: { clips } };
    const summary = interpreted({}, 'model', {}, { views }).summary(ID);
    expect(summary).toContain('Pericardial effusion: possible, not measured');
    expect(summary).not.toContain('Pericardial effusion was not assessed');
  });
});

describe('the remark of a focused study (echo 15)', () => {
  const given = { 'lvef-3d': 60, tapse: 20 } as const;
  const of = (handheld: boolean) => interpreted(given, 'cart-sr', {}, { handheld });
  it('is in every section with numbers from a handheld', () => {
    for (const id of ['lvef', 'rv-function', ID]) expect(of(true).summary(id)).toContain(REMARK);
  });
  it('is in no section without them', () => {
    expect(of(true).summary('la-volume')).not.toContain(REMARK);
  });
  it('is absent from a study made with a cart', () => {
    expect(JSON.stringify(of(false).result)).not.toContain(REMARK);
  });
});

it('nothing is concluded for a child', () => {
  const { section } = interpreted({ tapse: 10 }, 'cart-sr', { age: 17 });
  expect(section(ID)).toMatchObject({ status: 'not_assessed' });
});

it('an answer that depends on the interval of its value is called uncertain, not left out', () => {
  const traced = (key: EchoConcept, value: number, uncertainty: number) =>
    createMeasurement(key, key, value, 'm-mode-trace', {
      ...{ section: 'rv-function', uncertainty },
      source: { ...NO_FRAME, provenance: 'image-analysis' },
    });
  const summary = (tapse: number, diameter: number, depth: number) => {
    const measured = [
      traced('tapse', tapse, 2),
      traced('ivc-diameter', diameter, 3),
      traced('ivc-collapse', 70, 5),
      traced('effusion-depth', depth, 3),
    ];
    return interpreted({}, 'model', {}, { measured }).summary(ID);
  };
  expect(summary(17, 21, 10)).toContain(
    'TAPSE 17 ± 2 mm, IVC 21 ± 3 mm, effusion 10 ± 3 mm: the answer is uncertain',
  );
  expect(summary(22, 15, 5)).not.toContain('uncertain');
  expect(summary(22, 15, 5)).toContain('RV function normal by TAPSE alone: TAPSE 22 mm.');
});

describe('the size of the RV', () => {
  it.each([
    ['by areas', { 'rv-to-lv-area': 0.6 }, 'normal'],
    ['by areas', { 'rv-to-lv-area': 0.61 }, 'enlarged'],
    ['by areas', { 'rv-to-lv-area': 1 }, 'enlarged'],
    ['by areas', { 'rv-to-lv-area': 1.01 }, 'severely enlarged'],
    ['by areas before diameters', { 'rv-to-lv-area': 0.65, 'rv-to-lv': 0.8 }, 'enlarged'],
    ['by areas, but wider than the LV', { 'rv-to-lv-area': 0.45, 'rv-to-lv': 1.01 }, 'enlarged'],
    ['by diameters, beside a large LV', { 'rv-to-lv': 0.8, 'rv-basal': 41.4 }, 'normal'],
    ['by diameters, beside a large LV', { 'rv-to-lv': 0.8, 'rv-basal': 41.5 }, 'enlarged'],
    ['by the diameter alone', { 'rv-mid': 36 }, 'enlarged'],
    ['by the diameter alone', { 'rv-mid': 35 }, undefined],
    // A healthy RV has a basal diameter of at least two thirds of the LV's.
    ['by diameters, of a normal heart', { 'rv-to-lv': 0.8 }, 'normal'],
    ['by diameters', { 'rv-to-lv': 1 }, 'normal'],
    ['by diameters', { 'rv-to-lv': 1.01 }, 'enlarged'],
  ])('%s, %o, is %s', (_, given, size) => {
    expect(interpreted(given).category('focused-rv-size')?.value).toBe(size);
  });
  it.each([
    [48, 'enlarged'],
    [45, 'normal'],
  ])('with a diameter of %d ± 5.5 mm is %s, as certain as in rv-function', (basal, size) => {
    const sized = (key: EchoConcept, value: number, uncertainty: number) =>
      createMeasurement(key, key, value, 'outlined-width', {
        ...{ section: 'rv-function', uncertainty },
        source: { ...NO_FRAME, provenance: 'model' },
      });
    const measured = [sized('rv-basal', basal, 5.5), sized('rv-to-lv-area', 0.4, 0.05)];
    const { category, finding } = interpreted({}, 'model', {}, { measured });
    expect(category('focused-rv-size')?.value).toBe(size);
    expect(finding('rv-dilated') !== undefined).toBe(size === 'enlarged');
  });
});
