import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sizesAt } from '../../../../models/phantom/sizes.ts';
import type { PhantomView } from '../../../../models/phantom/view.ts';
import {
  ductusVenosus,
  leftUterineArtery,
  middleCerebralArtery,
  umbilicalArtery,
} from '../../../../models/phantom/views/spectrum.ts';
import type { SweepRegion } from '../../../../pipelines/contract/study.ts';
import { readDicomClip } from '../../../../pipelines/input/dicom/clip.ts';
import { traceEnvelope } from '../../../../pipelines/measure/doppler/envelope.ts';
import { readSpectrum } from '../../../../pipelines/measure/doppler/spectrum.ts';
import type {
  BeatVelocities,
  DopplerWaveform,
} from '../../../../pipelines/obstetric/doppler/evidence.ts';
import { traceDoppler } from '../../../../pipelines/obstetric/doppler/trace.ts';
import { withEraseBar } from '../../measure/erase-bar.ts';

const SIZES = sizesAt(210);
const SCREEN = { columns: 640, rows: 480 };

function spectrum(view: PhantomView, seed: number, anatomy: Record<string, number> = {}) {
  const [frame] = view.simulate({
    gaDays: 210,
    sizes: SIZES,
    seed,
    frames: 1,
    screen: SCREEN,
    anatomy,
  });
  if (!frame) throw new Error('a view without a frame');
  const at = (name: string) => frame.truth.values?.[name] ?? Number.NaN;
  const sweep: SweepRegion = {
    kind: 'pw',
    area: {
      minX: at('leftPixel'),
      minY: at('topPixel'),
      maxX: at('rightPixel'),
      maxY: at('bottomPixel'),
    },
    secondsPerPixel: at('secondsPerColumn'),
    valuePerPixel: at('cmPerSecondPerRow'),
    unit: 'cm/s',
    zeroRow: at('topPixel') + at('zeroRowPixel'),
    yDirection: 'up',
    correctionAngle: null,
  };
  const image = { width: frame.columns, height: frame.rows, data: frame.gray };
  return { image, sweep, truth: at };
}

function traced(waveform: DopplerWaveform) {
  if (waveform.status !== 'traced') throw new Error(`refused: ${waveform.reason}`);
  const mean = (pick: (beat: BeatVelocities) => number) =>
    waveform.beats.reduce((sum, beat) => sum + pick(beat), 0) / waveform.beats.length;
  const psv = mean(({ peak }) => peak);
  const edv = mean(({ endDiastolic }) => endDiastolic);
  const average = mean((beat) => beat.average);
  return { ...waveform, psv, edv, average, pi: (psv - edv) / average, ri: (psv - edv) / psv };
}

/** Accuracy for unseen spectra as stated in docs/doppler.md. */
const TOLERANCE = { pi: 0.12, ri: 0.04, psv: 0.08, rate: 0.03 };

describe('Doppler indices of unseen simulated spectra', () => {
  it.each([
    { view: umbilicalArtery, seed: 2001 },
    { view: umbilicalArtery, seed: 2002 },
    { view: middleCerebralArtery, seed: 2003 },
    { view: middleCerebralArtery, seed: 2004 },
    { view: leftUterineArtery, seed: 2005 },
    { view: leftUterineArtery, seed: 2006 },
  ])('are within tolerance: $view.id, seed $seed', ({ view, seed }) => {
    const { image, sweep, truth } = spectrum(view, seed);
    const { pi, ri, psv, beats, beatsPerMinute } = traced(traceDoppler(image, sweep));
    expect(beats.length).toBeGreaterThanOrEqual(2);
    expect(Math.abs(pi / truth('pulsatilityIndex') - 1)).toBeLessThan(TOLERANCE.pi);
    expect(Math.abs(ri - truth('resistanceIndex'))).toBeLessThan(TOLERANCE.ri);
    expect(Math.abs(psv / truth('psvCmPerSecond') - 1)).toBeLessThan(TOLERANCE.psv);
    expect(Math.abs(beatsPerMinute / truth('beatsPerMinute') - 1)).toBeLessThan(TOLERANCE.rate);
  });

  it('give S and the a-wave of a ductus venosus within tolerance', () => {
    const { image, sweep, truth } = spectrum(ductusVenosus, 2008);
    const { beats } = traced(traceDoppler(image, sweep));
    for (const beat of beats) {
      expect(Math.abs(beat.peak / truth('psvCmPerSecond') - 1)).toBeLessThan(0.1);
      expect(beat.lowest).toBeGreaterThan(0);
    }
  });
});

describe('a spectrum with an erase bar', () => {
  it.each([3, 4, 5])('has no beat across the bar (seed %i)', (seed) => {
    const { image, sweep, truth } = spectrum(umbilicalArtery, seed);
    const barred = traced(traceDoppler(withEraseBar(image, sweep.area), sweep));
    expect(barred.variationSeen).toBeLessThan(0.03);
    expect(Math.abs(barred.beatsPerMinute / truth('beatsPerMinute') - 1)).toBeLessThan(
      TOLERANCE.rate,
    );
  });
});

describe('the trace of a picture blurred over time', () => {
  it('gives a TAMX and a PI without bias, although the upstroke is drawn too early', () => {
    const errors = [2101, 2103, 2104, 2105, 2106].map((seed) => {
      const { image, sweep, truth } = spectrum(middleCerebralArtery, seed);
      const { average, pi } = traced(traceDoppler(image, sweep));
      return { average: average / truth('tamxCmPerSecond'), pi: pi / truth('pulsatilityIndex') };
    });
    const bias = (of: 'average' | 'pi') =>
      errors.reduce((sum, error) => sum + error[of], 0) / errors.length - 1;
    expect(Math.abs(bias('average'))).toBeLessThan(0.02);
    expect(Math.abs(bias('pi'))).toBeLessThan(0.02);
  });

  it('is not refused if the mirror image of the peak wraps around and joins the flow', () => {
    const { image, sweep, truth } = spectrum(middleCerebralArtery, 2102);
    const { pi } = traced(traceDoppler(image, sweep));
    expect(Math.abs(pi / truth('pulsatilityIndex') - 1)).toBeLessThan(0.04);
  });
});

