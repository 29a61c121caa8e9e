import { findingConcept } from '../../concepts/concepts.ts';
import { cutOffsOf } from '../../concepts/cut-offs.ts';
import { fetusKey, fetusOf } from '../../contract/fetus-name.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { acrossCutOff } from '../../result/obstetric/limits.ts';
import { acceptedValue, formatValue, numberText } from '../../result/render/number-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import { MACHINE_UNUSED, ofSeveralFetuses, withMachineValues } from '../shared/machine-values.ts';
import { keyedByFetus, ofFetusText } from '../shared/several-fetuses.ts';
import type { ChestReading, FetalHeartEvidence } from './evidence.ts';
import { CARDIAC_AXIS, CARDIAC_SIZE, cardiacAxis, cardiacSize } from './guideline.ts';
import { FETAL_HEART_SECTION } from './measure-rate.ts';
import { measureChest } from './measure-size.ts';

/** What is said of size or axis of the heart. */
export interface CardiacJudgement {
  sentences: string[];
  /** What is missing or in doubt. */
  missing: string[];
  findings: FindingDraft[];
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
  const shown = `Axis of the heart ${formatValue('cardiac-axis', axis.value)} to the midline`;
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

const RATIOS = ['cardiothoracic-area-ratio', 'cardiothoracic-circumference-ratio'] as const;
type RatioKey = (typeof RATIOS)[number];

export interface CardiacSizeOutcome extends CardiacJudgement {
  measurements: Measurement[];
}

/** What is measured on these images, with the machine's ratios. */
function ratiosOf(
  chests: readonly ChestReading[],
  machine: readonly Measurement[],
  { uncertainty }: FetalHeartEvidence,
): Measurement[] {
  return withMachineValues(machine, measureChest(chests, uncertainty.chest ?? null));
}

/**
 * The values that are judged. The area ratio is the one that stands: ours before the machine's. Of the
 * circumference ratio the machine's only: two ellipses of one image with a normal area ratio have a
 * large circumference ratio (0.30 and 0.55 for equal shapes), since the two limits stem from outlines
 * that were drawn differently. `beside`: the machine's area ratio where ours stands.
 */
function judgedRatios(measurements: readonly Measurement[]) {
  const machine = (key: RatioKey) =>
    measurements.find(
      (one) => one.concept.key === key && isOfMachine(one) && one.quality === 'accepted',
    );
  const area = acceptedValue(measurements, 'cardiothoracic-area-ratio') ?? undefined;
  const beside = area && !isOfMachine(area) ? machine('cardiothoracic-area-ratio') : undefined;
  return { area, beside, round: machine('cardiothoracic-circumference-ratio') };
}

const shownAs = (one: Measurement, key: RatioKey) =>
  `${one.label} ${formatValue(key, one.value)}${isOfMachine(one) ? ' (ultrasound machine)' : ''}`;

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

type Size = ReturnType<typeof cardiacSize>;

const SIZE_TEXT: Readonly<Record<Size, string>> = {
  small: 'small for the thorax',
  normal: 'of usual size for the thorax',
  large: 'large for the thorax',
};

interface Criterion {
  key: RatioKey;
  one: Measurement;
  size: Size;
  /** Whether its interval reaches across a limit. */
  near: string | null;
}

const sizeByRatio = (key: RatioKey, value: number): Size =>
  key === 'cardiothoracic-area-ratio'
    ? cardiacSize(value)
    : value >= CARDIAC_SIZE.largeCircumference
      ? 'large'
      : 'normal';

function criterion(key: RatioKey, one: Measurement | undefined): Criterion[] {
  if (!one) return [];
  const near = acrossCutOff(one.value, one.uncertainty, cutOffsOf(key), '');
  return [{ key, one, size: sizeByRatio(key, one.value), near }];
}

/** Large leads: a small or a usual area does not undo a large circumference. */
const leading = (sizes: readonly Size[]): Size =>
  (['large', 'small'] as const).find((size) => sizes.includes(size)) ?? 'normal';

/** Said where the machine's area ratio tells another size than ours. */
function contradiction(own: Criterion | undefined, beside: Criterion | undefined): string | null {
  if (!own || !beside || own.size === beside.size) return null;
  return `By the value of the ultrasound machine, ${formatValue(beside.key, beside.one.value)}, the heart is ${SIZE_TEXT[beside.size]}: measure by hand.`;
}

/** A value whose interval reaches across a limit is no finding, but a reason to measure by hand. */
function judgeSize(measurements: readonly Measurement[]): CardiacJudgement {
  const { area, beside, round } = judgedRatios(measurements);
  const [own] = criterion('cardiothoracic-area-ratio', area);
  const [machines] = criterion('cardiothoracic-area-ratio', beside);
  const present = [
    ...(own ? [own] : []),
    ...criterion('cardiothoracic-circumference-ratio', round),
  ];
  if (present.length === 0) {
    return { sentences: [], missing: [], findings: [], classifications: [] };
  }
  const value = leading(present.map(({ size }) => size));
  const shown = present.map(({ key, one }) => shownAs(one, key)).join(', ');
  const concept = findingConcept('cardiac-size');
  const near = own?.near ?? null;
  const other = contradiction(own, machines);
  const sure = leading(present.filter((one) => one.near === null).map(({ size }) => size));
  const told = leading([sure, machines?.size ?? 'normal']);
  const used = [...present, ...(machines ? [machines] : [])];
  const finding: FindingDraft = {
    id: 'cardiac-size',
    section: FETAL_HEART_SECTION,
    concept,
    text: [
      `${shown}: the heart is ${SIZE_TEXT[sure === 'normal' ? value : sure]}.`,
      ...(other ? [other] : []),
    ].join(' '),
    severity: 'abnormal',
    confidence: area?.confidence ?? null,
    evidence: used.map(({ one }) => one.id),
  };
  return {
    sentences: [`${shown}.`],
    missing: [near, other].filter((one) => one !== null),
    findings: told === 'normal' ? [] : [finding],
    classifications: [
      {
        id: 'cardiac-size',
        section: FETAL_HEART_SECTION,
        concept,
        name: 'Size of the heart',
        value,
        scheme: 'cardiothoracic ratios, ISUOG 2023',
        criteria: used.map(({ key, one }) => ({
          name: `${one.label}${one === beside ? ' (ultrasound machine)' : ''} ${LIMITS[key].text}`,
          value: formatValue(key, one.value),
          met: LIMITS[key].holds(one.value),
        })),
      },
    ],
  };
}

const IMPLAUSIBLE =
  'A cardiothoracic ratio of the ultrasound machine is implausible and was not used.';

/** Why there is no ratio. */
function gapOf({ views }: FetalHeartEvidence, measurements: readonly Measurement[]): string {
  if (measurements.some((one) => isOfMachine(one) && one.quality === 'inadequate')) {
    return `The cardiothoracic ratio was not measured. ${IMPLAUSIBLE}`;
  }
  const why =
    views.fetalHeart?.chests === null
      ? 'no permitted model outlines the heart'
      : 'no four-chamber view that shows the whole thorax was outlined surely enough';
  return `The cardiothoracic ratio was not measured: ${why}.`;
}

function judged(evidence: FetalHeartEvidence, measurements: Measurement[]): CardiacSizeOutcome {
  const size = judgeSize(measurements);
  const axis = judgeAxis(measurements);
  const sized = size.classifications.length > 0;
  return {
    measurements,
    sentences: [...size.sentences, ...axis.sentences],
    missing: [...(sized ? [] : [gapOf(evidence, measurements)]), ...size.missing, ...axis.missing],
    findings: [...size.findings, ...axis.findings],
    classifications: [...size.classifications, ...axis.classifications],
  };
}

/** The hearts of several fetuses, each by the images that name it: no two are put together. */
function ofSeveral(
  evidence: FetalHeartEvidence,
  machine: readonly Measurement[],
  why: string,
): CardiacSizeOutcome {
  const chests = evidence.views.fetalHeart?.chests ?? [];
  const byName = Map.groupBy(chests, ({ clip }) => fetusKey(fetusOf(clip)));
  const unnamed = byName.get(fetusKey(null)) ?? [];
  const own = [...byName].flatMap(([key, readings]) => {
    const fetus = readings[0] ? fetusOf(readings[0].clip) : null;
    if (fetus === null || key === fetusKey(null)) return [];
    const one = judged(evidence, ratiosOf(readings, [], evidence));
    const say = (text: string) => ofFetusText(text, fetus);
    return [
      {
        ...keyedByFetus(one, fetus),
        sentences: one.sentences.map(say),
        missing: one.missing.map(say),
      },
    ];
  });
  const rest =
    unnamed.length > 0
      ? [
          `The size and the axis of the heart were not assessed on images that name no fetus: ${why}.`,
        ]
      : own.length === 0
        ? [gapOf(evidence, [])]
        : [];
  return {
    measurements: own.flatMap(({ measurements }) => measurements),
    sentences: own.flatMap(({ sentences }) => sentences),
    missing: [
      ...own.flatMap(({ missing }) => missing),
      ...rest,
      ...(machine.length > 0 ? [MACHINE_UNUSED] : []),
    ],
    findings: own.flatMap(({ findings }) => findings),
    classifications: own.flatMap(({ classifications }) => classifications),
  };
}

/** Ratios of heart to thorax and axis of the heart, from images and from the machine's report. */
export function cardiacSizeOf(evidence: FetalHeartEvidence): CardiacSizeOutcome {
  const machine = evidence.machine.values(FETAL_HEART_SECTION, RATIOS);
  const why = evidence.severalFetuses;
  if (why !== null) return ofSeveral(evidence, machine, why);
  const chests = evidence.views.fetalHeart?.chests ?? [];
  if (!ofSeveralFetuses(machine)) return judged(evidence, ratiosOf(chests, machine, evidence));
  const own = judged(evidence, ratiosOf(chests, [], evidence));
  return { ...own, missing: [...own.missing, MACHINE_UNUSED] };
}
