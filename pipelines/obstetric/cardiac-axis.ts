import { findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement, Result } from '../result/envelope.ts';
import { CARDIAC_AXIS, cardiacAxis } from './charts/fetal-heart.ts';
import { acrossCutOff } from './cut-off.ts';
import { FETAL_HEART_SECTION } from './fetal-heart-rate.ts';
import { format } from './measurement.ts';
import { numberText } from './number-text.ts';

/** What is said of size or axis of the heart. */
export interface CardiacJudgement {
  sentences: string[];
  /** What is missing or in doubt. */
  missing: string[];
  findings: Finding[];
  classifications: Result['classifications'];
}

const { least, most } = CARDIAC_AXIS;

/** The axis without its side: a still does not say which side of the fetus is left. */
export function judgeAxis(measurements: readonly Measurement[]): CardiacJudgement {
  const axis = measurements.find(
    ({ id, quality }) => id === 'cardiac-axis' && quality === 'accepted',
  );
  if (!axis) {
    const missing = ['The axis of the heart was not measured.'];
    return { sentences: [], missing, findings: [], classifications: [] };
  }
  const value = cardiacAxis(axis.value);
  const shown = `Axis of the heart ${format('cardiac-axis', axis.value)} to the midline`;
  const near = acrossCutOff(axis.value, axis.uncertainty, [least, most], 'deg');
  const concept = findingConcept('cardiac-axis');
  return {
    sentences: [`${shown}.`],
    missing: near ? [near] : [],
    findings:
      value === 'normal' || near
        ? []
        : [
            {
              id: 'cardiac-axis',
              section: FETAL_HEART_SECTION,
              concept,
              text: `${shown}, outside ${least} to ${most} deg; its side was not assessed.`,
              severity: 'abnormal',
              confidence: axis.confidence,
              evidence: [axis.id],
            },
          ],
    classifications: [
      {
        id: 'cardiac-axis',
        section: FETAL_HEART_SECTION,
        concept,
        name: 'Axis of the heart, without its side',
        value,
        scheme: 'ISUOG 2023: 45 +/- 20 deg',
        criteria: [
          {
            name: `from ${least} to ${most} deg`,
            value: numberText(axis),
            met: value === 'normal',
          },
        ],
      },
    ],
  };
}
