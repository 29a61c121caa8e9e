import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import type { CardiacActivity } from '../../../../pipelines/measure/periodicity.ts';
import {
  embryonicRateBand,
  nybergAge,
  suspiciousSigns,
} from '../../../../pipelines/obstetric/charts/early-pregnancy.ts';
import { type EarlyClip, namedView } from '../../../../pipelines/obstetric/read/early-pregnancy.ts';
import {
  clip,
  interpretReadings,
  MM_PER_PIXEL,
  measurementOf,
  outline,
  sectionOf,
} from '../evidence-sample.ts';

interface View {
  plane?: EarlyClip['plane'];
  route?: EarlyClip['route'];
  /** Across and down, mm. */
  sac?: [number, number];
  accepted?: boolean;
  embryoMm?: number;
  yolkMm?: number;
  cardiac?: CardiacActivity | null;
  clip?: Partial<Clip>;
}

const MIDDLE = { x: 400, y: 300 };
const BEATING: CardiacActivity = {
  status: 'beating',
  beatsPerMinute: 130,
  uncertainty: 2,
  strength: 0.8,
  area: { minX: 0, minY: 0, maxX: 9, maxY: 9 },
};
const SILENT: CardiacActivity = { status: 'not-seen', strength: 0.1 };

/** One clip of a sac of these sizes in the middle of an image of 0.4 mm per pixel. */
function view(given: View): EarlyClip {
  const { plane = 'sagittal', route = 'transvaginal', sac = [30, 20], accepted = true } = given;
  const taken = clip(`${plane}.dcm`, given.clip);
  const half = (given.embryoMm ?? 0) / 2 / MM_PER_PIXEL;
  const calibrated = taken.regions.length > 0;
  return {
    clip: taken,
    plane,
    route,
    cardiac: given.cardiac ?? null,
    frames: taken.frames.slice(0, 1).map((frame) => ({
      clip: taken,
      frame,
      sac: {
        ellipse: outline(sac[0], sac[1], 0),
        levels: { inside: 20, outside: 120 },
        confidence: 0.9,
        accepted,
      },
      contents: calibrated
        ? {
            yolkSac: given.yolkMm
              ? { centre: MIDDLE, radius: given.yolkMm / 2 / MM_PER_PIXEL, confidence: 0.9 }
              : null,
            embryo: given.embryoMm
              ? {
                  ends: [
                    { x: MIDDLE.x - half, y: MIDDLE.y },
                    { x: MIDDLE.x + half, y: MIDDLE.y },
                  ],
                  areaMm2: given.embryoMm,
                  confidence: 0.9,
                }
              : null,
          }
        : null,
    })),
  };
}

const both = (given: View): EarlyClip[] => [view(given), view({ ...given, plane: 'transverse' })];

function interpret(clips: readonly EarlyClip[], options: Record<string, unknown> = {}) {
  return interpretReadings({
    readings: [],
    options,
    evidence: { views: { earlyPregnancy: clips } },
  });
}

function category(clips: readonly EarlyClip[], options: Record<string, unknown> = {}) {
  return interpret(clips, options).classifications.find(
    ({ id }) => id === 'early-pregnancy-category',
  )?.value;
}

