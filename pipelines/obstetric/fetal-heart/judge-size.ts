import { findingConcept } from '../../concepts/obstetric.ts';
import { fetusOf } from '../../contract/fetus-name.ts';
import type { Measurement } from '../../result/envelope.ts';
import { fetusKey } from '../../result/measured.ts';
import { say } from '../../result/render/obstetric/fetal-heart.ts';
import { type SeveralFetusesSource, sayOfObstetric } from '../../result/render/obstetric/shared.ts';
import type { ClassificationDraft, FindingDraft } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  acrossCutOff,
  isOfMachine,
  ofSeveralFetuses,
  withMachineValues,
} from '../shared/measurement.ts';
import { keyedByFetus, statementOfFetus } from '../shared/one-of-several.ts';
import type { ChestReading, FetalHeartEvidence } from './evidence.ts';
import { CARDIAC_AXIS, CARDIAC_SIZE, cardiacAxis, cardiacSize } from './guideline.ts';
import { FETAL_HEART_SECTION } from './measure-rate.ts';
import { measureChest } from './measure-size.ts';

/** The conclusions from the size or the axis of the heart. */
export interface CardiacJudgement {
  statements: Statement[];
  /** What is missing or in doubt. */
  missing: Statement[];
  findings: FindingDraft[];
  classifications: ClassificationDraft[];
}

const { least, most } = CARDIAC_AXIS;

/**
 * Judges the axis, but not its side: a still image does not show which side of the fetus is left.
 */
function judgeAxis(measurements: readonly Measurement[]): CardiacJudgement {
  const axis = acceptedValue(measurements, 'cardiac-axis');
  if (!axis) {
    const missing = [say.gap('heart.no-axis', {})];
    return { statements: [], missing, findings: [], classifications: [] };
  }
  const value = cardiacAxis(axis.value);
  const near = acrossCutOff(axis, [least, most], 'deg');
  const concept = findingConcept('cardiac-axis');
  return {
    statements: [say.value('heart.axis', {}, [axis])],
    missing: near ? [near] : [],
    findings:
      value === 'normal' || near
        ? []
        : [
            {
              id: 'cardiac-axis',
              section: FETAL_HEART_SECTION,
              concept,
              statement: say.conclusion('heart.abnormal-axis', { least, most }, [axis]),
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
            value: { of: 'cardiac-axis', value: axis.value, unit: false },
            met: value === 'normal',
          },
        ],
      },
    ],
  };
}

/** The gap reported where the machine's values are of several fetuses. */
export const MACHINE_OF_SEVERAL = sayOfObstetric.gap('machine.of-several-fetuses', {});

const RATIOS = ['cardiothoracic-area-ratio', 'cardiothoracic-circumference-ratio'] as const;
type RatioKey = (typeof RATIOS)[number];

export interface CardiacSizeOutcome extends CardiacJudgement {
  measurements: Measurement[];
}

/** The ratios measured on these images, together with the machine's. */
function ratiosOf(
  chests: readonly ChestReading[],
  machine: readonly Measurement[],
  { uncertainty }: FetalHeartEvidence,
): Measurement[] {
  return withMachineValues(machine, measureChest(chests, uncertainty.chest ?? null));
}

/**
 * The values that are judged: the area ratio, ours before the machine's, and the circumference
 * ratio of the machine only. Ours is not judged, since two ellipses on one image with a normal area
 * ratio have a large circumference ratio (0.30 and 0.55 for equal shapes): the two limits stem from
 * outlines that were drawn differently. `beside` is the machine's area ratio where ours is judged.
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

/** The criterion that a heart of usual size meets, for each ratio. */
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

/** The cut-offs of each ratio. */
const CUT_OFFS: Readonly<Record<RatioKey, readonly number[]>> = {
  'cardiothoracic-area-ratio': [CARDIAC_SIZE.small, CARDIAC_SIZE.large],
  'cardiothoracic-circumference-ratio': [CARDIAC_SIZE.largeCircumference],
};

type Size = ReturnType<typeof cardiacSize>;

interface Criterion {
  key: RatioKey;
  one: Measurement;
  size: Size;
  /** States that the interval of the ratio includes a limit; null where it does not. */
  near: Statement | null;
}

const sizeByRatio = (key: RatioKey, value: number): Size =>
  key === 'cardiothoracic-area-ratio'
    ? cardiacSize(value)
    : value >= CARDIAC_SIZE.largeCircumference
      ? 'large'
      : 'normal';

function criterion(key: RatioKey, one: Measurement | undefined): Criterion[] {
  if (!one) return [];
  const near = acrossCutOff(one, CUT_OFFS[key], '');
  return [{ key, one, size: sizeByRatio(key, one.value), near }];
}

/**
 * The size that decides. A large one comes first: a small or usual area does not cancel a large
 * circumference.
 */
const leading = (sizes: readonly Size[]): Size =>
  (['large', 'small'] as const).find((size) => sizes.includes(size)) ?? 'normal';

/**
 * Judges the size. A ratio whose interval includes a limit is a reason to measure by hand, not a
 * finding.
 */
