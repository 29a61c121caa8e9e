import { findingConcept } from '../../concepts/obstetric.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  type LocatedStructure,
  locatedOn,
  measuredOn,
  polygonPlace,
} from '../../result/measured.ts';
import { remarkOfLabor, say } from '../../result/render/obstetric/labor-progress.ts';
import type { ClassificationDraft } from '../../result/section-outcome.ts';
import {
  categoryWithin,
  criterion,
  inadequate,
  notAssessed,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  atCutOff,
  createMeasurement,
  FRAMES_PER_MEASUREMENT,
  withMedian,
} from '../shared/measurement.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import {
  LABOR_KEYS,
  type LaborEvidence,
  type LaborProgressReadings,
  type TransperinealReading,
} from './evidence.ts';
import {
  CM_PER_DEGREE,
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

function onFrame(
  { clip, frame, located }: TransperinealReading,
  { key, method, value, calipers, sideUnknown }: Descent,
  index: number,
  uncertainty: number | null,
): Measurement {
  const { from, to } = PLAUSIBLE_ANGLES;
  const implausible = key === 'angle-of-progression' && (value < from || value > to);
  return createMeasurement(key, value, method, {
    id: `${key}-${index + 1}`,
    section: ID,
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'model', calipers),
    confidence: located?.confidence ?? null,
    uncertainty: key === 'angle-of-progression' ? uncertainty : null,
    quality: implausible ? 'inadequate' : located?.accepted && !sideUnknown ? 'accepted' : 'low',
    remarks: [
      ...(implausible ? [remarkOfLabor('labor.implausible-angle', { from, to })] : []),
      ...(sideUnknown ? [remarkOfLabor('labor.may-be-mirrored', {})] : []),
    ],
  });
}

function describedFrames({ frames }: LaborProgressReadings) {
  const located = (frames ?? []).filter((reading) => reading.located !== null);
  const accepted = located.filter((reading) => reading.located?.accepted);
  const used = (accepted.length > 0 ? accepted : located).slice(0, FRAMES_PER_MEASUREMENT);
  return used.map((reading) => ({ reading, descents: descentOf(reading) }));
}

function measure(readings: LaborProgressReadings): Measurement[] {
  const { uncertainty, values = LABOR_KEYS } = readings;
  return values.flatMap((key) =>
    withMedian(
      key,
      describedFrames(readings).flatMap(({ reading, descents }, index) =>
        descents
          .filter((descent) => descent.key === key)
          .map((descent) => onFrame(reading, descent, index, uncertainty)),
      ),
    ),
  );
}

/**
 * Returns the borders of both structures on every frame examined, including frames without an
 * angle.
 */
function structuresOf({ frames }: LaborProgressReadings): LocatedStructure[] {
  return (frames ?? []).flatMap((reading) =>
    (['symphysis', 'fetal-head'] as const).flatMap((structure) => {
      const found = reading.borders[structure];
      return found ? [locatedOn(reading, structure, found, polygonPlace(found.border))] : [];
    }),
  );
}

/**
 * Returns the category of the head direction within an interval. No interval is known for the
 * direction itself. The interval of the angle of progression is used instead, because both are
 * measured on the same two outlines.
 */
const directionWithin = (direction: Measurement, uncertainty: number | null) =>
  categoryWithin(
    { value: direction.value, uncertainty: direction.uncertainty ?? uncertainty },
    headDirection,
  );

function station(angle: Measurement): Measurement[] {
  if (angle.value < STATION_ANGLES.from || angle.value > STATION_ANGLES.to) return [];
  const value = stationByAngle(angle.value);
  return [
    createMeasurement('head-station', value, 'station-tutschek-2011', {
      section: ID,
      uncertainty: angle.uncertainty === null ? null : CM_PER_DEGREE * angle.uncertainty,
      inputs: [angle.id],
    }),
  ];
}