describe('end-diastolic flow', () => {
  const flows = (waveform: DopplerWaveform) =>
    new Set(traced(waveform).beats.map((b) => b.endFlow));

  it('is forward, absent or reversed, as simulated', () => {
    const forward = spectrum(umbilicalArtery, 3001, { edvShare: 0.3 });
    const absent = spectrum(umbilicalArtery, 3001, { edvShare: 0 });
    const reversed = spectrum(umbilicalArtery, 3001, { edvShare: -0.2 });
    expect(flows(traceDoppler(forward.image, forward.sweep))).toEqual(new Set(['forward']));
    expect(flows(traceDoppler(absent.image, absent.sweep))).toEqual(new Set(['absent']));
    expect(flows(traceDoppler(reversed.image, reversed.sweep))).toEqual(new Set(['reversed']));
  });

  it('is reversed if a short reversal is alone on a dark side', () => {
    const { image, sweep } = spectrum(umbilicalArtery, 1003, { edvShare: -0.15 });
    expect(flows(traceDoppler(image, sweep))).toEqual(new Set(['reversed']));
  });

  it.each([5006, 5007, 5008])(
    'is reversed at the velocity of the blood, without the blurred edge: seed %s',
    (seed) => {
      const { image, sweep, truth } = spectrum(umbilicalArtery, seed, { edvShare: -0.15 });
      const { edv } = traced(traceDoppler(image, sweep));
      expect(edv / truth('edvCmPerSecond')).toBeCloseTo(1, 1);
    },
  );

  it('is not called reversed because a vein flows the other way; the vein is reported', () => {
    const { image, sweep } = spectrum(umbilicalArtery, 3002, { edvShare: 0, vein: 12 });
    const waveform = traced(traceDoppler(image, sweep));
    expect(waveform.otherVessel).toBe(true);
    expect(flows(traceDoppler(image, sweep))).toEqual(new Set(['absent']));
  });
});

describe('what is refused', () => {
  it('a flow that wraps around the end of the scale', () => {
    const { image, sweep } = spectrum(umbilicalArtery, 3003, { scaleShare: 0.8 });
    expect(traceDoppler(image, sweep)).toEqual({ status: 'refused', reason: 'aliased' });
  });

  it('a flow whose peak is beyond the region, even if nothing appears at the other end', () => {
    const { image, sweep } = spectrum(umbilicalArtery, 3004, { edvShare: 0.3 });
    const { side, psv } = traced(traceDoppler(image, sweep));
    const rows = (0.7 * psv) / (sweep.valuePerPixel ?? 1);
    const zeroRow = sweep.zeroRow ?? 0;
    const area =
      side === 'above'
        ? { ...sweep.area, minY: Math.round(zeroRow - rows) }
        : { ...sweep.area, maxY: Math.round(zeroRow + rows) };
    expect(traceDoppler(image, { ...sweep, area })).toEqual({
      status: 'refused',
      reason: 'cut-off',
    });
  });

  it('a display without scale of velocity, of time, or without its baseline', () => {
    const { image, sweep } = spectrum(umbilicalArtery, 3005);
    const refusal = { status: 'refused', reason: 'no-scale' };
    expect(traceDoppler(image, { ...sweep, valuePerPixel: null })).toEqual(refusal);
    expect(traceDoppler(image, { ...sweep, secondsPerPixel: null })).toEqual(refusal);
    expect(traceDoppler(image, { ...sweep, zeroRow: null })).toEqual(refusal);
    expect(traceDoppler(image, { ...sweep, unit: 'Hz' })).toEqual(refusal);
  });

  it('noise and an empty display', () => {
    const { image, sweep } = spectrum(umbilicalArtery, 3006);
    const black = { ...image, data: new Uint8Array(image.data.length) };
    expect(traceDoppler(black, sweep).status).toBe('refused');
    const noise = { ...image, data: image.data.map((_, i) => (i * 7919) % 61) };
    expect(traceDoppler(noise, sweep).status).toBe('refused');
  });
});

const REAL = '../shared/data/dicom/doppler';

describe.skipIf(!existsSync(REAL))('values printed on real screens (needs ../shared/data)', () => {
  /** The range of columns contains the beat with the printed mark. */
  it.each([
    { file: 'tte47_18_doppler-av', side: 'below', from: 550, to: 590, printed: 88.8 },
    { file: 'tte47_21_doppler-tissue-lateral', side: 'above', from: 670, to: 710, printed: 11.4 },
    { file: 'tte47_21_doppler-tissue-lateral', side: 'below', from: 500, to: 550, printed: 11.6 },
  ] as const)('$file: $printed cm/s within 5 %', async ({ file, side, from, to, printed }) => {
    const { clip } = await readDicomClip(file, `${REAL}/${file}.dcm`, null);
    const [sweep] = clip.sweeps;
    const image = await clip.frames[0]?.gray();
    const display = sweep && image ? readSpectrum(image, sweep) : null;
    if (!display) throw new Error('no spectrum was read');
    const { velocities } = traceEnvelope(display, side);
    const peak = Math.max(...velocities.slice(from - display.left, to - display.left));
    expect(Math.abs(peak / printed - 1)).toBeLessThan(0.05);
  });
});