describe('the section early-pregnancy', () => {
  it('is not assessed without a view, and says so', () => {
    const section = sectionOf(interpret([]), 'early-pregnancy');
    expect(section.status).toBe('not_assessed');
    expect(section.reason?.code).toBe('view_missing');
  });

  it('is inadequate where no sac is outlined with confidence, and does not say there is none', () => {
    const section = sectionOf(interpret([view({ accepted: false })]), 'early-pregnancy');
    expect(section.status).toBe('inadequate');
    expect(section.summary).toContain('does not say that there is none');
  });

  it('gives no millimetre without calibration', () => {
    const result = interpret(both({ clip: { regions: [] } }));
    expect(sectionOf(result, 'early-pregnancy').reason?.code).toBe('no_calibration');
    expect(result.measurements).toEqual([]);
  });

  it('takes three diameters for a mean: two are no MSD', () => {
    const one = interpret([view({ sac: [30, 20] })]);
    expect(one.measurements.map(({ id }) => id)).not.toContain('mean-sac-diameter');
    expect(sectionOf(one, 'early-pregnancy').summary).not.toContain('Mean sac diameter');
    expect(sectionOf(one, 'early-pregnancy').reason?.detail).toContain(
      'Mean sac diameter could not be computed; viability criteria based on MSD were not applied.',
    );
    const [sagittal, transverse] = [
      view({ sac: [30, 20] }),
      view({ plane: 'transverse', sac: [25, 20] }),
    ];
    const two = interpret([sagittal, transverse]);
    expect(measurementOf(two, 'mean-sac-diameter').value).toBeCloseTo(25, 6);
    expect(measurementOf(two, 'mean-sac-diameter').note).toContain('simulated images only');
  });

  it('dates by CRL (Robinson and Fleming 1975), without a gestational age given', () => {
    const result = interpret([view({ embryoMm: 10 })]);
    expect(measurementOf(result, 'ga-by-crl').value).toBeCloseTo(49.6594, 3);
  });

  it.each([
    [4.9, false],
    [5, true],
  ])('at a CRL of %s mm dates by it: %s', (embryoMm, dated) => {
    const ids = interpret([view({ embryoMm })]).measurements.map(({ id }) => id);
    expect(ids.includes('ga-by-crl')).toBe(dated);
  });

  it('never says that cardiac activity is absent from a still', () => {
    const section = sectionOf(interpret(both({ embryoMm: 12 })), 'early-pregnancy');
    expect(section.data.cardiac_activity).toBe('not_assessed');
    expect(category(both({ embryoMm: 12 }))).toBe('not-assessable');
  });

  it('says in every result that the location of the sac was not assessed', () => {
    const section = sectionOf(
      interpret(both({ embryoMm: 12, cardiac: BEATING })),
      'early-pregnancy',
    );
    expect(section.data.location).toBe('not_assessed');
    expect(section.reason?.detail).toContain('within the uterus was not assessed');
  });
});

describe('the draft report of an early pregnancy', () => {
  it.each<[string, View]>([
    ['with cardiac activity', { embryoMm: 12, cardiac: BEATING, yolkMm: 4 }],
    ['that is silent', { embryoMm: 12, cardiac: SILENT, sac: [40, 40] }],
    ['that is empty', { sac: [30, 30] }],
  ])('%s holds only what the result holds', (_, given) => {
    const { report } = interpret(both(given), { report: true, dating: { ga_days: 56 } });
    expect(report?.findings.some((line) => line.startsWith('Early pregnancy: '))).toBe(true);
    const remarked = report?.findings.filter((line) => line.includes('simulated images only'));
    expect(remarked).toHaveLength(1);
  });
});

