import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVIDENCE } from '../../../pipelines/concepts/method-evidence.ts';
import type { Point } from '../../../pipelines/contract/image.ts';
import type { StudyEvidence } from '../../../pipelines/obstetric/evidence.ts';
import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import { interpretStudy } from '../../../pipelines/obstetric/interpret-study.ts';
import type { Locator } from '../../../pipelines/obstetric/locator.ts';
import type { FramePlane, FrameReading, Plane } from '../../../pipelines/obstetric/shared/plane.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { failTest } from '../fail-test.ts';
import { spectrum } from './doppler/doppler-sample.ts';
import { abdomen, clip, femur, head, MM_PER_PIXEL, outline } from './evidence-sample.ts';

/**
 * Runs the whole pipeline after the readers on generated evidence. HC, AC and FL count if they are
 * in the domain of their evidence. Fluid, placenta, cervix, NT, first trimester, spectra, heart,
 * brain and sweeps need a review and may have any value.
 */

const MODELS: Locator['models'] = [
  ...new Set(Object.values(EVIDENCE).flatMap(({ model }) => model ?? [])),
].map((id) => ({
  id,
  version: '1.0.0',
  sha256: '0'.repeat(64),
  licence: 'CC BY 4.0',
  pack: 'permissive',
  provider: 'cpu',
}));

function framed(plane: Plane, changes: Parameters<typeof clip>[1] = {}): FramePlane {
  const taken = clip(`${plane}.dcm`, changes);
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  return { clip: taken, frame, estimate: { label: plane, confidence: 0.9 } };
}

const SURE = { confidence: 0.9, accepted: true } as const;
const START: Point = { x: 300, y: 100 };
const below = (mm: number): Point => ({ x: START.x, y: START.y + mm / MM_PER_PIXEL });
const across = (mm: number): [Point, Point] => [
  START,
  { x: START.x + mm / MM_PER_PIXEL, y: START.y },
];

type Views = StudyEvidence['views'];
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const mm = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const interval = fc.option(mm(0.2, 8), { nil: null });

