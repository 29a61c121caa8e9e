import { describe, expect, it } from 'vitest';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import type { MModeRhythm } from '../../../../pipelines/measure/m-mode/heart-rate.ts';
import type { CardiacActivity } from '../../../../pipelines/measure/periodicity.ts';
import type {
  EarlyClip,
  EarlyFrame,
} from '../../../../pipelines/obstetric/early-pregnancy/evidence.ts';
import {
  intergrowthAgeByCrl,
  intergrowthCrlAt,
  nybergAge,
  suspiciousSigns,
  viability,
  yolkSacBand,
} from '../../../../pipelines/obstetric/early-pregnancy/guideline.ts';
import {
  chooseSac,
  unfitForActivity,
} from '../../../../pipelines/obstetric/early-pregnancy/read.ts';
import { embryonicRateBand } from '../../../../pipelines/obstetric/fetal-heart/guideline.ts';
import { redatingDays } from '../../../../pipelines/obstetric/shared/measurement.ts';
import { namedView } from '../../../../pipelines/obstetric/shared/view-names.ts';
import { cartValue } from '../../cart-sample.ts';
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
  /** Width and height in mm. */
  sac?: [number, number];
  accepted?: boolean;
  confidence?: number;
  embryoMm?: number;
  yolkMm?: number;
  cardiac?: CardiacActivity | null;
  bodies?: EarlyFrame['bodies'];
  clip?: Partial<Clip>;
}

const MIDDLE = { x: 400, y: 300 };
const BEATING: CardiacActivity = {
  status: 'beating',
  beatsPerMinute: 130,
  uncertainty: 2,
  strength: 0.8,
};
const SWEPT = {
  status: 'beating',
  beatsPerMinute: 130,
  beats: 6,
  strength: 0.8,
  variation: 0.03,
  minY: 0,
  maxY: 9,
} as const;
const SUSPICIOUS = 'suspicious-for-pregnancy-loss';
const SILENT: CardiacActivity = { status: 'not-seen' };

/** Returns one clip at 0.4 mm per pixel, with a sac of these sizes in the middle. */
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
        confidence: given.confidence ?? 0.9,
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
                  confidence: 0.9,
                }
              : null,
          }
        : null,
      bodies: given.bodies ?? 'one',
    })),
  };
}

const both = (given: View): EarlyClip[] => [view(given), view({ ...given, plane: 'transverse' })];

type Machine = Partial<
  Record<'crl' | 'mean-sac-diameter' | 'yolk-sac' | 'fetal-heart-rate' | 'hc', number>
>;

function interpret(
  clips: readonly EarlyClip[],
  options: Record<string, unknown> = {},
  machine: Machine = {},
  sweeps: { rhythm: MModeRhythm; fetal: boolean }[] = [],
  fetuses: readonly (string | null)[] = [null],
) {
  const cart = Object.entries(machine).flatMap(([key, value]) =>
    fetuses.map((fetus) =>
      cartValue({
        key: key as 'crl',
        concept: { scheme: 'LN', code: 'code', meaning: key },
        value,
        unit: key === 'fetal-heart-rate' ? '/min' : 'mm',
        // A sac diameter without this derivation is not a mean sac diameter.
        derivation: key === 'mean-sac-diameter' ? 'mean' : null,
        fetus,
      }),
    ),
  );
  const mMode = sweeps.map((sweep) => ({
    ...{ file: 'sweep.dcm', sopInstanceUid: null, frame: 0 },
    ...sweep,
  }));
  return interpretReadings({
    readings: [],
    options,
    evidence: {
      study: { clips: [], refused: [], files: 1, series: 1, cart },
      views: {
        earlyPregnancy: clips,
        fetalHeart: { chests: null, views: [], chestFrames: 0, mMode },
      },
    },
  });
}

function category(clips: readonly EarlyClip[], options: Record<string, unknown> = {}) {
  return interpret(clips, options).classifications.find(
    ({ id }) => id === 'early-pregnancy-category',
  )?.value;
}

