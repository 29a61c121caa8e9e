import { describe, expect, it } from 'vitest';
import { structuresWithoutScale } from '../../../../pipelines/obstetric/biometry/measure.ts';
import { obstetricEndpoint } from '../../../../pipelines/obstetric/endpoint.ts';
import type { MidsagittalReading } from '../../../../pipelines/obstetric/nt/evidence.ts';
import { midsagittalBoxes } from '../../../../pipelines/obstetric/nt/measure.ts';
import { AXIS_RATIO } from '../../../../pipelines/obstetric/shared/measurement.ts';
import {
  abdomen,
  clip,
  femur,
  head,
  interpretReadings,
  MM_PER_PIXEL,
  sectionOf,
} from '../evidence-sample.ts';

const UNSCALED = { clip: { regions: [] } };
const LONG = 100 * MM_PER_PIXEL;

describe('structures on frames without a scale', () => {
  it('are given in pixels by name, with their frame and confidence', () => {
    const readings = [
      head(90, 72, UNSCALED),
      abdomen(75, 73, { ...UNSCALED, accepted: false, confidence: 0.5 }),
      femur(LONG, UNSCALED),
    ];
    expect(structuresWithoutScale(readings)).toMatchObject([
      { structure: 'fetal-head', frame: 1, accepted: true, place: { type: 'ellipse' } },
      { structure: 'fetal-abdomen', confidence: 0.5, accepted: false },
      {
        structure: 'fetal-femur',
        accepted: true,
        place: {
          type: 'line',
          points: [
            [200, 300],
            [300, 300],
          ],
        },
      },
    ]);
  });

  it.each([
    ['head', 'at the lowest ratio of its axes', true, AXIS_RATIO.head.low + 1e-9],
    ['head', 'below it', false, AXIS_RATIO.head.low - 1e-6],
    ['head', 'at the highest ratio of its axes', true, AXIS_RATIO.head.high - 1e-9],
    ['head', 'above it', false, AXIS_RATIO.head.high + 1e-6],
    ['abdomen', 'at the lowest ratio of its axes', true, AXIS_RATIO.abdomen.low + 1e-9],
    ['abdomen', 'below it', false, AXIS_RATIO.abdomen.low - 1e-6],
    ['abdomen', 'as a circle', true, 1],
  ] as const)('a %s %s is accepted: %s', (structure, _, accepted, ratio) => {
    const located = { head, abdomen }[structure](90, 90 * ratio, UNSCALED);
    expect(structuresWithoutScale([located])).toMatchObject([{ accepted }]);
  });

  it('are not listed if a scale gives them calipers, or if nothing was found', () => {
    const nothing = { ...head(90, 72, UNSCALED), structure: 'head' as const, located: null };
    expect(structuresWithoutScale([head(90, 72), femur(50), nothing])).toEqual([]);
  });

  it('are in the section that withholds the value, and nothing is given in millimetres', () => {
    const result = interpretReadings({ readings: [head(90, 72, UNSCALED), femur(LONG, UNSCALED)] });
    const { reason, data } = sectionOf(result, 'biometry');
    expect(reason?.detail).toContain('no physical scale was available');
    expect(data.structures).toMatchObject([
      { structure: 'fetal-head' },
      { structure: 'fetal-femur' },
    ]);
    expect(result.measurements.filter(({ unit }) => unit === 'mm')).toEqual([]);
  });
});

describe('boxes of a mid-sagittal frame', () => {
  const taken = clip('nt.png', { regions: [] });
  const [frame] = taken.frames;
  if (!frame) throw new Error('a clip without a frame');
  const box = { minX: 10.04, minY: 20, maxX: 30, maxY: 40 };
  const reading: MidsagittalReading = {
    clip: taken,
    frame,
    estimate: { label: 'midsagittal', confidence: 0.9 },
    located: {
      'nuchal-translucency': { box, confidence: 0.8, accepted: true },
      palate: { box, confidence: 0.6, accepted: false },
    },
    lines: null,
  };

  it('are rectangles by the name of the structure, whether or not the lines were seen', () => {
    const place = {
      type: 'rectangle',
      points: [
        [10, 20],
        [30, 40],
      ],
    };
    expect(midsagittalBoxes([reading])).toMatchObject([
      { structure: 'palate', accepted: false, place },
      { structure: 'nuchal-translucency', accepted: true, place },
    ]);
  });

  it.each([
    ['lines that were not seen', {}, 'low_confidence'],
    ['an age outside the window', { dating: { ga_days: 150 } }, 'outside_window'],
  ])('are in the section whatever happened to the thickness: %s', (_, options, code) => {
    const result = interpretReadings({
      readings: [],
      options,
      evidence: { views: { nuchal: { frames: [reading] } } },
    });
    const { reason, data } = sectionOf(result, 'nt');
    expect(reason?.code).toBe(code);
    expect(data.structures).toMatchObject([
      { structure: 'palate' },
      { structure: 'nuchal-translucency' },
    ]);
    expect(obstetricEndpoint.output.safeParse(result).error).toBeUndefined();
  });

  it.each([[null], [undefined], [[]]])('of no frame (%s) do not exist', (readings) => {
    expect(midsagittalBoxes(readings)).toEqual([]);
  });
});
