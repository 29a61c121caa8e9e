import { describe, expect, it } from 'vitest';
import type { CalibratedRegion, Clip } from '../../../../pipelines/contract/study.ts';
import { parseOptions } from '../../../../pipelines/obstetric/input.ts';
import type {
  LocatedBox,
  LocatedMidsagittal,
  MidsagittalReading,
} from '../../../../pipelines/obstetric/nt/evidence.ts';
import {
  nuchalCategory,
  nuchalTranslucency95,
} from '../../../../pipelines/obstetric/nt/guideline.ts';
import { NASAL_BONE_SURE } from '../../../../pipelines/obstetric/nt/measure.ts';
import { nt } from '../../../../pipelines/obstetric/nt/section.ts';
import type { Measurement } from '../../../../pipelines/result/envelope.ts';
import { cartValue } from '../../cart-sample.ts';
import { clip, evidenceWith, runSection } from '../evidence-sample.ts';

const FINE: CalibratedRegion = {
  area: { minX: 0, minY: 0, maxX: 799, maxY: 599 },
  scale: { x: 0.08, y: 0.08 },
  source: 'region',
};

const found = (accepted = true): LocatedBox => ({
  box: { minX: 300, minY: 280, maxX: 400, maxY: 320 },
  confidence: 0.9,
  accepted,
});

const ALL: LocatedMidsagittal = {
  thalami: found(),
  midbrain: found(),
  palate: found(),
  'nuchal-translucency': found(),
  'nasal-bone': found(),
  'nasal-tip': found(),
};

interface Shot {
  mm?: number | null;
  located?: LocatedMidsagittal;
  clip?: Partial<Clip>;
}

let shots = 0;

function midsagittal({ mm = 1.6, located = ALL, clip: changes }: Shot = {}): MidsagittalReading {
  shots += 1;
  const taken = clip(`nt-${shots}.dcm`, { regions: [FINE], ...changes });
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  const half = (mm ?? 0) / 2 / FINE.scale.y;
  const ends = [
    { x: 350, y: 300 - half },
    { x: 350, y: 300 + half },
  ] as const;
  return {
    clip: taken,
    frame,
    estimate: { label: 'midsagittal', confidence: 0.95 },
    located,
    lines: mm === null ? null : { ends, thickness: mm, seen: 0.9 },
  };
}

function crl(mm: number): Measurement {
  return {
    id: 'crl',
    section: 'early-pregnancy',
    concept: { key: 'crl', system: '', code: '', display: '' },
    value: mm,
    source: { provenance: 'image-analysis' },
    quality: 'accepted',
  } as Measurement;
}

interface Given {
  frames?: readonly MidsagittalReading[] | null;
  crlMm?: number;
  gaDays?: number;
  machineMm?: number;
  /** Thickness that the machine's report states for a second fetus. */
  otherMm?: number;
  /** Measurements of the sections before. */
  before?: readonly Measurement[];
}

function run({ frames = [midsagittal()], crlMm, gaDays, machineMm, otherMm, before }: Given = {}) {
  const concept = { scheme: 'LN', code: '33069-6', meaning: 'Nuchal Translucency' };
  const ofFetus = (value: number | undefined, fetus: string | null) =>
    value === undefined
      ? []
      : [cartValue({ key: 'nuchal-translucency', concept, value, unit: 'mm', fetus })];
  const cart = [
    ...ofFetus(machineMm, otherMm === undefined ? null : 'A'),
    ...ofFetus(otherMm, 'B'),
  ];
  const evidence = evidenceWith({
    study: { clips: [], refused: [], files: 1, series: 1, cart },
    views: { nuchal: { frames } },
    options: parseOptions(gaDays === undefined ? {} : { dating: { ga_days: gaDays } }),
  });
  return runSection(nt, evidence, before ?? (crlMm === undefined ? [] : [crl(crlMm)]));
}

