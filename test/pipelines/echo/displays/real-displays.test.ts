import { describe, expect, it } from 'vitest';
import { displayClip } from '../../../../models/evaluation/displays.ts';
import type { DisplayScene } from '../../../../models/phantom/echo/display-scene.ts';
import {
  drawSweepScene,
  type EchoMModeId,
  type SweepScene,
  simulateEchoMMode,
} from '../../../../models/phantom/echo/m-mode.ts';
import {
  ECHO_SPECTRA,
  type EchoSpectrumId,
  type Flow,
  simulateEchoSpectrum,
} from '../../../../models/phantom/echo/spectrum.ts';
import type { PhantomFrame } from '../../../../models/phantom/frame.ts';
import { createHeart } from '../../../../models/phantom/heart/heart.ts';
import { drawHeart } from '../../../../models/phantom/heart/sizes.ts';
import { createRandom } from '../../../../models/phantom/random.ts';
import type { Clip } from '../../../../pipelines/contract/study.ts';
import { tracedMeasurements } from '../../../../pipelines/echo/displays/measure.ts';
import { readDisplays } from '../../../../pipelines/echo/displays/read.ts';

/** A display that shows only its flow. Each test adds something that real screens show. */
const PLAIN: DisplayScene = {
  faintDb: 0,
  noiseDb: 4,
  otherSide: 0.5,
  clutter: null,
  outflow: null,
  clicks: null,
  unevenness: 0.02,
  marks: { ecg: null, text: [], bar: false, level: 255, dot: 2, calipers: [] },
  map: 'linear',
};

const HEART = drawHeart(createRandom(3).fork('heart'), {
  beatsPerMinute: 68,
  cavaMm: 16,
  cavaCollapse: 0.3,
});
const heart = createHeart(HEART);

async function read(frame: PhantomFrame, kind: 'pw' | 'cw' | 'm-mode', given: Partial<Clip>) {
  const clip = { ...displayClip(frame, kind, ''), ...given };
  const study = { clips: [clip], refused: [], files: 1, series: 1 };
  const readings = await readDisplays(study, new AbortController().signal);
  const values = tracedMeasurements(readings, () => 'displays');
  return {
    refusal: readings[0]?.refusal ?? null,
    doubts: readings[0]?.quantities.map(({ key, doubt }) => [key, doubt]) ?? [],
    of: (key: string) => values.find(({ concept }) => concept.key === key),
    truth: frame.truth.values ?? {},
  };
}

function spectrum(
  id: EchoSpectrumId,
  flow: Flow,
  scene: Partial<DisplayScene>,
  given: Partial<Clip> & { beats?: number; scaleShare?: number; seed?: number } = {},
) {
  const { mode, viewName } = ECHO_SPECTRA[id];
  const { beats = 4, scaleShare = 1.3, seed = 7, ...header } = given;
  const request = { heart, seed, flow, beats, scaleShare, scene: { ...PLAIN, ...scene } };
  const frame = simulateEchoSpectrum(id, request);
  return read(frame, mode === 'continuous' ? 'cw' : 'pw', { viewName, ...header });
}

/** Returns a bright band of slow echoes on both sides of the baseline. */
const band = (reach: number) => ({ clutter: { level: 0, reach } });

const off = (value: number | undefined, truth: number) =>
  Math.abs((value ?? Number.NaN) / truth - 1);

describe('mitral inflow', () => {
  it('has E after systole, even if A is higher and there is a band at the baseline', async () => {
    const { of, truth } = await spectrum('mitral-inflow', { e: 60, a: 92 }, band(14));
    expect(of('mitral-e')?.quality).toBe('accepted');
    expect(off(of('mitral-e')?.value, 60 * (truth.sizeOfBeats ?? 1))).toBeLessThan(0.06);
    expect(off(of('mitral-a')?.value, 92 * (truth.sizeOfBeats ?? 1))).toBeLessThan(0.08);
  });

  it('is read if only the outflow next to it wraps around', async () => {
    const scene = { outflow: { peak: 110, level: -4 }, ...band(12) };
    const { of, refusal } = await spectrum('mitral-inflow', { e: 80, a: 60 }, scene);
    expect(refusal).toBeNull();
    expect(of('mitral-e')?.quality).toBe('accepted');
    expect(off(of('mitral-e')?.value, 80)).toBeLessThan(0.07);
  });

  it('is refused as aliased if E itself reaches the end of the scale', async () => {
    const { refusal } = await spectrum('mitral-inflow', { e: 90, a: 60 }, {}, { scaleShare: 0.9 });
    expect(refusal).toBe('aliased');
  });

  it.each([
    ['tricuspid-regurgitation', { peak: 300 }, 9],
    ['aortic-valve', { peak: 430 }, 11],
  ] as const)(
    'of %s is refused if every peak is cut off at the end of the scale',
    async (id, flow, seed) => {
      for (const scaleShare of [0.4, 0.6, 0.75]) {
        const { refusal } = await spectrum(id, flow, {}, { scaleShare, seed });
        expect(refusal).toBe('cut-off');
      }
    },
  );

  it('has no E and A if the heart rate in the header contradicts their period', async () => {
    const given = { heartRate: 136 };
    const { of, doubts } = await spectrum('mitral-inflow', { e: 80, a: 60 }, {}, given);
    expect(doubts).toContainEqual(['mitral-e', 'phase']);
    expect(of('mitral-e')?.quality).toBe('low');
    expect(of('mitral-a')?.quality).toBe('low');
  });

  it('has no mean E if breathing changes it from beat to beat, but keeps A', async () => {
    const scene = { unevenness: 0.25, unevenUntilS: heart.beat.atrialS - 0.02 };
    const { of, doubts } = await spectrum('mitral-inflow', { e: 70, a: 60 }, scene, { seed: 8 });
    expect(doubts).toContainEqual(['mitral-e', 'beats-differ']);
    expect(of('mitral-e')?.quality).toBe('low');
    expect(of('mitral-a')?.quality).toBe('accepted');
  });
});

