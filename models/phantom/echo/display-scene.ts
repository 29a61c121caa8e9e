import type { Beat } from '../heart/motion.ts';
import type { Random } from '../random.ts';
import {
  type DisplayMap,
  type DisplayMarks,
  drawDisplayMap,
  drawDisplayMarks,
} from '../views/display-marks.ts';
import { flowPower, power } from '../views/spectrum-display.ts';

/**
 * Signals on a real spectral display other than the flow of interest. Levels are in dB relative to
 * full scale, velocities in cm/s.
 */
export interface DisplayScene {
  /** Amount by which the level of the flow is below full scale, dB. */
  faintDb: number;
  /** Amount added to the noise level, dB. */
  noiseDb: number;
  /** Velocity range beyond the baseline, as a share of the range on the side of the flow. */
  otherSide: number;
  /**
   * Velocity of the slowest blood in the gate, as a share of the fastest. If it is near 1, the
   * spectrum is hollow.
   */
  slowestShare?: number;
  /** Echoes from slow walls and valves that pass the wall filter, on both sides of the baseline. */
  clutter: { level: number; reach: number } | null;
  /** Systolic flow of a neighbouring outflow tract, away from the probe. */
  outflow: { peak: number; level: number } | null;
  /** Valve closing clicks: short, and across the whole velocity scale. */
  clicks: { level: number } | null;
  /** Standard deviation of the peak velocity between beats, as a share of that velocity. */
  unevenness: number;
  /**
   * Beats differ only up to this many seconds after the R wave, so that E varies with breathing but
   * A does not.
   */
  unevenUntilS?: number;
  marks: DisplayMarks;
  map: DisplayMap;
}

/**
 * Samples a scene that resembles real screens. `full` is the fastest velocity of the flow, cm/s.
 */
export function drawDisplayScene(
  random: Random,
  full: number,
  { faint, alone }: { faint: boolean; alone: boolean },
): DisplayScene {
  const tissue = full < 40;
  const faintDb = faint ? random.range(5, 16) : random.range(0, 5);
  return {
    faintDb,
    noiseDb: random.range(-4, 18),
    otherSide: random.range(0.25, 0.6),
    clutter: random.chance(0.75)
      ? {
          level: random.range(-14, 2),
          reach: tissue ? random.range(0.4, 1.2) : random.range(0.06, 0.18) * full,
        }
      : null,
    outflow:
      !alone && random.chance(0.5)
        ? { peak: random.range(0.3, 1.1) * full, level: random.range(-22, -6) }
        : null,
    clicks: !tissue && random.chance(0.4) ? { level: random.range(-22, -6) } : null,
    unevenness: random.range(0.02, 0.09),
    marks: drawDisplayMarks(random.fork('marks')),
    map: drawDisplayMap(random),
  };
}

/** Duration of a click, seconds. */
const CLICK = 0.009;

/**
 * Returns a function of velocity (cm/s) and time (s): the total power of all signals on the display
 * other than the flow.
 * @param phaseAt returns the elapsed share of the beat at a time.
 */
export function otherSignals(
  scene: DisplayScene,
  beat: Beat,
  settings: Parameters<typeof flowPower>[2],
  phaseAt: (seconds: number) => number,
  random: Random,
): (velocity: number, seconds: number) => number {
  const { clutter, outflow, clicks } = scene;
  const { wallFilter } = settings;
  const swing = random.range(0, 1);
  const ejection = { ...settings, slowestShare: 0.4 };
  return (velocity, seconds) => {
    const t = phaseAt(seconds) * beat.lengthS;
    let level = 0;
    if (clutter) {
      const speed = Math.abs(velocity);
      const passed = 1 / (1 + Math.exp((-3 * (speed - 0.6 * wallFilter)) / (0.3 * wallFilter)));
      // Walls and leaflets move most around valve opening and closure.
      const motion = 0.35 + 0.65 * Math.abs(Math.sin(Math.PI * (t / beat.lengthS + swing) * 3));
      const fall = Math.exp(-((speed / clutter.reach) ** 2));
      level += power(clutter.level) * motion * fall * passed;
    }
    if (outflow) {
      const share = (t - beat.ejectionS) / (beat.systoleS - beat.ejectionS);
      if (share > 0 && share < 1) {
        const peak = -outflow.peak * Math.sin(Math.PI * share ** 0.8) ** 1.1;
        level += power(outflow.level) * flowPower(velocity, peak, ejection);
      }
    }
    if (clicks) {
      const near = Math.min(Math.abs(t - beat.systoleS), Math.abs(t - 0.02));
      if (near < CLICK / 2) level += power(clicks.level);
    }
    return level;
  };
}