const largest = (outcome: ReturnType<typeof run>) =>
  outcome.measurements?.find(({ id }) => id === 'nuchal-translucency');

describe('nuchal translucency', () => {
  it('is the largest of up to three measurements', () => {
    const frames = [1.4, 1.9, 1.7, 2.6].map((mm) => midsagittal({ mm }));
    expect(largest(run({ frames, crlMm: 60 }))?.value).toBe(1.9);
  });

  it('is compared with the 95th centile for its CRL, with category and MoM', () => {
    const outcome = run({ crlMm: 60 });
    expect(outcome).toMatchObject({
      status: 'partial',
      reason: { code: 'plane_not_all_assessed' },
    });
    expect(outcome.summary).toContain('neutral position of the head');
    // The interval of 1.6 mm contains the limit of 2.33 mm, but that of 1.2 mm does not.
    expect(largest(outcome)).toMatchObject({ interpretation: null, inputs: ['crl'] });
    const thin = run({ frames: [midsagittal({ mm: 1.2 })], crlMm: 60 });
    expect(largest(thin)).toMatchObject({ interpretation: 'N' });
    expect(largest(outcome)?.reference?.high).toBeCloseTo(2.1 + (0.6 * 15) / 39, 9);
    expect(outcome.data?.mom).toBeCloseTo(1.6 / 1.56063, 4);
  });

  it('without a CRL has no category', () => {
    const outcome = run();
    expect(outcome).toMatchObject({ status: 'partial', reason: { code: 'crl_missing' } });
    expect(outcome.summary).toContain('it is not measured on the view for NT');
    expect(largest(outcome)).toMatchObject({ reference: null, interpretation: null });
    expect(outcome.classifications?.map(({ id }) => id)).not.toContain(
      'nuchal-translucency-category',
    );
  });

  it('of 3.5 mm including its interval is high even without a CRL, and guidance is given', () => {
    const outcome = run({ frames: [midsagittal({ mm: 4.6 })] });
    expect(outcome.findings?.[0]).toMatchObject({ severity: 'abnormal' });
    expect(outcome.guidance).toHaveLength(1);
  });

  it.each([
    [44.9, 'outside_window'],
    [45, 'plane_not_all_assessed'],
    [84, 'plane_not_all_assessed'],
    [84.1, 'outside_window'],
  ])('at a CRL of %s mm: %s', (crlMm, code) => {
    expect(run({ crlMm }).reason?.code).toBe(code);
  });

  it.each([
    [76, 'outside_window'],
    [77, 'crl_missing'],
    [99, 'crl_missing'],
    [100, 'outside_window'],
  ])('at %s days without a CRL: %s', (gaDays, code) => {
    expect(run({ gaDays }).reason?.code).toBe(code);
  });

  it('is not given in millimetres without a calibration', () => {
    const outcome = run({ frames: [midsagittal({ clip: { regions: [] } })], crlMm: 60 });
    expect(outcome).toMatchObject({ status: 'not_assessed', reason: { code: 'no_calibration' } });
    expect(outcome.measurements).toEqual([]);
  });

  it.each([
    [0.1, 'accepted'],
    [0.11, 'low'],
  ])('at %s mm per pixel is of quality %s', (mm, quality) => {
    const regions = [{ ...FINE, scale: { x: mm, y: mm } }];
    const outcome = run({ frames: [midsagittal({ clip: { regions } })], crlMm: 60 });
    expect(outcome.measurements?.[0]?.quality).toBe(quality);
    expect(outcome.summary?.includes('image calibration is coarser')).toBe(quality === 'low');
  });

  it('whose lines were not found is inadequate, and nothing is normal', () => {
    const outcome = run({ frames: [midsagittal({ mm: null })], crlMm: 60 });
    expect(outcome).toMatchObject({ status: 'inadequate', reason: { code: 'low_confidence' } });
    expect(outcome.summary).not.toContain('normal');
  });

  it.each([
    [[], 'view_missing'],
    [null, 'no_model'],
  ])('with frames %s is not assessed', (frames, code) => {
    expect(run({ frames })).toMatchObject({ status: 'not_assessed', reason: { code } });
  });
});