function classifications(
  measurements: readonly Measurement[],
  { uncertainty }: LaborProgressReadings,
): ClassificationDraft[] {
  const angle = acceptedValue(measurements, 'angle-of-progression');
  const direction = acceptedValue(measurements, 'head-direction');
  const limits = Object.values(DESCENT_BANDS);
  const { category: band } = angle ? categoryWithin(angle, descentBand) : { category: null };
  const { category: pointing } = direction
    ? directionWithin(direction, uncertainty)
    : { category: null };
  return [
    ...(angle && band
      ? [
          {
            id: 'descent-of-the-head',
            concept: findingConcept('head-station'),
            name: 'Descent of the fetal head',
            value: band,
            scheme: 'angle of progression, ISUOG 2018',
            criteria: limits.map((limit) =>
              criterion(
                `angle of progression at least ${limit}°`,
                { of: 'angle-of-progression', value: angle.value, unit: false },
                angle.value >= limit,
              ),
            ),
          },
        ]
      : []),
    ...(direction && pointing
      ? [
          {
            id: 'direction-of-the-head',
            concept: findingConcept('head-direction'),
            name: 'Direction of the fetal head',
            value: pointing,
            scheme: 'head direction to the long axis of the symphysis, ISUOG 2018',
            criteria: [criterion('angle', { of: 'head-direction', value: direction.value }, true)],
          },
        ]
      : []),
  ];
}

/**
 * Returns the reasons why the distance and the direction could not be measured. A value that was
 * measured has none, even if it is not used because it needs review or a person rejected it.
 */
function unmeasured(readings: LaborProgressReadings): Statement[] {
  const found = new Set(
    describedFrames(readings).flatMap(({ descents }) => descents.map(({ key }) => key)),
  );
  const calibrated = readings.frames?.some(({ clip }) => clip.regions.length > 0) ?? false;
  const noDistance = calibrated
    ? say.gap('labor.line-misses-skull', {})
    : say.gap('labor.no-scale', {});
  return [
    ...(found.has('head-symphysis-distance') ? [] : [noDistance]),
    ...(found.has('head-direction') ? [] : [say.gap('labor.no-direction', {})]),
  ];
}

function run({ views }: LaborEvidence): SectionOutcome {
  const readings = views.laborProgress;
  if (readings?.frames === null) {
    return notAssessed('no_model', say.gap('labor.no-model', {}), [
      'a permitted symphysis-head model',
    ]);
  }
  if (!readings?.frames?.length) {
    return notAssessed('view_missing', say.gap('labor.no-view', {}), [VIEW]);
  }
  const measured = measure(readings);
  const angle = acceptedValue(measured, 'angle-of-progression');
  if (!angle) {
    const sideUnknown = measured.some(({ remarks }) =>
      remarks.some(({ code }) => code === 'labor.may-be-mirrored'),
    );
    const gap = sideUnknown ? say.gap('labor.side-unknown', {}) : say.gap('labor.not-clear', {});
    const data = { structures: structuresOf(readings) };
    return { ...inadequate('low_confidence', gap, [`a clearer ${VIEW}`], measured), data };
  }
  const measurements = [...measured, ...station(angle)];
  const { between } = categoryWithin(angle, descentBand);
  const undecided = between && say.gap('labor.at-cut-off', { between: [...between] }, [angle]);
  const direction = acceptedValue(measurements, 'head-direction');
  const gaps = [
    ...unmeasured(readings),
    ...(direction ? atCutOff(direction, directionWithin(direction, readings.uncertainty)) : []),
    ...(undecided ? [undecided] : []),
  ];
  const values = [...LABOR_KEYS, 'head-station' as const].flatMap(
    (key) => acceptedValue(measurements, key) ?? [],
  );
  return {
    status: gaps.length > 0 ? 'partial' : 'complete',
    reason: gaps.length > 0 ? { code: 'parts_missing', gaps, needs: ['calibration', VIEW] } : null,
    statements: [
      say.value('labor.values', {}, values),
      ...gaps,
      say.limitation('labor.limits', {}),
    ],
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
    classifications: classifications(measurements, readings),
  };
}

/**
 * The section on labour: angle of progression, head-symphysis distance and head direction
 * (obstetric 11).
 */
export const laborProgress: ObstetricSection<LaborEvidence> = {
  id: ID,
  title: 'Labor progress',
  needs: [VIEW, 'calibration for the head-symphysis distance'],
  reads: ['laborProgress'],
  run,
};
