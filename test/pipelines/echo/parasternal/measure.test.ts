import { describe, expect, it } from 'vitest';
import { longAxisValues } from '../../../../pipelines/echo/parasternal/measure.ts';
import { fluidFinding } from '../../../../pipelines/echo/pericardial-effusion/measure.ts';
import { withDecisions } from '../../../../pipelines/result/measured.ts';
import { notesOf } from '../rendered.ts';
import { parasternalClip as clip } from './parasternal-sample.ts';

describe('the lines of a parasternal long axis', () => {
  const values = longAxisValues({ clips: [clip('PLAX', null)] });
  it.each([
    ['ivsd', 0.9],
    ['lvidd', 5],
    ['lvpwd', 1],
    ['lvids', 3],
    ['la-diameter', 3.5],
  ])('%s is %d cm, with its caliper', (key, expected) => {
    const value = values.find(({ concept }) => concept.key === key);
    expect(value?.value).toBeCloseTo(expected, 1);
    expect(value?.source.calipers[0]?.type).toBe('line');
  });
  it('are measured on one beat, and not called a mean', () => {
    expect(values.map(({ derivation }) => derivation)).toEqual(Array(5).fill('measured'));
    expect(notesOf(values)).toEqual(Array(5).fill('from one beat'));
  });
  it('state an irregular rhythm and that fewer than 5 beats were averaged (echo 0.4)', () => {
    const irregular = { ...clip('PLAX', null), rWaves: [0, 0.9, 1.5] };
    expect(notesOf(longAxisValues({ clips: [irregular] }))[0]).toBe(
      'Irregular RR intervals: values averaged over 1 beat, fewer than the 5 recommended',
    );
  });
  it('are not measured without a scale', () => {
    expect(longAxisValues({ clips: [{ ...clip('PLAX', 8), scale: null }] })).toEqual([]);
  });
});

describe('fluid outside the heart', () => {
  it('is seen if two clips show it; the greatest depth is reported but not used', () => {
    const { depth, seen } = fluidFinding({ clips: [clip('PLAX', 8), clip('PSAX', 12)] });
    expect(seen).toEqual(['PLAX', 'PSAX']);
    expect(depth).toMatchObject({ quality: 'low', source: { file: 'PSAX.dcm' } });
    expect(depth?.derivation).toBe('measured');
    expect(depth?.value).toBeCloseTo(12, 6);
  });
  it('in only one clip is not reported as seen', () => {
    expect(fluidFinding({ clips: [clip('PLAX', 8), clip('PSAX', null)] }).seen).toEqual([]);
  });
  it.each([
    ['shallower than 3 mm', 2.9, 1],
    ['in half of the frames', 8, 0.5],
  ])('%s is not an effusion', (_, depth, shown) => {
    const clips = [clip('PLAX', depth, shown), clip('PSAX', depth, shown)];
    expect(fluidFinding({ clips }).depth).toBeNull();
  });
  it('is used once a person has measured it', () => {
    const { depth, ofOutline } = withDecisions(
      {
        decide: (one) => ({ ...one, value: 9, quality: 'accepted', confirmed: 'entered' }),
        typed: () => null,
      },
      () => fluidFinding({ clips: [clip('PLAX', 8), clip('PSAX', 12)] }),
    );
    expect(depth).toMatchObject({ value: 9, quality: 'accepted' });
    expect(ofOutline).toBe(true);
  });
  it('behind the posterior wall has a depth that is used, if another clip shows fluid too', () => {
    const clips = [clip('PLAX', 30, 1, 11), clip('PSAX', 12)];
    const { depth, seen } = fluidFinding({ clips });
    expect(seen).toEqual(['PLAX', 'PSAX']);
    expect(depth).toMatchObject({ quality: 'accepted', source: { file: 'PLAX.dcm' } });
    expect(depth?.value).toBeCloseTo(11, 6);
  });
  it('has the deepest outline reported next to the depth behind the posterior wall', () => {
    const clips = [clip('PLAX', null, 1, 6), clip('subcostal', 22)];
    const { depth, outlined } = fluidFinding({ clips });
    expect(depth?.value).toBeCloseTo(6, 6);
    expect(outlined?.family).toBe('subcostal');
    expect(outlined?.depth).toBeCloseTo(22, 6);
  });
  it('is seen on the PLAX picture even if the outlines miss it', () => {
    expect(fluidFinding({ clips: [clip('PLAX', null, 1, 5), clip('PSAX', 6)] }).seen).toEqual([
      'PLAX',
      'PSAX',
    ]);
  });
  it.each([
    ['in one clip alone', [clip('PLAX', 8, 1, 8), clip('PSAX', null)]],
    ['in half of the frames', [clip('PLAX', null, 0.5, 8), clip('PSAX', 8)]],
  ])('%s has no usable depth', (_, clips) => {
    expect(fluidFinding({ clips }).depth?.quality).toBe('low');
  });
  it('lists what was searched, which distinguishes "not seen" from "not looked at"', () => {
    expect(fluidFinding({ clips: [clip('PLAX', null)] }).searched).toEqual(['PLAX']);
    expect(fluidFinding({ clips: null }).searched).toEqual([]);
  });
});