function judgeSize(measurements: readonly Measurement[]): CardiacJudgement {
  const { area, beside, round } = judgedRatios(measurements);
  const [own] = criterion('cardiothoracic-area-ratio', area);
  const [machines] = criterion('cardiothoracic-area-ratio', beside);
  const present = [
    ...(own ? [own] : []),
    ...criterion('cardiothoracic-circumference-ratio', round),
  ];
  if (present.length === 0) {
    return { statements: [], missing: [], findings: [], classifications: [] };
  }
  const value = leading(present.map(({ size }) => size));
  const shown = present.map(({ one }) => one);
  const concept = findingConcept('cardiac-size');
  const near = own?.near ?? null;
  const other = own && machines && own.size !== machines.size ? machines : null;
  const sure = leading(present.filter((one) => one.near === null).map(({ size }) => size));
  const reported = leading([sure, machines?.size ?? 'normal']);
  const used = [...present, ...(machines ? [machines] : [])];
  const finding: FindingDraft = {
    id: 'cardiac-size',
    section: FETAL_HEART_SECTION,
    concept,
    statement: say.conclusion(
      'heart.abnormal-size',
      {
        size: sure === 'normal' ? value : sure,
        machine: other && { size: other.size, value: other.one.value },
      },
      shown,
    ),
    severity: 'abnormal',
    confidence: area?.confidence ?? null,
    evidence: used.map(({ one }) => one.id),
  };
  const contradiction = other && say.gap('heart.machine-size', { size: other.size }, [other.one]);
  return {
    statements: [say.value('heart.ratios', {}, shown)],
    missing: [near, contradiction].filter((one) => one !== null),
    findings: reported === 'normal' ? [] : [finding],
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
          value: { of: key, value: one.value },
          met: LIMITS[key].holds(one.value),
        })),
      },
    ],
  };
}

/** The gap that explains why there is no ratio. */
function gapOf({ views }: FetalHeartEvidence, measurements: readonly Measurement[]): Statement {
  if (measurements.some((one) => isOfMachine(one) && one.quality === 'inadequate')) {
    return say.gap('heart.no-ratio', { reason: 'implausible' });
  }
  const reason = views.fetalHeart?.chests === null ? 'no-model' : 'no-view';
  return say.gap('heart.no-ratio', { reason });
}

function judged(evidence: FetalHeartEvidence, measurements: Measurement[]): CardiacSizeOutcome {
  const size = judgeSize(measurements);
  const axis = judgeAxis(measurements);
  const sized = size.classifications.length > 0;
  return {
    measurements,
    statements: [...size.statements, ...axis.statements],
    missing: [...(sized ? [] : [gapOf(evidence, measurements)]), ...size.missing, ...axis.missing],
    findings: [...size.findings, ...axis.findings],
    classifications: [...size.classifications, ...axis.classifications],
  };
}

/**
 * The outcome for several fetuses: each heart is measured on the images that name its fetus, and
 * values of two fetuses are never combined.
 */
function ofSeveral(
  evidence: FetalHeartEvidence,
  machine: readonly Measurement[],
  source: SeveralFetusesSource,
): CardiacSizeOutcome {
  const chests = evidence.views.fetalHeart?.chests ?? [];
  const byName = Map.groupBy(chests, ({ clip }) => fetusKey(fetusOf(clip)));
  const unnamed = byName.get(fetusKey(null)) ?? [];
  const own = [...byName].flatMap(([key, readings]) => {
    const fetus = readings[0] ? fetusOf(readings[0].clip) : null;
    if (fetus === null || key === fetusKey(null)) return [];
    const one = judged(evidence, ratiosOf(readings, [], evidence));
    const ofThis = (one: Statement) => statementOfFetus(one, fetus);
    return [
      {
        ...keyedByFetus(one, fetus),
        statements: one.statements.map(ofThis),
        missing: one.missing.map(ofThis),
      },
    ];
  });
  const rest =
    unnamed.length > 0
      ? [say.gap('heart.fetus-not-named', { source })]
      : own.length === 0
        ? [gapOf(evidence, [])]
        : [];
  return {
    measurements: own.flatMap(({ measurements }) => measurements),
    statements: own.flatMap(({ statements }) => statements),
    missing: [
      ...own.flatMap(({ missing }) => missing),
      ...rest,
      ...(machine.length > 0 ? [MACHINE_OF_SEVERAL] : []),
    ],
    findings: own.flatMap(({ findings }) => findings),
    classifications: own.flatMap(({ classifications }) => classifications),
  };
}

/**
 * Ratios of heart to thorax and the axis of the heart, from the images and from the machine's
 * report.
 */
export function cardiacSizeOf(evidence: FetalHeartEvidence): CardiacSizeOutcome {
  const machine = evidence.machine.values(FETAL_HEART_SECTION, RATIOS);
  const source = evidence.severalFetuses;
  if (source !== null) return ofSeveral(evidence, machine, source);
  const chests = evidence.views.fetalHeart?.chests ?? [];
  if (!ofSeveralFetuses(machine)) return judged(evidence, ratiosOf(chests, machine, evidence));
  const own = judged(evidence, ratiosOf(chests, [], evidence));
  return { ...own, missing: [...own.missing, MACHINE_OF_SEVERAL] };
}
