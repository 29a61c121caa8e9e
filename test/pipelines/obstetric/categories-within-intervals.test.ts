import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StudyEvidence } from '../../../pipelines/obstetric/evidence.ts';
import type { ChestUncertainty } from '../../../pipelines/obstetric/fetal-heart/evidence.ts';
import {
  INTERGROWTH_WEIGHT_2020,
  intergrowthSizeAt,
  intergrowthWeightAt,
} from '../../../pipelines/obstetric/growth/charts.ts';
import type { EarlierScan } from '../../../pipelines/obstetric/growth/measure.ts';
import { growth } from '../../../pipelines/obstetric/growth/section.ts';
import { parseOptions } from '../../../pipelines/obstetric/input.ts';
import { createMeasurement } from '../../../pipelines/obstetric/shared/measurement.ts';
import type { FramePlane, Plane } from '../../../pipelines/obstetric/shared/plane.ts';
import type { Measurement } from '../../../pipelines/result/envelope.ts';
import type { FindingDraft } from '../../../pipelines/result/section-outcome.ts';
import { spectrum } from './doppler/doppler-sample.ts';
import { clip, evidenceWith, interpretReadings, MM_PER_PIXEL } from './evidence-sample.ts';
import { BEATING, chest } from './fetal-heart/fetal-heart-sample.ts';

/**
 * A category or finding is given only if it holds within the whole 95 % interval of every value. Each
 * property moves the values within their intervals and expects that the exact values there have the
 * same category and the same findings.
 */

type Conclusions = {
  measurements: readonly Measurement[];
  classifications: readonly { id: string; value: unknown }[];
  findings: readonly Pick<FindingDraft, 'id' | 'severity'>[];
};

/** A category without its degree, because "small" or "short" also holds if only the degree is open. */
const withoutDegree = (category: unknown) =>
  String(category)
    .replace(/^(sga|lga)-severe$/, '$1')
    .replace(/^(very|extremely)-short$/, 'short');

const isLoud = ({ severity }: Pick<FindingDraft, 'severity'>) => severity !== 'info';

/** True if each accepted value differs by less than its interval from the one with the same id. */
function isWithinIntervals(given: Conclusions, moved: Conclusions): boolean {
  return given.measurements
    .filter(({ quality }) => quality === 'accepted')
    .every(({ id, value, uncertainty }) => {
      const other = moved.measurements.find((one) => one.id === id)?.value ?? Number.NaN;
      return other === value || Math.abs(other - value) < (uncertainty ?? 0);
    });
}

function expectSameConclusions(given: Conclusions, exact: Conclusions): void {
  for (const { id, value } of given.classifications) {
    const other = exact.classifications.find((one) => one.id === id)?.value;
    expect([id, withoutDegree(other ?? 'none')]).toEqual([id, withoutDegree(value)]);
  }
  const found = new Set(exact.findings.map(({ id }) => id));
  for (const { id } of given.findings.filter(isLoud)) {
    // A small abdomen is part of the finding of a small fetus.
    expect([id, found.has(id) || (id === 'abdomen-size' && found.has('size'))]).toEqual([id, true]);
  }
}

/** Where no exact value can be given, two values within one interval never have two categories. */
function expectNoContradiction(given: Conclusions, moved: Conclusions): void {
  const decided = ({ classifications }: Conclusions) =>
    classifications.filter(({ value }) => value !== 'not-assessed');
  for (const { id, value } of decided(given)) {
    const other = decided(moved).find((one) => one.id === id)?.value;
    if (other !== undefined) expect([id, other]).toEqual([id, value]);
  }
}

type Views = StudyEvidence['views'];

function framed(plane: Plane): FramePlane {
  const taken = clip(`${plane}.dcm`);
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  return { clip: taken, frame, estimate: { label: plane, confidence: 0.9 } };
}

const SURE = { confidence: 0.9, accepted: true } as const;
const START = { x: 300, y: 100 };
const below = (mm: number) => ({ x: START.x, y: START.y + mm / MM_PER_PIXEL });
const across = (mm: number) =>
  [START, { x: START.x + mm / MM_PER_PIXEL, y: START.y }] as [typeof START, typeof START];

function study(
  views: Views,
  uncertainty: Partial<StudyEvidence['uncertainty']> = {},
  gaDays = 200,
): Conclusions {
  return interpretReadings({
    readings: [],
    options: { dating: { ga_days: gaDays, basis: 'crl' } },
    evidence: {
      views,
      uncertainty: { hcPercent: null, acPercent: null, flMm: null, ...uncertainty },
    },
  });
}

interface Moved {
  of: string;
  /** Range of the value in its unit. */
  range: readonly [number, number];
  /** Half width of the interval. */
  half: number;
  /** Conclusions from a value; `half` is null for an exact value. */
  at(value: number, half: number | null): Conclusions;
}

