import { describe, expect, it } from 'vitest';
import { type HeartOutlines, NO_OUTLINES } from '../../../../pipelines/echo/evidence.ts';
import { type Given, graded, HEALTHY } from './diastolic-sample.ts';

describe('a study that gives every criterion', () => {
  const { by, said, status, elevated } = graded(HEALTHY);
  it('is complete, with both algorithms', () => {
    expect(status).toBe('complete');
    expect(by('diastolic-2016')).toBe('normal diastolic function');
    expect(by('diastolic-2025')).toBe('normal LAP, no diastolic dysfunction grade');
    expect(by('diastolic-2025-presence')).toBe('no diastolic dysfunction');
    expect(elevated).toBeNull();
  });
  it('names each result with its scheme and criteria, and when they hold', () => {
    expect(said).toContain('ASE/EACVI 2016, algorithm A: normal diastolic function (not met: ');
    expect(said).toContain('ASE 2025: normal LAP, no diastolic dysfunction grade (not met: ');
    expect(said).toContain('Valid in sinus rhythm without mitral annular calcification');
    for (const unknown of ['LBBB', 'LVAD', 'heart transplant', 'constriction', 'AV block']) {
      expect(said).toContain(unknown);
    }
  });
  it('does not take a missing measurement for a healthy myocardium', () => {
    expect(said).toContain('Myocardial disease is known only as far as it was measured here');
  });
  it('says under which conditions it holds in the limitations, once', () => {
    const { result } = graded(HEALTHY);
    if (!result.report) throw new Error(result.sections.at(-1)?.reason?.detail);
    const lines = result.report.limitations.filter((text) => /Valid in sinus rhythm/.test(text));
    expect(lines).toHaveLength(1);
  });
});

describe('the algorithm of 2016', () => {
  const YOUNG = {
    'mitral-e': 100,
    'mitral-a': 48,
    'e-prime-septal': 12,
    'e-prime-lateral': 16,
    'tr-vmax': 2.2,
    'la-volume-index': 25,
  } as const satisfies Given;
  it.each([
    [49.6, 'ASE/EACVI 2016, algorithm A', 'normal diastolic function'],
    [49.4, 'ASE/EACVI 2016, algorithm B', 'grade III, elevated LAP'],
  ])('is chosen by the LVEF as shown: %d %%', (ef, scheme, expected) => {
    const { category } = graded({ ...YOUNG, 'lvef-biplane': ef }, { age: 25 });
    expect(category('diastolic-2016')).toMatchObject({ scheme, value: expected });
  });
  it.each([
    ['a score index of 1.10', { 'wall-motion-score-index': 1.1 }, 'wall motion score index raised'],
    ['a wall of 15 mm', { ivsd: 1.5 }, 'wall of at least 15 mm'],
    ['LVH', { 'lv-mass-index': 116 }, 'LV mass index above its range'],
  ])('is B at a normal LVEF with %s, which is named', (_, disease, named) => {
    const { category, said } = graded({ ...YOUNG, ...disease, 'lvef-biplane': 60 });
    expect(category('diastolic-2016')?.scheme).toBe('ASE/EACVI 2016, algorithm B');
    expect(said).toContain(`algorithm B (myocardial disease: ${named})`);
  });
  it('is B with a segment that was scored abnormal, and not with the apex', () => {
    const scheme = (segment: number) => {
      const abnormal = {
        segment,
        name: 'x',
        readings: [],
        strain: null,
        score: 2 as const,
        suspected: null,
      };
      const heart: HeartOutlines = { ...NO_OUTLINES, segments: [abnormal], trusted: true };
      return graded({ ...YOUNG, 'lvef-biplane': 60 }, {}, { heart }).category('diastolic-2016')
        ?.scheme;
    };
    expect(scheme(16)).toBe('ASE/EACVI 2016, algorithm B');
    expect(scheme(17)).toBe('ASE/EACVI 2016, algorithm A');
  });
  it('is not chosen where two readings of the LVEF lie on both sides of 50 %', () => {
    const { by, said } = graded(
      { ...YOUNG, 'lvef-networks': 56, 'lvef-biplane': 40 },
      {},
      {},
      'model',
    );
    expect(by('diastolic-2016')).toBeUndefined();
    expect(by('diastolic-2025')).toBeDefined();
    expect(said).toContain('its algorithm depends on the LVEF, which is undetermined');
  });
  it('is chosen where both readings lie on one side', () => {
    const { category } = graded(
      { ...YOUNG, 'lvef-networks': 44, 'lvef-biplane': 30 },
      {},
      {},
      'model',
    );
    expect(category('diastolic-2016')?.scheme).toBe('ASE/EACVI 2016, algorithm B');
  });
});

