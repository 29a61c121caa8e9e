import { findingConcept } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { type LocatedStructure, locatedOn, polygonPlace } from '../../result/located-structure.ts';
import { measuredOn } from '../../result/measurement.ts';
import { acrossCutOff } from '../../result/obstetric/limits.ts';
import {
  acceptedValue,
  createMeasurement,
  formatValue,
  numberText,
} from '../../result/render/number-text.ts';
import { inadequate, notAssessed } from '../../result/section-outcome.ts';
import { withMedian } from '../shared/median-of-frames.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import type { LaborEvidence, LaborProgressReadings, TransperinealReading } from './evidence.ts';
import {
  DESCENT_BANDS,
  descentBand,
  headDirection,
  PLAUSIBLE_ANGLES,
  STATION_ANGLES,
  stationByAngle,
} from './guideline.ts';
import { type Descent, descentOf } from './measure.ts';

const ID = 'labor-progress';
const VIEW = 'transperineal mid-sagittal image';
const FRAMES_PER_MEASUREMENT = 3;
const KEYS = ['angle-of-progression', 'head-symphysis-distance', 'head-direction'] as const;

function onFrame(
  { clip, frame, located }: TransperinealReading,
  { key, method, value, calipers }: Descent,
  index: number,
  uncertainty: number | null,
): Measurement {
  const { from, to } = PLAUSIBLE_ANGLES;
  const implausible = key === 'angle-of-progression' && (value < from || value > to);
  return createMeasurement(`${key}-${index + 1}`, key, value, method, {
    section: ID,
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'model', calipers),
    confidence: located?.confidence ?? null,
    uncertainty: key === 'angle-of-progression' ? uncertainty : null,
    quality: implausible ? 'inadequate' : located?.accepted ? 'accepted' : 'low',
    note: implausible
      ? `implausible: angle outside ${from} to ${to} deg; not used, measure again`
      : null,
  });
}

function measure({ frames, uncertainty }: LaborProgressReadings): Measurement[] {
  const located = (frames ?? []).filter((reading) => reading.located !== null);
  const accepted = located.filter((reading) => reading.located?.accepted);
  const used = (accepted.length > 0 ? accepted : located).slice(0, FRAMES_PER_MEASUREMENT);
  const all = used.map((reading) => ({ reading, descents: descentOf(reading) }));
  return KEYS.flatMap((key) =>
    withMedian(
      key,
      all.flatMap(({ reading, descents }, index) =>
        descents
          .filter((descent) => descent.key === key)
          .map((descent) => onFrame(reading, descent, index, uncertainty)),
      ),
    ),
  );
}

/** Both borders of every frame that was looked at, whether or not an angle came of them. */
function structuresOf({ frames }: LaborProgressReadings): LocatedStructure[] {
  return (frames ?? []).flatMap((reading) =>
    (['symphysis', 'fetal-head'] as const).flatMap((structure) => {
      const found = reading.borders[structure];
      return found ? [locatedOn(reading, structure, found, polygonPlace(found.border))] : [];
    }),
  );
}

function station(angle: Measurement): Measurement[] {
  if (angle.value < STATION_ANGLES.from || angle.value > STATION_ANGLES.to) return [];
  const value = stationByAngle(angle.value);
  return [
    createMeasurement('head-station', 'head-station', value, 'station-tutschek-2011', {
      section: ID,
      inputs: [angle.id],
    }),
  ];
}

