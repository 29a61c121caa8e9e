import { describe, expect, it } from 'vitest';
import { type Clip, UNDESCRIBED } from '../../../../pipelines/contract/study.ts';
import type { DisplayReading } from '../../../../pipelines/echo/displays/reading.ts';
import type { EchoEvidence } from '../../../../pipelines/echo/evidence.ts';
import { type Given, graded, HEALTHY } from './diastolic-sample.ts';

describe('mitral disease that the study gives (echo 10.2)', () => {
  const SICK = {
    'mitral-e': 150,
    'mitral-a': 100,
    'e-prime-septal': 5,
    'e-prime-lateral': 6,
    'tr-vmax': 3,
    'la-volume-index': 50,
  } as const satisfies Given;
  it.each([
    [
      'MVA 0.9 cm² and EROA 0.45 cm²',
      { 'mv-area-planimetry': 0.9, 'mr-orifice': 0.45 },
      /very severe MS.* and MR, grade IV/,
    ],
    ['an EROA of 0.2 cm²', { 'mr-orifice': 0.2 }, /MR, grade II/],
    [
      'a half-time of 220 ms',
      { 'mv-half-time': 220 },
      /valve area of 1.00 cm² by half-time suggests/,
    ],
  ])("with %s nothing is graded, raw values stay, E/e' is withheld", (_, disease, because) => {
    const { ungraded, said, status, elevated, value } = graded({ ...SICK, ...disease });
    expect(ungraded()).toBe(true);
    expect(elevated).toBeNull();
    expect(status).toBe('partial');
    expect(said).toMatch(because);
    expect(value('mitral-e')).toMatchObject({ value: 150, quality: 'accepted' });
    expect(value('e-prime-septal')).toMatchObject({ value: 5, quality: 'accepted' });
    expect(value('e-to-a')?.quality).toBe('accepted');
    expect(value('e-to-e-prime')?.quality).toBe('inadequate');
  });
  it('an EROA of 0.19 cm² leaves the grade', () => {
    const { ungraded } = graded({ ...SICK, 'mr-orifice': 0.19 });
    expect(ungraded()).toBe(false);
  });
});

describe("mitral disease with which E/e' is invalid", () => {
  const none = graded({ ...HEALTHY }).ungraded();
  it.each([
    ['an MVA of 3.99 cm²: any stenosis', { 'mv-area-planimetry': 3.99 }, true],
    [
      'a normal MVA of 4 cm², whatever the gradient',
      { 'mv-area-planimetry': 4, 'mv-mean-gradient': 6 },
      false,
    ],
    ['a half-time of 1.5 cm²', { 'mv-area-half-time': 1.5 }, true],
    ['a half-time of 1.51 cm² without a gradient', { 'mv-area-half-time': 1.51 }, false],
    [
      'a half-time of 1.51 cm² with 5 mmHg',
      { 'mv-area-half-time': 1.51, 'mv-mean-gradient': 5 },
      true,
    ],
    ['a gradient of 4 mmHg', { 'mv-mean-gradient': 4.4 }, false],
    ['a gradient of 5 mmHg', { 'mv-mean-gradient': 4.5 }, true],
    ['29 ml', { 'mr-volume': 29 }, false],
    ['30 ml', { 'mr-volume': 30 }, true],
    ['an EROA of 0.19 cm²', { 'mr-orifice': 0.19 }, false],
    ['quantities that contradict each other', { 'mr-orifice': 0.45, 'mr-volume': 20 }, true],
  ] as const)('%s', (_, disease, expected) => {
    expect(none).toBe(false);
    expect(graded({ ...HEALTHY, ...disease }).ungraded()).toBe(expected);
  });
});

const clip = (heartRate: number | null, stageNumber: number | null = null): Clip => ({
  ...UNDESCRIBED,
  file: `${heartRate}-${stageNumber}.dcm`,
  width: 2,
  height: 2,
  frames: [],
  regions: [],
  calibrationRefused: null,
  mode: 'spectral',
  heartRate,
  stageNumber,
});

