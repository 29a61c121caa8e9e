import { describe, expect, it } from 'vitest';
import { tracedMeasurements } from '../../../../pipelines/echo/displays/measure.ts';
import type { DisplayReading } from '../../../../pipelines/echo/displays/reading.ts';
import { notesOf } from '../rendered.ts';

const READING: DisplayReading = {
  file: 'a.dcm',
  sopInstanceUid: '2.25.1',
  frame: 0,
  kind: 'cw',
  flow: 'aortic-valve',
  namedBy: 'header',
  nameConfidence: 1,
  because: null,
  peak: 420,
  side: 'below',
  beats: 3,
  regular: true,
  confidence: 0.5,
  refusal: null,
  trace: null,
  quantities: [],
};

const VMAX = {
  key: 'av-vmax',
  value: 4.2,
  beats: [4.1, 4.2, 4.3],
  used: [0, 1, 2],
  calipers: [],
  remark: null,
  doubt: null,
} as const;

const one = (reading: Partial<DisplayReading>, quantity: Partial<typeof VMAX> | object = {}) =>
  tracedMeasurements(
    [{ ...READING, quantities: [{ ...VMAX, ...quantity }], ...reading }],
    () => 'valves',
  );

describe('a traced value', () => {
  it.each([
    ['of a structure that the header names, of three beats', {}, {}, 'accepted'],
    ['of two beats, which agree with each other', {}, { used: [0, 1] }, 'accepted'],
    ['of a single beat', {}, { used: [0] }, 'low'],
    ['of a trace at the gate', { confidence: 0.5 }, {}, 'accepted'],
    ['of a trace below it', { confidence: 0.49 }, {}, 'low'],
    [
      'of a flow that its form names surely',
      { namedBy: 'form', nameConfidence: 0.7 },
      {},
      'accepted',
    ],
    ['of a flow that its form suggests', { namedBy: 'form', nameConfidence: 0.69 }, {}, 'low'],
    ['of a flow that nothing names', { flow: null, namedBy: null }, {}, 'low'],
    ['that its own beats make doubtful', {}, { doubt: 'fused' }, 'low'],
    ['that no heart has', {}, { value: 7.1 }, 'inadequate'],
  ] as const)('%s', (_, reading, quantity, quality) => {
    expect(one(reading, quantity).map((value) => value.quality)).toEqual([quality]);
  });

  it('states over how many beats it was averaged, and that an irregular rhythm needs more', () => {
    expect(notesOf(one({}))[0]).toBe('mean of 3 beats');
    expect(notesOf(one({}, { used: [0] }))[0]).toBe(
      'from one beat, fewer than the 3 recommended; a single beat',
    );
    expect(notesOf(one({}, { used: [0, 1] }))[0]).toBe(
      'mean of 2 beats, fewer than the 3 recommended',
    );
    expect(notesOf(one({ regular: false }))[0]).toBe(
      'Irregular RR intervals: values averaged over 3 beats, fewer than the 5 recommended',
    );
  });

  it('states that it was identified by its form', () => {
    const named = one({ namedBy: 'form', nameConfidence: 0.8, because: 'two-waves' });
    expect(notesOf(named)[0]).toContain('identified by its shape: two waves per beat');
  });

  it('is the highest of several windows for a jet, since the others were not parallel to it', () => {
    const other = { ...READING, file: 'b.dcm', quantities: [{ ...VMAX, value: 4.6 }] };
    const values = tracedMeasurements(
      [{ ...READING, confidence: 1, quantities: [VMAX] }, other],
      () => 'valves',
    );
    expect(values.map(({ value, source }) => [value, source.file])).toEqual([[4.6, 'b.dcm']]);
  });

  it('is the highest of several manoeuvres for a provoked gradient', () => {
    const provoked = (file: string, value: number, confidence: number): DisplayReading => ({
      ...READING,
      ...{ file, confidence, flow: 'lvot-provoked' },
      quantities: [{ ...VMAX, key: 'lvot-gradient-provoked', value, beats: [value, value, value] }],
    });
    const displays = [provoked('valsalva.dcm', 22, 0.9), provoked('standing.dcm', 64, 0.6)];
    const values = tracedMeasurements(displays, () => 'cardiomyopathy');
    expect(values.map(({ value }) => value)).toEqual([64]);
  });

  describe('of a jet that was found in several windows', () => {
    const VTI = { ...VMAX, key: 'av-vti', value: 80 } as const;
    const MEAN = { ...VMAX, key: 'av-mean-gradient', value: 30 } as const;
    const sure = { ...READING, confidence: 1, quantities: [VMAX, VTI, MEAN] };
    const files = (...readings: DisplayReading[]) =>
      tracedMeasurements(readings, () => 'valves').map(({ concept, source }) => [
        concept.key,
        source.file,
      ]);
    const parts = [
      { ...VTI, value: 110 },
      { ...MEAN, value: 52 },
    ];

    it('has the integral and mean gradient of the window with the highest peak', () => {
      const higher = { ...READING, file: 'b.dcm', quantities: [{ ...VMAX, value: 4.6 }, ...parts] };
      expect(files(sure, higher)).toEqual([
        ['av-vmax', 'b.dcm'],
        ['av-vti', 'b.dcm'],
        ['av-mean-gradient', 'b.dcm'],
      ]);
    });

    it('has those of another window only if its own are not used', () => {
      const single = parts.map((part) => ({ ...part, used: [0] }));
      const higher = {
        ...READING,
        file: 'b.dcm',
        quantities: [{ ...VMAX, value: 4.6 }, ...single],
      };
      expect(files(sure, higher)).toEqual([
        ['av-vmax', 'b.dcm'],
        ['av-vti', 'a.dcm'],
        ['av-mean-gradient', 'a.dcm'],
      ]);
    });
  });

  describe('of mitral inflow on several displays', () => {
    const beats = (key: string, value: number, doubt: string | null, used = [0, 1, 2]) => ({
      ...VMAX,
      ...{ key, value, doubt, used, beats: [value, value, value] },
    });
    const inflow = (file: string, ...quantities: object[]) =>
      ({ ...READING, file, kind: 'pw', confidence: 0.9, quantities }) as DisplayReading;
    const read = (...readings: DisplayReading[]) =>
      tracedMeasurements(readings, () => 'diastolic').map(
        ({ concept, value, quality }) => `${concept.key} ${value} ${quality}`,
      );
    const slow = inflow('a.dcm', beats('mitral-e', 80, null), beats('mitral-a', 60, null, [0, 1]));
    const fast = inflow('b.dcm', beats('mitral-e', 50, null, [0, 1]), beats('mitral-a', 90, null));

    it('has E and A of the same display, not each of the clearer one', () => {
      expect(read(slow, fast)).toEqual(['mitral-e 80 accepted', 'mitral-a 60 accepted']);
    });
    it('prefers a display on which both are used', () => {
      const fused = inflow(
        'a.dcm',
        beats('mitral-e', 80, null),
        beats('mitral-a', 60, 'fused'),
        beats('deceleration-time', 120, 'fused'),
      );
      expect(read(fused, fast)).toEqual(['mitral-e 50 accepted', 'mitral-a 90 accepted']);
      expect(read(fused)).toEqual([
        'mitral-e 80 accepted',
        'mitral-a 60 low',
        'deceleration-time 120 low',
      ]);
    });
    it('has no A beside the E of another display', () => {
      const unsure = inflow(
        'b.dcm',
        beats('mitral-e', 50, 'beats-differ'),
        beats('mitral-a', 90, null),
      );
      expect(read(inflow('a.dcm', beats('mitral-e', 80, null)), unsure)).toEqual([
        'mitral-e 80 accepted',
      ]);
      expect(read(unsure)).toEqual(['mitral-e 50 low', 'mitral-a 90 accepted']);
    });
  });

  it('is a used one even if an unused one is higher', () => {
    const faint = { ...READING, confidence: 0.2, quantities: [{ ...VMAX, value: 4.6 }] };
    const values = tracedMeasurements([faint, { ...READING, quantities: [VMAX] }], () => 'valves');
    expect(values.map(({ value }) => value)).toEqual([4.2]);
  });

  it('is left out if no section has its quantity', () => {
    expect(tracedMeasurements([{ ...READING, quantities: [VMAX] }], () => null)).toEqual([]);
  });
});