describe('the section early-pregnancy', () => {
  it('is not assessed without a view, which is stated', () => {
    const section = sectionOf(interpret([]), 'early-pregnancy');
    expect(section.status).toBe('not_assessed');
    expect(section.reason?.code).toBe('view_missing');
  });

  it('is inadequate if no sac is outlined with confidence, and does not state that there is none', () => {
    const section = sectionOf(interpret([view({ accepted: false })]), 'early-pregnancy');
    expect(section.status).toBe('inadequate');
    expect(section.summary).toContain('does not mean that there is none');
    expect(interpret(both({ accepted: false })).measurements).toEqual([]);
  });

  it('reports no millimetres without calibration', () => {
    const result = interpret(both({ clip: { regions: [] } }));
    expect(sectionOf(result, 'early-pregnancy').reason?.code).toBe('no_calibration');
    expect(result.measurements).toEqual([]);
  });

  it('requires three diameters for a mean: two are not an MSD', () => {
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

  it('dates by CRL (Robinson and Fleming 1975) if no gestational age is given', () => {
    const result = interpret([view({ embryoMm: 10 })]);
    expect(measurementOf(result, 'ga-by-crl').value).toBeCloseTo(49.6594, 3);
  });

  it('by CRL of INTERGROWTH-21st is for 15 to 95 mm, and the CRL at an age for 58 to 105 days', () => {
    const crls = [14.9, 15, 95, 95.1].map((crl) => intergrowthAgeByCrl(crl) !== null);
    const days = [57, 58, 105, 106].map((at) => intergrowthCrlAt(at, 50) !== null);
    expect([crls, days]).toEqual(Array(2).fill([false, true, true, false]));
  });

  it.each([
    [4.9, false],
    [5, true],
  ])('at a CRL of %s mm dates by it: %s', (embryoMm, dated) => {
    const ids = interpret([view({ embryoMm })]).measurements.map(({ id }) => id);
    expect(ids.includes('ga-by-crl')).toBe(dated);
  });

  it('never states from a still that cardiac activity is absent', () => {
    const section = sectionOf(interpret(both({ embryoMm: 12 })), 'early-pregnancy');
    expect(section.data.cardiac_activity).toBe('not_assessed');
    expect(category(both({ embryoMm: 12 }))).toBe('not-assessable');
  });

  it.each([
    [[1, 1], 'a still image cannot show it'],
    [[1, 2], 'no clip of the embryo was long and fast enough'],
  ])('states why activity was not assessed on images of %j frames', (counts, why) => {
    const { frames } = clip('still.dcm');
    const clips = counts.map((count) =>
      view({ embryoMm: 12, clip: { frames: Array(count).fill(frames).flat() } }),
    );
    expect(sectionOf(interpret(clips), 'early-pregnancy').reason?.detail).toContain(why);
  });

  it('states in every result that the location of the sac was not assessed', () => {
    const section = sectionOf(
      interpret(both({ embryoMm: 12, cardiac: BEATING })),
      'early-pregnancy',
    );
    expect(section.data.location).toBe('not_assessed');
    expect(section.reason?.detail).toContain('within the uterus was not assessed');
  });
});

describe('the mean sac diameter', () => {
  const along: View = { sac: [38, 29] };
  const across: View = { plane: 'transverse', sac: [32, 31] };
  const meanOf = (...views: readonly View[]) => interpret(views.map(view));

  it('combines the images whose heights agree best, not the clearest ones: a plane beside the middle shows every diameter too short', () => {
    const beside: View = { sac: [29, 26.5], confidence: 0.99 };
    const result = meanOf(beside, along, across);
    expect(measurementOf(result, 'sac-length').value).toBeCloseTo(38, 6);
    expect(measurementOf(result, 'mean-sac-diameter').value).toBeCloseTo(33, 6);
  });

  it.each([
    [26.01, true],
    [25.99, false],
  ])('of heights of 31 and %s mm, each ± 2.5 mm, is given: %s', (height, given) => {
    const result = meanOf({ sac: [38, height] }, across);
    const ids = result.measurements.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['sac-length', 'sac-height', 'sac-width']));
    expect(ids.includes('mean-sac-diameter')).toBe(given);
    const detail = sectionOf(result, 'early-pregnancy').reason?.detail;
    expect(detail?.includes('disagree on the height of the sac')).toBe(!given);
  });

  it('is not given from an image whose plane is not stated', () => {
    const result = meanOf({ ...along, plane: null }, across);
    const ids = result.measurements.map(({ id }) => id);
    expect(ids).not.toContain('mean-sac-diameter');
    expect(ids).not.toContain('sac-length');
    expect(sectionOf(result, 'early-pregnancy').reason?.code).toBe('planes_missing');
  });
});