describe('a TR velocity beside pulmonary stenosis, which raises the RV pressure alone', () => {
  const at = (peak: number) => graded({ ...HEALTHY, 'tr-vmax': 3.6, rvsp: 60, 'pv-vmax': peak });
  it('is no criterion, and the section says so', () => {
    const { met, said, by } = at(3.4);
    expect(met('diastolic-2016')).toEqual([]);
    expect(met('diastolic-2025')).toEqual([]);
    expect(by('diastolic-2016')).toBe('normal diastolic function, limited');
    expect(said).toContain('The TR velocity and the RVSP were not used: in pulmonary stenosis');
    expect(said).not.toContain('No TR signal');
  });
  it('that was not measured is not said to be unused', () => {
    const { 'tr-vmax': _, ...without } = HEALTHY;
    const { said } = graded({ ...without, 'pv-vmax': 3.4 });
    expect(said).toContain('No TR signal');
    expect(said).not.toContain('were not used');
  });
  it('is a criterion without it', () => {
    expect(at(1.2).met('diastolic-2016')).toEqual(['TR Vmax > 2.8 m/s']);
    expect(at(1.2).met('diastolic-2025')).toContain('raised TR Vmax or PASP');
  });
});

describe("E/e' of a single wall", () => {
  const ratioOf = (early: number) =>
    graded({ 'mitral-e': early, 'e-prime-septal': 1.5, 'tr-vmax': 2.2 });
  it('is withheld outside the range of the average one (echo 10.7)', () => {
    expect(ratioOf(90).value('e-to-e-prime-septal')).toMatchObject({ quality: 'accepted' });
    expect(ratioOf(92).value('e-to-e-prime-septal')).toMatchObject({ quality: 'inadequate' });
  });
  it('is not calculated again by an algorithm if it was withheld', () => {
    expect(ratioOf(90).met('diastolic-2025')).toEqual(["reduced e'", "raised E/e'"]);
    expect(ratioOf(92).met('diastolic-2025')).toEqual(["reduced e'"]);
  });
});

describe('what is not complete is limited (echo 10.3, 10.5)', () => {
  it("normal function of two criteria, without e'", () => {
    const { by, status, said } = graded({
      'mitral-e': 90,
      'tr-vmax': 2.4,
      'la-volume-index': 30,
      'lvef-biplane': 60,
    });
    expect(status).toBe('partial');
    expect(by('diastolic-2016')).toBe('normal diastolic function, limited');
    expect(said).toContain("No accepted value: E/A, septal e', lateral e'");
  });
  it('a positive algorithm A says dysfunction, and no grade without E/A', () => {
    const { by, said } = graded({
      'e-to-e-prime': 18,
      'tr-vmax': 3.2,
      'la-volume-index': 45,
      'lvef-biplane': 60,
    });
    expect(by('diastolic-2016')).toBe('diastolic dysfunction, limited, grade not given');
    expect(by('diastolic-2025')).toBe('LAP elevated, grade undetermined (no E/A), limited');
    expect(said).toContain('algorithm A: diastolic dysfunction, limited (met: ');
    expect(said).toContain('algorithm B: no grade, since E or E/A is missing');
    expect(said).toContain('No accepted value: E, E/A');
  });
  it('a positive algorithm A is reported before the result of algorithm B', () => {
    const { by, said } = graded({
      ...HEALTHY,
      'mitral-e': 100,
      'e-prime-septal': 5,
      'e-prime-lateral': 6,
      'tr-vmax': 3,
    });
    expect(by('diastolic-2016-presence')).toBe('diastolic dysfunction');
    expect(by('diastolic-2016')).toBe('grade II, elevated LAP');
    expect(said).toMatch(/algorithm A: diastolic dysfunction \(.*\); algorithm B: grade II/);
  });
  it('both of two primary variables normal is branch a, limited', () => {
    const { 'tr-vmax': _, ...withoutJet } = HEALTHY;
    const { by, said } = graded(withoutJet);
    expect(by('diastolic-2025')).toBe('normal LAP, no diastolic dysfunction grade, limited');
    expect(said).toContain('No TR signal was measured; the criterion is unavailable.');
  });
});

