import { describe, expect, it } from 'vitest';
import type { ParasternalClip } from '../../../../pipelines/echo/parasternal/clip.ts';
import { longAxisValues } from '../../../../pipelines/echo/parasternal/measure.ts';
import { fluidFinding } from '../../../../pipelines/echo/pericardial-effusion/measure.ts';
import { interpreted } from '../interpret-sample.ts';
import { parasternalClip } from '../parasternal/parasternal-sample.ts';

const ID = 'pericardial-effusion';

/** Returns the result if the operator measured this depth on the machine. */
const measured = (depth: number, given: Parameters<typeof interpreted>[0] = {}) =>
  interpreted({ ...given, 'effusion-depth': depth });

/** Returns the result if these parasternal and subcostal clips were read. */
function imaged(...clips: ParasternalClip[]) {
  const parasternal = { clips };
  const { depth } = fluidFinding(parasternal);
  return interpreted(
    {},
    'model',
    {},
    {
      measured: [...longAxisValues(parasternal), ...(depth ? [depth] : [])],
      views: { apical: { clips: null, volumesTrusted: false }, parasternal },
    },
  );
}

/**
 * Returns a PLAX clip with a space of `gap` mm behind the posterior wall, whose outline is by
 * default just as deep.
 */
const plax = (gap: number | null, outlined: number | null = gap) =>
  parasternalClip('PLAX', outlined, 1, gap);

describe('signs of tamponade', () => {
  it.each([
    ['nothing else', {}, 'tamponade signs not assessed'],
    [
      'an IVC that collapses',
      { 'ivc-diameter': 18, 'ivc-collapse': 60 },
      'tamponade signs not assessed',
    ],
    [
      'a wide IVC that does not',
      { 'ivc-diameter': 22, 'ivc-collapse': 49 },
      'raised RA pressure; tamponade not excluded',
    ],
  ])('of an effusion with %s: no chamber was examined', (_, given, expected) => {
    const { category, result, summary } = measured(15, given);
    expect(category('tamponade-signs')?.value).toBe(expected);
    expect(summary(ID)).toContain(`. ${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`);
    expect(JSON.stringify(result)).not.toContain('no echo sign');
  });
  it('need an IVC whose collapse is not exactly at the limit', () => {
    const { category, summary } = measured(15, { 'ivc-diameter': 22, 'ivc-collapse': 50 });
    expect(category('tamponade-signs')?.value).toBe('tamponade signs not assessed');
    expect(summary(ID)).toContain('IVC plethora is neither confirmed nor excluded');
    expect(summary(ID)).toContain('at the limit of 50 %');
  });
  it('are not mentioned where the operator measured no effusion', () => {
    expect(measured(0).summary(ID)).toBe('effusion 0 mm. Pericardial effusion: none.');
  });
  it('follow a convention of the project, and the size follows the societies', () => {
    const { category } = measured(15);
    expect(category('tamponade-signs')?.scheme).not.toMatch(/ASE|ESC/);
    expect(category('effusion-size')?.scheme).toBe('ASE 2013, ESC 2015');
  });
  it('are not mentioned as reassurance in a critical finding', () => {
    expect(measured(21).finding(ID)).toMatchObject({
      severity: 'critical',
      text: 'effusion 21 mm: large pericardial effusion; tamponade signs not assessed.',
    });
    expect(measured(20).finding(ID)?.severity).toBe('abnormal');
  });
});

describe('the depth behind the posterior wall', () => {
  it('determines the grade if no outline has a higher one, and its place is stated', () => {
    const { category, summary } = imaged(plax(6), parasternalClip('subcostal', 13));
    expect(category('effusion-size')?.value).toBe('small');
    expect(summary(ID)).toContain('small, by its depth behind the posterior wall');
  });
  it('does not determine the grade if an outline at another place has a higher one', () => {
    const { category, section, finding } = imaged(plax(6), parasternalClip('subcostal', 22));
    expect(category('effusion-size')).toBeUndefined();
    expect(section(ID)).toMatchObject({ status: 'partial' });
    expect(section(ID)?.summary).toContain(
      'at least 6 mm behind the posterior wall; deeper in the subcostal view, to be measured there',
    );
    expect(finding(ID)?.severity).toBe('abnormal');
  });
  it.each([
    [24, 'abnormal'],
    [25, 'critical'],
  ])('with an outline of %d mm in the subcostal view is %s', (outlined, severity) => {
    const { finding } = imaged(plax(6), parasternalClip('subcostal', outlined));
    expect(finding(ID)?.severity).toBe(severity);
  });
  it('determines the grade if the operator measured it, whatever is outlined', () => {
    const parasternal = { clips: [plax(6), parasternalClip('subcostal', 22)] };
    const views = { apical: { clips: null, volumesTrusted: false }, parasternal };
    const { category } = interpreted({ 'effusion-depth': 8 }, 'cart-sr', {}, { views });
    expect(category('effusion-size')?.value).toBe('small');
  });
});

describe('a space that only outlines show', () => {
  it.each([
    [24, 'abnormal'],
    [25, 'critical'],
  ])('%d mm deep is %s, as a possible effusion', (outlined, severity) => {
    const { finding } = imaged(plax(null, 8), parasternalClip('subcostal', outlined));
    expect(finding('possible-effusion')?.severity).toBe(severity);
    expect(finding(ID)).toBeUndefined();
  });
});

describe('a space seen in PLAX alone', () => {
  const second = { ...plax(8), file: 'second.dcm' };
  it('may be pleural, which the finding mentions', () => {
    expect(imaged(plax(8), second).finding(ID)?.text).toContain('posterior (pleural)');
  });
  it('is pericardial if another view shows it too', () => {
    const { finding } = imaged(plax(8), parasternalClip('PSAX', 8));
    expect(finding(ID)?.text).not.toContain('pleural');
  });
});

describe('a child', () => {
  const child = interpreted({ 'effusion-depth': 21 }, 'cart-sr', { age: 17 });
  it('is measured but not graded, and a depth that is large in an adult is reported at once', () => {
    expect(child.result.classifications).toEqual([]);
    expect(child.summary(ID)).toContain('effusion 21 mm');
    expect(child.finding(ID)?.severity).toBe('critical');
    expect(child.finding(ID)?.text).not.toContain('large');
  });
});
