import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { type OutlineEvidence, outlineGap } from '../chambers/gaps.ts';
import { biplaneAreaLengthVolume } from '../formulas/chambers.ts';
import {
  classification,
  conclude,
  finding,
  GAPS,
  inAdultRange,
  isChild,
  rangedSex,
} from '../shared/conclude.ts';
import { isNearCutOff, VARIABILITY } from '../shared/grading.ts';
import type { EchoSection, PatientEvidence } from '../shared/section.ts';
import { calculated, graded, named, ranged, type Values, withValues } from '../shared/values.ts';
import { LEFT_ATRIUM } from './guideline.ts';

/** What this section needs beside the values. */
type LaVolumeEvidence = PatientEvidence & OutlineEvidence;

const ID = 'la-volume';
const NEEDS = ['A4C and A2C clips that hold the atrium', 'height and weight'] as const;

/** cm by which the two lengths may differ before the atrium must be traced again (echo 6). */
const LENGTH_TOLERANCE = 0.5;

const SINGLE = 'LA volume was not assessed: it takes both apical views, A4C and A2C.';

const PLANES = [
  'la-volume-4c',
  'la-volume-2c',
  'la-area-4c',
  'la-area-2c',
  'la-length-4c',
  'la-length-2c',
] as const;

/** Whether the grade may as well be its neighbour (echo 19, rule 2). */
function isAtLimit({ value }: Measurement): boolean {
  const { male, decimals } = LEFT_ATRIUM.volumeIndex;
  const limits = [...male.normal, male.mild, male.moderate];
  return isNearCutOff(rounded(value, decimals), limits, VARIABILITY.atrialVolumeIndex);
}

function run(evidence: LaVolumeEvidence, given: Values) {
  const sex = rangedSex(evidence);
  const traced = calculated(given, 'la-volume-area-length', {
    section: ID,
    method: 'area-length-shorter',
    from: ['la-area-4c', 'la-area-2c', 'la-length-4c', 'la-length-2c'],
    value: (four, two, length, other) =>
      biplaneAreaLengthVolume(four, two, Math.min(length, other)),
  });
  const byLength = traced?.quality === 'accepted' ? traced : null;
  const index = calculated(given, 'la-volume-index', {
    section: ID,
    method: 'per-surface-area',
    from: ['la-volume-biplane', 'body-surface-area'],
    value: (volume, surface) => volume / surface,
  });
  const indexByLength = calculated(withValues(given, [traced]), 'la-volume-index-area-length', {
    section: ID,
    method: 'per-surface-area',
    from: ['la-volume-area-length', 'body-surface-area'],
    value: (volume, surface) => volume / surface,
  });
  const standing = index ?? indexByLength;
  // The grades of LAVi hold for both sexes.
  const adult = !isChild(evidence);
  const grade = adult ? graded(standing, LEFT_ATRIUM.volumeIndex, 'male') : null;
  const inRange = (one: Measurement | null) =>
    one && adult ? ranged(one, LEFT_ATRIUM.volumeIndex, 'male') : one;
  const diameter = given.measurement('la-diameter');
  const diameterGrade = graded(diameter, LEFT_ATRIUM.diameter, sex);
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
    sentences: [
      grade && `LA volume index: ${grade}`,
      grade && standing && isAtLimit(standing)
        ? `The LA volume index lies within ${VARIABILITY.atrialVolumeIndex} ml/m² of a limit of its grade, which is within measurement variability`
        : null,
      !standing && diameterGrade
        ? `LA diameter: ${diameterGrade}; the diameter alone does not make the atrium normal`
        : null,
    ],
    gaps: [
      volume || standing ? null : (outlineGap(evidence, ['A4C', 'A2C']) ?? SINGLE),
      volume && !standing
        ? 'LA volume was not indexed and not graded: height and weight are missing or implausible.'
        : null,
      unequal
        ? 'The lengths of the two apical views differ by more than 5 mm; trace the atrium again.'
        : null,
      adult ? null : GAPS.age,
      diameter && evidence.patient.sex === null ? GAPS.sex : null,
    ],
    findings: [
      grade?.endsWith('ly abnormal') && standing
        ? finding(ID, 'la-enlarged', `${named(standing)}: LA volume ${grade}`, 'abnormal', [
            standing,
          ])
        : null,
    ],
    classifications: [
      grade && classification(ID, 'la-volume-grade', 'LA volume index', grade, 'ASE/EACVI 2015'),
      diameterGrade &&
        classification(
          ID,
          'la-diameter-grade',
          'LA anteroposterior diameter',
          diameterGrade,
          'ASE/EAE 2005',
        ),
    ],
  });
}

/** Volume and diameter of the left atrium (echo 6). */
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