const atRate = (...clips: Clip[]): Partial<EchoEvidence> => ({
  study: { clips, refused: [], files: clips.length, series: 1 },
});

describe('the heart rate of the study', () => {
  const RESTRICTIVE = {
    ...HEALTHY,
    'lvef-biplane': 40,
    'mitral-e': 120,
    'mitral-a': 50,
  } as const satisfies Given;
  it('of 100 leaves E/A, which grades', () => {
    const { by } = graded(RESTRICTIVE, {}, atRate(clip(100.4)));
    expect(by('diastolic-2016')).toBe('grade III, elevated LAP');
  });
  it('above 100 excludes E/A, and says so', () => {
    const { by, said, value } = graded(RESTRICTIVE, {}, atRate(clip(101), clip(null)));
    expect(by('diastolic-2016')).not.toContain('grade');
    expect(said).toContain('E/A was withheld: the heart rate of 101 is above 100 per minute');
    expect(value('e-to-a')?.quality).toBe('inadequate');
    expect(value('mitral-e')?.quality).toBe('accepted');
  });
  it('is not needed where every display shows E and A fused', () => {
    const inflow = (doubt: string | null) =>
      ({
        flow: 'mitral-inflow',
        regular: true,
        quantities: [{ key: 'mitral-a', doubt }],
      }) as unknown as DisplayReading;
    const quality = (...doubts: (string | null)[]) =>
      graded(RESTRICTIVE, {}, { spectra: doubts.map(inflow) }).value('e-to-a')?.quality;
    expect(quality('E and A are fused')).toBe('inadequate');
    expect(quality('E and A are fused', null)).toBe('accepted');
  });
  it('is that at rest, not that of a later stage of stress', () => {
    const { value } = graded(RESTRICTIVE, {}, atRate(clip(70, 1), clip(150, 4), clip(160, 4)));
    expect(value('e-to-a')?.quality).toBe('accepted');
  });
});

describe('irregular filling without an A wave (echo 10.6)', () => {
  const inflow = {
    flow: 'mitral-inflow',
    regular: false,
    quantities: [],
  } as unknown as DisplayReading;
  const IRREGULAR = {
    'mitral-e': 100,
    'e-prime-septal': 10,
    'tr-vmax': 2.5,
    'deceleration-time': 150,
  };
  const fibrillating = (given: Given) =>
    graded({ ...IRREGULAR, ...given }, {}, { spectra: [inflow] });

  it('has no grade of sinus rhythm', () => {
    const { by } = fibrillating({});
    expect(by('diastolic-2016')).toBeUndefined();
    expect(by('diastolic-fibrillation')).toBe('indeterminate');
  });
  it('takes a PASP above 35 mmHg for the jet, and finds the elevated pressure', () => {
    expect(fibrillating({ rvsp: 35.4 }).by('diastolic-fibrillation')).toBe('indeterminate');
    const { by, elevated } = fibrillating({ rvsp: 36 });
    expect(by('diastolic-fibrillation')).toBe('elevated LAP');
    expect(elevated).toContain(
      'ASE 2025, if the rhythm is atrial fibrillation: elevated LAP (met: ',
    );
  });
  it('lists the vein among the criteria where it decided', () => {
    const { met } = fibrillating({ 'pulmonary-vein-ratio': 0.99 });
    expect(met('diastolic-fibrillation')).toContain('PV S/D < 1');
  });
  it('is graded as in sinus rhythm if an A wave was measured elsewhere, with the contradiction', () => {
    const { by, said } = fibrillating({
      'mitral-a': 60,
      'e-prime-lateral': 12,
      'lvef-biplane': 60,
    });
    expect(by('diastolic-fibrillation')).toBeUndefined();
    expect(by('diastolic-2025')).toContain('normal LAP');
    expect(said).toContain('although an A wave was measured elsewhere');
  });
  it('is not assessed beside a stenosed valve', () => {
    expect(fibrillating({ 'mv-area-planimetry': 1 }).ungraded()).toBe(true);
  });
});
