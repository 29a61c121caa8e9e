import {
  type ChamberFrame,
  type FrameGeometry,
  frameGeometry,
} from '../../pipelines/echo/chambers/geometry.ts';
import { type ChamberMasks, labelOf } from '../../pipelines/echo/locate/chambers.ts';
import { type LabelMap, maskOf } from '../../pipelines/echo/locate/label-map.ts';
import type { Chamber } from '../../pipelines/echo/locate/names.ts';
import { shapeFaults } from '../../pipelines/echo/locate/ventricle-pose.ts';
import { EXCURSION, motionScore } from '../../pipelines/echo/wall-motion/guideline.ts';
import { KEPT_DIFFERENCE } from '../../pipelines/echo/wall-motion/measure.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { outlineOf } from '../../pipelines/measure/outline.ts';
import { segmentMotions } from '../../pipelines/measure/wall.ts';
import { mean, round } from './agreement.ts';
import type { HeartCase } from './echo-cases.ts';
import { LEFT_HEART, segmentPair } from './echo-chambers.ts';

interface Motion {
  thickening: number | null;
  excursion: number;
  strain: number;
}

/**
 * One wall segment of one patient, measured on the network's outlines and on an expert's outlines.
 */
interface PatientWall {
  /** Index of the patient among the cases. */
  patient: number;
  ejectionFraction: number;
  own: Motion;
  expert: Motion;
}

type Labelled = Pick<LabelMap, 'labels' | 'width' | 'height'>;

/**
 * Returns the dimensions of the outlines on a picture with square pixels but no scale. Only their
 * ratios are used.
 */
function geometryOf(of: Labelled, faults: ChamberFrame['faults']): FrameGeometry | null {
  const outline = (chamber: Chamber) => outlineOf(maskOf(of, labelOf(chamber)), of.width);
  const outlines = LEFT_HEART.flatMap((chamber) => {
    const found = outline(chamber);
    return found ? [[chamber, found] as const] : [];
  });
  const confidence = { lv: 1, myocardium: 1, la: 1, rv: 0, ra: 0 };
  const frame = { frame: 0, time: 0, confidence, pose: null, faults, chamberFaults: {} };
  return frameGeometry({ ...frame, outlines: Object.fromEntries(outlines) }, null);
}

const faultsOf = (masks: ChamberMasks) => [
  ...(masks.accepted ? [] : (['below-gate'] as const)),
  ...shapeFaults(masks),
];

const figureOf = ({ lv, muscle }: FrameGeometry) => ({
  outline: lv.outline,
  axis: lv.axis,
  muscle,
});

/**
 * Returns the motion of the six segments between two frames. Empty if the ventricle is implausible.
 */
const motionsOf = (ed: FrameGeometry | null, es: FrameGeometry | null) =>
  ed && es ? segmentMotions(figureOf(ed), figureOf(es)) : [];

/** Returns the six segments of each patient's A4C frames (ED and ES) with measurable outlines. */
export async function patientWalls(
  session: ModelSession,
  cases: readonly HeartCase[],
): Promise<PatientWall[]> {
  const walls: PatientWall[] = [];
  for (const [patient, one] of cases.entries()) {
    const found = await segmentPair(session, one);
    const drawn = ({ data, width, height }: HeartCase['ed']['mask']) =>
      geometryOf({ labels: Uint8Array.from(data), width, height }, []);
    const own = motionsOf(
      geometryOf(found.ed, faultsOf(found.ed)),
      geometryOf(found.es, faultsOf(found.es)),
    );
    for (const expert of motionsOf(drawn(one.ed.mask), drawn(one.es.mask))) {
      const same = own.find(({ side, level }) => side === expert.side && level === expert.level);
      if (same) walls.push({ patient, ejectionFraction: one.ejectionFraction, own: same, expert });
    }
  }
  return walls;
}

const rootMeanSquare = (values: readonly number[]) =>
  Math.sqrt(mean(values.map((value) => value ** 2)));

/**
 * Returns the RMS error of segment strain against the expert's outlines, in percentage points, if a
 * segment keeps all of its difference from the mean of its view (`raw`), the share that the product
 * keeps (`smoothed`), or none of it (`meanOfView`). `amongSegments` is the RMS difference of the
 * expert's segments from their mean.
 */
export function strainBySegment(walls: readonly PatientWall[]) {
  const hearts = [...Map.groupBy(walls, ({ patient }) => patient).values()].map((segments) => ({
    segments,
    overall: mean(segments.map(({ own }) => own.strain)),
    expert: mean(segments.map(({ expert }) => expert.strain)),
  }));
  const errors = (kept: number) =>
    hearts.flatMap(({ segments, overall }) =>
      segments.map(({ own, expert }) => overall + kept * (own.strain - overall) - expert.strain),
    );
  const sizes = errors(1)
    .map(Math.abs)
    .toSorted((a, b) => a - b);
  return {
    raw: round(rootMeanSquare(errors(1)), 1),
    rawCentile95: round(sizes[Math.ceil(0.95 * sizes.length) - 1] ?? 0, 1),
    smoothed: round(rootMeanSquare(errors(KEPT_DIFFERENCE)), 1),
    meanOfView: round(rootMeanSquare(errors(0)), 1),
    amongSegments: round(
      rootMeanSquare(
        hearts.flatMap(({ segments, expert }) => segments.map((one) => one.expert.strain - expert)),
      ),
      1,
    ),
  };
}

const BANDS = [
  [0, 35],
  [35, 45],
  [45, 55],
  [55, 100],
] as const;

const scoreOf = ({ thickening, excursion }: Motion) => motionScore(thickening, excursion);

/**
 * Returns the mean motion and the share of each score in one view. Patients are grouped by LVEF,
 * because all walls move in a heart with a normal LVEF.
 */
export function wallsByFunction(walls: readonly PatientWall[]) {
  const share = (own: readonly PatientWall[], test: (one: PatientWall) => boolean) =>
    own.length > 0 ? round(own.filter(test).length / own.length, 2) : null;
  const bands = BANDS.map(([from, to]) => {
    const own = walls.filter(({ ejectionFraction: ef }) => ef >= from && ef < to);
    const by = (who: 'own' | 'expert') => {
      const motions = own.map((one) => one[who]);
      return {
        thickening: round(mean(motions.flatMap(({ thickening }) => thickening ?? [])), 0),
        excursion: round(mean(motions.map(({ excursion }) => excursion)), 0),
        normal: share(own, (one) => scoreOf(one[who]) === 1),
        reduced: share(own, (one) => (scoreOf(one[who]) ?? 1) > 1),
      };
    };
    return {
      ejectionFraction: [from, to],
      segments: own.length,
      outlines: by('own'),
      expert: by('expert'),
    };
  });
  const normal = walls.filter(({ own }) => scoreOf(own) === 1);
  return {
    bands,
    /** Share of segments scored normal that move too little on the expert's outlines. */
    normalButReduced: share(normal, ({ expert }) => expert.excursion <= EXCURSION.normal),
    normalButHalf: share(normal, ({ expert }) => expert.excursion <= EXCURSION.normal / 2),
  };
}