/** Generates readings for every reader whose methods need a review. */
const proposals: fc.Arbitrary<Views> = fc.record({
  amnioticFluid: some(
    fc.tuple(mm(0, 200), interval).map(([depth, uncertainty]) => ({
      frames: [
        {
          ...framed('amniotic-fluid'),
          quadrant: null,
          calibrated: true,
          pocket: { top: START, bottom: below(depth), cut: false, ...SURE },
        },
      ],
      uncertainty,
    })),
  ),
  placenta: some(
    fc.tuple(mm(0, 60), fc.boolean(), interval).map(([gap, overlaps, toOs]) => ({
      bodies: [
        {
          ...framed('placenta'),
          located: {
            side: 'anterior' as const,
            thickness: across(30),
            lacunae: overlaps ? 8 : 0,
            ...SURE,
          },
        },
      ],
      edges: [
        {
          ...framed('cervix'),
          route: 'transvaginal' as const,
          located: { internalOs: START, edge: below(gap), overlaps, ...SURE },
        },
      ],
      uncertainty: { toOs, thickness: null },
    })),
  ),
  cervix: some(
    fc.tuple(mm(2, 60), interval).map(([length, uncertainty]) => ({
      frames: [
        {
          ...framed('cervix'),
          route: 'transvaginal' as const,
          located: {
            externalOs: START,
            internalOs: below(length),
            middle: below(length / 2),
            funnel: null,
            bladder: false,
            ...SURE,
          },
        },
      ],
      uncertainty,
    })),
  ),
  nuchal: some(
    mm(0.5, 9).map((thickness) => ({
      frames: [
        {
          ...framed('midsagittal'),
          located: {
            'nuchal-translucency': {
              box: { minX: 200, minY: 200, maxX: 260, maxY: 240 },
              ...SURE,
            },
          },
          lines: { ends: [START, below(thickness)] as const, thickness, seen: 1 },
        },
      ],
    })),
  ),
  earlyPregnancy: some(
    fc.tuple(mm(4, 40), some(mm(1, 84)), fc.boolean()).map(([sac, crl, beats]) => {
      const taken = framed('early-pregnancy');
      const sight = {
        plane: 'sagittal' as const,
        route: 'transvaginal' as const,
        clip: taken.clip,
        frames: [
          {
            clip: taken.clip,
            frame: taken.frame,
            sac: { ellipse: outline(sac, sac), levels: { inside: 10, outside: 90 }, ...SURE },
            contents: {
              yolkSac: null,
              embryo: crl === undefined ? null : { ends: across(crl), confidence: 0.9 },
            },
            bodies: 'one' as const,
          },
        ],
        cardiac: beats
          ? { status: 'beating' as const, beatsPerMinute: 80, uncertainty: 3, strength: 0.9 }
          : { status: 'not-seen' as const },
      };
      return [sight, { ...sight, plane: 'transverse' as const }];
    }),
  ),
  spectra: some(
    fc.tuple(fc.integer({ min: -15, max: 30 }), mm(10, 120)).map(([edv, tamx]) => [
      // Absent or reversed flow would be critical.
      spectrum('umbilical-artery', { psv: 45, edv, tamx: Math.max(edv + 1, 18) }),
      spectrum('middle-cerebral-artery', { psv: tamx + 20, edv: 5, tamx: 15 }),
      spectrum('uterine-artery', { psv: 120, edv: 10, tamx: 30 }),
    ]),
  ),
  fetalHeart: some(
    fc.tuple(mm(10, 75), fc.boolean(), mm(50, 240)).map(([heart, silent, rate]) => {
      const taken = framed('four-chamber');
      return {
        chests: [
          {
            clip: taken.clip,
            frame: taken.frame,
            located: {
              heart: outline(heart, heart * 0.8),
              thorax: outline(80, 70),
              septum: null,
              ...SURE,
            },
          },
        ],
        views: [],
        chestFrames: 0,
        mMode: [
          {
            file: 'm-mode.dcm',
            sopInstanceUid: null,
            frame: 0,
            fetal: true,
            // A silent sweep would be critical.
            rhythm: silent
              ? { status: 'not-seen' as const }
              : {
                  status: 'beating' as const,
                  beatsPerMinute: rate,
                  variation: 0.3,
                  strength: 0.9,
                },
          },
        ],
      };
    }),
  ),
  fetalBrain: some(
    fc.tuple(mm(2, 30), mm(1, 20)).map(([atrium, cisterna]) => ({
      frames: [
        {
          ...framed('transventricular'),
          located: {
            cerebellum: { ends: across(25), ...SURE },
            cisternaMagna: { ends: across(cisterna), ...SURE },
            atrium: { ends: across(atrium), ...SURE },
          },
        },
      ],
    })),
  ),
  presentation: some(
    fc.boolean().map((beats) => ({
      sweeps: [],
      cardiac: [
        {
          clip: framed('thorax').clip,
          activity: beats
            ? { status: 'beating' as const, beatsPerMinute: 60, uncertainty: 2, strength: 0.9 }
            : { status: 'not-seen' as const },
        },
      ],
    })),
  ),
}) as fc.Arbitrary<Views>;

/**
 * Generates head, abdomen and femur, inside or outside the domain of their evidence, whether or not
 * they are consistent.
 */
const lengths: fc.Arbitrary<FrameReading[]> = fc
  .record({
    headMm: some(mm(20, 120)),
    abdomenMm: some(mm(20, 140)),
    femurMm: some(mm(8, 85)),
  })
  .map(({ headMm, abdomenMm, femurMm }) => [
    ...(headMm === undefined ? [] : [head(headMm, headMm * 0.8)]),
    ...(abdomenMm === undefined ? [] : [abdomen(abdomenMm, abdomenMm * 0.95)]),
    ...(femurMm === undefined ? [] : [femur(femurMm)]),
  ]);

const gaDays = some(fc.integer({ min: 70, max: 300 }));

function interpreted(
  readings: FrameReading[],
  views: Views,
  days: number | undefined,
  accept: StudyEvidence['accept'] = 'real',
): Result {
  const clips = readings.map((one) => one.clip);
  const given: StudyEvidence = {
    study: { clips, refused: [], files: 1, series: 1 },
    options: parseOptions({ report: true, ...(days && { dating: { ga_days: days } }) }),
    planes: readings.map(({ clip: of, frame, estimate }) => ({ clip: of, frame, estimate })),
    readings,
    withoutModel: [],
    uncertainty: {
      hcPercent: 3,
      acPercent: 5,
      flMm: 3,
      chest: { areaRatio: 0.02, circumferenceRatio: 0.02, axisDegrees: 8 },
    },
    views,
    priors: [],
    accept,
  };
  return interpretStudy(given, [], MODELS, new Date('2026-01-01T00:00:00Z'), failTest);
}