describe('elevated LA pressure', () => {
  const RAISED = {
    'e-prime-septal': 5,
    'e-prime-lateral': 6,
    'mitral-e': 90,
    'mitral-a': 60,
    'tr-vmax': 2.7,
    'la-volume-index': 30,
    'lvef-biplane': 60,
  } as const satisfies Given;
  it('takes the RVSP for the jet in 2025: 35 mmHg, not 34', () => {
    expect(graded({ ...RAISED, rvsp: 44 }).by('diastolic-2025')).toBe('grade 2, elevated LAP');
    expect(graded({ ...RAISED, rvsp: 34.5 }).by('diastolic-2025')).toBe('grade 2, elevated LAP');
    expect(graded({ ...RAISED, rvsp: 34.4 }).by('diastolic-2025')).toBe('normal LAP, grade 1');
  });
  it('takes the RVSP that follows from the jet and the IVC', () => {
    const { by } = graded({ ...RAISED, 'ivc-diameter': 24, 'ivc-collapse': 20 });
    expect(by('diastolic-2025')).toBe('grade 2, elevated LAP');
  });
  it('is found with both results, that they differ, and when they hold', () => {
    const { elevated, finding } = graded({ ...RAISED, rvsp: 44 });
    expect(finding('lap-elevated')?.evidence).toContain('cart-rvsp');
    expect(elevated).toContain('ASE/EACVI 2016, algorithm A: indeterminate (');
    expect(elevated).toContain('ASE 2025: grade 2, elevated LAP (');
    expect(elevated).toContain('Only one of the two algorithms gives an elevated LA pressure');
    expect(elevated).toContain('Valid in sinus rhythm');
  });
  it('lists E/A among the criteria where it decided', () => {
    const { met } = graded({ ...RAISED, 'lvef-biplane': 40, 'mitral-a': 45 });
    expect(met('diastolic-2016')).toEqual(['E/A >= 2']);
  });
  it('left open by 2025 names the supplemental signs', () => {
    const { 'la-volume-index': _, ...open } = RAISED;
    const { by, said } = graded({ ...open, 'pr-end-velocity': 2 });
    expect(by('diastolic-2025')).toBe('indeterminate');
    expect(said).toContain(
      'met: PR end-diastolic velocity >= 2 m/s; not available: PADP >= 16 mmHg',
    );
  });
});

describe('a severely enlarged LA that the filling pressure does not explain (echo 19)', () => {
  const text = 'a high filling pressure does not explain the severely enlarged LA';
  it.each([
    [49, 60, true],
    [48, 60, false],
    [49, 84, false],
  ])('LAVi %d ml/m² with an E of %d cm/s: %s', (index, early, expected) => {
    const { said } = graded({ ...HEALTHY, 'la-volume-index': index, 'mitral-e': early });
    expect(said.includes(text)).toBe(expected);
  });
});
