import type { ObstetricConcept, ObstetricMethod } from '../../concepts/obstetric.ts';
import { findingConcept } from '../../concepts/obstetric.ts';
import type { Ellipse, PixelScale, Point } from '../../contract/image.ts';
import { type Clip, scaleFor } from '../../contract/study.ts';
import { axisEnds, perimeter, toMillimetres } from '../../measure/ellipse.ts';
import type { Caliper, Measurement } from '../../result/envelope.ts';
import {
  fetusKey,
  isOfMachine,
  isRejected,
  lineBetween,
  measuredOn,
} from '../../result/measured.ts';
import { isPlausible } from '../../result/obstetric/limits.ts';
import { say } from '../../result/render/obstetric/fetal-heart.ts';
import {
  remark,
  type SeveralFetusesSource,
  sayOfObstetric,
} from '../../result/render/obstetric/shared.ts';
import {
  type ClassificationDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import {
  acceptedValue,
  atCutOff,
  createMeasurement,
  FRAMES_PER_MEASUREMENT,
  keyedByFetus,
  ofSeveralFetuses,
  statementOfFetus,
  withMachineValues,
  withMedian,
} from '../shared/measurement.ts';
import { finding } from '../shared/section.ts';
import type {
  ChestReading,
  ChestUncertainty,
  FetalHeartEvidence,
  LocatedChest,
  LocatedSeptum,
} from './evidence.ts';
import {
  CARDIAC_AXIS,
  CARDIAC_SIZE,
  cardiacAxis,
  cardiacSize,
  cardiothoracicAreaRatio,
  cardiothoracicCircumferenceRatio,
} from './guideline.ts';
import { FETAL_HEART_SECTION } from './measure-rate.ts';

const KEYS = [
  'cardiothoracic-area-ratio',
  'cardiothoracic-circumference-ratio',
  'cardiac-axis',
] as const satisfies readonly ObstetricConcept[];

const UNCERTAINTY_OF = {
  'cardiothoracic-area-ratio': 'areaRatio',
  'cardiothoracic-circumference-ratio': 'circumferenceRatio',
  'cardiac-axis': 'axisDegrees',
} as const satisfies Record<(typeof KEYS)[number], keyof ChestUncertainty>;

interface Value {
  key: (typeof KEYS)[number];
  method: ObstetricMethod;
  value: number;
  calipers: Caliper[];
  confidence: number;
  accepted: boolean;
}

const SQUARE: PixelScale = { x: 1, y: 1 };

/**
 * Returns the scale at an outline. If there is none, pixels are assumed to be square, which is
 * sufficient for ratios and angles (obstetric 0.4).
 */
const scaleOf = (clip: Clip, outline: Ellipse): PixelScale =>
  scaleFor(clip, axisEnds(outline))?.scale ?? SQUARE;

function outline(millimetres: Ellipse, scale: PixelScale): Caliper {
  return {
    type: 'ellipse',
    points: axisEnds(millimetres).map(({ x, y }) => [x / scale.x, y / scale.y]),
  };
}

function ratios({ heart, thorax, confidence, accepted }: LocatedChest, scale: PixelScale): Value[] {
  const inner = toMillimetres(heart, scale);
  const outer = toMillimetres(thorax, scale);
  const given = {
    method: 'heart-and-thorax-outlines' as const,
    calipers: [outline(inner, scale), outline(outer, scale)],
    confidence,
    accepted,
  };
  return [
    {
      ...given,
      key: 'cardiothoracic-area-ratio',
      value: cardiothoracicAreaRatio(inner.a * inner.b, outer.a * outer.b),
    },
    {
      ...given,
      key: 'cardiothoracic-circumference-ratio',
      value: cardiothoracicCircumferenceRatio(
        perimeter(inner.a, inner.b),
        perimeter(outer.a, outer.b),
      ),
    },
  ];
}

/**
 * Returns the angle in degrees between the septum and the line from the spine through the centre of
 * the thorax.
 */
export function axisOf(
  { spine, crux, apex }: LocatedSeptum,
  { centre }: Ellipse,
  scale: PixelScale = SQUARE,
): number {
  const direction = (from: Point, to: Point) =>
    Math.atan2((to.y - from.y) * scale.y, (to.x - from.x) * scale.x);
  const turn = direction(crux, apex) - direction(spine, centre);
  return Math.abs((Math.atan2(Math.sin(turn), Math.cos(turn)) * 180) / Math.PI);
}

function valuesOf({ clip, located }: ChestReading): Value[] {
  if (!located) return [];
  const scale = scaleOf(clip, located.thorax);
  const { septum, thorax } = located;
  return [
    ...ratios(located, scale),
    ...(septum
      ? [
          {
            key: 'cardiac-axis' as const,
            method: 'cardiac-axis-septum' as const,
            value: axisOf(septum, thorax, scale),
            calipers: [
              lineBetween(septum.crux, septum.apex),
              lineBetween(septum.spine, thorax.centre),
            ],
            confidence: Math.min(septum.confidence, located.confidence),
            accepted: septum.accepted && located.accepted,
          },
        ]
      : []),
  ];
}

function onFrame(reading: ChestReading, one: Value, index: number, halfWidth: number | null) {
  const { clip, frame } = reading;
  const plausible = isPlausible(one.key, one.value);
  return createMeasurement(one.key, one.value, one.method, {
    id: `${one.key}-${index + 1}`,
    section: FETAL_HEART_SECTION,
    derivation: 'measured',
    source: measuredOn(clip, frame.index, 'model', one.calipers),
    confidence: one.confidence,
    uncertainty: halfWidth,
    quality: !plausible ? 'inadequate' : one.accepted ? 'accepted' : 'low',
    remarks: [
      ...(plausible ? [] : [remark('obstetric.implausible', {})]),
      remark('method.without-reference', {}),
    ],
  });
}

const heartShare = ({ located }: ChestReading) =>
  located ? (located.heart.a * located.heart.b) / (located.thorax.a * located.thorax.b) : 0;

/**
 * Sorts the readings of each cine by heart size, largest first; the order of the clips is kept. The
 * ratio is defined at end diastole (ISUOG 2023), when the heart is largest.
 */
function endDiastoleFirst(readings: readonly ChestReading[]): ChestReading[] {
  const ofClips = Map.groupBy(readings, ({ clip }) => clip);
  for (const own of ofClips.values()) own.sort((a, b) => heartShare(b) - heartShare(a));
  return readings.flatMap(({ clip }) => ofClips.get(clip)?.shift() ?? []);
}

/**
 * Measures the ratios of heart to thorax and the cardiac axis on up to three frames each, with
 * their median. In a cine, the frames nearest to end diastole are used. A still offers no such
 * choice; if it was taken in systole, the heart is smaller.
 */
export function measureChest(
  readings: readonly ChestReading[],
  uncertainty: ChestUncertainty | null,
): Measurement[] {
  const accepted = readings.filter(({ located }) => located?.accepted);
  const used = endDiastoleFirst(accepted.length > 0 ? accepted : readings).slice(
    0,
    FRAMES_PER_MEASUREMENT,
  );
  const values = used.map((reading) => ({ reading, own: valuesOf(reading) }));
  return KEYS.flatMap((key) =>
    withMedian(
      key,
      values.flatMap(({ reading, own }, index) =>
        own
          .filter((one) => one.key === key)
          .map((one) => onFrame(reading, one, index, uncertainty?.[UNCERTAINTY_OF[key]] ?? null)),
      ),
    ),
  );
}

interface CardiacJudgement {
  statements: Statement[];
  /** Statements about missing or uncertain values. */
  missing: Statement[];
  findings: FindingDraft[];
  classifications: ClassificationDraft[];
}

const { least, most } = CARDIAC_AXIS;

/**
 * Classifies the axis but not its side, because a still image does not show which side of the fetus
 * is left.
 */
function judgeAxis(measurements: readonly Measurement[]): CardiacJudgement {
  const axis = acceptedValue(measurements, 'cardiac-axis');
  if (!axis) {
    const missing = [say.gap('heart.no-axis', {})];
    return { statements: [], missing, findings: [], classifications: [] };
  }
  const within = categoryWithin(axis, cardiacAxis);
  const value = within.category;
  const id = 'cardiac-axis';
  const said = say.conclusion('heart.abnormal-axis', { least, most }, [axis]);
  const { confidence } = axis;
  return {
    statements: [say.value('heart.axis', {}, [axis])],
    missing: atCutOff(axis, within),
    findings:
      value === null || value === 'normal'
        ? []
        : [finding(id, id, said, 'abnormal', { confidence })],
    classifications:
      value === null
        ? []
        : [
            {
              id,
              concept: findingConcept(id),
              name: 'Axis of the heart (side unknown)',
              value,
              scheme: 'ISUOG 2023: 45° ± 20°',
              criteria: [
                criterion(
                  `from ${least}° to ${most}°`,
                  { of: 'cardiac-axis', value: axis.value, unit: false },
                  value === 'normal',
                ),
              ],
            },
          ],
  };
}

export const MACHINE_OF_SEVERAL = sayOfObstetric.gap('machine.of-several-fetuses', {});

const RATIOS = ['cardiothoracic-area-ratio', 'cardiothoracic-circumference-ratio'] as const;
type RatioKey = (typeof RATIOS)[number];

interface CardiacSizeOutcome extends CardiacJudgement {
  measurements: Measurement[];
}

function ratiosOf(
  chests: readonly ChestReading[],
  machine: readonly Measurement[],
  { uncertainty }: FetalHeartEvidence,
): Measurement[] {
  return withMachineValues(machine, measureChest(chests, uncertainty.chest ?? null));
}

/**
 * Returns the values to classify: the area ratio, preferably ours, and the machine's circumference
 * ratio.
 *
 * Our circumference ratio is not classified. For two ellipses on one image, a normal area ratio
 * corresponds to a large circumference ratio (0.30 and 0.55 for equal shapes), because the two
 * published limits come from outlines drawn in different ways. `beside` is the machine's area ratio
 * if ours is classified.
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

/** Criterion for a heart of normal size, by ratio. */
const LIMITS: Readonly<Record<RatioKey, string>> = {
  'cardiothoracic-area-ratio': `from ${CARDIAC_SIZE.small} to ${CARDIAC_SIZE.large}`,
  'cardiothoracic-circumference-ratio': `below ${CARDIAC_SIZE.largeCircumference.toFixed(2)}`,
};

type Size = ReturnType<typeof cardiacSize>;

interface SizedRatio {
  key: RatioKey;
  one: Measurement;
  size: Size;
  /** Reports that the interval of the ratio includes a limit; empty if it does not. */
  near: Statement[];
}

const sizeByRatio = (key: RatioKey, value: number): Size =>
  key === 'cardiothoracic-area-ratio'
    ? cardiacSize(value)
    : value >= CARDIAC_SIZE.largeCircumference
      ? 'large'
      : 'normal';

function sizedBy(key: RatioKey, one: Measurement | undefined): SizedRatio[] {
  if (!one) return [];
  const near = atCutOff(
    one,
    categoryWithin(one, (value) => sizeByRatio(key, value)),
  );
  return [{ key, one, size: sizeByRatio(key, one.value), near }];
}

/**
 * Returns the size to report. `large` comes first, because a small or normal area does not cancel
 * out a large circumference.
 */
const leading = (sizes: readonly Size[]): Size =>
  (['large', 'small'] as const).find((size) => sizes.includes(size)) ?? 'normal';

/**
 * Classifies the size. If the interval of a ratio includes a limit, the report asks for a manual
 * measurement, and there is a finding only if another ratio is abnormal.
 */
function judgeSize(measurements: readonly Measurement[]): CardiacJudgement {
  const { area, beside, round } = judgedRatios(measurements);
  const [own] = sizedBy('cardiothoracic-area-ratio', area);
  const [machines] = sizedBy('cardiothoracic-area-ratio', beside);
  const present = [...(own ? [own] : []), ...sizedBy('cardiothoracic-circumference-ratio', round)];
  if (present.length === 0) {
    return { statements: [], missing: [], findings: [], classifications: [] };
  }
  const value = leading(present.map(({ size }) => size));
  const shown = present.map(({ one }) => one);
  const near = own?.near ?? [];
  const other = own && machines && own.size !== machines.size ? machines : null;
  const sure = leading(present.filter((one) => one.near.length === 0).map(({ size }) => size));
  const reported = leading([sure, machines?.size ?? 'normal']);
  const undecided = near.length > 0 && sure === 'normal';
  const named = undecided ? machines : other;
  const used = [...present, ...(machines ? [machines] : [])];
  const id = 'cardiac-size';
  const said = say.conclusion(
    'heart.abnormal-size',
    {
      size: undecided ? null : sure === 'normal' ? value : sure,
      machine: named ? { size: named.size, value: named.one.value } : null,
    },
    shown,
  );
  const given = {
    confidence: area?.confidence ?? null,
    evidence: used.map(({ one }) => one.id),
  };
  const contradiction = other && say.gap('heart.machine-size', { size: other.size }, [other.one]);
  return {
    statements: [say.value('heart.ratios', {}, shown)],
    missing: [...near, ...(contradiction ? [contradiction] : [])],
    findings: reported === 'normal' ? [] : [finding(id, id, said, 'abnormal', given)],
    // If an interval includes a limit, there is no size category, unless another ratio is certainly
    // abnormal. There is also no category if only the machine value is abnormal.
    classifications: (near.length === 0 ? [value] : [sure])
      .filter((size) => size !== 'normal' || (near.length === 0 && reported === 'normal'))
      .map((size) => ({
        id,
        concept: findingConcept(id),
        name: 'Size of the heart',
        value: size,
        scheme: 'cardiothoracic ratios, ISUOG 2023',
        criteria: used.map(({ key, one, size: own }) =>
          criterion(
            `${one.label}${one === beside ? ' (ultrasound machine)' : ''} ${LIMITS[key]}`,
            { of: key, value: one.value },
            own === 'normal',
          ),
        ),
      })),
  };
}

function gapOf({ views }: FetalHeartEvidence, measurements: readonly Measurement[]): Statement {
  const unused = measurements.filter((one) => isOfMachine(one) && one.quality === 'inadequate');
  if (unused.length > 0) {
    const reason = unused.every(isRejected) ? 'rejected' : 'implausible';
    return say.gap('heart.no-ratio', { reason });
  }
  const reason = views.fetalHeart?.chests === null ? 'no-model' : 'no-view';
  return say.gap('heart.no-ratio', { reason });
}

function judged(evidence: FetalHeartEvidence, measurements: Measurement[]): CardiacSizeOutcome {
  const size = judgeSize(measurements);
  const axis = judgeAxis(measurements);
  const measured = size.statements.length > 0;
  return {
    measurements,
    statements: [...size.statements, ...axis.statements],
    missing: [
      ...(measured ? [] : [gapOf(evidence, measurements)]),
      ...size.missing,
      ...axis.missing,
    ],
    findings: [...size.findings, ...axis.findings],
    classifications: [...size.classifications, ...axis.classifications],
  };
}

/**
 * Returns the outcome for several fetuses. Each heart is measured on the images labelled with its
 * fetus, and values of different fetuses are never combined.
 */
function ofSeveral(
  evidence: FetalHeartEvidence,
  machine: readonly Measurement[],
  source: SeveralFetusesSource,
): CardiacSizeOutcome {
  const chests = evidence.views.fetalHeart?.chests ?? [];
  const byName = Map.groupBy(chests, ({ clip }) => fetusKey(evidence.fetusOf(clip)));
  const unnamed = byName.get(fetusKey(null)) ?? [];
  const own = [...byName].flatMap(([key, readings]) => {
    const fetus = readings[0] ? evidence.fetusOf(readings[0].clip) : null;
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
 * Returns the ratios of heart to thorax and the cardiac axis, from the images and from the
 * machine's report.
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
