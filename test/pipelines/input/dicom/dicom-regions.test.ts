import { describe, expect, it } from 'vitest';
import type { Clip, SweepRegion } from '../../../../pipelines/contract/study.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { valueAt } from '../../../../pipelines/measure/m-mode/plane.ts';
import { type Element, region, type Sample, SYNTAX, ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';

/** Returns an image of 40 × 20 pixels, wide enough for several regions. */
async function clipOf(regions: Element[][], more: Sample = {}): Promise<Clip> {
  const pixels: Element = ['7FE00010', 'OB', Buffer.alloc(800, 90)];
  const image = ultrasound({ columns: 40, rows: 20, regions, pixels, ...more });
  const { clips, refused } = await readStudy(await onDisk({ image }));
  const [clip] = clips;
  if (!clip) throw new Error(refused[0]?.reason);
  return clip;
}

interface Axes {
  format?: number;
  type?: number;
  flags?: number;
  units?: [x: number, y: number];
  delta?: [x: number, y: number];
  reference?: [row: number, value: number] | null;
  extra?: Element[];
}

/**
 * Returns a spectral display in rows 4 to 18, with 2 ms and 0.5 cm/s per pixel and its baseline at
 * row 14.
 */
function sweep(axes: Axes = {}): Element[] {
  const { format = 3, type = 3, flags = 0, units = [4, 7], delta = [0.002, -0.5] } = axes;
  const { reference = [10, 0], extra = [] } = axes;
  return [
    ['00186012', 'US', [format]],
    ['00186014', 'US', [type]],
    ['00186016', 'UL', [flags]],
    ['00186018', 'UL', [2]],
    ['0018601A', 'UL', [4]],
    ['0018601C', 'UL', [37]],
    ['0018601E', 'UL', [18]],
    ...(reference ? [['00186022', 'SL', [reference[0]]] as const] : []),
    ['00186024', 'US', [units[0]]],
    ['00186026', 'US', [units[1]]],
    ...(reference ? [['0018602A', 'FD', [reference[1]]] as const] : []),
    ['0018602C', 'FD', [delta[0]]],
    ['0018602E', 'FD', [delta[1]]],
    ...extra,
  ];
}

async function sweepOf(axes: Axes = {}, sample: Sample = {}): Promise<SweepRegion> {
  const { sweeps } = await clipOf([sweep(axes)], sample);
  const [only] = sweeps;
  if (!only) throw new Error('the header gave no sweep');
  return only;
}

describe('sweeps of spectral Doppler and M-mode (PS3.3 C.8.5.5)', () => {
  it('have time in seconds along x and velocity in cm/s along y', async () => {
    const pw = await sweepOf();
    expect(pw).toMatchObject({
      kind: 'pw',
      area: { minX: 2, minY: 4, maxX: 37, maxY: 18 },
      secondsPerPixel: 0.002,
      valuePerPixel: 0.5,
      unit: 'cm/s',
      zeroRow: 14,
      yDirection: 'up',
    });
    expect(valueAt(pw, 6)).toBe(4);
    expect(valueAt(pw, 16)).toBe(-1);
  });

  it('in big endian are the same', async () => {
    const pixels: Element = ['7FE00010', 'OB', Buffer.alloc(800, 90)];
    const given = { syntax: SYNTAX.bigEndian, pixels };
    expect(await sweepOf({ reference: [3, -2] }, given)).toEqual(
      await sweepOf({ reference: [3, -2] }),
    );
  });

  it.each([
    [3, 3, 'pw'],
    [3, 4, 'cw'],
    [3, 0, 'doppler'],
    [2, 1, 'm-mode'],
    [2, 2, 'colour-m-mode'],
  ])('of spatial format %i and data type %i are %s', async (format, type, kind) => {
    expect((await sweepOf({ format, type })).kind).toBe(kind);
  });

  it('of an M-mode have depth in cm, growing downwards from the skin', async () => {
    const mMode = await sweepOf({
      format: 2,
      type: 1,
      units: [4, 3],
      delta: [0.004, 0.05],
      reference: [0, 0],
    });
    expect(mMode).toMatchObject({ unit: 'cm', valuePerPixel: 0.05, zeroRow: 4 });
    expect(valueAt(mMode, 14)).toBeCloseTo(0.5, 12);
  });

  it('with a positive delta, as many carts write it, are positive above the baseline too', async () => {
    const pw = await sweepOf({ delta: [0.002, 0.5] });
    expect(pw.yDirection).toBe('down');
    expect(valueAt(pw, 6)).toBe(4);
  });

  it('have their zero where the reference value is, even outside the region', async () => {
    expect((await sweepOf({ reference: [0, 10] })).zeroRow).toBe(24);
    expect((await sweepOf({ reference: [10, 3] })).zeroRow).toBe(20);
  });

  it.each([
    ['none is given', null],
    ['it lies above the region', [-522, 0]],
    ['it was written for the whole frame', [16, 0]],
  ] as const)('have no known zero if %s', async (_, reference) => {
    const pw = await sweepOf({ reference: reference && [reference[0], reference[1]] });
    expect(pw.zeroRow).toBeNull();
    expect(valueAt(pw, 6)).toBeNull();
  });

  it('in Hz become cm/s by the transducer frequency and the angle', async () => {
    const axes: Axes = { units: [4, 5], delta: [0.002, -50] };
    const [at2MHz, at60Degrees]: Element[][] = [
      [['00186030', 'UL', [2000]]],
      [
        ['00186030', 'UL', [2000]],
        ['00186034', 'FD', [60]],
      ],
    ];
    // At 2 MHz, 5000 Hz are 192.5 cm/s (echo 2.7).
    expect((await sweepOf({ ...axes, extra: at2MHz })).valuePerPixel).toBeCloseTo(1.925, 9);
    expect((await sweepOf({ ...axes, extra: at60Degrees })).valuePerPixel).toBeCloseTo(3.85, 9);
    expect(await sweepOf(axes)).toMatchObject({ unit: 'Hz', valuePerPixel: 50 });
  });

  it.each([
    ['no time axis', { units: [0, 7] }, { secondsPerPixel: null, valuePerPixel: 0.5 }],
    ['no time step', { delta: [0, -0.5] }, { secondsPerPixel: null }],
    ['no velocity axis', { units: [4, 0] }, { secondsPerPixel: 0.002, valuePerPixel: null }],
    ['cm/s that the flags call a frequency', { flags: 4 }, { valuePerPixel: null, zeroRow: null }],
    ['an M-mode in cm/s', { format: 2, type: 1 }, { valuePerPixel: null, unit: 'cm' }],
  ] as [string, Axes, Partial<SweepRegion>][])('with %s report this', async (_, axes, expected) => {
    expect(await sweepOf(axes)).toMatchObject(expected);
  });

  it('state the correction angle', async () => {
    const pw = await sweepOf({ extra: [['00186034', 'FD', [12]]] });
    expect(pw.correctionAngle).toBe(12);
  });
});

const tissue = (changes: Parameters<typeof region>[0] = {}) =>
  region({ minX: 0, minY: 0, maxX: 39, maxY: 19, ...changes });
const spacing: Element = ['00280030', 'DS', '0.4\\0.3'];
const secondaryCapture = '1.2.840.10008.5.1.4.1.1.7';

describe('an invalid calibration is refused with the reason', () => {
  it.each([
    ['25 cm a pixel deep', tissue({ deltaY: 25, deltaX: 25 }), /500 cm deep/],
    ['just over 50 cm deep', tissue({ deltaY: 2.51, deltaX: 2.51 }), /50 cm deep/],
    ['finer than a wavelength', tissue({ deltaX: 0.0004, deltaY: 0.0004 }), /0.0004 cm/],
    ['stretched five times', tissue({ deltaX: 0.25, deltaY: 0.05 }), /contradicts itself/],
  ])('%s', async (_, wrong, sentence) => {
    const { regions, calibrationRefused } = await clipOf([wrong]);
    expect(regions).toEqual([]);
    expect(calibrationRefused).toMatch(sentence);
  });

  it.each([
    ['50 cm deep', tissue({ deltaY: 2.5, deltaX: 2.5 })],
    ['5 µm a pixel', tissue({ deltaX: 0.0005, deltaY: 0.0005 })],
    ['stretched four times', tissue({ deltaX: 0.2, deltaY: 0.05 })],
  ])('%s is accepted', async (_, right) => {
    expect((await clipOf([right])).regions).toHaveLength(1);
  });

  it('one axis in centimetres and the other not', async () => {
    const odd = tissue().map((element) =>
      element[0] === '00186026' ? (['00186026', 'US', [4]] as const) : element,
    );
    expect((await clipOf([odd])).calibrationRefused).toMatch(/only one of its axes/);
  });

  it('two scales for one area', async () => {
    const both = [tissue(), tissue({ deltaX: 0.06, deltaY: 0.06 })];
    expect((await clipOf(both)).calibrationRefused).toMatch(/two scales for one region/);
  });

  it('an ECG strip outside the image: the image was cut after it was calibrated', async () => {
    const strip = region({ format: 4, type: 10, units: 4, minY: 25, maxX: 39, maxY: 30 });
    const { regions, calibrationRefused, sweeps } = await clipOf([tissue(), sweep(), strip]);
    expect([regions, sweeps]).toEqual([[], []]);
    expect(calibrationRefused).toMatch(/\(0, 25\) to \(39, 30\) reaches outside/);
  });

  it.each([
    ['an ECG strip of no width', region({ format: 4, type: 10, units: 4, minX: 30, maxX: 30 })],
    ['graphics outside of the image', region({ format: 5, type: 0, maxX: 100 })],
    ['a colour bar without format', region({ format: 0, type: 14, maxX: 100 })],
  ])('%s does no harm', async (_, other) => {
    expect((await clipOf([tissue(), other])).regions).toHaveLength(1);
  });
});

describe('Pixel Spacing', () => {
  it.each([
    ['beside a sweep', { regions: [sweep()], extra: [spacing] }, null],
    ['beside tissue without a unit', { regions: [tissue({ units: 0 })], extra: [spacing] }, null],
    [
      'of a secondary capture',
      { sopClass: secondaryCapture, extra: [spacing] },
      /secondary capture is not trusted/,
    ],
    [
      'calibrated for one depth',
      { extra: [spacing, ['00280A02', 'CS', 'GEOMETRY']] },
      /type GEOMETRY is valid at one depth/,
    ],
    [
      'that is no number',
      { extra: [['00280030', 'DS', '0.2 mm\\0.2 mm']] },
      /two positive numbers/,
    ],
    ['that is negative', { extra: [['00280030', 'DS', '-0.2\\-0.2']] }, /two positive numbers/],
    ['with a single number', { extra: [['00280030', 'DS', '0.2']] }, /two positive numbers/],
    ['of zeros, which say that it is unknown', { extra: [['00280030', 'DS', '0\\0']] }, null],
    ['at a detector', { extra: [['00181164', 'DS', '0.1\\0.1']] }, /Imager Pixel Spacing/],
  ] as [string, Sample, RegExp | null][])('%s is not used', async (_, sample, sentence) => {
    const { regions, calibrationRefused } = await clipOf(sample.regions ?? [], sample);
    expect(regions).toEqual([]);
    if (sentence) expect(calibrationRefused).toMatch(sentence);
    else expect(calibrationRefused).toBeNull();
  });

  it('is not needed by a secondary capture that kept its regions', async () => {
    const { regions } = await clipOf([tissue()], { sopClass: secondaryCapture });
    expect(regions[0]?.source).toBe('region');
  });
});

describe('other content of the regions', () => {
  const colourBox = region({ type: 2, minX: 10, minY: 5, maxX: 20, maxY: 15 });

  it('a colour box over tissue determines the mode, the tissue the scale', async () => {
    const clip = await clipOf([tissue(), colourBox]);
    expect(clip.mode).toBe('colour');
    expect(clip.regions).toHaveLength(1);
  });

  it('a colour region alone determines the scale too', async () => {
    expect((await clipOf([colourBox])).regions[0]?.area.minX).toBe(10);
  });

  it.each([
    ['spectral', [tissue(), sweep()]],
    ['m-mode', [tissue(), sweep({ format: 2, type: 1 })]],
    ['2d', [tissue()]],
    ['unknown', []],
  ] as [string, Element[][]][])('the mode %s', async (mode, regions) => {
    expect((await clipOf(regions)).mode).toBe(mode);
  });

  it.each([
    ['0001', '2d'],
    ['0002', 'm-mode'],
    ['0009', 'spectral'],
    ['0011', 'colour'],
    ['', 'unknown'],
  ])('without regions Image Type %s is the mode %s', async (flags, mode) => {
    const extra: Element[] = [['00080008', 'CS', `ORIGINAL\\PRIMARY\\X\\${flags}`]];
    expect((await clipOf([], { extra })).mode).toBe(mode);
  });

  it('the heart rate, the R waves, the stage and the view', async () => {
    const clip = await clipOf([tissue()], {
      extra: [
        ['00082120', 'SH', 'Rest'],
        ['00082122', 'IS', '1'],
        ['00082127', 'SH', 'A4C'],
        ['00181088', 'IS', '61'],
        ['00186060', 'FL', [980, 0]],
        [
          '00540220',
          'SQ',
          [
            [
              ['00080100', 'SH', '399214001'],
              ['00080102', 'SH', 'SCT'],
            ],
          ],
        ],
      ],
    });
    expect(clip).toMatchObject({
      heartRate: 61,
      rWaves: [0, 0.98],
      stageName: 'Rest',
      stageNumber: 1,
      viewName: 'A4C',
      viewCode: 'SCT:399214001',
    });
  });

  it('the view and the structure in the SNOMED-RT codes of older machines', async () => {
    const coded = (value: string): Element[] => [
      ['00080100', 'SH', value],
      ['00080102', 'SH', 'SRT'],
    ];
    const clip = await clipOf([tissue()], {
      extra: [
        ['00082218', 'SQ', [coded('G-0391')]],
        ['00540220', 'SQ', [coded('G-0395')]],
      ],
    });
    expect(clip).toMatchObject({ viewCode: 'SCT:399339008', anatomicRegion: 'SCT:399093001' });
  });

  it.each(['0', '19', '301', 'fast'])(
    'a heart rate of %s per minute is not accepted',
    async (rate) => {
      expect((await clipOf([], { extra: [['00181088', 'IS', rate]] })).heartRate).toBeNull();
    },
  );
});
