import type { EchoConcept } from '../../pipelines/concepts/echo.ts';
import { type Clip, type SweepRegion, UNDESCRIBED } from '../../pipelines/contract/study.ts';
import { tracedMeasurements } from '../../pipelines/echo/displays/measure.ts';
import { readDisplays } from '../../pipelines/echo/displays/read.ts';
import type { Measurement } from '../../pipelines/result/envelope.ts';
import { drawDisplayScene } from '../phantom/echo/display-scene.ts';
import { drawSweepScene, type EchoMModeId, simulateEchoMMode } from '../phantom/echo/m-mode.ts';
import { type EchoSpectrumId, type Flow, simulateEchoSpectrum } from '../phantom/echo/spectrum.ts';
import type { PhantomFrame } from '../phantom/frame.ts';
import { createHeart } from '../phantom/heart/heart.ts';
import { drawHeart } from '../phantom/heart/sizes.ts';
import { createRandom, type Random } from '../phantom/random.ts';

/**
 * A quantity shown on a display, and the factor that converts the truth to the unit of its concept.
 */
interface Expected {
  key: EchoConcept;
  truth: string;
  factor: number;
}

/** One kind of simulated display: what it shows, and the ranges of its settings. */
interface DisplayKind {
  id: EchoSpectrumId | EchoMModeId;
  kind: SweepRegion['kind'];
  viewName: string;
  expected: readonly Expected[];
  /** Samples the flow of a spectrum and its fastest velocity. Absent for an M-mode. */
  flow?: (random: Random) => { flow: Flow; full: number };
  faint?: number;
  /** True if only the early wave differs between beats, as happens with breathing. */
  early?: boolean;
}

const velocity = (key: EchoConcept, truth: string, factor = 1): Expected => ({
  key,
  truth: `${truth}CmPerSecond`,
  factor,
});

const annulus = (wall: 'septal' | 'lateral'): Omit<DisplayKind, 'id' | 'viewName'> => ({
  kind: 'pw',
  expected: [
    velocity(`s-prime-${wall}`, 's'),
    velocity(`e-prime-${wall}`, 'ePrime'),
    velocity(`a-prime-${wall}`, 'aPrime'),
  ],
  flow: drawAnnulus,
});

function drawAnnulus(random: Random) {
  const flow = { s: random.range(5, 14), e: random.range(4, 16), a: random.range(4, 15) };
  return { flow, full: Math.max(flow.s, flow.e, flow.a) };
}

const jet = (low: number, high: number) => (random: Random) => {
  const peak = random.range(low, high);
  return { flow: { peak }, full: peak };
};

export const DISPLAY_KINDS: readonly DisplayKind[] = [
  {
    id: 'mitral-inflow',
    kind: 'pw',
    viewName: 'MV Inflow PW',
    expected: [velocity('mitral-e', 'e'), velocity('mitral-a', 'a')],
    early: true,
    flow: (random) => {
      const e = random.range(40, 120);
      const a = e * Math.exp(random.range(Math.log(0.45), Math.log(1.9)));
      const flow = { e, a, decelerationMs: random.range(130, 260) };
      return { flow, full: Math.max(e, a) };
    },
  },
  {
    id: 'lvot',
    kind: 'pw',
    viewName: 'LVOT PW',
    expected: [velocity('lvot-vmax', 'peak', 0.01)],
    flow: jet(60, 140),
  },
  {
    id: 'tricuspid-regurgitation',
    kind: 'cw',
    viewName: 'TR CW',
    expected: [velocity('tr-vmax', 'peak', 0.01)],
    flow: jet(180, 420),
    faint: 0.7,
  },
  {
    id: 'aortic-valve',
    kind: 'cw',
    viewName: 'AV CW',
    expected: [velocity('av-vmax', 'peak', 0.01)],
    flow: jet(100, 450),
    faint: 0.3,
  },
  { id: 'lateral-annulus', viewName: 'TDI lateral', ...annulus('lateral') },
  { id: 'septal-annulus', viewName: 'TDI septal', ...annulus('septal') },
  {
    ...annulus('septal'),
    id: 'tricuspid-annulus',
    viewName: 'TDI RV',
    expected: [velocity('rv-s-prime', 's')],
  },
  {
    id: 'm-mode-lv',
    kind: 'm-mode',
    viewName: 'PLAX M-Mode LV',
    expected: [
      { key: 'ivsd', truth: 'ivsdMm', factor: 0.1 },
      { key: 'lvidd', truth: 'lviddMm', factor: 0.1 },
      { key: 'lvpwd', truth: 'lvpwdMm', factor: 0.1 },
      { key: 'lvids', truth: 'lvidsMm', factor: 0.1 },
    ],
  },
  {
    id: 'm-mode-ivc',
    kind: 'm-mode',
    viewName: 'IVC M-Mode',
    expected: [
      { key: 'ivc-diameter', truth: 'cavaLargestMm', factor: 1 },
      { key: 'ivc-collapse', truth: 'cavaCollapsePercent', factor: 1 },
    ],
  },
  {
    id: 'm-mode-tapse',
    kind: 'm-mode',
    viewName: 'TAPSE',
    expected: [{ key: 'tapse', truth: 'tapseMm', factor: 1 }],
  },
  {
    // The display is labelled as a ventricle but shows an aortic root. There is nothing to measure,
    // so every value is wrong.
    id: 'm-mode-aortic-root',
    kind: 'm-mode',
    viewName: 'PLAX M-Mode LV',
    expected: (['ivsd', 'lvidd', 'lvpwd', 'lvids'] as const).map((key) => ({
      key,
      truth: 'nothing',
      factor: 1,
    })),
  },
];

