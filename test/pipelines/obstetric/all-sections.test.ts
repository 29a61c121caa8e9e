import { describe, expect, it } from 'vitest';
import { unsupportedClaims } from '../../../pipelines/result/render/report-check.ts';
import {
  clip,
  femur,
  interpretReadings,
  MEDIAN_28_WEEKS,
  measurementOf,
  sectionOf,
} from './evidence-sample.ts';

/** The sections in the order of api 2.6. */
const SECTION_IDS = [
  'planes',
  'biometry',
  'growth',
  'amniotic-fluid',
  'placenta',
  'early-pregnancy',
  'nt',
  'fetal-heart',
  'anomaly-screen',
  'cervix',
  'labor-progress',
  'presentation',
  'doppler',
  'report',
];

describe('the sections of the obstetric result', () => {
  const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });

  it('are all listed, whatever their status', () => {
    expect([...result.sections.map(({ id }) => id)].toSorted()).toEqual(SECTION_IDS.toSorted());
  });

  it('state why they are not assessed and what they need, and nothing is normal', () => {
    const gaps = result.sections.filter(({ status }) => status === 'not_assessed');
    expect(gaps.length).toBeGreaterThanOrEqual(10);
    for (const { reason, summary } of gaps) {
      expect(reason?.detail).toMatch(/\.$/);
      expect(reason?.needs.length).toBeGreaterThan(0);
      expect(summary).not.toMatch(/\bnormal\b|\babsent\b/);
    }
  });
});

describe('planes', () => {
  it('count every frame and list the most confident frame of each plane', () => {
    const [first, second] = [femur(50), femur(51)];
    second.estimate = { label: 'femur', confidence: 0.99 };
    const result = interpretReadings({ readings: [first, second] });
    expect(sectionOf(result, 'planes').data).toMatchObject({
      counts: { femur: 2, abdominal: 0, other: 0 },
      key_frames: [{ plane: 'femur', file: second.clip.file, frame: 1, confidence: 0.99 }],
    });
    expect(sectionOf(result, 'planes')).toMatchObject({
      status: 'partial',
      reason: { needs: ['transthalamic head', 'abdominal circumference plane'] },
    });
  });

  it('of another kind of study are all `other`: inadequate, and biometry is not assessed', () => {
    const heart = clip('heart.dcm');
    const [frame] = heart.frames;
    if (!frame) throw new Error('no frame');
    const result = interpretReadings({
      readings: [],
      evidence: {
        study: { clips: [heart], refused: [], files: 1, series: 1 },
        planes: [{ clip: heart, frame, estimate: { label: 'other', confidence: 0.97 } }],
      },
    });
    expect(sectionOf(result, 'planes')).toMatchObject({
      status: 'inadequate',
      reason: { code: 'no_standard_plane' },
    });
    expect(sectionOf(result, 'biometry').status).toBe('not_assessed');
  });

  it('without a permitted model are not assessed', () => {
    const result = interpretReadings({
      readings: [],
      evidence: { planes: null, withoutModel: ['head', 'abdomen', 'femur'] },
    });
    expect(sectionOf(result, 'planes').reason?.code).toBe('no_model');
    expect(sectionOf(result, 'biometry').reason?.code).toBe('no_model');
  });
});

describe('the draft report', () => {
  it('is not requested by default', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });
    expect(result.report).toBeNull();
    expect(sectionOf(result, 'report').status).toBe('not_requested');
  });

  it('contains only numbers from the result, and lists what was not assessed', () => {
    const result = interpretReadings({
      readings: MEDIAN_28_WEEKS(),
      options: { report: true, dating: { ga_days: 196 } },
    });
    const { findings, limitations } = result.report ?? { findings: [], limitations: [] };
    const fl = measurementOf(result, 'fl');
    expect(findings.join('\n')).toContain(
      `Femur length: ${fl.value.toFixed(1)} mm ± 4.0 mm, centile 5`,
    );
    expect(findings.join('\n')).toContain(
      'Stated gestational age: 28+0 weeks, by last menstrual period.',
    );
    expect(limitations.join('\n')).toContain('Fetal heart: The fetal heart was not assessed');
    expect(limitations.at(-1)).toContain('to be verified');
    expect(sectionOf(result, 'report').status).toBe('complete');
  });

  it.each([
    ['a value that was never measured', 'Head circumference: 299.9 mm.'],
    ['a value rounded the wrong way', 'Femur length: 51.4 mm.'],
    ['an invented margin', 'Femur length: 51.3 mm ± 1.0 mm.'],
    ['a margin in the place of a value', 'Femur length: 4.0 mm.'],
    ['an invented age', 'Stated gestational age: 28+1 weeks.'],
    ['a centile with its sign turned', 'z-score -0.7.'],
  ])('is withheld for %s', (_, line) => {
    const result = interpretReadings({
      readings: MEDIAN_28_WEEKS(),
      options: { report: true, dating: { ga_days: 196 } },
    });
    if (!result.report) throw new Error('no report');
    expect(unsupportedClaims(result.report, result)).toEqual([]);
    const changed = { ...result.report, findings: [line] };
    expect(unsupportedClaims(changed, result)).toHaveLength(1);
  });
});