describe('nasal bone and plane', () => {
  const classOf = (outcome: ReturnType<typeof run>, id: string) =>
    outcome.classifications?.find((one) => one.id === id)?.value;

  it('a nasal bone that was located is present', () => {
    expect(classOf(run({ crlMm: 60 }), 'nasal-bone')).toBe('present');
  });

  it('a nasal bone below the gate is not assessable, never absent', () => {
    const located = { ...ALL, 'nasal-bone': found(false) };
    const outcome = run({ frames: [midsagittal({ located })], crlMm: 60 });
    expect(classOf(outcome, 'nasal-bone')).toBe('not-assessable');
  });

  it('a plane with all its landmarks is adequate only as far as it was assessed', () => {
    expect(classOf(run(), 'nt-plane-adequacy')).toBe('adequate-as-far-as-assessed');
  });

  it('a plane without its palate is inadequate', () => {
    const { palate: _, ...located } = ALL;
    const outcome = run({ frames: [midsagittal({ located, mm: 3.8 })], crlMm: 60 });
    expect(classOf(outcome, 'nt-plane-adequacy')).toBe('inadequate');
    expect(outcome).toMatchObject({ status: 'inadequate', reason: { code: 'plane_inadequate' } });
    expect(outcome.summary).toContain('3.8 mm was not interpreted');
    expect(outcome.summary).toContain('palate');
    const adequacy = outcome.classifications?.find(({ id }) => id === 'nt-plane-adequacy');
    expect(adequacy?.criteria.filter(({ met }) => !met)).toMatchObject([
      { name: 'palate seen', outcome: 'not_met' },
    ]);
    expect(classOf(outcome, 'nuchal-translucency-category')).toBeUndefined();
    expect(outcome.measurements?.[0]?.reference).toBeNull();
  });

  it('an adequate plane takes precedence over an inadequate one, however thick its NT', () => {
    const { palate: _, ...located } = ALL;
    const frames = [3.9, 3.8, 3.7].map((mm) => midsagittal({ mm, located }));
    const outcome = run({ frames: [...frames, midsagittal({ mm: 1.6 })], crlMm: 60 });
    expect(largest(outcome)?.value).toBe(1.6);
  });

  it('a bone of which the model is not certain is not assessable: it found erased ones at up to 0.84', () => {
    const at = (confidence: number) => {
      const located = { ...ALL, 'nasal-bone': { ...found(), confidence } };
      return classOf(run({ frames: [midsagittal({ located })], crlMm: 60 }), 'nasal-bone');
    };
    expect(at(NASAL_BONE_SURE - 0.01)).toBe('not-assessable');
    expect(at(NASAL_BONE_SURE)).toBe('present');
  });
});

describe('near a limit', () => {
  it.each([
    [2.31, true],
    [1.2, false],
    [3.45, true],
  ])('%s mm at CRL 60 states that the interval includes the limit: %s', (mm, said) => {
    const outcome = run({ frames: [midsagittal({ mm })], crlMm: 60 });
    expect(outcome.summary?.includes('measure by hand')).toBe(said);
  });

  it('a value that is increased or high stays a finding, and has no category', () => {
    const outcome = run({ frames: [midsagittal({ mm: 3.6 })], crlMm: 60 });
    expect(outcome.findings?.[0]?.text).toContain('at or above the 95th centile');
    expect(outcome.summary).toContain('at a cut-off: increased or high; measure by hand');
    expect(outcome.guidance).toEqual([]);
    const ids = outcome.classifications?.map(({ id }) => id);
    expect(ids).not.toContain('nuchal-translucency-category');
  });

  it('a value that is either normal or increased is neither a finding nor a category', () => {
    const outcome = run({ frames: [midsagittal({ mm: 2.31 })], crlMm: 60 });
    expect(outcome.findings).toEqual([]);
    expect(outcome.summary).toContain('at a cut-off: normal or increased; measure by hand');
  });
});