const brain = (atrium: number | null, cisterna: number | null, half: number | null) => {
  const ends = (mm: number | null) => (mm === null ? null : { ends: across(mm), ...SURE });
  const mm = { mm: half, percent: null };
  return study(
    {
      fetalBrain: {
        frames: [
          {
            ...framed(atrium === null ? 'transcerebellar' : 'transventricular'),
            located: { atrium: ends(atrium), cisternaMagna: ends(cisterna), cerebellum: null },
          },
        ],
      },
    },
    { brain: { atrium: mm, cisternaMagna: mm, cerebellum: mm } },
  );
};

const heart = (areaRatio: number, axisDegrees: number, half: ChestUncertainty) =>
  study(
    {
      fetalHeart: { chests: [chest(areaRatio, axisDegrees)], views: [], chestFrames: 0, mMode: [] },
    },
    { chest: half },
  );

/** Values whose interval comes with the reading, so that they can be exact. */
const MOVED: readonly Moved[] = [
  {
    of: 'deepest pocket, mm',
    range: [5, 180],
    half: 5.6,
    at: (mm, uncertainty) =>
      study({
        amnioticFluid: {
          frames: [
            {
              ...framed('amniotic-fluid'),
              quadrant: null,
              calibrated: true,
              pocket: { top: START, bottom: below(mm), cut: false, ...SURE },
            },
          ],
          uncertainty,
        },
      }),
  },
  {
    of: 'placental edge to os, mm',
    range: [0.5, 45],
    half: 6,
    at: (mm, toOs) =>
      study({
        placenta: {
          bodies: [],
          edges: [
            {
              ...framed('cervix'),
              route: 'transvaginal',
              located: { internalOs: START, edge: below(mm), overlaps: false, ...SURE },
            },
          ],
          uncertainty: { toOs, thickness: null },
        },
      }),
  },
  {
    of: 'cervical length, mm',
    range: [4, 45],
    half: 4,
    at: (mm, uncertainty) =>
      study(
        {
          cervix: {
            frames: [
              {
                ...framed('cervix'),
                route: 'transvaginal',
                located: {
                  externalOs: START,
                  internalOs: below(mm),
                  middle: below(mm / 2),
                  funnel: null,
                  bladder: false,
                  ...SURE,
                },
              },
            ],
            uncertainty,
          },
        },
        {},
        154,
      ),
  },
  {
    of: 'area of heart to thorax',
    range: [0.15, 0.5],
    half: 0.03,
    at: (ratio, half) =>
      heart(ratio, 45, { areaRatio: half, circumferenceRatio: half, axisDegrees: null }),
  },
  {
    of: 'cardiac axis, degrees',
    range: [-20, 90],
    half: 8,
    at: (degrees, half) =>
      heart(0.3, degrees, { areaRatio: null, circumferenceRatio: null, axisDegrees: half }),
  },
  {
    of: 'atrium, mm',
    range: [4, 20],
    half: 1.5,
    at: (mm, half) => brain(mm, null, half),
  },
  {
    of: 'cisterna magna, mm',
    range: [1, 14],
    half: 1.5,
    at: (mm, half) => brain(null, mm, half),
  },
  {
    of: 'angle of progression, degrees',
    range: [80, 165],
    half: 9,
    at: (degrees, uncertainty) => {
      const angle = (degrees * Math.PI) / 180;
      const leading = { x: 250 - 200 * Math.cos(angle), y: 150 + 200 * Math.sin(angle) };
      const located = {
        symphysis: { centre: { x: 200, y: 150 }, a: 50, b: 20, angle: 0 },
        head: { centre: { x: 260, y: 330 }, a: 130, b: 100, angle: Math.PI / 9 },
        skull: [leading, { x: 240, y: 150 }],
        ...SURE,
      };
      const frames = [{ ...framed('transperineal'), located, borders: {} }];
      return study({ laborProgress: { uncertainty, frames } }, {}, 280);
    },
  },
];

/**
 * Values whose interval is a constant of the method. The viability of an early pregnancy is tested in
 * its own folder: its cautious category also holds at a cut-off.
 */
const FIXED: readonly Moved[] = [
  {
    of: 'nuchal translucency, mm',
    range: [0.6, 6],
    half: 0.8,
    at: (mm) =>
      study(
        {
          nuchal: {
            frames: [
              {
                ...framed('midsagittal'),
                located: {
                  'nuchal-translucency': {
                    box: { minX: 200, minY: 200, maxX: 260, maxY: 240 },
                    ...SURE,
                  },
                },
                lines: { ends: [START, below(mm)], thickness: mm, seen: 1 },
              },
            ],
          },
        },
        {},
        88,
      ),
  },
  {
    of: 'umbilical end-diastolic velocity, cm/s',
    range: [2, 25],
    half: 2,
    at: (edv) => study({ spectra: [spectrum('umbilical-artery', { psv: 50, edv })] }),
  },
  {
    of: 'MCA peak, cm/s',
    range: [30, 90],
    half: 5,
    at: (psv) => study({ spectra: [spectrum('middle-cerebral-artery', { psv, edv: 8 })] }),
  },
  {
    of: 'fetal heart rate, /min',
    range: [90, 200],
    half: 3,
    at: (beatsPerMinute) =>
      study({
        fetalHeart: {
          chests: [],
          views: [],
          chestFrames: 0,
          mMode: [
            {
              file: 'm-mode.dcm',
              sopInstanceUid: null,
              frame: 0,
              fetal: true,
              rhythm: { ...BEATING, beatsPerMinute },
            },
          ],
        },
      }),
  },
];