describe('the draft report of an early pregnancy', () => {
  it.each<[string, View]>([
    ['with cardiac activity', { embryoMm: 12, cardiac: BEATING, yolkMm: 4 }],
    ['that is silent', { embryoMm: 12, cardiac: SILENT, sac: [40, 40] }],
    ['that is empty', { sac: [30, 30] }],
  ])('%s contains only what the result contains', (_, given) => {
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
    ['CRL 7 mm, activity missed or none', silent(7.0001), 'suspicious-for-pregnancy-loss'],
    ['CRL 15 mm, activity missed or none', silent(15), 'suspicious-for-pregnancy-loss'],
    ['MSD 15.9 mm, no embryo', empty(15.9), 'uncertain-viability'],
    // The interval around 16 mm contains the limit, but the viability is uncertain on either side
    // of it.
    ['MSD 16 mm, no embryo', empty(16.0001), 'uncertain-viability'],
    ['MSD of 16 mm and its interval', empty(18.6), 'suspicious-for-pregnancy-loss'],
    ['MSD 24.9 mm, no embryo', empty(24.9), 'suspicious-for-pregnancy-loss'],
    ['MSD 25 mm and its interval of 2.5 mm', empty(25.0001), 'suspicious-for-pregnancy-loss'],
    ['MSD whose interval reaches 25 mm', empty(27.499), 'suspicious-for-pregnancy-loss'],
    ['MSD above it with its interval', empty(27.501), 'suspicious-for-pregnancy-loss'],
    ['MSD far above it', empty(60), 'suspicious-for-pregnancy-loss'],
    ['embryo with activity', { embryoMm: 12, cardiac: BEATING }, 'embryo-with-cardiac-activity'],
    ['yolk sac 7 mm', { ...empty(12), yolkMm: 6.999 }, 'uncertain-viability'],
    ['yolk sac at 7 mm', { ...empty(12), yolkMm: 7.1 }, 'uncertain-viability'],
    ['yolk sac above 7 mm', { ...empty(12), yolkMm: 8.5 }, 'suspicious-for-pregnancy-loss'],
  ])('%s', (_, given, expected) => {
    expect(category(both(given))).toBe(expected);
  });

  it('needs both planes of the sac before it reports that there is no embryo', () => {
    expect(category([view(empty(30))])).toBe('not-assessable');
    expect(category([view({ ...empty(30), plane: null })])).toBe('not-assessable');
  });

  it('is uncertain for a silent embryo whose length is not known', () => {
    const seen = { crl: null, msd: null, embryo: true, cardiacActivity: false };
    expect(viability(seen)).toBe('uncertain-viability');
    expect(viability({ ...seen, cardiacActivity: null })).toBe('not-assessable');
  });

  it('is not assessable if only the upper end of an interval is suspicious', () => {
    expect(category([view({ yolkMm: 7.1 })])).toBe('not-assessable');
    expect(category([view({ yolkMm: 8.1 })])).toBe('suspicious-for-pregnancy-loss');
  });

  it.each([
    ['lmp', 42, 'suspicious-for-pregnancy-loss'],
    ['crl', 42, 'uncertain-viability'],
  ])('without an embryo, dated by %s, at %s days: %s', (basis, ga_days, expected) => {
    expect(category(both(empty(12)), { dating: { basis, ga_days } })).toBe(expected);
  });

  it.each([
    [['transvaginal', 'transvaginal'], 'transvaginal', 'after at least 7 days'],
    [['transvaginal', 'transabdominal'], 'not_known', 'after at least 14 days'],
  ] as const)('applies to images that are all transvaginal: %j', (routes, route, advice) => {
    const planes = ['sagittal', 'transverse'] as const;
    const clips = planes.map((plane, at) => view({ ...empty(30), plane, route: routes[at] }));
    const result = interpret(clips);
    expect(sectionOf(result, 'early-pregnancy').data.route).toBe(route);
    expect(result.guidance.find(({ id }) => id === 'repeat-early-scan')?.text).toContain(advice);
  });

  it('of values of the machine alone, has no known route', () => {
    const { data } = sectionOf(interpret([], {}, { crl: 12 }), 'early-pregnancy');
    expect(data.route).toBe('not_known');
  });

  it('states the longest clip without activity', () => {
    const [first] = clip('still.dcm').frames;
    if (!first) throw new Error('a clip without a frame');
    const lasting = (time: number) =>
      view({ ...silent(9), clip: { frames: [first, { ...first, index: 1, time }] } });
    const { findings } = interpret([lasting(2), lasting(3.5), lasting(3)]);
    expect(findings.find(({ id }) => id === 'viability')?.text).toContain('clip of 3.5 s');
  });

  it('does not doubt that a sac with a yolk sac is a gestational sac', () => {
    const { findings } = interpret(both({ ...empty(30), yolkMm: 4 }));
    const { text } = findings.find(({ id }) => id === 'viability') ?? {};
    expect(text).toContain('it cannot establish that a sac is empty');
    expect(text).not.toContain('whether it is an intrauterine gestational sac');
  });

  it('is suspicious by either route', () => {
    for (const route of ['transabdominal', null] as const) {
      expect(category(both({ ...empty(30), route }))).toBe('suspicious-for-pregnancy-loss');
      expect(category(both({ ...silent(12), route }))).toBe('suspicious-for-pregnancy-loss');
    }
  });

  it.each([
    ['an empty sac', empty(30), 'it cannot establish that a sac is empty. A person must look.'],
    ['a silent clip', silent(15), 'it cannot establish that cardiac activity is absent.'],
  ])(
    'states for %s that the analysis proves nothing, and asks for a second look',
    (_, given, unproven) => {
      const result = interpret(both(given));
      const finding = result.findings.find(({ id }) => id === 'viability');
      expect(finding?.severity).toBe('abnormal');
      expect(finding?.text).toContain('not diagnostic');
      expect(finding?.text.match(/cannot establish/g)).toHaveLength(1);
      expect(finding?.text).toContain(unproven);
      expect(sectionOf(result, 'early-pregnancy').summary).toContain(unproven);
      expect(result.guidance.find(({ id }) => id === 'repeat-early-scan')?.text).toContain(
        'second',
      );
    },
  );

  it('states what an empty sac may be, and asks for no second opinion below the criterion', () => {
    const of = (mm: number) => interpret(both(empty(mm)));
    const { text } = of(30).findings.find(({ id }) => id === 'viability') ?? {};
    expect(text).toContain('Mean sac diameter 30.0 mm');
    expect(text).toContain('whether it is an intrauterine gestational sac');
    const [advice] = of(20).guidance;
    expect(advice?.text).not.toContain('second');
  });

  it.each([
    [6.9, 'CRL below 7 mm and no cardiac activity'],
    [7, 'CRL at least 7 mm and no cardiac activity'],
  ])('CRL %s mm of the machine meets "%s"', (crl, name) => {
    const result = interpret(both(silent(9)), {}, { crl });
    const found = result.classifications.find(({ id }) => id === 'early-pregnancy-category');
    const met = found?.criteria.filter((one) => one.met).map((one) => one.name);
    expect(met).toEqual(['transvaginal images', name]);
    expect(sectionOf(result, 'early-pregnancy').summary).toContain('(ultrasound machine)');
  });

  it('lists a criterion as not available, and not as not met, if what it needs is unknown', () => {
    const found = interpret([], {}, { crl: 5 }).classifications.find(
      ({ id }) => id === 'early-pregnancy-category',
    );
    const outcomes = found?.criteria.map(({ name, outcome }) => [name, outcome]);
    expect(Object.fromEntries(outcomes ?? [])).toMatchObject({
      'CRL at least 7 mm and no cardiac activity': 'not_met',
      'CRL below 7 mm and no cardiac activity': 'not_available',
      'MSD less CRL below 5 mm': 'not_available',
      'yolk sac above 7 mm': 'not_available',
    });
  });

  it.each([
    [22.5, false],
    [22.6, true],
    [27.4, true],
    [27.5, false],
  ])('MSD %s mm of the machine, without an uncertainty, is too near 25 mm: %s', (mm, near) => {
    const result = interpret(both(empty(22)), {}, { 'mean-sac-diameter': mm });
    const found = result.classifications.find(({ id }) => id === 'early-pregnancy-category');
    expect(found?.value).toBe('suspicious-for-pregnancy-loss');
    const { summary } = sectionOf(result, 'early-pregnancy');
    expect(summary?.includes('includes the cut-off of 25 mm')).toBe(near);
  });

  it.each([
    ['crl', 14, 'not-assessable'],
    ['fetal-heart-rate', 160, 'embryo-with-cardiac-activity'],
    ['fetal-heart-rate', 0, 'suspicious-for-pregnancy-loss'],
  ] as const)(
    'a sac of 34 mm whose embryo the operator saw (%s %s): %s',
    (key, value, expected) => {
      const result = interpret(both(empty(34)), {}, { [key]: value });
      const found = result.classifications.find(({ id }) => id === 'early-pregnancy-category');
      expect(found?.value).toBe(expected);
      const seen = expected !== 'suspicious-for-pregnancy-loss';
      const { data, summary } = sectionOf(result, 'early-pregnancy');
      expect(data.embryo).toBe(seen ? 'seen' : 'not_seen');
      expect(summary?.includes('no embryo seen')).toBe(!seen);
      expect(result.findings.some(({ id }) => id === 'viability')).toBe(!seen);
      expect(summary?.includes('(ultrasound machine)')).toBe(seen);
    },
  );

  it("uses the machine's heart rate, and states that it is the machine's", () => {
    const given = { crl: 14, 'fetal-heart-rate': 110 };
    const finding = interpret(both(empty(34)), {}, given).findings.find(
      ({ id }) => id === 'embryonic-heart-rate',
    );
    expect(finding?.text).toContain('(ultrasound machine): slow at 7+5 weeks');
  });

  it.each([
    ['just below 7 mm', { crl: 6.98 }, 'CRL 6.98 mm'],
    ['just below 25 mm', { 'mean-sac-diameter': 24.97 }, 'MSD 24.97 mm'],
    ['just below 16 mm', { 'mean-sac-diameter': 15.99 }, 'MSD 15.99 mm'],
  ])('shows a value %s on its side of the cut-off', (_, given, text) => {
    const found = interpret([], {}, given).classifications.find(
      ({ id }) => id === 'early-pregnancy-category',
    );
    expect(found?.criteria.map(({ value }) => value).join('; ')).toContain(text);
  });

  it('states for a sac near the cut-off that neither side is certain', () => {
    const { findings } = interpret(both(empty(26)));
    expect(findings.find(({ id }) => id === 'viability')).toMatchObject({
      severity: 'abnormal',
      text: expect.stringContaining('includes the cut-off of 25 mm: measure by hand'),
    });
  });

  it('states for a clip without activity that this does not show that the heart has stopped', () => {
    const { findings } = interpret(both(silent(15)));
    expect(findings.find(({ id }) => id === 'viability')).toMatchObject({
      severity: 'abnormal',
      text: expect.stringContaining('cannot establish that cardiac activity is absent'),
    });
  });

  it.each([
    [1, 30, 'still'],
    [59, 30, 'too-short'],
    [60, 30, null],
    [60, 20, null],
    [60, 19.9, 'too-slow'],
  ])('looks for activity on %s frames at %s a second: %s', (frames, perSecond, reason) => {
    const times = Array.from({ length: frames }, (_, i) => i / perSecond);
    const unfit = unfitForActivity(times);
    expect(unfit?.status === 'not-assessable' ? unfit.reason : null).toBe(reason);
  });

  it('asks for a repeat after 7 days, after 14 where the scan was not transvaginal', () => {
    const text = (route: EarlyClip['route']) =>
      interpret(both({ ...empty(20), route })).guidance.find(({ id }) => id === 'repeat-early-scan')
        ?.text;
    expect(text('transvaginal')).toContain('at least 7 days');
    expect(text('transabdominal')).toContain('at least 14 days');
  });

  it.each([
    ['of the fetus', {}, 'embryo-with-cardiac-activity'],
    ['whose beats it cannot tell apart', { variation: null }, 'not-assessable'],
    ['that may be of the mother', { fetal: false, beatsPerMinute: 72 }, SUSPICIOUS],
    ['at 40 a minute', { beatsPerMinute: 40 }, 'embryo-with-cardiac-activity'],
    ['at 39 a minute', { beatsPerMinute: 39 }, SUSPICIOUS],
    ['at 261 a minute', { beatsPerMinute: 261 }, SUSPICIOUS],
  ])('with an M-mode sweep %s and a silent clip %j is %s', (_, changes, expected) => {
    const { fetal, ...rhythm } = { fetal: true, ...SWEPT, ...changes };
    const found = interpret(both(silent(12)), {}, {}, [{ rhythm, fetal }]).classifications.find(
      ({ id }) => id === 'early-pregnancy-category',
    );
    expect(found?.value).toBe(expected);
  });

  it('does not treat a clip that beats at an implausible rate as activity', () => {
    const cardiac = { ...BEATING, beatsPerMinute: 261 };
    expect(category(both({ embryoMm: 12, cardiac }))).toBe('not-assessable');
  });

  it('lists what was not examined: an earlier scan, an empty amnion, the second of two planes', () => {
    const { reason } = sectionOf(interpret(both(empty(20))), 'early-pregnancy');
    expect(reason?.detail).toContain(
      'an earlier scan, and the empty amnion sign, were not assessed',
    );
    expect(reason?.detail).toContain('outside the two planes');
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
    [27, 100, null],
    [28, 100, 'usual'],
    [49, 110, 'borderline'],
    [49, 120, 'usual'],
    [50, 119, 'slow'],
    [69, 190, 'usual'],
    [69, 191, 'fast'],
    [70, 89, 'slow'],
    [70, 90, null],
    [77, 119, 'slow'],
    [97, 120, 'borderline'],
    [97, 130, 'usual'],
    [97, 175, 'usual'],
    [97, 176, 'fast'],
    [98, 140, null],
  ])('at %s days, %s a minute: %s', (days, rate, band) => {
    expect(embryonicRateBand(days, rate)).toBe(band);
  });

  it('is a finding if its whole interval is below the usual rates', () => {
    const findingAt = (beatsPerMinute: number) => {
      const cardiac = { ...BEATING, beatsPerMinute, uncertainty: 2 };
      const { findings } = interpret([view({ embryoMm: 8, cardiac })]);
      return findings.find(({ id }) => id === 'embryonic-heart-rate');
    };
    expect(findingAt(110)).toMatchObject({
      severity: 'info',
      text: expect.stringContaining(': slow or borderline at 6+'),
    });
    expect(findingAt(119)).toBeUndefined();
  });
});

