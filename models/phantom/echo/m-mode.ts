import { drawAcquisition, drawVisibleView, type Screen } from '../acquisition.ts';
import { blurAxially, blurLaterally, gaussianTaps } from '../beam.ts';
import type { ImageHeader } from '../dicom.ts';
import { amplitude } from '../echo-map.ts';
import type { PhantomFrame } from '../frame.ts';
import { emptySample, type Heart, MATTER, type Matter } from '../heart/heart.ts';
import { momentAt } from '../heart/motion.ts';
import { across, type Place, sum } from '../heart/space.ts';
import { createRandom, type Random } from '../random.ts';
import { type DisplayMarks, drawDisplayMarks, paintDisplayMarks } from '../views/display-marks.ts';
import { paintSweep, type Sweep, sweepRegion, sweepValues } from '../views/sweep-display.ts';
import { cavaDiameterMm } from './great-vessels.ts';

/** Levels along the line, dB relative to white. */
const LEVEL: Readonly<Record<Matter, number>> = {
  [MATTER.outside]: -24,
  [MATTER.blood]: -60,
  [MATTER.atrialBlood]: -60,
  [MATTER.rightBlood]: -60,
  [MATTER.myocardium]: -27,
  [MATTER.thinWall]: -17,
  [MATTER.pericardium]: -5,
  [MATTER.leaflet]: -9,
  [MATTER.papillary]: -27,
  [MATTER.fluid]: -62,
};

/**
 * Levels on a line along the wall. The pericardium runs parallel to the beam there and hardly
 * reflects.
 */
const ALONG_WALL = { ...LEVEL, [MATTER.pericardium]: -26, [MATTER.thinWall]: -26 } as const;

/**
 * The echoes along an M-mode line, and the values that a perfect reader would measure on its sweep.
 */
interface Line {
  viewName: string;
  /** Returns the levels in dB at the given depths and time. */
  levels(depthsMm: readonly number[], seconds: number): Float32Array;
  depthMm: number;
  seconds: number;
  values: Readonly<Record<string, number>>;
}

/** Returns the levels along a ray through the beating heart. The first centimetre is chest wall. */
function rayOf(
  heart: Heart,
  face: Place,
  direction: Place,
  level: Readonly<Record<Matter, number>> = LEVEL,
): Line['levels'] {
  const sample = emptySample();
  return (depths, seconds) => {
    const moment = heart.after(seconds);
    return Float32Array.from(depths, (depth) => {
      const at = sum([1, face], [depth, direction]);
      moment.probe(at.x, at.y, at.z, sample);
      return level[sample.matter];
    });
  };
}

const Z: Place = { x: 0, y: 0, z: 1 };

/** Describes the parasternal line across the left ventricle at the tips of the mitral leaflets. */
function leftVentricleLine(heart: Heart): Line {
  const diastole = heart.after(0).ventricle;
  const systole = heart.after(heart.beat.systoleS).ventricle;
  const z = 0.36 * heart.sizes.ventricle.lengthMm;
  const read = (ventricle: typeof diastole) => {
    const along = (ventricle.apexZ - z) / (ventricle.apexZ - ventricle.baseZ);
    return {
      septum: ventricle.wall(150, along),
      cavity: ventricle.radius(150, along) + ventricle.radius(330, along),
      posterior: ventricle.wall(330, along),
      front: ventricle.radius(150, along) + ventricle.wall(150, along),
    };
  };
  const d = read(diastole);
  const s = read(systole);
  const away = d.front + 0.6 * heart.sizes.rightVentricle.basalMm + 22;
  const { x, y } = diastole.middleAt(0.64);
  const face = sum([1, { x, y, z }], [away, across(150)]);
  return {
    viewName: 'PLAX M-Mode LV',
    levels: rayOf(heart, face, across(330)),
    depthMm: away + 1.3 * d.front + heart.sizes.effusionMm + 22,
    seconds: 3 * heart.beat.lengthS,
    values: {
      ivsdMm: d.septum,
      lviddMm: d.cavity,
      lvpwdMm: d.posterior,
      lvidsMm: s.cavity,
      fractionalShorteningPercent: 100 * (1 - s.cavity / d.cavity),
    },
  };
}