describe('the value of the machine', () => {
  it("is evaluated before ours, with the machine's CRL, and needs no image", () => {
    const outcome = run({ frames: [], crlMm: 60, machineMm: 2.4 });
    expect(outcome.summary).toContain('2.4 mm (ultrasound machine)');
    expect(outcome.summary).toContain('The plane in which NT was measured was not assessed.');
    expect(outcome.findings).toHaveLength(1);
    expect(run({ crlMm: 60, machineMm: 2.4 }).summary).toContain('2.4 mm (ultrasound machine)');
  });

  it.each([
    ['beside images', { crlMm: 60 }],
    ['without images', { frames: [], crlMm: 60 }],
    ['beside images whose lines were not seen', { frames: [midsagittal({ mm: null })] }],
  ])('of each of two fetuses is reported, and only one of 3.5 mm is judged: %s', (_, given) => {
    const outcome = run({ ...given, gaDays: 86, machineMm: 2.4, otherMm: 4, crlMm: undefined });
    expect(outcome.summary).toContain(
      'fetus A 2.4 mm (ultrasound machine), fetus B 4.0 mm (ultrasound machine)',
    );
    expect(outcome.summary).toContain('each reported separately without a category');
    expect(outcome.classifications ?? []).toEqual([]);
    expect(outcome.findings?.map(({ id, text }) => [id, text])).toEqual([
      [
        'increased-cart-nuchal-translucency-B',
        'Nuchal translucency 4.0 mm, 3.5 mm or more, fetus B (ultrasound machine).',
      ],
    ]);
  });

  it('of two fetuses is not judged outside of the weeks of the method', () => {
    const outcome = run({ frames: [], gaDays: 120, machineMm: 2.4, otherMm: 4 });
    expect(outcome.summary).toContain(
      'Fetus B: Nuchal translucency 4.0 mm (ultrasound machine) is not categorised',
    );
    expect(outcome.measurements?.map(({ value }) => value)).toEqual([2.4, 4]);
    expect(outcome.findings ?? []).toEqual([]);
  });

  it.each([
    [44, 50, ['increased-cart-nuchal-translucency-B']],
    [50, 44, []],
    [44, 44, []],
  ])('of two fetuses with a CRL of %s and %s mm is judged by the own CRL', (ofA, ofB, findings) => {
    const named = (mm: number, fetus: string) => ({ ...crl(mm), id: `cart-crl-${fetus}`, fetus });
    const before = [named(ofA, 'A'), named(ofB, 'B')];
    const outcome = run({ frames: [], gaDays: 80, machineMm: 2.4, otherMm: 4, before });
    expect(outcome.measurements?.map(({ value }) => value)).toEqual([2.4, 4]);
    expect((outcome.findings ?? []).map(({ id }) => id)).toEqual(findings);
    expect(outcome.summary?.includes('Fetus A: Nuchal translucency 2.4 mm')).toBe(ofA < 45);
    expect(outcome.summary?.includes('Fetus B: Nuchal translucency 4.0 mm')).toBe(ofB < 45);
  });

  it.each([
    ['1.4 mm, ours 3.9', 1.4, 3.9],
    ['4.0 mm, ours 1.4', 4, 1.4],
  ])('of %s has another category: none is reported, and the difference is', (_, machineMm, mm) => {
    const outcome = run({ frames: [midsagittal({ mm })], crlMm: 60, machineMm });
    expect(outcome.classifications?.map(({ id }) => id)).not.toContain(
      'nuchal-translucency-category',
    );
    expect(outcome.findings).toMatchObject([
      { id: 'nuchal-translucency-differs', severity: 'abnormal' },
    ]);
    expect(outcome.summary).toContain('so none is given; measure by hand');
    expect(outcome.guidance).toEqual([]);
    expect(outcome.measurements?.every(({ interpretation }) => interpretation === null)).toBe(true);
    const machine = outcome.measurements?.find(({ id }) => id === 'cart-nuchal-translucency');
    expect(machine?.note).toContain('the value measured here');
  });

  it.each([
    [1.25, false],
    [1.2, true],
  ])('of %s mm beside 2 mm of ours, known to 0.75 mm, is reported: %s', (machineMm, told) => {
    const outcome = run({ frames: [midsagittal({ mm: 2 })], crlMm: 60, machineMm });
    expect(outcome.classifications?.[0]?.value).toBe('normal');
    expect(outcome.summary?.includes('2.0 mm as measured here: measure by hand')).toBe(told);
    expect(outcome.findings?.length).toBe(told ? 1 : 0);
  });

  it.each([
    [84, 'high'],
    [84.1, undefined],
  ])('of 4.6 mm is shown at a CRL of %s mm, with the category %s', (crlMm, value) => {
    const outcome = run({ frames: [], crlMm, machineMm: 4.6 });
    expect(outcome.measurements).toMatchObject([{ value: 4.6 }]);
    expect(outcome.classifications?.[0]?.value).toBe(value);
    expect(outcome.summary).toContain('4.6 mm (ultrasound machine)');
    expect(outcome.summary?.includes('not categorised: outside the window')).toBe(!value);
    expect(outcome.findings?.length ?? 0).toBe(value ? 1 : 0);
  });

  it.each([
    [3.47, '3.47 mm, at or above the 95th centile'],
    [3.5, '3.5 mm, 3.5 mm or more'],
    [2.34, '2.34 mm, at or above the 95th centile'],
  ])('of %s mm is shown on its side of the limit', (machineMm, text) => {
    const outcome = run({ frames: [], crlMm: 60, machineMm });
    expect(outcome.findings?.[0]?.text).toContain(`Nuchal translucency ${text}`);
  });

  it('is not evaluated beyond its plausible limits', () => {
    expect(run({ frames: [], crlMm: 60, machineMm: 20.1 }).findings ?? []).toEqual([]);
  });
});