function classifications(measurements: readonly Measurement[]): Result['classifications'] {
  const angle = acceptedValue(measurements, 'angle-of-progression');
  const direction = acceptedValue(measurements, 'head-direction');
  const limits = Object.values(DESCENT_BANDS);
  return [
    ...(angle
      ? [
          {
            id: 'descent-of-the-head',
            section: ID,
            concept: findingConcept('head-station'),
            name: 'Descent of the fetal head',
            value: descentBand(angle.value),
            scheme: 'angle of progression, ISUOG 2018',
            criteria: limits.map((limit) => ({
              name: `angle of progression at least ${limit} deg`,
              value: numberText(angle),
              met: angle.value >= limit,
            })),
          },
        ]
      : []),
    ...(direction
      ? [
          {
            id: 'direction-of-the-head',
            section: ID,
            concept: findingConcept('head-direction'),
            name: 'Direction of the fetal head',
            value: headDirection(direction.value),
            scheme: 'head direction to the long axis of the symphysis, ISUOG 2018',
            criteria: [{ name: 'angle in deg', value: numberText(direction), met: true }],
          },
        ]
      : []),
  ];
}

function distanceGap(readings: LaborProgressReadings, measurements: readonly Measurement[]) {
  if (acceptedValue(measurements, 'head-symphysis-distance')) return [];
  const calibrated = readings.frames?.some(({ clip }) => clip.regions.length > 0) ?? false;
  return [
    calibrated
      ? 'Head-symphysis distance was not measured: the infrapubic line does not meet the skull.'
      : 'Head-symphysis distance was not measured: no physical scale was available.',
  ];
}

const directionGap = (measurements: readonly Measurement[]) =>
  acceptedValue(measurements, 'head-direction')
    ? []
    : ['Head direction was not assessable: the long axis of the head could not be determined.'];

const LIMITS =
  'Head-perineum distance and midline angle need a transverse image; contractions, caput and the position of the occiput, which shifts the station, are not known.';

function run({ views }: LaborEvidence): SectionOutcome {
  const readings = views.laborProgress;
  if (readings?.frames === null) {
    const detail = 'No model for symphysis and fetal head is permitted by the configuration.';
    return notAssessed('no_model', detail, ['a permitted symphysis-head model']);
  }
  if (!readings?.frames?.length) {
    const detail = `Progress of labor was not assessed: no ${VIEW} was found.`;
    return notAssessed('view_missing', detail, [VIEW]);
  }
  const measured = measure(readings);
  const angle = acceptedValue(measured, 'angle-of-progression');
  if (!angle) {
    const detail =
      'Angle of progression not assessable: symphysis ends or skull outline are not clearly visible.';
    const data = { structures: structuresOf(readings) };
    return { ...inadequate('low_confidence', detail, [`a clearer ${VIEW}`], measured), data };
  }
  const measurements = [...measured, ...station(angle)];
  const bands = Object.values(DESCENT_BANDS);
  const undecided = acrossCutOff(angle.value, angle.uncertainty, bands, 'deg');
  const gaps = [
    ...distanceGap(readings, measurements),
    ...directionGap(measurements),
    ...(undecided ? [undecided] : []),
  ];
  const values = [...KEYS, 'head-station' as const].flatMap((key) => {
    const value = acceptedValue(measurements, key);
    return value ? [`${value.label} ${formatValue(key, value.value)}`] : [];
  });
  return {
    status: gaps.length > 0 ? 'partial' : 'complete',
    reason:
      gaps.length > 0
        ? { code: 'parts_missing', detail: gaps.join(' '), needs: ['calibration', VIEW] }
        : null,
    summary: [`${values.join(', ')}.`, ...gaps, LIMITS].join(' '),
    data: {
      frames_measured: new Set(measured.flatMap(({ source }) => source.file ?? [])).size,
      head_direction_reference: 'long axis of the symphysis (ISUOG 2018)',
      contraction_state: 'not_known',
      head_perineum_distance: 'not_assessed',
      midline_angle: 'not_assessed',
      occiput_position: 'not_assessed',
      structures: structuresOf(readings),
    },
    measurements,
    classifications: classifications(measurements),
  };
}

/** Angle of progression, head-symphysis distance, head direction (obstetric 11). */
export const laborProgress: ObstetricSection<LaborEvidence> = {
  id: ID,
  title: 'Labor progress',
  needs: [VIEW, 'calibration for the head-symphysis distance'],
  reads: ['laborProgress'],
  run,
};