describe('a value within its interval', () => {
  it.each(MOVED.map((one) => [one.of, one] as const))('%s', (_, { range, half, at }) => {
    fc.assert(
      fc.property(
        fc.double({ min: range[0], max: range[1], noNaN: true }),
        fc.double({ min: -0.999, max: 0.999, noNaN: true }),
        (value, share) => {
          const [given, exact] = [at(value, half), at(value + share * half, null)];
          if (isWithinIntervals(given, exact)) expectSameConclusions(given, exact);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(FIXED.map((one) => [one.of, one] as const))('%s', (_, { range, half, at }) => {
    fc.assert(
      fc.property(
        fc.double({ min: range[0], max: range[1], noNaN: true }),
        fc.double({ min: -0.999, max: 0.999, noNaN: true }),
        (value, share) => {
          const [given, moved] = [at(value, half), at(value + share * half, half)];
          if (isWithinIntervals(given, moved)) expectNoContradiction(given, moved);
        },
      ),
      { numRuns: 60 },
    );
  });
});

const GROWTH_KEYS = ['hc', 'bpd', 'ac', 'fl', 'efw'] as const;
type Sizes = Readonly<Record<(typeof GROWTH_KEYS)[number], number>>;

const METHOD = {
  hc: 'hc-ellipse',
  bpd: 'bpd-outer-outer',
  ac: 'ac-ellipse',
  fl: 'fl-outer-outer',
  efw: 'hadlock-1985-efw-hc-ac-fl',
} as const;

/** Sizes at these z-scores; a weight at its own. Halves are shares of the value; null is exact. */
function sizes(gaDays: number, z: Sizes, half: number | null, moved: Sizes | null): Measurement[] {
  return GROWTH_KEYS.flatMap((key) => {
    const at =
      key === 'efw'
        ? intergrowthWeightAt(INTERGROWTH_WEIGHT_2020, gaDays / 7, z.efw)
        : intergrowthSizeAt(key, gaDays / 7, z[key]);
    if (at === null) return [];
    const width = (key === 'efw' ? 2 : 1) * (half ?? 0) * at;
    return createMeasurement(key, at + (moved?.[key] ?? 0) * width, METHOD[key], {
      section: 'biometry',
      uncertainty: moved === null ? width : null,
    });
  });
}

function grown(gaDays: number, measured: readonly Measurement[], before: readonly Measurement[]) {
  const earlier: EarlierScan = {
    daysBefore: 28,
    severalFetuses: false,
    lengths: before
      .filter(({ concept }) => concept.key !== 'efw')
      .map((measurement) => ({ measurement, source: 'images' })),
    derived: before.filter(({ concept }) => concept.key === 'efw'),
  };
  const options = parseOptions({ dating: { ga_days: gaDays, basis: 'crl' } });
  const outcome = growth.run({ ...evidenceWith({ options }), earlier: [earlier] }, measured);
  return {
    measurements: measured,
    classifications: outcome.classifications ?? [],
    findings: outcome.findings ?? [],
    amendments: outcome.amendments ?? [],
  };
}

const eachSize = (one: fc.Arbitrary<number>): fc.Arbitrary<Sizes> =>
  fc.record({ hc: one, bpd: one, ac: one, fl: one, efw: one });
const zScores = eachSize(fc.double({ min: -3.2, max: 3.2, noNaN: true }));
const shares = eachSize(fc.double({ min: -0.999, max: 0.999, noNaN: true }));

describe('the growth of a fetus', () => {
  it('is concluded only if it holds within the intervals of all sizes, now and before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 190, max: 270 }),
        fc.constantFrom(0.01, 0.02, 0.04),
        fc.tuple(zScores, zScores),
        fc.tuple(shares, shares),
        (gaDays, half, [now, before], [moved, movedBefore]) => {
          const given = grown(
            gaDays,
            sizes(gaDays, now, half, null),
            sizes(gaDays - 28, before, half, null),
          );
          const exact = grown(
            gaDays,
            sizes(gaDays, now, half, moved),
            sizes(gaDays - 28, before, half, movedBefore),
          );
          expectSameConclusions(given, exact);
          for (const { measurement, interpretation } of given.amendments) {
            const other = exact.amendments.find((one) => one.measurement === measurement);
            if (interpretation) expect(other?.interpretation).toBe(interpretation);
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});
