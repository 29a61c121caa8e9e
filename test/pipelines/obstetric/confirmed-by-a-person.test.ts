import { describe, expect, it } from 'vitest';
import { CONCEPTS, type ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import type { Point } from '../../../pipelines/contract/image.ts';
import type { EarlyClip } from '../../../pipelines/obstetric/early-pregnancy/evidence.ts';
import type { FetalHeartReadings } from '../../../pipelines/obstetric/fetal-heart/evidence.ts';
import type { MidsagittalReading } from '../../../pipelines/obstetric/nt/evidence.ts';
import type { ObstetricReviewed } from '../../../pipelines/obstetric/review.ts';
import type { PartRun } from '../../../pipelines/obstetric/shared/sweeps.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { cartValue } from '../cart-sample.ts';
import { spectrum } from './doppler/doppler-sample.ts';
import { clip, MM_PER_PIXEL, measurementOf, outline, sectionOf } from './evidence-sample.ts';
import { type PersonChange, reviewedStudy, reviewedViews, reviewedWith } from './reviewed-study.ts';

/**
 * Reviews of studies whose readings all need review. What a person confirmed is used; nothing else
 * is.
 */

const SURE = { confidence: 0.9, accepted: true } as const;
const across = (mm: number): [Point, Point] => [
  { x: 300, y: 300 },
  { x: 300 + mm / MM_PER_PIXEL, y: 300 },
];

const accept = (measurement: string) => ({ kind: 'accept', measurement }) as const;
const type = (measurement: string, value: number) =>
  ({ kind: 'set-value', measurement, value }) as const;

function machine(key: ConceptKey, value: number) {
  const { unit } = CONCEPTS[key];
  const concept = { scheme: 'LN', code: key, meaning: key };
  return cartValue({ key, concept, value, unit });
}

const categoryOf = (result: Result, id: string) =>
  result.classifications.find((one) => one.id === id)?.value ?? null;
const critical = ({ findings }: Result) =>
  findings.filter(({ severity }) => severity === 'critical').map(({ text }) => text);

interface Sac {
  crl?: number;
  yolkSac?: boolean;
  plane?: EarlyClip['plane'];
  cardiac?: EarlyClip['cardiac'];
}

let sacs = 0;

function sac({ crl, yolkSac = false, plane = 'sagittal', cardiac = null }: Sac = {}): EarlyClip {
  sacs += 1;
  const taken = clip(`sac-${sacs}.dcm`);
  const embryo = crl === undefined ? null : { ends: across(crl), confidence: 0.9 };
  return {
    clip: taken,
    plane,
    route: 'transvaginal',
    cardiac,
    frames: taken.frames.map((frame) => ({
      clip: taken,
      frame,
      sac: { ellipse: outline(40, 30, 0), levels: { inside: 20, outside: 120 }, ...SURE },
      contents: {
        yolkSac: yolkSac ? { centre: { x: 300, y: 320 }, radius: 8, confidence: 0.9 } : null,
        embryo,
      },
      bodies: 'one',
    })),
  };
}

const SECOND_TRIMESTER = { options: { dating: { ga_days: 140, basis: 'crl' } } };
const EARLY = { options: { dating: { ga_days: 56, basis: 'lmp' } } };

function heart(given: Partial<FetalHeartReadings>): { fetalHeart: FetalHeartReadings } {
  return { fetalHeart: { chests: [], views: [], chestFrames: 0, mMode: [], ...given } };
}

const sweep = (rhythm: FetalHeartReadings['mMode'][number]['rhythm']) => ({
  file: 'm-mode.dcm',
  sopInstanceUid: null,
  frame: 0,
  fetal: true,
  rhythm,
});

function chest() {
  const taken = clip('chest.dcm');
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  const located = { heart: outline(40, 32), thorax: outline(80, 70), septum: null, ...SURE };
  return { clip: taken, frame, located };
}

describe('a value that a person accepted', () => {
  it('on one spectrum leads to no conclusion about the flow on another', () => {
    const absent = spectrum('umbilical-artery', { psv: 40, edv: 0, tamx: 18 });
    const study = reviewedViews({ spectra: [absent, spectrum('middle-cerebral-artery')] });
    const result = reviewedWith(study, accept('middle-cerebral-artery-pi'));
    expect(measurementOf(result, 'middle-cerebral-artery-pi').standing).toBe('counts');
    expect(critical(result)).toEqual([]);
    expect(categoryOf(result, 'end-diastolic-flow')).toBeNull();
    expect(sectionOf(result, 'doppler').summary).toContain(
      'umbilical artery spectrum needs review',
    );
    expect(critical(reviewedWith(study, accept('umbilical-artery-ri')))).toHaveLength(1);
  });

  it('of the heart’s size leads to no conclusion from an M-mode without a beat', () => {
    const study = reviewedViews(
      heart({ chests: [chest()], mMode: [sweep({ status: 'not-seen' })] }),
    );
    const result = reviewedWith(study, accept('cardiothoracic-area-ratio'));
    expect(measurementOf(result, 'cardiothoracic-area-ratio').standing).toBe('counts');
    expect(critical(result)).toEqual([]);
  });

  it('of an embryo leads to no conclusion from its clip without a beat', () => {
    const silent = sac({ crl: 9, cardiac: { status: 'not-seen' } });
    const study = reviewedViews({ earlyPregnancy: [silent] }, EARLY);
    const result = reviewedWith(study, accept('crl'));
    expect(categoryOf(result, 'early-pregnancy-category')).toBe('not-assessable');
    const { reason } = sectionOf(result, 'early-pregnancy');
    expect(reason?.detail).toContain('the clip shows needs review');
  });

  it('of an embryo’s heartbeat is a sign of life', () => {
    const beating = {
      status: 'beating',
      beatsPerMinute: 140,
      uncertainty: 3,
      strength: 0.9,
    } as const;
    const study = reviewedViews({ earlyPregnancy: [sac({ crl: 9, cardiac: beating })] }, EARLY);
    const category = (...changes: ReturnType<typeof accept>[]) =>
      categoryOf(reviewedWith(study, ...changes), 'early-pregnancy-category');
    expect(category(accept('crl'))).toBe('not-assessable');
    expect(category(accept('embryonic-heart-rate'))).toBe('embryo-with-cardiac-activity');
  });

  it.each([
    [
      'M-mode',
      heart({
        mMode: [sweep({ status: 'beating', beatsPerMinute: 95, variation: 0.02, strength: 0.9 })],
      }),
    ],
    ['spectrum', { spectra: [spectrum('umbilical-artery', { rate: 95, edv: -10 })] }],
  ])('of a slow heart rate on a %s counts, and nothing else on it does', (_, views) => {
    const result = reviewedWith(reviewedViews(views), accept('fetal-heart-rate'));
    expect(measurementOf(result, 'fetal-heart-rate').standing).toBe('counts');
    expect(categoryOf(result, 'fetal-heart-rate-band')).toBe('slow');
    expect(critical(result)).toEqual([]);
  });

  it('is judged instead of the machine’s length of the embryo', () => {
    const study = reviewedViews(
      { earlyPregnancy: [sac({ crl: 9 })] },
      { ...EARLY, cart: [machine('crl', 20)] },
    );
    expect(measurementOf(reviewedWith(study), 'ga-by-crl').inputs).toEqual(['cart-crl']);
    const result = reviewedWith(study, accept('crl'));
    expect(measurementOf(result, 'ga-by-crl')).toMatchObject({ inputs: ['crl'] });
    expect(sectionOf(result, 'early-pregnancy').summary).toContain('gestational age by CRL 6+6');
  });

  it('is judged instead of the machine’s nuchal translucency', () => {
    const taken = clip('nt.dcm', {
      regions: [
        {
          area: { minX: 0, minY: 0, maxX: 799, maxY: 599 },
          scale: { x: 0.08, y: 0.08 },
          source: 'region',
        },
      ],
    });
    const [frame] = taken.frames;
    if (!frame) throw new Error('a clip without a frame');
    const reading: MidsagittalReading = {
      clip: taken,
      frame,
      estimate: { label: 'midsagittal', confidence: 0.95 },
      located: Object.fromEntries(
        (
          [
            'thalami',
            'midbrain',
            'palate',
            'nuchal-translucency',
            'nasal-bone',
            'nasal-tip',
          ] as const
        ).map((structure) => [
          structure,
          { box: { minX: 300, minY: 280, maxX: 400, maxY: 320 }, ...SURE },
        ]),
      ),
      lines: {
        ends: [
          { x: 350, y: 270 },
          { x: 350, y: 330 },
        ],
        thickness: 4.8,
        seen: 0.9,
      },
    };
    const study = reviewedViews(
      { nuchal: { frames: [reading] } },
      {
        options: { dating: { ga_days: 87, basis: 'lmp' } },
        cart: [machine('crl', 60), machine('nuchal-translucency', 1.4)],
      },
    );
    const category = (...changes: ReturnType<typeof accept>[]) =>
      categoryOf(reviewedWith(study, ...changes), 'nuchal-translucency-category');
    expect(category()).toBe('normal');
    expect(category(accept('nuchal-translucency'))).toBe('high');
    // The nasal bone on the same image is not confirmed by it.
    const accepted = reviewedWith(study, accept('nuchal-translucency'));
    expect(categoryOf(accepted, 'nasal-bone')).toBe('not-assessable');
  });
});

describe('a length that a person accepted on a transabdominal image', () => {
  const [frame] = clip('abdominal.dcm').frames;
  if (!frame) throw new Error('a clip without a frame');
  const taken = { clip: clip('abdominal.dcm'), frame, route: 'transabdominal' as const };
  const shown = { ...taken, estimate: { label: 'cervix' as const, confidence: 0.9 } };
  const [from, to] = across(18);

  it('does not make the cervix short', () => {
    const middle = { x: (from.x + to.x) / 2, y: from.y };
    const located = { externalOs: from, internalOs: to, middle, funnel: null, bladder: false };
    const frames = [{ ...shown, located: { ...located, ...SURE } }];
    const study = reviewedViews({ cervix: { frames, uncertainty: null } }, SECOND_TRIMESTER);
    const result = reviewedWith(study, accept('cervical-length-1'));
    expect(measurementOf(result, 'cervical-length').standing).toBe('counts');
    expect(categoryOf(result, 'cervical-length-category')).toBeNull();
    expect(sectionOf(result, 'cervix')).toMatchObject({
      data: { route: 'transabdominal' },
      summary: expect.stringContaining('needs a transvaginal measurement'),
    });
    expect(result.findings).toEqual([]);
  });

  it('does not make the placenta low', () => {
    const located = { internalOs: from, edge: to, overlaps: false, ...SURE };
    const placenta = {
      bodies: [],
      edges: [{ ...shown, located }],
      uncertainty: { toOs: null, thickness: null },
    };
    const result = reviewedWith(
      reviewedViews({ placenta }, SECOND_TRIMESTER),
      accept('placenta-to-os-1'),
    );
    expect(measurementOf(result, 'placenta-to-os-1').standing).toBe('counts');
    expect(categoryOf(result, 'placental-position')).toBeNull();
    expect(sectionOf(result, 'placenta').summary).toContain('a transvaginal scan is needed');
    expect(result.findings).toEqual([]);
  });
});

describe('a thickness of the placenta that a reader typed', () => {
  const body = (file: string, mm: number) => {
    const taken = clip(file);
    const [frame] = taken.frames;
    if (!frame) throw new Error('a clip without a frame');
    const estimate = { label: 'placenta' as const, confidence: 0.9 };
    const located = { side: 'anterior' as const, lacunae: 0, thickness: across(mm), ...SURE };
    return { clip: taken, frame, estimate, route: 'transabdominal' as const, located };
  };
  // Only the largest of the three is listed.
  const bodies = [body('first.dcm', 24), body('thickest.dcm', 29), body('third.dcm', 26)];
  const placenta = { bodies, edges: [], uncertainty: { toOs: null, thickness: null } };
  const study = reviewedViews({ placenta }, { ...SECOND_TRIMESTER, accept: 'simulated' });
  const thicknessesIn = (result: Result) =>
    result.measurements.filter(({ concept }) => concept.key === 'placental-thickness');

  it.each([21.6, 27, 35])('of %d mm counts, and no image that was not listed replaces it', (mm) => {
    expect(thicknessesIn(reviewedWith(study)).map(({ value }) => value)).toEqual([29]);
    expect(thicknessesIn(reviewedWith(study, type('placental-thickness', mm)))).toMatchObject([
      { value: mm, quality: 'accepted', standing: 'counts', confirmed: 'entered' },
    ]);
  });
});

describe('absent flow that the analysis saw in the umbilical artery', () => {
  const absent = spectrum('umbilical-artery', { psv: 40, edv: 0, tamx: 18 });
  const flow = (result: Result) => categoryOf(result, 'end-diastolic-flow');

  it.each(['real', 'simulated'] as const)(
    'gives way to the velocity that a reader typed (evidence accepted: %s)',
    (evidence) => {
      const study = reviewedViews({ spectra: [absent] }, { accept: evidence });
      const result = reviewedWith(study, type('umbilical-artery-edv', 9));
      expect(flow(result)).toBe('forward');
      expect(critical(result)).toEqual([]);
      const index = measurementOf(result, 'umbilical-artery-ri');
      expect(index).toMatchObject({ value: 1, quality: 'inadequate' });
      expect(index.note).toContain('before the reader corrected it');
    },
  );

  it('on a second spectrum remains critical if a reader typed the velocity of the first', () => {
    const spectra = [absent, { ...absent, file: 'second.dcm' }];
    const study = reviewedViews({ spectra }, { accept: 'simulated' });
    const typed = type('umbilical-artery-edv', 9);
    expect(critical(reviewedWith(study, typed))).toHaveLength(1);
    const rejected = { kind: 'reject', measurement: 'umbilical-artery-ri-2' } as const;
    expect(critical(reviewedWith(study, typed, rejected))).toEqual([]);
  });

  it('is not concluded if a reader rejected the index that shows it', () => {
    const study = reviewedViews({ spectra: [absent] }, { accept: 'simulated' });
    expect(critical(reviewedWith(study))).toHaveLength(1);
    const rejected = { kind: 'reject', measurement: 'umbilical-artery-ri' } as const;
    expect(critical(reviewedWith(study, rejected))).toEqual([]);
    expect(flow(reviewedWith(study, rejected))).toBeNull();
  });

  it('does not rest on another index that a reader rejected', () => {
    const study = reviewedViews({ spectra: [absent] }, { accept: 'simulated' });
    const rejected = { kind: 'reject', measurement: 'umbilical-artery-pi' } as const;
    const evidence = (result: Result) =>
      result.findings.find(({ id }) => id === 'end-diastolic-flow')?.evidence;
    expect(evidence(reviewedWith(study))).toEqual(['umbilical-artery-pi']);
    expect(evidence(reviewedWith(study, rejected))).toEqual([]);
  });

  it('that a reader accepted remains critical', () => {
    const study = reviewedViews({ spectra: [absent] });
    expect(critical(reviewedWith(study, accept('umbilical-artery-edv')))).toHaveLength(1);
  });
});

describe('a length of the fetus that a person typed', () => {
  const consistency = 'consistency-hc-ac';

  it('counts although it contradicts the analysis, whose lengths are withheld', () => {
    const result = reviewedWith(reviewedStudy(), type('ac', 380));
    expect(measurementOf(result, 'ac')).toMatchObject({ value: 380, standing: 'counts' });
    expect(measurementOf(result, 'hc').quality).toBe('inadequate');
    expect(result.findings.map(({ id }) => id)).toContain(consistency);
  });

  it('counts although it contradicts another one that a person typed, which is reported', () => {
    const result = reviewedWith(reviewedStudy('real'), type('ac', 380), type('hc', 255));
    for (const [id, value] of [
      ['ac', 380],
      ['hc', 255],
    ] as const) {
      expect(measurementOf(result, id)).toMatchObject({ value, standing: 'counts' });
    }
    expect(result.findings.map(({ id }) => id)).toContain(consistency);
  });
});

describe('a placental thickness that a person accepted', () => {
  const taken = clip('placenta.dcm');
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  const body = {
    clip: taken,
    frame,
    estimate: { label: 'placenta' as const, confidence: 0.9 },
    located: { side: 'anterior' as const, thickness: across(30), lacunae: 8, ...SURE },
  };
  const placenta = { bodies: [body], edges: [], uncertainty: { toOs: null, thickness: null } };

  it('does not confirm its lacunae, which need review', () => {
    const study = reviewedViews({ placenta }, SECOND_TRIMESTER);
    const result = reviewedWith(study, accept('placental-thickness'));
    expect(measurementOf(result, 'placental-thickness').standing).toBe('counts');
    expect(result.findings).toEqual([]);
    const { data, summary } = sectionOf(result, 'placenta');
    expect(data.pas).toMatchObject({ lacunae_seen: null, signs_present: [] });
    expect(summary).toContain('More lacunae than usual were counted');
    const simulated = reviewedViews({ placenta }, { ...SECOND_TRIMESTER, accept: 'simulated' });
    expect(reviewedWith(simulated).findings.map(({ id }) => id)).toEqual(['accreta-signs']);
  });
});

describe('a funnel of the cervix', () => {
  const taken = clip('cervix.dcm', { viewName: 'TRANSVAGINAL CERVIX' });
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  const [externalOs, internalOs] = across(20);
  const mouth = internalOs.x + 10 / MM_PER_PIXEL;
  const located = {
    externalOs,
    internalOs,
    middle: { x: (externalOs.x + internalOs.x) / 2, y: internalOs.y },
    funnel: {
      shoulders: [
        { x: mouth, y: internalOs.y - 10 },
        { x: mouth, y: internalOs.y + 10 },
      ] as [Point, Point],
      fullness: 0.5,
    },
    bladder: false,
    ...SURE,
  };
  const shown = { clip: taken, frame, estimate: { label: 'cervix' as const, confidence: 0.9 } };
  const cervix = {
    frames: [{ ...shown, route: 'transvaginal' as const, located }],
    uncertainty: 1,
  };
  const study = reviewedViews({ cervix }, SECOND_TRIMESTER);
  const counted = reviewedViews({ cervix }, { ...SECOND_TRIMESTER, accept: 'simulated' });
  const findings = (result: Result) => result.findings.map(({ id }) => id);
  const percent = ({ measurements }: Result) =>
    measurements.find(({ id }) => id === 'percent-funnelling')?.value;

  it('that nobody confirmed leads to no conclusion when its length is accepted', () => {
    const result = reviewedWith(study, accept('cervical-length'));
    expect(categoryOf(result, 'cervical-length-category')).toBe('short');
    expect(findings(result)).toEqual(['short-cervix']);
    expect(sectionOf(result, 'cervix').data.funnel_shape).toBe('needs_review');
    expect(sectionOf(result, 'cervix').summary).not.toMatch(/funnelling of the internal os/i);
    const both = reviewedWith(study, accept('cervical-length'), accept('funnel-depth'));
    expect(findings(both)).toEqual(['short-cervix', 'cervical-funnelling']);
  });

  it('that a person rejected, or found to be shallower than 5 mm, is not reported', () => {
    expect(findings(reviewedWith(counted))).toContain('cervical-funnelling');
    for (const change of [
      { kind: 'reject', measurement: 'funnel-depth' } as const,
      type('funnel-depth', 4),
    ]) {
      const result = reviewedWith(counted, change);
      expect(findings(result)).not.toContain('cervical-funnelling');
      expect(percent(result)).toBeUndefined();
    }
  });

  it('has its share of the canal by the depth that a person typed', () => {
    expect(percent(reviewedWith(counted, type('funnel-depth', 20)))).toBeCloseTo(50, 6);
  });

  it('has the share that a person typed, although its depth still needs review', () => {
    const result = reviewedWith(study, accept('cervical-length'), type('percent-funnelling', 40));
    expect(measurementOf(result, 'percent-funnelling')).toMatchObject({
      value: 40,
      quality: 'accepted',
    });
    expect(findings(result)).not.toContain('cervical-funnelling');
  });
});

describe('a value that a person rejected is not called implausible', () => {
  const reject = (measurement: string) => ({ kind: 'reject', measurement }) as const;

  it('if it is a Doppler value of the machine', () => {
    const study = reviewedViews({}, { cart: [machine('umbilical-artery-pi', 1)] });
    const { summary } = sectionOf(reviewedWith(study, reject('umbilical-artery-pi')), 'doppler');
    expect(summary).toContain('The reader rejected the umbilical artery values');
    expect(summary).not.toContain('implausible');
  });

  it('if it is a length', () => {
    const result = reviewedWith(reviewedStudy(), reject('ac'));
    const { summary } = sectionOf(result, 'biometry');
    expect(summary).toContain('AC not used: rejected by the reader.');
    expect(summary).not.toContain('implausible');
  });

  it('if it is a cardiothoracic ratio of the machine', () => {
    const study = reviewedViews(heart({}), { cart: [machine('cardiothoracic-area-ratio', 0.3)] });
    const result = reviewedWith(study, reject('cardiothoracic-area-ratio'));
    const { summary } = sectionOf(result, 'fetal-heart');
    expect(summary).toContain('The reader rejected that of the ultrasound machine.');
    expect(summary).not.toContain('implausible');
  });
});

describe('a value of the machine that a person corrected', () => {
  it('shows absent end-diastolic flow, which is critical', () => {
    const study = reviewedViews({}, { cart: [machine('umbilical-artery-ri', 0.6)] });
    expect(critical(reviewedWith(study))).toEqual([]);
    const result = reviewedWith(study, type('umbilical-artery-ri', 1));
    expect(critical(result)).toEqual([
      expect.stringContaining('absent end-diastolic flow by the value of the reader (RI 1.00)'),
    ]);
    const forward = reviewedWith(
      reviewedViews({}, { cart: [machine('umbilical-artery-ri', 1)] }),
      type('umbilical-artery-ri', 0.7),
    );
    expect(critical(forward)).toEqual([]);
    expect(categoryOf(forward, 'end-diastolic-flow')).toBe('forward');
  });

  it('does not leave a value in use that the machine calculated from it', () => {
    const umbilical = (index: 'psv' | 'edv' | 'ri', value: number) =>
      machine(`umbilical-artery-${index}`, value);
    const cart = [umbilical('psv', 40), umbilical('edv', 0), umbilical('ri', 1)];
    const study = reviewedViews({}, { cart });
    expect(critical(reviewedWith(study))).not.toEqual([]);
    const result = reviewedWith(study, type('umbilical-artery-edv', 12));
    expect(critical(result)).toEqual([]);
    expect(categoryOf(result, 'end-diastolic-flow')).toBe('forward');
    expect(measurementOf(result, 'cart-umbilical-artery-ri')).toMatchObject({
      standing: 'withheld',
      note: expect.stringContaining('from the UA EDV before the reader corrected it'),
    });
    const weighed = reviewedViews({}, { cart: [machine('ac', 320), machine('efw', 3400)] });
    expect(measurementOf(reviewedWith(weighed), 'efw').standing).toBe('counts');
    const corrected = [type('ac', 280)] as const;
    expect(measurementOf(reviewedWith(weighed, ...corrected), 'cart-efw').standing).toBe(
      'withheld',
    );
    const confirmed = reviewedWith(weighed, ...corrected, type('cart-efw', 2400));
    expect(measurementOf(confirmed, 'efw')).toMatchObject({ value: 2400, standing: 'counts' });
  });

  it('dates the pregnancy', () => {
    const study = reviewedViews({}, { ...EARLY, cart: [machine('crl', 20)] });
    const result = reviewedWith(study, type('cart-crl', 15));
    expect(measurementOf(result, 'ga-by-crl').value).toBeCloseTo(55.49, 1);
    const { summary } = sectionOf(result, 'early-pregnancy');
    expect(summary).toContain('length 15.0 mm');
    expect(summary).not.toContain('machine');
  });

  it('does not become a BPD of known convention', () => {
    const study = reviewedViews({}, { cart: [machine('bpd', 73)] });
    const result = reviewedWith(study, type('bpd', 74));
    expect(sectionOf(result, 'biometry').data).toMatchObject({ bpd_convention: 'not-stated' });
    expect(measurementOf(result, 'bpd').reference).toBeNull();
  });
});

describe('a mean sac diameter', () => {
  const views = { earlyPregnancy: [sac(), sac({ plane: 'transverse' })] };
  const shown = (result: Result, id: string) => {
    const { value, quality, standing } = measurementOf(result, id);
    return { value: Math.round(value), quality, standing };
  };

  it('that a person accepted counts, and so do its three diameters', () => {
    const result = reviewedWith(reviewedViews(views, EARLY), accept('mean-sac-diameter'));
    const counts = { quality: 'accepted', standing: 'counts' };
    expect(shown(result, 'mean-sac-diameter')).toEqual({ value: 37, ...counts });
    expect(shown(result, 'sac-length')).toMatchObject({ value: 40, quality: 'accepted' });
  });

  it('that a person accepted does not confirm that the sac is empty: the analysis misses embryos', () => {
    const study = reviewedViews(views, EARLY);
    const result = reviewedWith(study, accept('mean-sac-diameter'));
    expect(sectionOf(result, 'early-pregnancy').data).toMatchObject({
      embryo: 'not_assessed',
      yolk_sac: 'not_assessed',
    });
    expect(categoryOf(result, 'early-pregnancy-category')).toBe('not-assessable');
    expect(result.findings).toEqual([]);
    const simulated = reviewedViews(views, { ...EARLY, accept: 'simulated' });
    const category = categoryOf(reviewedWith(simulated), 'early-pregnancy-category');
    expect(category).toBe('suspicious-for-pregnancy-loss');
  });

  it('that a person accepted does not confirm the embryo or the yolk sac that the analysis saw', () => {
    const filled = [sac({ crl: 9, yolkSac: true }), sac({ crl: 9, plane: 'transverse' })];
    const study = reviewedViews({ earlyPregnancy: filled }, EARLY);
    const seen = (...changes: readonly PersonChange[]) =>
      sectionOf(reviewedWith(study, ...changes), 'early-pregnancy').data;
    const unconfirmed = { embryo: 'not_assessed', yolk_sac: 'not_assessed' };
    expect(seen(accept('mean-sac-diameter'))).toMatchObject(unconfirmed);
    expect(seen(accept('crl'))).toMatchObject({ ...unconfirmed, embryo: 'seen' });
    expect(seen(accept('yolk-sac'))).toMatchObject({ ...unconfirmed, yolk_sac: 'seen' });
  });

  it('that a person typed is not the length of the sac', () => {
    const study = reviewedViews(views, { ...EARLY, accept: 'simulated' });
    const result = reviewedWith(study, type('mean-sac-diameter', 20));
    expect(shown(result, 'mean-sac-diameter')).toMatchObject({ value: 20, standing: 'counts' });
    expect(shown(result, 'sac-length')).toMatchObject({ value: 40, quality: 'accepted' });
  });
});

const pocket = (mm: number, cut: boolean) => {
  const taken = clip(`pocket-${mm}.dcm`);
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  const bottom = { x: 300, y: 100 + mm / MM_PER_PIXEL };
  return {
    clip: taken,
    frame,
    estimate: { label: 'amniotic-fluid' as const, confidence: 0.9 },
    quadrant: null,
    calibrated: true,
    pocket: { top: { x: 300, y: 100 }, bottom, cut, ...SURE },
  };
};

describe('of two pockets of fluid, the deeper one cut off by the edge of the picture', () => {
  const frames = [pocket(85, true), pocket(40, false)];
  const study = reviewedViews({ amnioticFluid: { frames, uncertainty: null } });
  const whole = 'deepest-vertical-pocket';
  const cutOff = 'deepest-vertical-pocket-2';
  const category = (...changes: readonly PersonChange[]) =>
    categoryOf(reviewedWith(study, ...changes), 'fluid-by-deepest-pocket');

  it('an accepted smaller one is not the deepest', () => {
    expect(category(accept(whole))).toBeNull();
  });

  it('a typed depth of the deeper one is judged', () => {
    expect(category(type(cutOff, 90))).toBe('polyhydramnios-mild');
    expect(category(accept(cutOff))).toBe('polyhydramnios-mild');
  });

  it('the smaller one is the deepest once the deeper one is rejected', () => {
    expect(category({ kind: 'reject', measurement: cutOff }, accept(whole))).toBe('normal');
  });
});

describe('of the pockets of four quadrants', () => {
  const frames = [30, 31, 32, 33].map((mm, quadrant) => ({ ...pocket(mm, false), quadrant }));
  const study = reviewedViews(
    { amnioticFluid: { frames, uncertainty: null } },
    { accept: 'simulated' },
  );

  it('one that a person rejected is not part of the index', () => {
    expect(measurementOf(reviewedWith(study), 'amniotic-fluid-index').value).toBeCloseTo(126, 6);
    const result = reviewedWith(study, { kind: 'reject', measurement: 'fluid-quadrant-1' });
    expect(result.measurements.map(({ id }) => id)).not.toContain('amniotic-fluid-index');
    expect(categoryOf(result, 'fluid-by-index')).toBeNull();
    expect(categoryOf(result, 'fluid-by-deepest-pocket')).toBe('normal');
  });

  it('an index that a person typed is interpreted', () => {
    const interpretation = (...changes: readonly PersonChange[]) =>
      measurementOf(reviewedWith(study, ...changes), 'amniotic-fluid-index').interpretation;
    expect(interpretation()).toBe('N');
    expect(interpretation(type('amniotic-fluid-index', 300))).toBe('H');
    expect(interpretation(type('amniotic-fluid-index', 60))).toBe('L');
  });
});

describe('a multiple of the median of the MCA that a person typed', () => {
  it('is interpreted instead of the one that was calculated', () => {
    const artery = spectrum('middle-cerebral-artery', { psv: 66, edv: 15, tamx: 28 });
    const study = reviewedViews({ spectra: [artery] }, { accept: 'simulated' });
    const key = 'middle-cerebral-artery-psv-mom';
    expect(measurementOf(reviewedWith(study), key).interpretation).toBe('H');
    const result = reviewedWith(study, type(key, 1.1));
    expect(measurementOf(result, key).interpretation).toBe('N');
    expect(categoryOf(result, 'fetal-anaemia-signal')).toBe('no-signal');
  });
});

describe('a length that needs review beside an accepted one', () => {
  it('is not said to be missing, nor its plane', () => {
    const reviewed = reviewedStudy('real');
    const model = { id: 'fetal-head', version: '1', sha256: '0'.repeat(64) } as const;
    const models = [
      { ...model, licence: 'CC BY 4.0', pack: 'permissive', provider: 'cpu' },
    ] as const;
    const { summary, status } = sectionOf(
      reviewedWith({ ...reviewed, models: [...models] }),
      'biometry',
    );
    expect(status).toBe('partial');
    expect(summary).toContain('Estimated weight was not computed because AC needs review.');
    expect(summary).not.toMatch(/not measured|was found|not accepted/);
    const accepted = ['hc', 'ac', 'fl'].map(accept);
    expect(sectionOf(reviewedWith(reviewed, ...accepted), 'biometry').summary).not.toMatch(
      /not measured|not accepted/,
    );
    expect(sectionOf(reviewedWith(reviewed), 'biometry').status).toBe('not_assessed');
  });
});

describe('a sweep that was misread as twins', () => {
  const frames = 80;
  const taken = clip('sweep.dcm', {
    frames: Array.from({ length: frames }, (_, index) => {
      const [frame] = clip('sweep.dcm').frames;
      if (!frame) throw new Error('a clip without a frame');
      return { ...frame, index };
    }),
  });
  const runs: PartRun[] = [
    { part: 'head', from: 2, to: 15 },
    { part: 'trunk', from: 20, to: 40 },
    { part: 'head', from: 60, to: 68 },
  ];
  const study = (): ObstetricReviewed => {
    const reviewed = reviewedStudy('real');
    const { given } = reviewed;
    const swept = taken.frames.map((frame) => ({
      clip: taken,
      frame,
      estimate: { label: 'other' as const, confidence: 0.9 },
    }));
    const sweeps = [{ clip: taken, direction: 'to-cranial' as const, runs }];
    return {
      ...reviewed,
      given: {
        ...given,
        study: { ...given.study, clips: [...given.study.clips, taken] },
        planes: [...(given.planes ?? []), ...swept],
        views: { presentation: { sweeps, cardiac: [] } },
      },
    };
  };
  const name = (frame: number, plane: string) =>
    ({ kind: 'name-plane', file: 'sweep.dcm', frame, plane }) as const;
  const all = [accept('hc'), accept('ac'), accept('fl')];
  const weight = (...changes: readonly PersonChange[]) =>
    reviewedWith(study(), ...changes).measurements.find(({ concept }) => concept.key === 'efw');

  it('withholds the weight, however many lengths a person accepts', () => {
    const result = reviewedWith(study());
    expect(result.measurements.map(({ id }) => id)).not.toContain('efw');
    expect(weight(...['hc-1', 'ac-1', 'fl-1'].map(accept))).toBeUndefined();
  });

  it.each(['other', 'abdominal'])(
    'shows one fetus once a person named a frame of the second head %s',
    (plane) => {
      // 72 of the 80 frames were examined, so run and frame are counted differently.
      expect(weight(name(72, plane), ...all)).toMatchObject({ standing: 'counts' });
    },
  );

  it('still shows twins if the frame that a person named is of another part', () => {
    expect(weight(name(30, 'abdominal'))).toBeUndefined();
    expect(weight(name(5, 'transthalamic'))).toBeUndefined();
  });
});

describe('values of one transperineal image', () => {
  const taken = clip('labor.dcm');
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  const located = {
    symphysis: { centre: { x: 200, y: 150 }, a: 50, b: 20, angle: 0 },
    head: { centre: { x: 260, y: 330 }, a: 130, b: 100, angle: Math.PI / 9 },
    skull: [
      { x: 350, y: 323 },
      { x: 240, y: 150 },
    ],
    ...SURE,
  };
  const estimate = { label: 'transperineal', confidence: 0.95 } as const;
  const frames = [{ clip: taken, frame, estimate, located, borders: {} }];
  const study = reviewedViews({ laborProgress: { uncertainty: 6, frames } });

  it.each([
    [[], []],
    [['angle-of-progression'], ['angle-of-progression', 'head-station']],
    [['head-direction'], ['head-direction']],
    [
      ['angle-of-progression', 'head-direction'],
      ['angle-of-progression', 'head-direction', 'head-station'],
    ],
  ])('count each by itself: accepting %j', (accepted, expected) => {
    const { measurements, classifications } = reviewedWith(study, ...accepted.map(accept));
    const counting = measurements.filter(({ standing }) => standing === 'counts');
    expect(counting.map(({ id }) => id)).toEqual(expected);
    const directed = accepted.length === 2 ? ['direction-of-the-head'] : [];
    expect(classifications.map(({ id }) => id)).toEqual(directed);
  });
});

describe('an estimated weight that a person accepted', () => {
  const weight = (...changes: readonly PersonChange[]) =>
    measurementOf(reviewedWith(reviewedStudy('real'), ...changes), 'efw');

  it('is no longer accepted once the abdomen has another circumference', () => {
    expect(weight(accept('efw'))).toMatchObject({ confirmed: 'accepted' });
    const after = weight(accept('efw'), type('ac', 270));
    expect(after.value).not.toBeCloseTo(weight(accept('efw')).value, 0);
    expect(after).not.toHaveProperty('confirmed');
    expect(after.note ?? '').not.toContain('accepted by the reader');
    const again = weight(accept('efw'), type('ac', 270), accept('efw'));
    expect(again).toMatchObject({ value: after.value, confirmed: 'accepted' });
  });

  it('stays as the reader typed it', () => {
    const after = weight(accept('efw'), type('efw', 1250), type('ac', 270));
    expect(after).toMatchObject({ value: 1250, confirmed: 'entered' });
  });
});

describe('of pockets of fluid that are all cut off by the edge of the picture', () => {
  const frames = [pocket(30, true), pocket(85, true)];
  const study = reviewedViews({ amnioticFluid: { frames, uncertainty: null } });

  it('the deepest is listed without being used, so that a person can give its depth', () => {
    const result = reviewedWith(study);
    const listed = measurementOf(result, 'deepest-vertical-pocket-1');
    expect(listed).toMatchObject({ quality: 'low', standing: 'withheld' });
    expect(listed.value).toBeCloseTo(85);
    expect(listed.note).toContain('at least this deep');
    expect(categoryOf(result, 'fluid-by-deepest-pocket')).toBeNull();
    const typed = reviewedWith(study, type('deepest-vertical-pocket-1', 95));
    expect(categoryOf(typed, 'fluid-by-deepest-pocket')).toBe('polyhydramnios-mild');
  });
});
