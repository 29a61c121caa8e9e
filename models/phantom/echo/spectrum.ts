import { drawAcquisition, drawVisibleView, type Screen } from '../acquisition.ts';
import type { ImageHeader } from '../dicom.ts';
import type { PhantomFrame } from '../frame.ts';
import type { Heart } from '../heart/heart.ts';
import type { Beat } from '../heart/motion.ts';
import { createRandom, type Random } from '../random.ts';
import { paintDisplayMarks } from '../views/display-marks.ts';
import {
  beatAtTime,
  type Display,
  displayValues,
  drawBeats,
  drawMarks,
  drawSpectrum,
  placeSpectrum,
  SPECTRUM_TYPE,
  spectralRegion,
} from '../views/spectrum-display.ts';
import { type DisplayScene, otherSignals } from './display-scene.ts';
import {
  annulusMotion,
  diastolicSlope,
  type EchoWaveform,
  mitralInflow,
  outflow,
  pulmonaryVein,
  systolicLeak,
} from './waveforms.ts';

/**
 * Doppler mode: pulsed (at one place), continuous (along the line) or tissue (slow motion, strong
 * echoes).
 */
type Mode = 'pulsed' | 'continuous' | 'tissue';

/** Velocities in cm/s, times in ms, by name. */
export type Flow = Readonly<Record<string, number>>;

interface SpectrumKind {
  mode: Mode;
  viewName: string;
  waveform(beat: Beat, flow: Flow): EchoWaveform;
  /** Values of a healthy adult, used if the caller provides none. */
  usual: Flow;
}

/** Describes a kind of spectrum. The names of its values are the keys of `usual`. */
const kind = <Names extends string>(
  mode: Mode,
  viewName: string,
  waveform: (beat: Beat, flow: Record<Names, number>) => EchoWaveform,
  usual: Readonly<Record<Names, number>>,
): SpectrumKind => ({
  mode,
  viewName,
  usual,
  waveform: (beat, flow) => waveform(beat, { ...usual, ...flow }),
});

/** Spectra of an adult study. The usual values are those of healthy middle-aged adults. */
export const ECHO_SPECTRA = {
  'mitral-inflow': kind('pulsed', 'MV Inflow PW', mitralInflow, {
    e: 78,
    a: 62,
    decelerationMs: 185,
  }),
  lvot: kind('pulsed', 'LVOT PW', outflow, { peak: 98 }),
  rvot: kind('pulsed', 'RVOT PW', outflow, { peak: 78, accelerationMs: 135 }),
  'pulmonary-vein': kind('pulsed', 'Pulm Vein PW', pulmonaryVein, { s: 58, d: 48, reversal: 25 }),
  'aortic-valve': kind('continuous', 'AV CW', outflow, { peak: 128 }),
  'aortic-regurgitation': kind('continuous', 'AR CW', diastolicSlope, {
    peak: 420,
    pressureHalfTimeMs: 420,
  }),
  'mitral-regurgitation': kind('continuous', 'MR CW', systolicLeak, { peak: 500 }),
  'mitral-stenosis': kind('continuous', 'MS CW', diastolicSlope, {
    peak: 190,
    pressureHalfTimeMs: 190,
  }),
  'tricuspid-regurgitation': kind('continuous', 'TR CW', systolicLeak, { peak: 230 }),
  'septal-annulus': kind('tissue', 'TDI septal', annulusMotion, { s: 8.4, e: 9.2, a: 8.8 }),
  'lateral-annulus': kind('tissue', 'TDI lateral', annulusMotion, { s: 10.2, e: 12.4, a: 9.4 }),
  'tricuspid-annulus': kind('tissue', 'TDI RV', annulusMotion, { s: 13, e: 12, a: 13 }),
} as const satisfies Record<string, SpectrumKind>;
export type EchoSpectrumId = keyof typeof ECHO_SPECTRA;

interface SpectrumRequest {
  heart: Heart;
  seed: number;
  flow?: Flow;
  screen?: Screen;
  /** Number of beats on the display; 3 to 5 if absent. */
  beats?: number;
  /** Relative difference in length between beats; 0.01 if absent. */
  irregularity?: number;
  /** End of the velocity scale as a share of the peak. Below 1, the peak aliases. */
  scaleShare?: number;
  /**
   * Further contents of a real screen. If absent, only the flow, its mirror image and noise are
   * shown.
   */
  scene?: DisplayScene;
}

const USUAL_SCREEN: Screen = { columns: 800, rows: 600 };

/** Distance between the ticks of the scale, cm/s. */
const TICKS: Readonly<Record<Mode, number>> = { pulsed: 20, continuous: 100, tissue: 5 };

/** Limits of the slowest velocity in the gate, as a share of the fastest. */
const SLOWEST: Readonly<Record<Mode, readonly [number, number]>> = {
  pulsed: [0.45, 0.75],
  continuous: [0.02, 0.1],
  tissue: [0.5, 0.7],
};

/** Limits of the wall filter, cm/s. */
const FILTER: Readonly<Record<Mode, readonly [number, number]>> = {
  pulsed: [4, 8],
  continuous: [12, 25],
  tissue: [0.3, 0.6],
};