describe('a CW jet', () => {
  it('is read at its own edge if it is fainter than the band at the baseline', async () => {
    const scene = { ...band(45), faintDb: 14 };
    const { of, truth } = await spectrum('tricuspid-regurgitation', { peak: 260 }, scene);
    expect(of('tr-vmax')?.quality).toBe('accepted');
    expect(off(of('tr-vmax')?.value, 2.6 * (truth.sizeOfBeats ?? 1))).toBeLessThan(0.05);
  });

  it('is read despite the clicks of the valves', async () => {
    const { of, refusal } = await spectrum(
      'tricuspid-regurgitation',
      { peak: 260 },
      { clicks: { level: -6 } },
    );
    expect(refusal).toBeNull();
    expect(off(of('tr-vmax')?.value, 2.6)).toBeLessThan(0.07);
  });
});

describe('what a machine draws over a display', () => {
  it.each([
    ['an ECG over the tips', { ecg: { at: 'top', level: 226, upward: false } }],
    ['its settings over the left part', { text: ['PW', '50%', 'PRF 4.0', 'SV 4.0MM', '8.0CM'] }],
    ['a bar of the grey map', { bar: true }],
  ] as const)('is not mistaken for flow: %s', async (_, drawn) => {
    const marks = { ...PLAIN.marks, ...drawn };
    const { of, truth } = await spectrum('lvot', { peak: 95 }, { marks });
    expect(of('lvot-vmax')?.quality).toBe('accepted');
    expect(off(of('lvot-vmax')?.value, 0.95 * (truth.sizeOfBeats ?? 1))).toBeLessThan(0.05);
  });
});

describe("tissue Doppler of an annulus: S' is towards the probe, e' and a' away from it", () => {
  it.each(['tricuspid-annulus', 'lateral-annulus'] as const)('%s', async (id) => {
    const { of } = await spectrum(id, { s: 11, e: 14, a: 7 }, band(0.8));
    const [s, e] =
      id === 'tricuspid-annulus'
        ? ['rv-s-prime', 'rv-e-prime']
        : ['s-prime-lateral', 'e-prime-lateral'];
    expect(off(of(s)?.value, 11)).toBeLessThan(0.1);
    expect(off(of(e)?.value, 14)).toBeLessThan(0.1);
    const upper = of(s)?.source.calipers?.[0]?.points ?? [];
    // Rows count downwards, and the peak of S' is above the baseline.
    expect(upper[1]?.[1]).toBeLessThan(upper[0]?.[1] ?? 0);
  });
});

describe('M-mode with an ECG, text and a dark space behind', () => {
  const scene: SweepScene = {
    ...drawSweepScene(createRandom(5)),
    cavaDepthMm: 85,
    cavaDriftMm: 4,
    liver: -27,
    lumen: -45,
    wall: -6,
    behind: -54,
    behindMm: 24,
    marks: { ...PLAIN.marks, ecg: { at: 'top', level: 226, upward: true }, text: ['MM', '69%'] },
  };
  const sweep = (id: EchoMModeId, viewName: string) =>
    read(simulateEchoMMode(id, { heart, seed: 5, scene }), 'm-mode', { viewName });

  it('measures the vena cava, but not the dark space behind its far wall', async () => {
    const { of } = await sweep('m-mode-ivc', 'IVC M-Mode');
    expect(of('ivc-diameter')?.quality).toBe('accepted');
    expect(off(of('ivc-diameter')?.value, 16)).toBeLessThan(0.08);
    expect(Math.abs((of('ivc-collapse')?.value ?? Number.NaN) - 30)).toBeLessThan(6);
  });

  it('reports no ventricular dimension on a line through the aortic root', async () => {
    const { of } = await sweep('m-mode-aortic-root', 'PLAX M-Mode LV');
    for (const key of ['ivsd', 'lvidd', 'lvpwd', 'lvids']) {
      expect(of(key)?.quality, key).not.toBe('accepted');
    }
  });
});