describe('the embryonic heart rate without an age by CRL', () => {
  const textOf = (beatsPerMinute: number, options: Record<string, unknown>) => {
    const cardiac = { ...BEATING, beatsPerMinute, uncertainty: 2 };
    const { findings } = interpret([view({ embryoMm: 4, cardiac })], options);
    return findings.find(({ id }) => id === 'embryonic-heart-rate')?.text;
  };
  const at = (days: number) => ({ dating: { ga_days: days } });

  it.each([
    [80, at(43), 'slow at 6+1 weeks.'],
    [105, at(52), 'slow at 7+3 weeks.'],
    [80, {}, 'slow at any age.'],
    [195, {}, 'fast at any age.'],
  ])('of %s a minute, age %j, is %s', (rate, options, text) => {
    expect(textOf(rate, options)).toContain(text);
  });

  it('has no category if it is usual at the stated age or, without one, not beyond every limit', () => {
    expect(textOf(105, at(43))).toBeUndefined();
    expect(textOf(105, {})).toBeUndefined();
  });
});

describe('the age by the sac before an embryo is visible (Nyberg)', () => {
  it('is MSD + 30 days below 25 mm', () => {
    expect(nybergAge(24.9)).toBeCloseTo(54.9, 9);
    expect(nybergAge(25)).toBeNull();
  });
});

