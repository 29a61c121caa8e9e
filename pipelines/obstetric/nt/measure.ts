import { findingConcept } from '../../concepts/obstetric.ts';
import { scaleFor } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  asRepeat,
  type LocatedStructure,
  lineBetween,
  locatedOn,
  measuredOn,
  rectanglePlace,
} from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { remarkOfNt } from '../../result/render/obstetric/nt.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import { type ClassificationDraft, criterion } from '../../result/section-outcome.ts';
import type { Remark } from '../../result/statement.ts';
import { createMeasurement, FRAMES_PER_MEASUREMENT } from '../shared/measurement.ts';
import type { MidsagittalReading, MidsagittalStructure } from './evidence.ts';
import { MIDSAGITTAL_STRUCTURES } from './evidence.ts';

export const NUCHAL_SECTION = 'nt';

/**
 * Minimum confidence at which a nasal bone is called present. The model was trained on fetuses with
 * a nasal bone and expects one: on images from which the bone had been erased, its confidence was
 * up to 0.84.
 */
export const NASAL_BONE_SURE = 0.88;

interface PlaneCriterion {
  name: string;
  /**
   * Null if an image alone cannot show whether the criterion is met, or if this service does not
   * examine it.
   */
  met: boolean | null;
}

const seen = ({ located }: MidsagittalReading, structure: MidsagittalStructure) =>
  located[structure]?.accepted === true;

/**
 * Returns the criteria for the plane (FMF protocol). `met` is determined from the located
 * structures where they show it; otherwise it is null.
 */
export function planeAdequacy(reading: MidsagittalReading): PlaneCriterion[] {
  return [
    { name: 'tip of the nose seen', met: seen(reading, 'nasal-tip') },
    { name: 'palate seen', met: seen(reading, 'palate') },
    {
      name: 'thalami and midbrain seen',
      met: seen(reading, 'thalami') && seen(reading, 'midbrain'),
    },
    { name: 'nuchal membrane seen', met: reading.lines !== null },
    { name: 'neutral position of the head', met: null },
    { name: 'amnion apart from the membrane', met: null },
    { name: 'head and upper thorax fill the image', met: null },
  ];
}

const namesOf = (criteria: readonly PlaneCriterion[], met: boolean | null) =>
  criteria.filter((one) => one.met === met).map(({ name }) => name);

const failedCriteria = (reading: MidsagittalReading) => namesOf(planeAdequacy(reading), false);

export const openCriteria = (reading: MidsagittalReading) => namesOf(planeAdequacy(reading), null);

export function adequacyClass(reading: MidsagittalReading): ClassificationDraft {
  const assessed = planeAdequacy(reading).filter(({ met }) => met !== null);
  return {
    id: 'nt-plane-adequacy',
    concept: findingConcept('nt-plane-adequacy'),
    name: 'Adequacy of the NT plane',
    value: assessed.every(({ met }) => met) ? 'adequate-as-far-as-assessed' : 'inadequate',
    scheme: 'FMF protocol, items that the located structures answer',
    criteria: assessed.map(({ name, met }) => criterion(name, null, met)),
  };
}

const hasNasalBone = ({ located }: MidsagittalReading): boolean => {
  const bone = located['nasal-bone'];
  return bone?.accepted === true && bone.confidence >= NASAL_BONE_SURE;
};

/**
 * Classifies the nasal bone. A bone that was not found is not called absent, and one with a low
 * confidence, or that needs review, is not called present.
 */
export function nasalBone(readings: readonly MidsagittalReading[]): ClassificationDraft {
  const seen = readings.filter(hasNasalBone);
  const found = seen.some(({ nasalBoneHeld }) => !nasalBoneHeld);
  return {
    id: 'nasal-bone',
    concept: findingConcept('nasal-bone'),
    name: 'Nasal bone',
    value: found ? 'present' : 'not-assessable',
    scheme: 'FMF protocol',
    criteria: [
      criterion(
        'nasal bone located',
        seen.length > 0 && !found ? 'needs review' : null,
        found || (seen.length > 0 ? null : false),
      ),
    ],
  };
}