/** Returns the region of a simulated display, as the product would read it from a header. */
export function sweepOfFrame({ truth }: PhantomFrame, kind: SweepRegion['kind']): SweepRegion {
  const at = (name: string) => truth.values?.[name] ?? 0;
  const mMode = kind === 'm-mode';
  return {
    kind,
    area: {
      minX: at('leftPixel'),
      minY: at('topPixel'),
      maxX: at('rightPixel'),
      maxY: at('bottomPixel'),
    },
    secondsPerPixel: at('secondsPerColumn'),
    valuePerPixel: mMode ? at('cmPerRow') : at('cmPerSecondPerRow'),
    zeroRow: at('topPixel') + (mMode ? 0 : at('zeroRowPixel')),
    unit: mMode ? 'cm' : 'cm/s',
    yDirection: mMode ? 'down' : 'up',
    correctionAngle: null,
  };
}

/**
 * Simulates one display of a kind. All its properties (heart, flow, machine and others) depend only
 * on `seed`.
 */
function simulateDisplay(kind: DisplayKind, seed: number): PhantomFrame {
  const random = createRandom(seed).fork(`display ${kind.id}`);
  const beatsPerMinute = random.range(50, 105);
  const heart = createHeart(
    drawHeart(random.fork('heart'), {
      beatsPerMinute,
      ejectionFraction: random.range(0.35, 0.7),
      septalWallMm: random.range(7, 13),
      lateralWallMm: random.range(7, 13),
      cavaMm: random.range(10, 26),
      cavaCollapse: random.range(0.1, 0.7),
      tapseMm: random.range(9, 28),
    }),
  );
  if (kind.kind === 'm-mode') {
    const scene = drawSweepScene(random.fork('scene'));
    return simulateEchoMMode(kind.id as EchoMModeId, { heart, seed, scene });
  }
  const { flow, full } = kind.flow?.(random.fork('flow')) ?? { flow: {}, full: 0 };
  const faint = random.chance(kind.faint ?? 0);
  const scene = drawDisplayScene(random.fork('scene'), full, {
    faint,
    // Only mitral inflow may be shown together with an outflow, because the two have opposite
    // directions. An outflow in the same direction as the main flow would be mistaken for it.
    alone: kind.id !== 'mitral-inflow',
  });
  const frame = simulateEchoSpectrum(kind.id as EchoSpectrumId, {
    heart,
    seed,
    flow,
    beats: random.range(2.6, 6),
    scene: kind.early ? { ...scene, unevenUntilS: heart.beat.atrialS - 0.02 } : scene,
  });
  return frame;
}

/** Returns a display as the only image of a study. */
export function displayClip(
  frame: PhantomFrame,
  kind: SweepRegion['kind'],
  viewName: string,
): Clip {
  const { columns: width, rows: height, gray } = frame;
  const image = { width, height, data: gray };
  const rgb = { width: 1, height: 1, data: new Uint8Array(3) };
  return {
    ...UNDESCRIBED,
    file: 'display.dcm',
    viewName,
    width,
    height,
    sweeps: [sweepOfFrame(frame, kind)],
    regions: [],
    calibrationRefused: null,
    mode: kind === 'm-mode' ? 'm-mode' : 'spectral',
    frames: [{ index: 0, time: 0, gray: async () => image, rgb: async () => rgb }],
  };
}

export interface DisplayCase {
  kind: string;
  seed: number;
  key: EchoConcept;
  /** In the unit of the concept; NaN if the display does not show the structure. */
  truth: number;
  value: number | null;
  quality: Measurement['quality'] | 'none';
  refusal: string | null;
}

const NEVER = new AbortController().signal;

/** Returns the values that the product reads from one simulated display. */
export async function displayCases(kind: DisplayKind, seed: number): Promise<DisplayCase[]> {
  const frame = simulateDisplay(kind, seed);
  const clip = displayClip(frame, kind.kind, kind.viewName);
  const study = { clips: [clip], refused: [], files: 1, series: 1 };
  const readings = await readDisplays(study, NEVER);
  const measured = tracedMeasurements(readings, () => 'displays');
  const values = frame.truth.values ?? {};
  return kind.expected.map(({ key, truth, factor }) => {
    const found = measured.find(({ concept }) => concept.key === key);
    // With breathing, only the early wave differs from beat to beat.
    const sized = kind.kind !== 'm-mode' && !(kind.early && key === 'mitral-a');
    const size = sized ? (values.sizeOfBeats ?? 1) : 1;
    return {
      kind: kind.id,
      seed,
      key,
      truth: (values[truth] ?? Number.NaN) * factor * size,
      value: found?.value ?? null,
      quality: found?.quality ?? 'none',
      refusal: readings[0]?.refusal ?? null,
    };
  });
}