describe('structures that look like a sac', () => {
  const ofSize = (mm: number, embryo: boolean) => {
    const [frame] = view({ sac: [mm, mm], ...(embryo ? { embryoMm: 5 } : {}) }).frames;
    if (!frame) throw new Error('a clip without a frame');
    return { sac: frame.sac, contents: frame.contents };
  };

  it('the one with contents is the sac, however large the other is: a bladder is echo-free too', () => {
    const chosen = chooseSac([ofSize(40, false), ofSize(15, true)]);
    expect(chosen).toMatchObject({ bodies: 'one', contents: { embryo: { confidence: 0.9 } } });
  });

  it('two without contents are unclear, and two with contents are several sacs', () => {
    expect(chooseSac([ofSize(40, false), ofSize(15, false)])).toMatchObject({
      bodies: 'unclear',
      sac: null,
    });
    expect(chooseSac([ofSize(20, true), ofSize(15, true)]).bodies).toBe('several');
    expect(chooseSac([]).sac).toBeNull();
  });

  it('a dark spot without contents is not a sac if a more probable structure proved not to be one', () => {
    const [rejected] = view({ accepted: false }).frames;
    const first = { sac: rejected?.sac ?? null, contents: null };
    expect(first.sac?.accepted).toBe(false);
    expect(chooseSac([first, ofSize(2, false)])).toMatchObject({ bodies: 'unclear', sac: null });
    expect(chooseSac([first, ofSize(12, true)])).toMatchObject({ bodies: 'one' });
    expect(chooseSac([ofSize(2, false), first]).sac?.accepted).toBe(true);
  });

  it('are not measured if it is unclear which is the sac, and never if there are several', () => {
    const unclear = interpret([view({ bodies: 'unclear', accepted: false })]);
    expect(sectionOf(unclear, 'early-pregnancy').summary).toContain('more than one echo-free area');
    const several = interpret(both({ bodies: 'several', embryoMm: 9 }), {}, { crl: 9 });
    expect(sectionOf(several, 'early-pregnancy').reason?.code).toBe('several_sacs');
    expect(several.measurements).toEqual([]);
  });
});