/** Describes the line from the apex through the annulus of an atrioventricular valve. */
function annulusLine(heart: Heart, side: 'tricuspid' | 'mitral'): Line {
  const { ventricle, rightVentricle } = heart.sizes;
  const { chambers, ventricle: diastole } = heart.after(0);
  const { centre, radiusMm } = chambers.tricuspid;
  const outer =
    side === 'tricuspid'
      ? sum([1, centre], [radiusMm, across(205)])
      : sum([diastole.radius(30, 1) + 2, across(30)], [diastole.baseZ, Z]);
  // The cursor runs along the axis, as the guideline requires, so that the sweep shows the full
  // excursion.
  const face = sum([1, outer], [ventricle.lengthMm + 16 - outer.z, Z]);
  const direction = sum([-1, Z]);
  const excursion =
    side === 'tricuspid'
      ? rightVentricle.tapseMm
      : diastole.baseZ - heart.after(heart.beat.systoleS).ventricle.baseZ;
  return {
    viewName: side === 'tricuspid' ? 'TAPSE' : 'MAPSE',
    levels: ringLevels(heart, face, direction, side),
    depthMm: 1.45 * ventricle.lengthMm,
    seconds: 3 * heart.beat.lengthS,
    values: {
      [side === 'tricuspid' ? 'tapseMm' : 'mapseMm']: Math.abs(excursion),
    },
  };
}

/**
 * Returns the levels along the ray. The annulus is bright where the ray crosses the plane of the
 * valve.
 */
function ringLevels(
  heart: Heart,
  face: Place,
  direction: Place,
  side: 'tricuspid' | 'mitral',
): Line['levels'] {
  const ray = rayOf(heart, face, direction, ALONG_WALL);
  return (depths, seconds) => {
    const levels = ray(depths, seconds);
    const { chambers, ventricle } = heart.after(seconds);
    const z = side === 'tricuspid' ? chambers.tricuspidZ : ventricle.baseZ;
    const at = (z - face.z) / direction.z;
    for (const [i, depth] of depths.entries()) {
      const ring = LEVEL[MATTER.leaflet] - 6 * ((depth - at) / 1.8) ** 2;
      if (ring > (levels[i] as number)) levels[i] = ring;
    }
    return levels;
  };
}

/**
 * Randomly sampled contents of a real M-mode display, in addition to the structure. If absent, the
 * display shows only the structure.
 */
export interface SweepScene {
  marks: DisplayMarks;
  /** Depth of the middle of the vena cava, and its respiratory excursion, mm. */
  cavaDepthMm: number;
  cavaDriftMm: number;
  /**
   * Levels in dB: the liver in front of the vein, the vein's lumen and walls, and the space behind
   * it.
   */
  liver: number;
  lumen: number;
  wall: number;
  behind: number;
  /** Distance in mm between the vein and the next echo behind it. */
  behindMm: number;
}

export function drawSweepScene(random: Random): SweepScene {
  return {
    marks: drawDisplayMarks(random.fork('marks')),
    cavaDepthMm: random.range(42, 95),
    cavaDriftMm: random.range(0, 9),
    liver: random.range(-32, -22),
    lumen: random.range(-52, -40),
    wall: random.range(-16, -4),
    behind: random.range(-56, -42),
    behindMm: random.range(14, 34),
  };
}

/** Describes the line across the inferior vena cava while the patient breathes. */
function cavaLine(heart: Heart, scene?: SweepScene): Line {
  const { sizes } = heart;
  const middle = scene?.cavaDepthMm ?? 46;
  const drift = scene?.cavaDriftMm ?? 0;
  return {
    viewName: 'IVC M-Mode',
    levels: (depths, seconds) => {
      const half = cavaDiameterMm(sizes, seconds) / 2;
      const at = middle + drift * Math.sin(1.9 * seconds);
      return Float32Array.from(depths, (depth) => {
        const wall = Math.abs(depth - at) - half;
        if (!scene) {
          if (wall < 0) return LEVEL[MATTER.blood];
          return wall < 1.6 ? -12 : -30;
        }
        if (wall < 0) return scene.lumen;
        if (depth < at) return wall < 4 ? scene.wall - 8 : scene.liver;
        if (wall < 3) return scene.wall;
        if (wall < scene.behindMm) return scene.behind;
        return wall < scene.behindMm + 1.5 ? scene.liver : scene.behind;
      });
    },
    depthMm: scene ? Math.max(110, middle + 60) : 110,
    seconds: 5,
    values: {
      cavaLargestMm: sizes.cava.diameterMm,
      cavaSmallestMm: sizes.cava.diameterMm * (1 - sizes.cava.collapse),
      cavaCollapsePercent: 100 * sizes.cava.collapse,
    },
  };
}

/**
 * Describes the line across the aortic root and the left atrium. The walls of the root move
 * forwards together in systole, so this line shows no dimension of a ventricle.
 */
