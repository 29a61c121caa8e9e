import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { sayOfLaVolume } from '../../result/render/echo/la-volume.ts';
import { type Abnormality, categoryOfEcho } from '../../result/render/echo/shared.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { biplaneAreaLengthVolume } from '../formulas.ts';
import { graded, inRangeOf, isAbnormal, isNearCutOff, VARIABILITY } from '../shared/grading.ts';
import {
  classification,
  conclude,
  type EchoSection,
  finding,
  inAdultRange,
  isChild,
  PATIENT_GAPS,
  type PatientEvidence,
  perSurface,
  rangedSexes,
  type Values,
} from '../shared/section.ts';
import { LEFT_ATRIUM } from './guideline.ts';

type LaVolumeEvidence = PatientEvidence & OutlineEvidence;

const ID = 'la-volume';
const NEEDS = ['A4C and A2C clips that hold the atrium', 'height and weight'] as const;

/**
 * If the two lengths of the atrium differ by more than this, cm, it must be traced again (echo 6).
 */
const LENGTH_TOLERANCE = 0.5;

const PLANES = [
  'la-volume-4c',
  'la-volume-2c',
  'la-area-4c',
  'la-area-2c',
  'la-length-4c',
  'la-length-2c',
] as const;

/**
 * Returns true if the value is so close to a limit that, within the variability of measurement, it
 * may have the neighbouring grade (echo 19, rule 2).
 */
function isAtLimit({ value }: Measurement): boolean {
  const { male, decimals } = LEFT_ATRIUM.volumeIndex;
  const limits = [...male.normal, male.mild, male.moderate];
  return isNearCutOff(rounded(value, decimals), limits, VARIABILITY.atrialVolumeIndex);
}

/**
 * Returns a statement if diameter and volume disagree on whether the atrium is enlarged. The volume
 * decides (echo 6).
 */
function diameterDisagrees(
  grade: Abnormality,
  byDiameter: Abnormality,
  about: readonly Measurement[],
) {
  return isAbnormal(grade) === isAbnormal(byDiameter)
    ? null
    : sayOfLaVolume.conclusion('la-volume.diameter-disagrees', { grade: byDiameter }, about);
}

function volumesOf(given: Values) {
  const traced = given.calculated('la-volume-area-length', {
    section: ID,
    method: 'area-length-shorter',
    from: ['la-area-4c', 'la-area-2c', 'la-length-4c', 'la-length-2c'],
    value: (four, two, length, other) =>
      biplaneAreaLengthVolume(four, two, Math.min(length, other)),
  });
  const index = given.calculated('la-volume-index', perSurface(ID, 'la-volume-biplane'));
  const indexByLength = given
    .with([traced])
    .calculated('la-volume-index-area-length', perSurface(ID, 'la-volume-area-length'));
  return { traced, index, indexByLength };
}

function run(evidence: LaVolumeEvidence, given: Values) {
  const { traced, index, indexByLength } = volumesOf(given);
  const byLength = traced?.quality === 'accepted' ? traced : null;
  const counted = index ?? indexByLength;
  const sexes = rangedSexes(evidence);
  const adult = !isChild(evidence);
  const grade = graded(counted, LEFT_ATRIUM.volumeIndex, sexes);
  // The limits of LAVi are the same for both sexes, so the range of one applies to every adult.
  const inRange = (one: Measurement | null) =>
    one && adult ? inRangeOf(one, LEFT_ATRIUM.volumeIndex, ['male']) : one;
  const diameter = given.measurement('la-diameter');
  const diameterGrade = graded(diameter, LEFT_ATRIUM.diameter, sexes);
  const volume = given.measurement('la-volume-biplane') ?? byLength;
  const [four, two] = [given.number('la-length-4c'), given.number('la-length-2c')];
  const unequal = four !== null && two !== null && Math.abs(four - two) > LENGTH_TOLERANCE + 1e-9;
  return conclude(laVolume, {
    measurements: [
      given.measurement('la-volume-biplane'),
      traced,
      inRange(index),
      inRange(indexByLength),
      inAdultRange(evidence, diameter, LEFT_ATRIUM.diameter),
      ...PLANES.map((key) => given.measurement(key)),
    ],
    conclusions: [
      grade && sayOfLaVolume.conclusion('la-volume.grade', { grade }),
      grade && counted && isAtLimit(counted)
        ? sayOfLaVolume.conclusion('la-volume.at-limit', { within: VARIABILITY.atrialVolumeIndex })
        : null,
      counted && diameter && grade && diameterGrade
        ? diameterDisagrees(grade, diameterGrade, [diameter, counted])
        : null,
      !counted && diameterGrade
        ? sayOfLaVolume.conclusion('la-volume.diameter-grade', { grade: diameterGrade })
        : null,
    ],
    gaps: [
      volume || counted
        ? null
        : (outlineGap(evidence, ['A4C', 'A2C']) ?? sayOfLaVolume.gap('la-volume.one-view', {})),
      volume && !counted ? sayOfLaVolume.gap('la-volume.not-indexed', {}) : null,
      unequal ? sayOfLaVolume.gap('la-volume.lengths-differ', {}) : null,
      adult ? null : PATIENT_GAPS.child,
      adult && diameter && evidence.patient.sex === null ? PATIENT_GAPS.sex : null,
    ],
    findings: [
      isAbnormal(grade) && counted
        ? finding(
            'la-enlarged',
            sayOfLaVolume.conclusion('la-volume.enlarged', { grade }, [counted]),
            'abnormal',
          )
        : null,
    ],
    classifications: [
      grade &&
        classification(
          'la-volume-grade',
          'LA volume index',
          categoryOfEcho('abnormality', grade),
          'ASE/EACVI 2015',
        ),
      diameterGrade &&
        classification(
          'la-diameter-grade',
          'LA anteroposterior diameter',
          categoryOfEcho('abnormality', diameterGrade),
          'ASE/EAE 2005',
        ),
    ],
  });
}

/** Reports the volume and the diameter of the left atrium (echo 6). */
export const laVolume: EchoSection<LaVolumeEvidence> = {
  id: ID,
  title: 'Left atrial volume',
  needs: NEEDS,
  measures: [
    'la-volume-biplane',
    'la-volume-area-length',
    'la-volume-index',
    'la-volume-index-area-length',
    'la-diameter',
    ...PLANES,
  ],
  run,
};