describe('a crown-rump length on several frames', () => {
  it('is reported even if implausible ones come first', () => {
    const clips = [120, 121, 122, 40].map((embryoMm) => view({ sac: [130, 90], embryoMm }));
    const result = interpret(clips);
    expect(measurementOf(result, 'crl').value).toBeCloseTo(40, 6);
    const own = result.measurements.filter(({ concept }) => concept.key === 'crl');
    expect(own.map(({ quality }) => quality)).toEqual(['accepted', 'inadequate', 'inadequate']);
  });

  it('is the median of the accepted ones', () => {
    const result = interpret([10, 14, 11].map((embryoMm) => view({ embryoMm })));
    expect(measurementOf(result, 'crl')).toMatchObject({
      derivation: 'median',
      inputs: ['crl-1', 'crl-2', 'crl-3'],
    });
    expect(measurementOf(result, 'crl').value).toBeCloseTo(11, 6);
  });

  // Each length is known to within 4.5 mm.
  it.each([
    ['8.9 mm apart', [18.4, 9.5], 13.95],
    ['9.1 mm apart', [18.4, 9.3], null],
    ['with one far from two that agree', [18.4, 18.5, 7.7], 18.45],
    ['of which each contradicts the others', [30, 18, 7], null],
  ])('%s: the value is %s', (_, lengths, value) => {
    const result = interpret(lengths.map((embryoMm) => view({ sac: [60, 40], embryoMm })));
    const used = result.measurements.find(
      ({ concept, standing }) => concept.key === 'crl' && standing === 'counts',
    );
    expect(used?.value ?? null).toEqual(value && expect.closeTo(value, 6));
  });
});

