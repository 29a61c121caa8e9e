import { findingConcept } from '../result/concepts.ts';
import type { Result } from '../result/envelope.ts';
import type { MidsagittalStructure } from './locator.ts';
import type { MidsagittalReading } from './read/nuchal.ts';

/** Id of the section whose measurements and findings these are. */
export const NUCHAL_SECTION = 'nt';

/**
 * Confidence from which a located nasal bone is called present: the model learnt on fetuses that have
 * one and sees it where it ought to be, at up to 0.84 on images whose bone was wiped out.
 */
export const NASAL_BONE_SURE = 0.88;

export interface PlaneCriterion {
  name: string;
  /** Null: a picture alone does not tell it, or nothing here looks at it. */
  met: boolean | null;
}

const seen = ({ located }: MidsagittalReading, structure: MidsagittalStructure) =>
  located[structure]?.accepted === true;

/** Plane adequacy (FMF protocol): the items that located structures answer, and those left open. */
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

/** Criteria that a plane does not meet. */
export const failedCriteria = (reading: MidsagittalReading) =>
  namesOf(planeAdequacy(reading), false);

/** Criteria that nothing here looks at. */
export const openCriteria = (reading: MidsagittalReading) => namesOf(planeAdequacy(reading), null);

export function adequacyClass(reading: MidsagittalReading): Result['classifications'][number] {
  const assessed = planeAdequacy(reading).flatMap(({ name, met }) =>
    met === null ? [] : [{ name, value: met ? 'yes' : 'no', met }],
  );
  return {
    id: 'nt-plane-adequacy',
    section: NUCHAL_SECTION,
    concept: findingConcept('nt-plane-adequacy'),
    name: 'Adequacy of the NT plane',
    value: assessed.every(({ met }) => met) ? 'adequate-as-far-as-assessed' : 'inadequate',
    scheme: 'FMF protocol, items that the located structures answer',
    criteria: assessed,
  };
}

/** A bone that was not found is not an absent bone, and one that is hardly found is not present. */
export function nasalBone(
  readings: readonly MidsagittalReading[],
): Result['classifications'][number] {
  const bones = readings.flatMap(({ located }) => located['nasal-bone'] ?? []);
  const found = bones.some(({ accepted, confidence }) => accepted && confidence >= NASAL_BONE_SURE);
  return {
    id: 'nasal-bone',
    section: NUCHAL_SECTION,
    concept: findingConcept('nasal-bone'),
    name: 'Nasal bone',
    value: found ? 'present' : 'not-assessable',
    scheme: 'FMF protocol',
    criteria: [{ name: 'nasal bone located', value: found ? 'yes' : 'no', met: found }],
  };
}
