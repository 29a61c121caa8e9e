import { describe, expect, it } from 'vitest';
import type { ChamberClip } from '../../../../pipelines/echo/chambers/geometry.ts';
import type { EchoEvidence } from '../../../../pipelines/echo/evidence.ts';
import { heartOutlines } from '../../../../pipelines/echo/evidence.ts';
import type { ParasternalClip } from '../../../../pipelines/echo/parasternal/clip.ts';
import { fluidFinding } from '../../../../pipelines/echo/pericardial-effusion/measure.ts';
import { valuesOf } from '../../../../pipelines/echo/shared/values.ts';
import { wallMotion } from '../../../../pipelines/echo/wall-motion/section.ts';
import { measuredStudy } from '../measured-study.ts';
import { rendered } from '../rendered.ts';
import { beatingClip, HEALTHY, shortAxisBeat, shortAxisClip } from '../ventricle-sample.ts';

function said(
  clips: readonly ChamberClip[],
  shortAxes: readonly ParasternalClip[] = [],
  trusted = true,
  age = 60,
) {
  const views = {
    apical: { clips, volumesTrusted: trusted },
    parasternal: { clips: shortAxes },
  };
  const evidence: EchoEvidence = {
    study: { clips: [], refused: [], files: 1, series: 1 },
    patient: { sex: 'male', age, height: 175, weight: 70, surface: 1.85, childSized: false },
    measured: [],
    spectra: [],
    clips: [],
    views,
    heart: heartOutlines(views.apical, views.parasternal),
    fluid: fluidFinding(views.parasternal),
    performanceMethod: null,
    handheld: false,
    priors: [],
  };
  return rendered(wallMotion.run(evidence, valuesOf([])));
}

/** The wall on the left of the picture neither thickens nor moves inwards. */
const STILL_LEFT = {
  diastole: HEALTHY.diastole,
  systole: { base: 30, length: 74, wall: 13, leftShare: 50 / 30, leftWall: HEALTHY.diastole.wall },
};
const WEAK = { diastole: HEALTHY.diastole, systole: { base: 45, length: 88, wall: 9 } };

describe('the section of wall motion on outlines', () => {
  it('three apical views that contract everywhere: complete, score index 1.00', () => {
    const views = ['A4C', 'A2C', 'A3C'] as const;
    const found = said(views.map((view) => beatingClip(view, HEALTHY)));
    expect(found.status).toBe('complete');
    expect(found.measurements?.map(({ value }) => value)).toEqual([1]);
    expect(found.summary).toContain('16 of 16 segments were graded');
    expect(found.summary).toContain('A segment with mildly reduced motion may be graded normal');
  });
  it('lists the 17 segments, the apex without a score (ASE 2015)', () => {
    const views = ['A4C', 'A2C', 'A3C'] as const;
    const { data, summary } = said(views.map((view) => beatingClip(view, HEALTHY)));
    expect(data).toMatchObject({ model: '17 segments' });
    const segments = data?.segments as { name: string; score: number | null }[];
    expect(segments).toHaveLength(17);
    expect(segments.filter(({ score }) => score === null).map(({ name }) => name)).toEqual([
      'apex',
    ]);
    expect(summary).toContain('the apex is not graded');
  });
  it('a wall that a short axis shows too: abnormal in two views, and reported', () => {
    const found = said([beatingClip('A4C', STILL_LEFT)], [shortAxisClip(9)]);
    expect(found.summary).toMatch(/Abnormal in two views: mid inferoseptal (hypo|a)kinetic/);
    expect(found.findings?.map(({ severity }) => severity)).toContain('abnormal');
  });
  it('a wall that one view shows: suspected, no abnormal finding, no index', () => {
    const found = said([beatingClip('A4C', STILL_LEFT)]);
    expect(found.summary).toContain('Suspected in one view, to be confirmed in a second');
    expect(found.findings?.map(({ severity }) => severity)).toEqual(['info']);
    expect(found.measurements).toEqual([]);
  });
  it('walls that move nowhere: none graded, with the reason', () => {
    const found = said([beatingClip('A4C', WEAK)]);
    expect(found.status).toBe('not_assessed');
    expect(found.summary).toContain('No segment could be graded');
    expect(found.summary).not.toContain('graded normal');
  });
  it('no model that was shown to follow the muscle: not graded', () => {
    const found = said([beatingClip('A4C', HEALTHY)], [], false);
    expect(found.status).toBe('not_assessed');
    expect(found.summary).toContain('no permitted model has been shown to track the myocardium');
  });
});