describe('viability by the SRU criteria (Doubilet 2013)', () => {
  const silent = (embryoMm: number): View => ({ embryoMm, cardiac: SILENT, sac: [40, 40] });
  const empty = (mm: number): View => ({ sac: [mm, mm] });

  it.each<[string, View, string]>([
    ['CRL just below 7 mm, no activity', silent(6.98), 'suspicious-for-pregnancy-loss'],
    ['CRL 7 mm, no activity', silent(7.0001), 'diagnostic-of-pregnancy-loss'],
    ['CRL 12 mm, no activity', silent(12), 'diagnostic-of-pregnancy-loss'],
    ['MSD 15.9 mm, no embryo', empty(15.9), 'uncertain-viability'],
    ['MSD 16 mm, no embryo', empty(16.0001), 'suspicious-for-pregnancy-loss'],
    ['MSD 24.9 mm, no embryo', empty(24.9), 'suspicious-for-pregnancy-loss'],
    ['MSD 25 mm, no embryo', empty(25.0001), 'diagnostic-of-pregnancy-loss'],
    ['embryo with activity', { embryoMm: 12, cardiac: BEATING }, 'embryo-with-cardiac-activity'],
    ['yolk sac 7 mm', { ...empty(12), yolkMm: 6.999 }, 'uncertain-viability'],
    ['yolk sac above 7 mm', { ...empty(12), yolkMm: 7.1 }, 'suspicious-for-pregnancy-loss'],
  ])('%s', (_, given, expected) => {
    expect(category(both(given))).toBe(expected);
  });

  it('needs both planes of the sac before it says that there is no embryo', () => {
    expect(category([view(empty(30))])).toBe('not-assessable');
    expect(category([view({ ...empty(30), plane: null })])).toBe('not-assessable');
  });

  it('is never diagnostic unless the images are known to be transvaginal', () => {
    for (const route of ['transabdominal', null] as const) {
      expect(category(both({ ...empty(30), route }))).toBe('uncertain-viability');
      expect(category(both({ ...silent(12), route }))).toBe('uncertain-viability');
    }
  });

  it('tells a diagnostic criterion as critical, with the numbers, and asks for a second look', () => {
    const result = interpret(both(empty(30)));
    const finding = result.findings.find(({ id }) => id === 'viability');
    expect(finding?.severity).toBe('critical');
    expect(finding?.text).toContain('Mean sac diameter 30.0 mm');
    expect(result.guidance.find(({ id }) => id === 'repeat-early-scan')?.text).toContain('second');
    const suspicious = interpret(both(empty(20))).findings.find(({ id }) => id === 'viability');
    expect(suspicious?.severity).toBe('abnormal');
  });

  it.each([
    [41, false],
    [42, true],
  ])('counts a missing embryo at %s days after the last period: %s', (daysByLmp, met) => {
    const signs = { yolkSac: null, msd: null, crl: null, embryo: false, daysByLmp };
    expect(suspiciousSigns(signs).lateEmbryo).toBe(met);
  });

  it.each([
    [20, 14.9, false],
    [20, 15, false],
    [20, 15.1, true],
  ])('counts a sac of %s mm around an embryo of %s mm as small: %s', (msd, crl, met) => {
    const signs = { yolkSac: null, msd, crl, embryo: true, daysByLmp: null };
    expect(suspiciousSigns(signs).smallSac).toBe(met);
  });
});

describe('the embryonic heart rate (Doubilet and Benson 1995)', () => {
  it.each([
    [44, 89, 'slow'],
    [44, 90, 'borderline'],
    [44, 99, 'borderline'],
    [44, 100, 'usual'],
    [45, 109, 'slow'],
    [49, 110, 'borderline'],
    [49, 120, 'usual'],
    [50, 119, 'slow'],
    [69, 190, 'usual'],
    [69, 191, 'fast'],
    [70, 100, null],
    [77, 119, 'slow'],
    [97, 120, 'borderline'],
    [97, 130, 'usual'],
    [97, 175, 'usual'],
    [97, 176, 'fast'],
    [98, 140, null],
  ])('at %s days, %s a minute: %s', (days, rate, band) => {
    expect(embryonicRateBand(days, rate)).toBe(band);
  });
});

describe('the age by the sac before an embryo is seen (Nyberg)', () => {
  it('is MSD + 30 days below 25 mm', () => {
    expect(nybergAge(24.9)).toBeCloseTo(54.9, 9);
    expect(nybergAge(25)).toBeNull();
  });
});

describe('what the cart calls a view', () => {
  it.each([
    ['TRANSVAGINAL SAGITTAL', { plane: 'sagittal', route: 'transvaginal' }],
    ['TV trans', { plane: null, route: 'transvaginal' }],
    ['Endovaginal Transverse', { plane: 'transverse', route: 'transvaginal' }],
    ['transabdominal long axis', { plane: null, route: 'transabdominal' }],
    [null, { plane: null, route: null }],
  ])('%s', (viewName, expected) => {
    expect(namedView(clip('a.dcm', { viewName }))).toEqual(expected);
  });
});