describe('a value of the machine beside ours', () => {
  // Our measurement is known to within 4.5 mm.
  it.each([
    [16.4, false],
    [16.6, true],
    [62, true],
  ])('CRL %s mm beside 12 mm is reported as different: %s', (crl, told) => {
    const result = interpret([view({ embryoMm: 12 })], {}, { crl });
    expect(measurementOf(result, 'cart-crl').note).toContain('above the value measured here');
    const text = '12.0 mm as measured here: measure by hand.';
    const section = sectionOf(result, 'early-pregnancy');
    expect(section.summary?.includes(text)).toBe(told);
    expect(section.reason?.detail.includes(text)).toBe(told);
    expect(result.findings.some(({ id }) => id === 'early-values-differ')).toBe(told);
  });
});

describe('several fetuses', () => {
  it.each([
    ['of the embryo', { crl: 20 }, 'length (fetus A) 20', ['cart-crl-A', 'cart-crl-B']],
    ['of the head', { hc: 80 }, 'is reported separately', []],
  ])(
    'that the machine identifies in values %s: no median, no age, no category',
    (_, machine, text, listed) => {
      const clips = [20, 30].map((embryoMm) => view({ embryoMm, cardiac: BEATING }));
      const result = interpret(clips, {}, machine, [], ['A', 'B']);
      const own = result.measurements.filter((one) => one.section === 'early-pregnancy');
      expect(own.map(({ id }) => id)).toEqual([
        'crl-1',
        'crl-2',
        'embryonic-heart-rate-1',
        'embryonic-heart-rate-2',
        ...listed,
      ]);
      const section = sectionOf(result, 'early-pregnancy');
      expect(section).toMatchObject({ status: 'partial', reason: { code: 'several_fetuses' } });
      expect(section.summary).toContain(text);
      expect(result.classifications.filter((one) => one.section === 'early-pregnancy')).toEqual([]);
    },
  );
});

describe('a heart rate of the machine', () => {
  it('without other signs of an early pregnancy does not indicate one', () => {
    const section = sectionOf(interpret([], {}, { 'fetal-heart-rate': 150 }), 'early-pregnancy');
    expect(section.status).toBe('not_assessed');
  });
});

describe('a heart rate of the machine beside its CRL', () => {
  const result = interpret([], {}, { crl: 14, 'fetal-heart-rate': 150 });
  const rates = result.measurements.filter(({ concept }) => concept.key === 'fetal-heart-rate');

  it('is listed once, and both sections refer to it', () => {
    expect(rates.map(({ id }) => id)).toEqual(['cart-embryonic-heart-rate']);
    for (const id of ['early-pregnancy', 'fetal-heart']) {
      expect(sectionOf(result, id).summary).toContain('150/min (ultrasound machine)');
    }
  });

  it('is referred to in the findings of the fetal heart', () => {
    const slow = interpret([], {}, { crl: 14, 'fetal-heart-rate': 90 });
    const found = slow.findings.find(({ id }) => id === 'fetal-heart-rate-band');
    expect(found?.evidence).toEqual(['cart-embryonic-heart-rate']);
  });
});

describe('values of the machine without an image of the sac', () => {
  it('date the pregnancy, but leave its viability open', () => {
    const result = interpret([], {}, { crl: 60 });
    expect(measurementOf(result, 'ga-by-crl').value).toBeCloseTo(87.2439, 3);
    expect(measurementOf(result, 'ga-by-crl').note).toContain('ultrasound machine');
    expect(sectionOf(result, 'early-pregnancy')).toMatchObject({
      status: 'partial',
      data: { gestational_sac: 'not_assessed', cardiac_activity: 'not_assessed' },
    });
  });

  it.each([
    [4.9, 'no age was given'],
    [84.1, 'no age was given'],
  ])('a CRL of %s mm: %s', (crl, text) => {
    const result = interpret([], {}, { crl });
    expect(result.measurements.map(({ id }) => id)).not.toContain('ga-by-crl');
    expect(sectionOf(result, 'early-pregnancy').reason?.detail).toContain(text);
  });
});