describe('images of several fetuses', () => {
  const twins = (mm: number[]) =>
    run({ frames: mm.map((one) => midsagittal({ mm: one })), machineMm: 1.5, otherMm: 1.6 });

  it('are listed separately, without a largest, a category or a plane', () => {
    const outcome = twins([1.5, 3.4]);
    expect(outcome).toMatchObject({ status: 'partial', reason: { code: 'several_fetuses' } });
    expect(outcome.measurements?.map(({ id }) => id)).toEqual([
      'cart-nuchal-translucency-A',
      'cart-nuchal-translucency-B',
      'nuchal-translucency-1',
      'nuchal-translucency-2',
    ]);
    expect(outcome.classifications ?? []).toEqual([]);
    expect(outcome.summary).toContain('1.5 mm, 3.4 mm, each reported separately');
  });

  it.each([
    [3.5, false],
    [4.6, true],
  ])('of which one has %s mm lead to a finding for it: %s', (mm, told) => {
    const { findings, guidance } = twins([1.5, mm]);
    expect(findings?.length).toBe(told ? 1 : 0);
    expect(guidance?.length).toBe(told ? 1 : 0);
  });
});

describe('categories', () => {
  const p95 = nuchalTranslucency95(84) ?? 0;

  it('runs from 2.1 mm at CRL 45 to 2.7 mm at CRL 84', () => {
    expect(nuchalTranslucency95(45)).toBeCloseTo(2.1, 9);
    expect(p95).toBeCloseTo(2.7, 9);
  });

  it.each([
    [p95 - 0.01, 'normal'],
    [p95, 'increased'],
    [3.49, 'increased'],
    [3.5, 'high'],
  ])('%s mm at CRL 84 is %s', (mm, category) => {
    expect(nuchalCategory(mm, 84)).toBe(category);
  });
});
