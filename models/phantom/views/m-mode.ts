import { drawAcquisition, drawVisibleView } from '../acquisition.ts';
import { blurAxially, blurLaterally, gaussianTaps } from '../beam.ts';
import type { PhantomFrame } from '../frame.ts';
import { createRandom, type Random } from '../random.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { paintSweep, type Sweep, sweepRegion, sweepValues } from './sweep-display.ts';

/** A heart wall that moves with the beat around a mean depth. Depths are shares of the sweep. */
interface Wall {
  depth: number;
  swing: number;
  thickness: number;
  /** Phase of the beat, 0 to 1. */
  phase: number;
  level: number;
}

/**
 * Returns the motion of a wall as two harmonics: fast towards the probe in systole, slowly back in
 * diastole.
 */
const motion = (phase: number) =>
  Math.sin(2 * Math.PI * phase) + 0.35 * Math.sin(4 * Math.PI * phase + 0.8);

function drawWalls(still: boolean, random: Random): Wall[] {
  const centre = random.range(0.42, 0.58);
  const half = random.range(0.07, 0.12);
  const swing = still ? 0 : random.range(0.01, 0.025);
  return [-1, -0.15, 1].map((side) => ({
    depth: centre + side * half,
    swing: swing * (side === -0.15 ? 0.5 : side),
    thickness: random.range(0.008, 0.018),
    phase: random.normal(0, 0.02),
    level: random.range(0.7, 1),
  }));
}

/** Returns the phase of the beat as a function of time. Each beat has a different length. */
function phases(beatsPerMinute: number, irregularity: number, seconds: number, random: Random) {
  const mean = 60 / beatsPerMinute;
  const beats: { from: number; length: number }[] = [];
  for (let from = -random.unit() * mean; from < seconds; ) {
    const length = mean * (1 + irregularity * random.range(-1.7, 1.7));
    beats.push({ from, length });
    from += length;
  }
  return (time: number) => {
    const beat = beats.findLast(({ from }) => from <= time);
    return beat ? (time - beat.from) / beat.length : 0;
  };
}

function drawEchoes(
  sweep: Sweep,
  walls: readonly Wall[],
  phaseAt: (time: number) => number,
  random: Random,
): Float32Array {
  const { width, height } = sweep;
  const tissue = random.range(0.18, 0.4);
  const layers = Array.from({ length: 24 }, () => random.range(0.5, 1.5));
  const field = new Float32Array(width * height);
  for (let column = 0; column < width; column++) {
    const phase = phaseAt(column * sweep.secondsPerColumn);
    const depths = walls.map((wall) => wall.depth + wall.swing * motion(phase + wall.phase));
    for (let row = 0; row < height; row++) {
      const depth = row / height;
      const cavity = depth > (depths[0] ?? 0) && depth < (depths[2] ?? 0);
      let level = cavity ? 0.04 : tissue * (layers[Math.floor(depth * 24)] ?? 1);
      for (const [k, wall] of walls.entries()) {
        const distance = (depth - (depths[k] ?? 0)) / wall.thickness;
        level = Math.max(level, wall.level * Math.exp(-distance * distance));
      }
      field[row * width + column] = level * Math.sqrt(-Math.log(1 - random.unit()));
    }
  }
  return blurLaterally(blurAxially(field, height, width, gaussianTaps(0.9)), height, width, () =>
    gaussianTaps(random.range(0.8, 1.6)),
  );
}

/**
 * Simulates an M-mode sweep through a fetal heart. `anatomy`: `beatsPerMinute`, `irregularity`
 * (share of the beat), `still` (1: nothing moves), `seconds` on the sweep.
 */
function simulate(request: ViewRequest): PhantomFrame[] {
  const random = createRandom(request.seed);
  const anatomy = request.anatomy ?? {};
  const { columns, rows } = request.screen ?? { columns: 800, rows: 600 };
  const left = Math.round(columns * random.range(0.03, 0.1));
  const top = Math.round(rows * random.range(0.35, 0.5));
  const width = Math.round(columns * 0.92) - left;
  const height = Math.round(rows * 0.94) - top;
  const seconds = anatomy.seconds ?? random.range(2.2, 4.5);
  const beatsPerMinute = anatomy.beatsPerMinute ?? random.range(110, 180);
  const sweep: Sweep = {
    columns,
    rows,
    left,
    top,
    width,
    height,
    secondsPerColumn: seconds / width,
    cmPerRow: random.range(8, 14) / height,
  };
  const phaseAt = phases(
    beatsPerMinute,
    anatomy.irregularity ?? 0.01,
    seconds,
    random.fork('beats'),
  );
  const walls = drawWalls(anatomy.still === 1, random.fork('walls'));
  const echoes = drawEchoes(sweep, walls, phaseAt, random.fork('speckle'));
  const gray = paintSweep(echoes, sweep, random.range(40, 55));
  const view = drawVisibleView({ across: 30, down: 30 }, [], random.fork('view'), {
    columns,
    rows,
  });
  return [
    {
      columns,
      rows,
      gray,
      acquisition: drawAcquisition(view, random.fork('acquisition')),
      truth: {
        plane: 'm-mode',
        mmPerPixel: 10 * sweep.cmPerRow,
        values: {
          beatsPerMinute,
          ...sweepValues(sweep),
        },
      },
    },
  ];
}

export const fetalHeartMMode: PhantomView = {
  id: 'm-mode',
  ages: { youngest: 56, oldest: 280 },
  simulate,
  header: ([frame]) => ({
    regions: frame ? [sweepRegion(frame)] : [],
    attributes: { ViewName: 'Fetal Heart' },
  }),
};