/** "Calibration of 0.1 mm or better" (FMF protocol), millimetres per pixel. */
const COARSEST_MM_PER_PIXEL = 0.1;

/**
 * Half width in mm of the interval around the measured value; it contained the true value on 37 of
 * 39 phantoms (seeds 9800 to 9839). See the model card.
 */
const NUCHAL_UNCERTAINTY = 0.75;

function problemsOf(reading: MidsagittalReading, coarse: boolean): Remark[] {
  const criteria = failedCriteria(reading);
  return [
    ...(coarse ? [remarkOfNt('nt.coarse-scale', { mmPerPixel: COARSEST_MM_PER_PIXEL })] : []),
    ...(criteria.length > 0 ? [remarkOfNt('nt.criteria-not-met', { criteria })] : []),
  ];
}

function onFrame(reading: MidsagittalReading, index: number): Measurement[] {
  const { clip, frame, lines, located } = reading;
  const region = lines && scaleFor(clip, lines.ends);
  if (!lines || !region) return [];
  const coarse = Math.max(region.scale.x, region.scale.y) > COARSEST_MM_PER_PIXEL + 1e-9;
  const problems = problemsOf(reading, coarse);
  const plausible = isPlausible('nuchal-translucency', lines.thickness);
  const doubt = plausible ? [] : [remark('obstetric.implausible', {})];
  const id = `nuchal-translucency-${index + 1}`;
  return [
    createMeasurement('nuchal-translucency', lines.thickness, 'nt-inner-inner', {
      id,
      section: NUCHAL_SECTION,
      derivation: 'measured',
      source: measuredOn(clip, frame.index, 'image-analysis', [lineBetween(...lines.ends)]),
      confidence: (located['nuchal-translucency']?.confidence ?? 0) * lines.seen,
      uncertainty: NUCHAL_UNCERTAINTY,
      quality: !plausible ? 'inadequate' : problems.length > 0 ? 'low' : 'accepted',
      remarks: [...doubt, ...problems, remark('method.thickness-on-phantoms', {})],
    }),
  ];
}

/**
 * Sorts the frames so that the planes failing the fewest criteria come first, because the protocol
 * uses "the maximum that meets the criteria".
 */
const adequateFirst = (readings: readonly MidsagittalReading[]) =>
  readings.toSorted((one, other) => failedCriteria(one).length - failedCriteria(other).length);

/**
 * Measures the thickness in mm on every frame that shows the lines. The values are numbered, most
 * adequate planes first.
 */
export const measureNuchalApart = (readings: readonly MidsagittalReading[]): Measurement[] =>
  adequateFirst(readings.filter(({ lines }) => lines !== null)).flatMap(onFrame);

/**
 * Measures the thickness in mm on up to three frames. The largest value on a plane that meets the
 * criteria takes the plain id (FMF protocol). A value on any other plane is listed but not used.
 */
export function measureNuchal(readings: readonly MidsagittalReading[]): Measurement[] {
  const withLines = readings.filter(({ lines }) => lines !== null);
  const single = measureNuchalApart(adequateFirst(withLines).slice(0, FRAMES_PER_MEASUREMENT));
  const accepted = single.filter(({ quality }) => quality === 'accepted');
  const largest = accepted.toSorted((one, other) => other.value - one.value)[0];
  return single.map((one) =>
    one === largest ? { ...one, id: 'nuchal-translucency' } : asRepeat(one),
  );
}

/**
 * Returns the boxes of the structures on mid-sagittal frames, including frames without a
 * measurement.
 */
export function midsagittalBoxes(
  readings: readonly MidsagittalReading[] | null | undefined,
): LocatedStructure[] {
  return (readings ?? []).flatMap((reading) =>
    MIDSAGITTAL_STRUCTURES.flatMap((structure) => {
      const found = reading.located[structure];
      return found ? [locatedOn(reading, structure, found, rectanglePlace(found.box))] : [];
    }),
  );
}
