import {
  type FramePlane,
  type FrameReading,
  femurAngle,
  inView,
  STEEPEST_FEMUR,
} from '../shared/plane.ts';

/** One criterion of the image score; `met` is null if this service does not examine it. */
interface QualityCriterion {
  name: string;
  met: boolean | null;
}

/** "Head fills at least 30 % of the image" (INTERGROWTH-21st; obstetric 1.2). */
const LEAST_FILL = 0.3;
const open = (...names: string[]): QualityCriterion[] => names.map((name) => ({ name, met: null }));

/**
 * Returns the criteria of Salomon 2006 (UOG 27:34-40) for a frame that was searched for a
 * structure. A criterion that no model examined is open, neither met nor failed.
 */
export function qualityOf(reading: FrameReading): QualityCriterion[] {
  const { clip, located } = reading;
  const placed = { name: 'calipers placed', met: located?.accepted ?? false };
  if (reading.structure === 'femur') {
    const angle = femurAngle(reading);
    return [
      { name: 'both ends visible', met: located?.accepted ?? false },
      {
        name: `angle to the horizontal below ${STEEPEST_FEMUR}°`,
        met: angle === null ? null : angle < STEEPEST_FEMUR,
      },
      ...open('femur fills enough of the image'),
      placed,
    ];
  }
  const ellipse = reading.located?.ellipse;
  const share = ellipse ? (Math.PI * ellipse.a * ellipse.b) / (clip.width * clip.height) : null;
  const fills = {
    name: `${reading.structure} fills at least ${100 * LEAST_FILL} % of the image`,
    met: share === null ? null : share >= LEAST_FILL,
  };
  if (reading.structure === 'abdomen') {
    return [
      ...open(
        'symmetrical plane',
        'stomach visible',
        'portal sinus visible',
        'kidneys not visible',
      ),
      fills,
      placed,
    ];
  }
  const { label, structures } = reading.estimate;
  const cerebellum = label === 'transcerebellar' || inView(structures, 'cerebellum') === true;
  return [
    ...open('symmetrical plane'),
    { name: 'thalami visible', met: inView(structures, 'thalami') },
    { name: 'cavum septi pellucidi visible', met: inView(structures, 'csp') },
    { name: 'cerebellum not visible', met: !cerebellum },
    fills,
    placed,
  ];
}

/**
 * Returns the criteria of a key frame from the structure located on it; empty if the frame was not
 * searched for a structure.
 */
export function keyFrameQuality(
  key: FramePlane,
  readings: readonly FrameReading[],
): QualityCriterion[] {
  const own = readings.find(({ clip, frame }) => clip === key.clip && frame === key.frame);
  return own ? qualityOf(own) : [];
}