/** Returns everything that a reader would regard as settled. */
const concluded = ({
  findings,
  classifications,
  scores,
  guidance,
  report,
  measurements,
}: Result) => ({
  findings,
  classifications: classifications.filter(({ section }) => section !== 'planes'),
  scores,
  guidance,
  impression: report?.impression,
  centiles: measurements.flatMap(({ id, reference }) => (reference ? [[id, reference]] : [])),
});

describe('whatever was read by methods that need a review', () => {
  it('no finding, category, score, advice, centile or line of the impression changes', () => {
    fc.assert(
      fc.property(lengths, gaDays, proposals, (readings, days, views) => {
        const without = interpreted(readings, {}, days);
        expect(concluded(interpreted(readings, views, days))).toEqual(concluded(without));
      }),
      { numRuns: 150 },
    );
  });

  it('no finding and no conclusion is about a value under review', () => {
    fc.assert(
      fc.property(lengths, gaDays, proposals, (readings, days, views) => {
        const result = interpreted(readings, views, days);
        const review = new Set(
          result.measurements.flatMap(({ id, quality }) => (quality === 'review' ? [id] : [])),
        );
        const rests = (ids: readonly string[]) => ids.filter((id) => review.has(id));
        for (const { evidence, statements = [] } of result.findings) {
          expect(rests(evidence)).toEqual([]);
          for (const { about } of statements) expect(rests(about)).toEqual([]);
        }
        for (const { statements = [] } of result.sections) {
          for (const { kind, about } of statements) {
            if (kind === 'conclusion') expect(rests(about)).toEqual([]);
          }
        }
        for (const { quality, reference, inputs, id } of result.measurements) {
          if (quality === 'review') expect([id, reference]).toEqual([id, null]);
          if (quality === 'accepted') expect([id, rests(inputs)]).toEqual([id, []]);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('although it would otherwise be critical, categorized and in the impression', () => {
    const views: Views = { spectra: [spectrum('umbilical-artery', { edv: -10 })] };
    const readings = [head(91.8, 73.5)];
    const held = interpreted(readings, views, 196);
    expect(held.measurements.some(({ quality }) => quality === 'review')).toBe(true);
    expect(held.findings.some(({ severity }) => severity === 'critical')).toBe(false);
    const research = interpreted(readings, views, 196, 'simulated');
    expect(research.findings.some(({ severity }) => severity === 'critical')).toBe(true);
    expect(concluded(research)).not.toEqual(concluded(held));
  });
});

describe('a sweep under review that shows two heads', () => {
  const swept = (...parts: ('head' | 'trunk')[]): Views => ({
    presentation: {
      sweeps: [
        {
          clip: framed('other').clip,
          direction: 'to-cranial',
          runs: parts.map((part, i) => ({ part, from: 10 * i, to: 10 * i + 6 })),
        },
      ],
      cardiac: [],
    },
  });
  const readings = [head(91.8, 73.5), abdomen(75, 73.5), femur(51.3)];
  const [twins, one] = [
    interpreted(readings, swept('head', 'trunk', 'head'), 196),
    interpreted(readings, swept('head', 'trunk'), 196),
  ];
  const reasonOf = ({ sections }: Result, id: string) =>
    sections.find((section) => section.id === id)?.reason?.code;

  it('withholds the weight, centiles and categories, which hold for one fetus only', () => {
    expect(reasonOf(twins, 'biometry')).toBe('several_fetuses');
    expect(reasonOf(twins, 'growth')).toBe('several_fetuses');
    expect(twins.measurements.filter(({ id, reference }) => id === 'efw' || reference)).toEqual([]);
    expect(twins.classifications.filter(({ section }) => section === 'growth')).toEqual([]);
    expect(one.measurements.some(({ id, reference }) => id === 'efw' && reference)).toBe(true);
  });

  it('is not a finding of twins', () => {
    expect(twins.findings.filter(({ id }) => id === 'multiple-pregnancy')).toEqual([]);
  });
});
