import { cartMeasurements } from '../result/cart-measurements.ts';
import { findingConcept } from '../result/concepts.ts';
import type { Finding, Measurement, Result } from '../result/envelope.ts';
import { CARDIAC_AXIS, CARDIAC_SIZE, cardiacAxis, cardiacSize } from './charts/fetal-heart.ts';
import { measureChest } from './chest-measurements.ts';
import { acrossCutOff } from './cut-off.ts';
import { FETAL_HEART_SECTION } from './fetal-heart-rate.ts';
import { format } from './measurement.ts';
import type { ObstetricEvidence } from './section.ts';

const RATIOS = ['cardiothoracic-area-ratio', 'cardiothoracic-circumference-ratio'] as const;
type RatioKey = (typeof RATIOS)[number];

export interface CardiacSizeOutcome {
  measurements: Measurement[];
  sentences: string[];
  missing: string[];
  findings: Finding[];
  classifications: Result['classifications'];
}

const ofMachine = ({ source }: Measurement) => source.provenance === 'cart-sr';

/** The machine's ratios; none where its reports name several fetuses. */
function machineRatios({ study }: ObstetricEvidence): Measurement[] {
  const values = cartMeasurements(study.cart ?? [], FETAL_HEART_SECTION, RATIOS);
  return new Set(values.map(({ fetus }) => fetus)).size > 1 ? [] : values;
}

/**
 * The values that are judged: the machine's, which a person placed, before ours. Of ours the area
 * only: two ellipses of one image with a normal area ratio have a large circumference ratio (0.30
 * and 0.55 for equal shapes), since the two limits stem from outlines that were drawn differently.
 */
function judgedRatios(measurements: readonly Measurement[]) {
  const machine = (key: RatioKey) =>
    measurements.find((one) => one.concept.key === key && ofMachine(one));
  const area =
    machine('cardiothoracic-area-ratio') ??
    measurements.find(
      ({ id, quality }) => id === 'cardiothoracic-area-ratio' && quality === 'accepted',
    );
  return { area, round: machine('cardiothoracic-circumference-ratio') };
}

const shownAs = (one: Measurement, key: RatioKey) =>
  `${one.label} ${format(key, one.value)}${ofMachine(one) ? ' (ultrasound machine)' : ''}`;

/** What holds for a heart of usual size. */
const LIMITS: Readonly<Record<RatioKey, { text: string; holds(ratio: number): boolean }>> = {
  'cardiothoracic-area-ratio': {
    text: `from ${CARDIAC_SIZE.small} to ${CARDIAC_SIZE.large}`,
    holds: (ratio) => cardiacSize(ratio) === 'normal',
  },
  'cardiothoracic-circumference-ratio': {
    text: `below ${CARDIAC_SIZE.largeCircumference.toFixed(2)}`,
    holds: (ratio) => ratio < CARDIAC_SIZE.largeCircumference,
  },
};

function sizeOf(area: Measurement | undefined, round: Measurement | undefined) {
  const byArea = area ? cardiacSize(area.value) : 'normal';
  if (byArea === 'large' || (round && round.value >= CARDIAC_SIZE.largeCircumference)) {
    return 'large';
  }
  return byArea;
}

/** A value whose interval reaches across a limit is no finding, but a reason to measure by hand. */
function judgeSize(measurements: readonly Measurement[]): Omit<CardiacSizeOutcome, 'measurements'> {
  const { area, round } = judgedRatios(measurements);
  const present = RATIOS.flatMap((key, i) => {
    const one = i === 0 ? area : round;
    return one ? [{ key, one }] : [];
  });
  if (present.length === 0) {
    return { sentences: [], missing: [], findings: [], classifications: [] };
  }
  const value = sizeOf(area, round);
  const shown = present.map(({ key, one }) => shownAs(one, key)).join(', ');
  const concept = findingConcept('cardiac-size');
  const near =
    area &&
    acrossCutOff(area.value, area.uncertainty, [CARDIAC_SIZE.small, CARDIAC_SIZE.large], '');
  const finding: Finding = {
    id: 'cardiac-size',
    section: FETAL_HEART_SECTION,
    concept,
    text: `${shown}: the heart is ${value} for the thorax.`,
    severity: 'abnormal',
    confidence: area?.confidence ?? null,
    evidence: present.map(({ one }) => one.id),
  };
  return {
    sentences: [`${shown}.`],
    missing: near ? [near] : [],
    findings: value === 'normal' || near ? [] : [finding],
    classifications: [
      {
        id: 'cardiac-size',
        section: FETAL_HEART_SECTION,
        concept,
        name: 'Size of the heart',
        value,
        scheme: 'cardiothoracic ratios, ISUOG 2023',
        criteria: present.map(({ key, one }) => ({
          name: `${one.label} ${LIMITS[key].text}`,
          value: format(key, one.value),
          met: LIMITS[key].holds(one.value),
        })),
      },
    ],
  };
}

/** The axis without its side: a still does not say which side of the fetus is left. */
function judgeAxis(measurements: readonly Measurement[]): Omit<CardiacSizeOutcome, 'measurements'> {
  const axis = measurements.find(
    ({ id, quality }) => id === 'cardiac-axis' && quality === 'accepted',
  );
  if (!axis) {
    const missing = ['The axis of the heart was not measured.'];
    return { sentences: [], missing, findings: [], classifications: [] };
  }
  const value = cardiacAxis(axis.value);
  const shown = `Axis of the heart ${format('cardiac-axis', axis.value)} to the midline`;
  const { least, most } = CARDIAC_AXIS;
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
            value: axis.value.toFixed(0),
            met: value === 'normal',
          },
        ],
      },
    ],
  };
}

/** Why there is no ratio. */
function gapOf({ views }: ObstetricEvidence): string {
  const why =
    views.fetalHeart?.chests === null
      ? 'no permitted model outlines the heart'
      : 'no four-chamber view that shows the whole thorax was outlined surely enough';
  return `The cardiothoracic ratio was not measured: ${why}.`;
}

/** Ratios of heart to thorax and axis of the heart, from images and from the machine's report. */
export function cardiacSizeOf(evidence: ObstetricEvidence): CardiacSizeOutcome {
  const measurements = [
    ...measureChest(evidence.views.fetalHeart?.chests ?? [], evidence.uncertainty.chest ?? null),
    ...machineRatios(evidence),
  ];
  const size = judgeSize(measurements);
  const axis = judgeAxis(measurements);
  return {
    measurements,
    sentences: [...size.sentences, ...axis.sentences],
    missing: [
      ...(size.classifications.length > 0 ? [] : [gapOf(evidence)]),
      ...size.missing,
      ...axis.missing,
    ],
    findings: [...size.findings, ...axis.findings],
    classifications: [...size.classifications, ...axis.classifications],
  };
}
