import { describe, expect, it } from 'vitest';
import type { ChamberClip } from '../../../pipelines/echo/chambers/chamber-clip.ts';
import { heartOutlines } from '../../../pipelines/echo/chambers/heart-outlines.ts';
import type { ParasternalClip } from '../../../pipelines/echo/parasternal/parasternal-clip.ts';
import type { EchoEvidence } from '../../../pipelines/echo/section.ts';
import { wallMotion } from '../../../pipelines/echo/sections/wall-motion.ts';
import { valuesOf } from '../../../pipelines/echo/values.ts';
import { beatingClip, HEALTHY, shortAxisClip } from './ventricle-sample.ts';

/** What the section says of these clips. */
function said(
  clips: readonly ChamberClip[],
  shortAxes: readonly ParasternalClip[] = [],
  trusted = true,
) {
  const views = {
    apical: { clips, volumesTrusted: trusted },
    parasternal: { clips: shortAxes },
  };
  const evidence: EchoEvidence = {
    study: { clips: [], refused: [], files: 1, series: 1 },
    patient: { sex: 'male', age: 60, height: 175, weight: 70, surface: 1.85 },
    measured: [],
    spectra: [],
    clips: [],
    views,
    heart: heartOutlines(views.apical, views.parasternal),
    handheld: false,
    priors: [],
  };
  return wallMotion.run(evidence, valuesOf([]));
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
    expect(found.summary).toContain('A mildly reduced segment may be graded normal');
  });
  it('a wall that a short axis shows too: abnormal in two views, and named', () => {
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
  it('walls that stand still everywhere: none graded, and why', () => {
    const found = said([beatingClip('A4C', WEAK)]);
    expect(found.status).toBe('not_assessed');
    expect(found.summary).toContain('No segment could be graded');
    expect(found.summary).not.toContain('graded normal');
  });
  it('no model that was shown to follow the muscle: not graded', () => {
    const found = said([beatingClip('A4C', HEALTHY)], [], false);
    expect(found.status).toBe('not_assessed');
    expect(found.summary).toContain('no permitted model was shown to follow the myocardium');
  });
});