function aorticRootLine(heart: Heart): Line {
  const root = heart.sizes.aorta.sinusMm;
  const atrium = 36;
  return {
    viewName: 'PLAX M-Mode LV',
    levels: (depths, seconds) => {
      const { squeeze } = momentAt(heart.beat, seconds);
      const front = 46 - 9 * squeeze;
      return Float32Array.from(depths, (depth) => {
        if (depth < 8) return -14;
        if (depth < 22) return -26;
        const wall = Math.min(Math.abs(depth - front), Math.abs(depth - front - root));
        if (wall < 1.3) return -9;
        if (depth < front + root) return depth < front ? -48 : -46;
        const far = depth - (46 + root + atrium);
        if (far < -1) return -54;
        return far < 2 ? -6 : -30;
      });
    },
    depthMm: 140,
    seconds: 3 * heart.beat.lengthS,
    values: {},
  };
}

const LINES: Readonly<Record<EchoMModeId, (heart: Heart, scene?: SweepScene) => Line>> = {
  'm-mode-lv': leftVentricleLine,
  'm-mode-tapse': (heart) => annulusLine(heart, 'tricuspid'),
  'm-mode-mapse': (heart) => annulusLine(heart, 'mitral'),
  'm-mode-ivc': cavaLine,
  'm-mode-aortic-root': aorticRootLine,
};
export type EchoMModeId =
  | 'm-mode-lv'
  | 'm-mode-tapse'
  | 'm-mode-mapse'
  | 'm-mode-ivc'
  | 'm-mode-aortic-root';

interface MModeRequest {
  heart: Heart;
  seed: number;
  screen?: Screen;
  /** Contents of a real screen, in addition to the structure. */
  scene?: SweepScene;
}

/**
 * Number of neighbouring pixel columns that show the same pulse, because a machine sends fewer
 * pulses per second than the sweep has columns.
 */
const PULSE_COLUMNS = 2;

/** Simulates an M-mode sweep along one line of the beating heart. */
export function simulateEchoMMode(id: EchoMModeId, request: MModeRequest): PhantomFrame {
  const random = createRandom(request.seed).fork(id);
  const line: Line = LINES[id](request.heart, request.scene);
  const { columns, rows } = request.screen ?? { columns: 800, rows: 600 };
  const left = Math.round(columns * 0.05);
  const top = Math.round(rows * random.range(0.3, 0.4));
  const width = Math.round(columns * 0.93) - left;
  const height = Math.round(rows * 0.94) - top;
  const sweep: Sweep = {
    columns,
    rows,
    left,
    top,
    width,
    height,
    secondsPerColumn: line.seconds / width,
    cmPerRow: line.depthMm / 10 / height,
  };
  const depths = Array.from({ length: height }, (_, row) => row * sweep.cmPerRow * 10);
  const start = random.range(0, request.heart.beat.lengthS);
  const grain = depths.map((depth) => 2.5 * Math.sin(depth / 1.7) * Math.sin(depth / 5.3 + 1));
  const field = new Float32Array(width * height);
  for (let column = 0; column < width; column += PULSE_COLUMNS) {
    const levels = line.levels(depths, start + column * sweep.secondsPerColumn);
    for (let row = 0; row < height; row++) {
      const level = (levels[row] as number) + (grain[row] as number) - (row < 14 ? -12 : 0);
      for (let c = column; c < Math.min(width, column + PULSE_COLUMNS); c++) {
        field[row * width + c] = amplitude(level) * Math.sqrt(-Math.log(1 - random.unit()));
      }
    }
  }
  const taps = gaussianTaps(random.range(0.8, 1.4));
  const echoes = blurLaterally(
    blurAxially(field, height, width, gaussianTaps(0.9)),
    height,
    width,
    () => taps,
  );
  const view = drawVisibleView({ across: 30, down: 30 }, [], random.fork('view'), {
    columns,
    rows,
  });
  const gray = paintSweep(echoes, sweep, random.range(44, 54));
  const { beat } = request.heart;
  if (request.scene) {
    paintDisplayMarks(gray, sweep, sweep, request.scene.marks, (seconds) => {
      const phase = (start + seconds) / beat.lengthS;
      return phase - Math.floor(phase);
    });
  }
  return {
    columns,
    rows,
    gray,
    acquisition: drawAcquisition(view, random.fork('acquisition')),
    truth: {
      plane: id,
      mmPerPixel: 10 * sweep.cmPerRow,
      values: {
        ...line.values,
        beatsPerMinute: request.heart.sizes.beatsPerMinute,
        ...sweepValues(sweep),
      },
    },
  };
}

/** Returns the region, mode and view name of a sweep, as a cart writes them. */
export function mModeHeader(
  id: EchoMModeId,
  frame: PhantomFrame,
  heart: Heart,
): Partial<ImageHeader> {
  return {
    regions: [sweepRegion(frame)],
    attributes: {
      ImageType: ['ORIGINAL', 'PRIMARY', 'TTE', '0002'],
      HeartRate: Math.round(heart.sizes.beatsPerMinute),
      ViewName: LINES[id](heart).viewName,
    },
  };
}