describe('a sac outlined on images without a scale, which is not searched for contents', () => {
  const unscaled = { clip: { regions: [] } };

  it.each([
    ['in both planes', both(unscaled), 'not_assessed'],
    ['in one plane', [view({}), view({ ...unscaled, plane: 'transverse' })], 'not_seen'],
  ] as const)('%s is not called empty', (_, clips, yolkSac) => {
    const result = interpret(clips, {}, { 'mean-sac-diameter': 26 });
    const section = sectionOf(result, 'early-pregnancy');
    expect(section.data).toMatchObject({ embryo: 'not_assessed', yolk_sac: yolkSac });
    expect(section.summary).not.toContain('no embryo seen');
    expect(result.findings.some(({ id }) => id === 'viability')).toBe(false);
    expect(result.classifications[0]?.value).toBe('not-assessable');
  });
});

describe('the values of an early pregnancy', () => {
  it('have an age by the sac only if there is no CRL', () => {
    const ids = (given: View) => interpret(both(given)).measurements.map(({ id }) => id);
    expect(ids({ sac: [20, 20] })).toContain('ga-by-sac');
    const short = ids({ sac: [20, 20], embryoMm: 4 });
    expect(short).not.toContain('ga-by-sac');
    expect(short).not.toContain('ga-by-crl');
  });

  it('have the confidence of the sac and of the embryo', () => {
    const { measurements } = interpret([
      view({ embryoMm: 10, confidence: 0.8, cardiac: { ...BEATING, strength: 1.2 } }),
    ]);
    const confidence = (key: string) =>
      measurements.find(({ concept }) => concept.key === key)?.confidence;
    expect(confidence('crl')).toBeCloseTo(0.8 * 0.9, 6);
    expect(confidence('fetal-heart-rate')).toBe(1);
  });

  it('are inadequate outside their limits', () => {
    const fast = interpret([view({ embryoMm: 10, cardiac: { ...BEATING, beatsPerMinute: 261 } })]);
    expect(measurementOf(fast, 'embryonic-heart-rate').quality).toBe('inadequate');
    const wide = interpret(both({ sac: [81, 81] }));
    expect(measurementOf(wide, 'mean-sac-diameter').quality).toBe('inadequate');
  });

  // A CRL of 10 mm corresponds to 49.66 days. At 7+1, 115 /min is slow; at 7+0, borderline.
  it('have a heart rate judged at the rounded age by CRL', () => {
    const { findings } = interpret([], {}, { crl: 10, 'fetal-heart-rate': 115 });
    const found = findings.find(({ id }) => id === 'embryonic-heart-rate');
    expect(found?.severity).toBe('abnormal');
  });
});

describe('the size of a yolk sac', () => {
  // Our measurement is known to within 1 mm.
  it.each([
    [6.9, false],
    [7.1, true],
  ])('of %s mm as measured here is called large: %s', (yolkMm, large) => {
    const { summary } = sectionOf(interpret([view({ yolkMm })]), 'early-pregnancy');
    expect(summary?.includes('large; usual 2 to 6 mm')).toBe(large);
  });

  it.each([
    [1.9, 'small'],
    [2, 'usual'],
    [6, 'usual'],
    [6.1, 'large'],
  ])('of %s mm is %s', (mm, band) => {
    expect(yolkSacBand(mm)).toBe(band);
  });
});

describe('the age by CRL beside the one by last period (ACOG Committee Opinion 700)', () => {
  it.each([
    [62, 5],
    [63, 7],
    [111, 7],
    [112, 10],
    [153, 10],
    [154, 14],
    [195, 14],
    [196, 21],
  ])('at %s days a difference of %s days is tolerated', (days, limit) => {
    expect(redatingDays(days)).toBe(limit);
  });

  // A CRL of 10 mm corresponds to 49.66 days, so to 50.
  it.each([
    [55, false],
    [56, true],
    [45, false],
    [44, true],
  ])('of 50 days beside %s by last period is reported: %s', (ga_days, said) => {
    const { findings } = interpret([], { dating: { ga_days, basis: 'lmp' } }, { crl: 10 });
    expect(findings.some(({ id }) => id === 'age-by-crl')).toBe(said);
  });
});

describe("the cart's name for a view", () => {
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