/** The left wall of an A4C thins and moves outwards, and both networks agree on an LVEF of 32 %. */
const BULGING_LEFT = beatingClip(
  'A4C',
  {
    diastole: HEALTHY.diastole,
    systole: { base: 36, length: 80, wall: 13, leftShare: 64 / 36, leftWall: 6 },
  },
  {
    ejections: [
      {
        accepted: true,
        confidence: 0.9,
        percent: 32,
        diastole: 0,
        systole: 18,
      },
    ],
  },
);

/**
 * The middle segment of the same wall in a short axis. It moves outwards and thins, whereas the
 * others move inwards.
 */
const BULGING_AXIS = shortAxisBeat('PSAX-PM', (squeeze) => ({
  septum: 180,
  rays: Array.from({ length: 72 }, (_, i) => {
    const angle = 5 * i;
    const share = Math.abs(angle - 210) <= 30 ? -0.6 * squeeze : squeeze;
    return { angle, radius: 25 * (1 - 0.35 * share), thickness: 9 * (1 + 0.5 * share) };
  }),
}));

describe('a wall that thins and moves outwards', () => {
  it('is dyskinetic if two views agree', () => {
    const found = said([BULGING_LEFT], [BULGING_AXIS]);
    expect(found.summary).toContain('Abnormal in two views: mid inferoseptal dyskinetic');
  });
  it('has the milder of both grades if the other view shows it standing still', () => {
    const found = said([BULGING_LEFT], [shortAxisClip(9)]);
    expect(found.summary).toMatch(/Abnormal in two views: mid inferoseptal akinetic/);
  });
});

describe('under 18 years', () => {
  it('what the outlines show is kept but not graded', () => {
    const found = said([beatingClip('A4C', STILL_LEFT)], [shortAxisClip(9)], true, 17);
    expect(found.findings ?? []).toEqual([]);
    expect(found.classifications ?? []).toEqual([]);
    expect(JSON.stringify(found.data ?? {})).not.toMatch(/"(score|suspected)":\d/);
    expect(found.summary).toContain('do not apply under 18 years');
    expect(found.summary).not.toMatch(/kinetic|Regional|could be graded/);
  });
  it.each([
    [17, []],
    [18, ['wall-motion-abnormal: abnormal']],
    [null, ['wall-motion-abnormal: abnormal']],
  ])('a score index of 1.6 of the machine at %s years makes findings %j', (age, expected) => {
    const study = measuredStudy({
      machine: { 'wall-motion-score-index': 1.6 },
      patient: { age },
    });
    expect(study.findings('wall-motion')).toEqual(expected);
    expect(study.value('wall-motion-score-index')?.value).toBe(1.6);
    expect(study.section('wall-motion')?.summary.includes('raised')).toBe(expected.length > 0);
  });
});

describe('a score index of 1.00 against the LVEF (echo 19)', () => {
  it.each([
    [1, 44, true],
    [1, 44.5, false],
    [1.004, 35, true],
    [1.006, 35, false],
  ])('index %d with LVEF %d %%: reported %s', (index, ef, expected) => {
    const study = measuredStudy({
      machine: { 'wall-motion-score-index': index, 'lvef-biplane': ef },
    });
    expect(study.findings('wall-motion').includes('wmsi-lvef-discordant: info')).toBe(expected);
    expect(
      study.section('wall-motion')?.summary.includes('global dysfunction or a scoring error'),
    ).toBe(expected);
  });
  it('is not mentioned under 18 years', () => {
    const machine = { 'wall-motion-score-index': 1, 'lvef-biplane': 35 };
    expect(measuredStudy({ machine, patient: { age: 17 } }).findings('wall-motion')).toEqual([]);
  });
});
