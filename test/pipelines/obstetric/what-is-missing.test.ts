import { describe, expect, it } from 'vitest';
import { SECTIONS } from '../../../pipelines/obstetric/sections.ts';
import {
  type Case,
  clip,
  interpretReadings,
  MEDIAN_28_WEEKS,
  measurementOf,
  sectionOf,
} from './evidence-sample.ts';

/**
 * What every section states if its view, the physical scale or the gestational age is missing. If a
 * section's view has a separate reader, the section's own test covers a missing scale and age.
 */

const DATED = { dating: { ga_days: 140 } };

/** Returns a study with one image on which no plane was recognized. */
function withoutViews(options: Case['options']) {
  const other = clip('other.dcm');
  return interpretReadings({
    readings: [],
    options,
    evidence: { study: { clips: [other], refused: [], files: 1, series: 1 } },
  });
}

const uncalibrated = () =>
  MEDIAN_28_WEEKS().map((reading) => ({ ...reading, clip: { ...reading.clip, regions: [] } }));

describe('without its view', () => {
  it.each([
    ['planes', 'inadequate', 'no_standard_plane'],
    ['biometry', 'not_assessed', 'plane_missing'],
    ['growth', 'not_assessed', 'no_biometry'],
    ['amniotic-fluid', 'not_assessed', 'view_missing'],
    ['placenta', 'not_assessed', 'view_missing'],
    ['early-pregnancy', 'not_assessed', 'view_missing'],
    ['nt', 'not_assessed', 'view_missing'],
    ['fetal-heart', 'not_assessed', 'view_missing'],
    ['anomaly-screen', 'not_assessed', 'view_missing'],
    ['cervix', 'not_assessed', 'view_missing'],
    ['labor-progress', 'not_assessed', 'view_missing'],
    ['presentation', 'not_assessed', 'view_missing'],
    ['doppler', 'not_assessed', 'view_missing'],
  ])('%s is %s: %s', (id, status, code) => {
    const { status: found, reason } = sectionOf(withoutViews(DATED), id);
    expect({ status: found, code: reason?.code }).toEqual({ status, code });
    expect(reason?.needs.length).toBeGreaterThan(0);
  });

  it('no section measures, finds, classifies or advises anything', () => {
    const { measurements, findings, classifications, guidance } = withoutViews(DATED);
    expect({ measurements, findings, classifications, guidance }).toEqual({
      measurements: [],
      findings: [],
      classifications: [],
      guidance: [],
    });
  });

  it('the report states for every section that it was not assessed', () => {
    const { report } = withoutViews({ ...DATED, report: true });
    for (const { title } of SECTIONS) {
      expect(
        report?.limitations.some((line) => line.startsWith(`${title}: `)),
        title,
      ).toBe(true);
    }
    expect(report?.impression).toEqual(['No conclusion can be drawn from what was assessed.']);
  });
});

describe('without a physical scale', () => {
  const result = interpretReadings({
    readings: uncalibrated(),
    options: { dating: { ga_days: 196 } },
  });

  it('biometry and growth are not assessed; the planes are', () => {
    expect(sectionOf(result, 'planes').status).toBe('complete');
    expect(sectionOf(result, 'biometry').reason?.code).toBe('no_calibration');
    expect(sectionOf(result, 'growth').reason?.code).toBe('no_biometry');
  });

  it('nothing has a unit of length, age or weight', () => {
    expect(result.measurements.map(({ unit }) => unit)).toEqual(['%']);
  });
});

describe('without a gestational age', () => {
  const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });

  it('biometry is reported in mm and g, without a centile', () => {
    expect(sectionOf(result, 'biometry').status).toBe('complete');
    expect(measurementOf(result, 'efw').reference).toBeNull();
    expect(result.measurements.every(({ interpretation }) => interpretation === null)).toBe(true);
  });

  it.each(['growth', 'anomaly-screen'])('%s is not assessed', (id) => {
    expect(sectionOf(result, id)).toMatchObject({
      status: 'not_assessed',
      reason: { code: 'no_gestational_age' },
    });
  });
});