/** Chooses the scale. Each side of the baseline covers the range of the flow plus a margin. */
function displayOf(
  { velocity }: EchoWaveform,
  beat: Beat,
  mode: Mode,
  request: SpectrumRequest,
  random: Random,
): Display {
  const { columns, rows } = request.screen ?? USUAL_SCREEN;
  const steps = Array.from({ length: 400 }, (_, i) => velocity((i * beat.lengthS) / 400));
  const share = request.scaleShare ?? random.range(1.15, 1.5);
  const highest = Math.max(...steps);
  const lowest = -Math.min(...steps);
  const all = Math.max(highest, lowest);
  const least = (request.scene?.otherSide ?? 0.18) * all;
  const up = Math.max(highest, least) * share;
  const down = Math.max(lowest, least) * share;
  const left = Math.round(columns * random.range(0.03, 0.06));
  const top = Math.round(rows * random.range(0.32, 0.42));
  const width = Math.round(columns * 0.89) - left;
  const height = Math.round(rows * 0.92) - top;
  const velocityPerRow = (up + down) / height;
  const dynamicRange = random.range(32, 44);
  const resolution = Math.max(0.006 * (up + down), mode === 'tissue' ? 0.25 : 1);
  return {
    columns,
    rows,
    left,
    top,
    settings: {
      columns: width,
      rows: height,
      zeroRow: Math.round(up / velocityPerRow),
      secondsPerColumn: ((request.beats ?? random.range(3, 5)) * beat.lengthS) / width,
      velocityPerRow,
      forward: 'up',
      wallFilter: random.range(...FILTER[mode]),
      slowestShare: random.range(...SLOWEST[mode]),
      broadening: random.range(0.012, 0.025),
      resolution,
      noise: random.range(-12, 0) - dynamicRange,
      mirror: random.range(-50, -34),
      dynamicRange,
      gain: random.range(-13, -5),
      vein: 0,
      blur: { time: random.range(0.7, 1.4), velocity: random.range(0.7, 1.2) },
    },
  };
}

/**
 * Simulates one spectral display of the heart. `truth.values` contains the values that a perfect
 * reader would measure.
 */
export function simulateEchoSpectrum(id: EchoSpectrumId, request: SpectrumRequest): PhantomFrame {
  const { mode, waveform: shape }: SpectrumKind = ECHO_SPECTRA[id];
  const { heart, seed } = request;
  const random = createRandom(seed).fork(id);
  const waveform = shape(heart.beat, request.flow ?? {});
  const display = displayOf(waveform, heart.beat, mode, request, random.fork('display'));
  const { columns, rows, settings } = display;
  const { scene } = request;
  const { lengthS } = heart.beat;
  const duration = settings.columns * settings.secondsPerColumn;
  const beats = drawBeats(
    heart.sizes.beatsPerMinute,
    duration,
    request.irregularity ?? 0.01,
    random.fork('beats'),
    scene?.unevenness,
  );
  const sized = scene?.unevenUntilS ?? Number.POSITIVE_INFINITY;
  const fastest = (seconds: number) => {
    const at = beatAtTime(beats, seconds);
    if (!at) return 0;
    return waveform.velocity(at.phase * lengthS) * (at.phase * lengthS < sized ? at.size : 1);
  };
  const phaseAt = (seconds: number) => beatAtTime(beats, seconds)?.phase ?? 0;
  const shown = scene
    ? {
        ...settings,
        noise: settings.noise + scene.noiseDb,
        slowestShare: scene.slowestShare ?? settings.slowestShare,
        flowLevel: -scene.faintDb,
        map: scene.map,
        besides: otherSignals(scene, heart.beat, settings, phaseAt, random.fork('scene')),
      }
    : settings;
  const gray = new Uint8Array(columns * rows);
  placeSpectrum(gray, display, drawSpectrum(fastest, shown, random.fork('speckle')));
  drawMarks(gray, display, random.fork('marks'), TICKS[mode]);
  if (scene) {
    const { left, top } = display;
    const area = { left, top, width: settings.columns, height: settings.rows };
    const { secondsPerColumn } = settings;
    paintDisplayMarks(gray, display, { ...area, secondsPerColumn }, scene.marks, phaseAt);
  }
  const whole = beats.filter(({ from, length }) => from >= 0 && from + length <= duration);
  const usual = whole.reduce((sum, { size }) => sum + size, 0) / Math.max(1, whole.length);
  const extent = { across: 30, down: 30 };
  const view = drawVisibleView(extent, [], random.fork('view'), { columns, rows });
  return {
    columns,
    rows,
    gray,
    acquisition: drawAcquisition(view, random.fork('acquisition')),
    truth: {
      plane: id,
      mmPerPixel: view.window.mmPerPixel,
      values: {
        ...waveform.values,
        beatsPerMinute: heart.sizes.beatsPerMinute,
        // Mean size of the beats that are entirely on the display.
        sizeOfBeats: usual,
        ...displayValues(display),
      },
    },
  };
}

/** Bit in Image Type value 4 for the mode (PS3.3 C.8.5.6.1.1). */
const MODE_FLAG: Readonly<Record<Mode, string>> = {
  pulsed: '0008',
  continuous: '0004',
  tissue: '0008',
};

/** Returns the region, mode and view name of a spectrum, as a cart writes them. */
export function spectrumHeader(id: EchoSpectrumId, frame: PhantomFrame): Partial<ImageHeader> {
  const { mode, viewName }: SpectrumKind = ECHO_SPECTRA[id];
  const type = mode === 'continuous' ? SPECTRUM_TYPE.continuous : SPECTRUM_TYPE.pulsed;
  return {
    regions: [spectralRegion(frame, type)],
    attributes: {
      ImageType: ['ORIGINAL', 'PRIMARY', 'TTE', MODE_FLAG[mode]],
      HeartRate: Math.round(frame.truth.values?.beatsPerMinute ?? 0),
      ViewName: viewName,
    },
  };
}
