import type { ObstetricMethod } from '../../concepts/obstetric.ts';
import { scaleFor } from '../../contract/study.ts';
import { distance } from '../../measure/ellipse.ts';
import type { Measurement } from '../../result/envelope.ts';
import { lineBetween, measuredOn } from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { say } from '../../result/render/obstetric/anomaly-screen.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import type { Statement } from '../../result/statement.ts';
import { createMeasurement, FRAMES_PER_MEASUREMENT, withMedian } from '../shared/measurement.ts';
import type {
  BrainReading,
  BrainUncertainty,
  LocatedBrain,
  StructureUncertainty,
} from './evidence.ts';

interface Structure {
  key: 'atrial-width' | 'transcerebellar-diameter' | 'cisterna-magna';
  method: ObstetricMethod;
  /** Plane on which the structure is measured (ISUOG CNS part 1, 2020). */
  plane: 'transcerebellar' | 'transventricular';
  part: keyof LocatedBrain & keyof BrainUncertainty;
}

const STRUCTURES: readonly Structure[] = [
  {
    key: 'atrial-width',
    method: 'atrium-inner-inner',
    plane: 'transventricular',
    part: 'atrium',
  },
  {
    key: 'transcerebellar-diameter',
    method: 'tcd-outer-outer',
    plane: 'transcerebellar',
    part: 'cerebellum',
  },
  {
    key: 'cisterna-magna',
    method: 'cisterna-vermis-occiput',
    plane: 'transcerebellar',
    part: 'cisternaMagna',
  },
];

function halfWidthOf(length: number, { mm, percent }: StructureUncertainty): number | null {
  const widths = [mm, percent === null ? null : (percent / 100) * length].filter(
    (width) => width !== null,
  );
  return widths.length > 0 ? Math.max(...widths) : null;
}

function onFrame(
  { clip, frame, located }: BrainReading,
  { key, method, part }: Structure,
  index: number,
  uncertainty: StructureUncertainty | null,
): Measurement[] {
  const found = located?.[part];
  const region = found && scaleFor(clip, found.ends);
  if (!found || !region) return [];
  const mm = distance(...found.ends, region.scale);
  const plausible = isPlausible(key, mm);
  return [
    createMeasurement(key, mm, method, {
      id: `${key}-${index + 1}`,
      section: 'anomaly-screen',
      derivation: 'measured',
      source: measuredOn(clip, frame.index, 'model', [lineBetween(...found.ends)]),
      confidence: found.confidence,
      uncertainty: uncertainty && halfWidthOf(mm, uncertainty),
      quality: !plausible ? 'inadequate' : found.accepted ? 'accepted' : 'low',
      remarks: [
        ...(plausible ? [] : [remark('obstetric.implausible', {})]),
        remark('method.without-reference', {}),
      ],
    }),
  ];
}

/**
 * Measures atrial width, transcerebellar diameter and cisterna magna in mm, each on its own plane.
 * Returns the value on each of up to three frames, and their median. A frame is skipped if no
 * calibrated region contains the line.
 * @param apart true if the frames may show several fetuses; no median is then calculated.
 */
export function measureBrain(
  readings: readonly BrainReading[],
  uncertainty: BrainUncertainty | null,
  apart: boolean,
): Measurement[] {
  return STRUCTURES.flatMap((structure) => {
    const { key, plane, part } = structure;
    const shown = readings.filter(
      ({ estimate, located }) => estimate.label === plane && located?.[part],
    );
    const accepted = shown.filter(({ located }) => located?.[part]?.accepted);
    const used = (accepted.length > 0 ? accepted : shown).slice(0, FRAMES_PER_MEASUREMENT);
    const single = used.flatMap((reading, index) =>
      onFrame(reading, structure, index, uncertainty?.[part] ?? null),
    );
    return apart ? single : withMedian(key, single);
  });
}

/** Returns why a structure was not measured although frames of its plane were found. */
function reasonOf(readings: readonly BrainReading[], part: Structure['part']) {
  if (readings.every(({ located }) => located === null)) return 'no-head';
  const ends = readings.flatMap(({ located }) => located?.[part] ?? []);
  return ends.some(({ accepted }) => accepted) ? 'no-scale' : 'no-ends';
}

/**
 * Returns the gaps for structures that have no accepted value although their plane was found. The
 * checklist reports planes that were not found.
 */
export function brainGaps(
  readings: readonly BrainReading[] | null,
  measurements: readonly Measurement[],
): Statement[] {
  if (readings === null) return [say.gap('screen.no-brain-model', {})];
  return STRUCTURES.flatMap(({ key, plane, part }) => {
    const shown = readings.filter(({ estimate }) => estimate.label === plane);
    const known = measurements.some((one) => one.concept.key === key && one.quality === 'accepted');
    if (shown.length === 0 || known) return [];
    return [say.gap('screen.not-measured', { key, reason: reasonOf(shown, part) })];
  });
}
