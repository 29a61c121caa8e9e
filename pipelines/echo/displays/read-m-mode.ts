import type { EchoConcept } from '../../concepts/echo.ts';
import type { GrayImage } from '../../contract/image.ts';
import type { Clip, SweepRegion } from '../../contract/study.ts';
import { annularExcursion, type Excursion } from '../../measure/m-mode/excursion.ts';
import { framePoint, type MModePlane, readMModePlane } from '../../measure/m-mode/plane.ts';
import {
  cavaDiameters,
  isVentricle,
  type VentricleBeat,
  type VentricleWalls,
  ventricleBeats,
  ventricleWalls,
} from '../../measure/m-mode/walls.ts';
import { meanOfSimilar, standardError } from '../../measure/statistics.ts';
import type { Caliper } from '../../result/envelope.ts';
import type { DisplayDoubt } from '../../result/render/echo/shared.ts';
import { fractionalChange } from '../formulas.ts';
import {
  BEATS_DIFFER,
  type DisplayContent,
  type MModeStructure,
  mModeStructure,
  type TracedQuantity,
} from './reading.ts';

const MILLIMETRES = 10;

type Place = readonly [sample: number, row: number];

interface Beat {
  value: number;
  from: Place;
  to: Place;
}

const caliper = (plane: MModePlane, { from, to }: Beat): Caliper => ({
  type: 'line',
  points: [framePoint(plane, ...from), framePoint(plane, ...to)],
});

function traceOf(plane: MModePlane, rows: Float64Array): Caliper {
  return { type: 'polyline', points: Array.from(rows, (row, i) => framePoint(plane, i, row)) };
}

function quantityOf(
  key: EchoConcept,
  plane: MModePlane,
  beats: readonly Beat[],
  traces: readonly Caliper[] = [],
): TracedQuantity[] {
  if (beats.length === 0) return [];
  const values = beats.map(({ value }) => value);
  const { mean, used } = meanOfSimilar(values, true);
  const calipers = used.flatMap((i) => {
    const beat = beats[i];
    return beat ? [caliper(plane, beat)] : [];
  });
  return [
    {
      key,
      value: mean,
      beats: values,
      used,
      calipers: [...calipers, ...traces],
      remark: null,
      doubt: standardError(values) > BEATS_DIFFER ? 'beats-differ' : null,
    },
  ];
}

/**
 * Returns why an excursion is doubtful; null if it is not. A line that misses the mitral annulus
 * may cross the atrial wall behind it, which moves at least as much as the annulus; this was
 * confirmed on the phantom.
 */
function doubtOf(key: EchoConcept, { ring, certain }: Excursion): DisplayDoubt | null {
  if (key === 'mapse' && !ring) return 'atrial-wall';
  return certain ? null : 'another-edge';
}

function readExcursion(key: EchoConcept, plane: MModePlane) {
  const found = annularExcursion(plane);
  if (!found) return [];
  const beats = found.beats.map(({ low, high, excursion }) => ({
    value: MILLIMETRES * excursion,
    from: [low.sample, low.row] as const,
    to: [high.sample, high.row] as const,
  }));
  const doubt = doubtOf(key, found);
  return quantityOf(key, plane, beats, [traceOf(plane, found.path.rows)]).map((one) => ({
    ...one,
    doubt: doubt ?? one.doubt,
  }));
}

function readVentricle(plane: MModePlane): TracedQuantity[] {
  const walls = ventricleWalls(plane);
  const beats = walls ? ventricleBeats(plane, walls) : [];
  if (!walls || beats.length === 0) return [];
  const part = (
    key: EchoConcept,
    value: (beat: VentricleBeat) => number,
    at: 'diastole' | 'systole',
    near: keyof VentricleWalls,
    far: keyof VentricleWalls,
  ) =>
    quantityOf(
      key,
      plane,
      beats.map((beat) => ({
        value: value(beat),
        from: [beat[at], walls[near][beat[at]] ?? 0] as const,
        to: [beat[at], walls[far][beat[at]] ?? 0] as const,
      })),
    );
  const four = [
    ...part('ivsd', ({ septum }) => septum, 'diastole', 'septumOuter', 'septumInner'),
    ...part('lvidd', (beat) => beat.cavityDiastole, 'diastole', 'septumInner', 'posteriorInner'),
    ...part('lvpwd', (beat) => beat.posteriorWall, 'diastole', 'posteriorInner', 'posteriorOuter'),
    ...part('lvids', (beat) => beat.cavitySystole, 'systole', 'septumInner', 'posteriorInner'),
  ];
  // The four dimensions have walls in common, so a doubt about one of them applies to all four.
  const first = four.find(({ doubt }) => doubt !== null)?.doubt ?? null;
  const doubt = isVentricle(walls, beats) ? first : 'not-ventricle';
  return four.map((one) => ({ ...one, doubt }));
}

function readCava(plane: MModePlane): TracedQuantity[] {
  const found = cavaDiameters(plane);
  if (!found) return [];
  const { largest, smallest, near, far, certain } = found;
  const doubt: DisplayDoubt | null = certain ? null : 'another-band';
  const unclear = (...sizes: readonly (typeof largest)[]) =>
    doubt ?? (sizes.every(({ agrees }) => agrees) ? null : 'readings-differ');
  const lineAt = ({ sample }: { sample: number }): Caliper => ({
    type: 'line',
    points: [
      framePoint(plane, sample, near[sample] ?? 0),
      framePoint(plane, sample, far[sample] ?? 0),
    ],
  });
  const once = { beats: [], used: [] };
  return [
    {
      ...once,
      key: 'ivc-diameter',
      value: MILLIMETRES * largest.diameter,
      calipers: [lineAt(largest)],
      remark: 'largest',
      doubt: unclear(largest),
    },
    {
      ...once,
      key: 'ivc-collapse',
      value: fractionalChange(largest.diameter, smallest.diameter),
      calipers: [lineAt(largest), lineAt(smallest)],
      // Sniffing and quiet breathing have different cut-offs, and the header does not state how the
      // patient breathed.
      remark: 'breath',
      doubt: unclear(largest, smallest),
    },
  ];
}

function quantitiesOf(structure: MModeStructure | null, plane: MModePlane): TracedQuantity[] {
  switch (structure) {
    case 'tricuspid-excursion':
      return readExcursion('tapse', plane);
    case 'mitral-excursion':
      return readExcursion('mapse', plane);
    case 'left-ventricle':
      return readVentricle(plane);
    case 'vena-cava':
      return readCava(plane);
    case null:
      return readExcursion('annular-excursion-unnamed', plane);
  }
}

/**
 * Confidence in an M-mode display whose walls were found. It is a constant, because walls count as
 * found only if their edges were followed over the whole display.
 */
const FOLLOWED = 0.8;

export function readMModeSweep(image: GrayImage, clip: Clip, sweep: SweepRegion): DisplayContent {
  const structure = mModeStructure(clip);
  const naming = {
    flow: structure,
    namedBy: structure ? ('header' as const) : null,
    nameConfidence: structure ? 1 : 0,
    because: structure ? null : ('moving-edge' as const),
  };
  const none = { side: null, peak: null, regular: null, trace: null };
  const plane = readMModePlane(image, sweep);
  const quantities = plane ? quantitiesOf(structure, plane) : [];
  const [first] = quantities;
  if (!first) {
    const refusal = plane ? 'no-walls' : 'no-scale';
    return { ...naming, ...none, beats: 0, confidence: 0, refusal, quantities: [] };
  }
  return {
    ...naming,
    ...none,
    beats: first.used.length,
    confidence: FOLLOWED,
    refusal: null,
    quantities,
  };
}
