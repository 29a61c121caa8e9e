import { type ConceptKey, findingConcept } from '../../concepts/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { abbreviations, acceptedValue, formatValue } from '../../result/render/number-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import { excludedBy } from '../planes/judge.ts';
import { MEASURING_PLANES } from '../shared/key-frames.ts';
import type { FramePlane, Structure } from '../shared/plane.ts';
import { REPEATABILITY } from '../shared/plausibility.ts';
import type { ObstetricSection, SectionOutcome } from '../shared/section.ts';
import {
  bpdConvention,
  deriveBiometry,
  headShape,
  uncalibratedIndex,
  weightGap,
} from './derive.ts';
import type { BiometryEvidence } from './evidence.ts';
import {
  compareWithCart,
  consistencyFindings,
  fromMachine,
  withCartInputs,
  withCartWeight,
} from './judge.ts';
import {
  isOfLastResort,
  LAST_RESORT,
  lengthsOf,
  measureApart,
  measureStructure,
  structuresWithoutScale,
} from './measure.ts';

/** `plane` is the best one of a structure, `sought` all that would do. */
const STRUCTURES = {
  head: {
    plane: 'transthalamic head plane',
    sought: 'head plane (transthalamic or transventricular)',
    keys: ['bpd', 'ofd', 'hc'],
  },
  abdomen: {
    plane: 'abdominal circumference plane',
    sought: 'abdominal circumference plane',
    keys: ['tad', 'apad', 'ac'],
  },
  femur: { plane: 'femur', sought: 'femur', keys: ['fl'] },
} as const satisfies Record<
  Structure,
  { plane: string; sought: string; keys: readonly ConceptKey[] }
>;

const NAMES = ['head', 'abdomen', 'femur'] as const satisfies readonly Structure[];

/** Gaps of a plane that was there and did not do. */
const INADEQUATE: ReadonlySet<string> = new Set([
  'low_confidence',
  'implausible',
  'plane_excluded',
]);

interface Gap {
  code: string;
  detail: string;
  need: string;
}

/** A plane below the gate is told from here on: more likely than all that it is not. */
const LIKELY = 0.5;

/** Frames that would be measured, had the classifier been surer of their plane. */
function likelyFrames(structure: Structure, { planes }: BiometryEvidence): number {
  const wanted = MEASURING_PLANES[structure].flat();
  const likely = ({ estimate: { belowGate, probabilities } }: FramePlane) =>
    belowGate != null &&
    wanted.includes(belowGate) &&
    probabilities !== undefined &&
    wanted.reduce((sum, plane) => sum + probabilities[plane], 0) > LIKELY;
  return (planes ?? []).filter(likely).length;
}

/** Why nothing of a structure was looked at: no frame shows it, or none surely enough. */
function withoutPlane(structure: Structure, names: string, evidence: BiometryEvidence): Gap {
  const { plane, sought } = STRUCTURES[structure];
  const likely = likelyFrames(structure, evidence);
  if (likely === 0) {
    const detail = `${names} not measured: no ${sought} was found.`;
    return { code: 'plane_missing', detail, need: plane };
  }
  const frames = likely === 1 ? '1 frame probably shows' : `${likely} frames probably show`;
  const detail = `${names} not measured: no ${sought} was found with certainty; ${frames} one.`;
  return { code: 'low_confidence', detail, need: `a clearer ${plane}` };
}

/** Why a structure has no accepted length; null when it has one. */
function gapOf(
  structure: Structure,
  evidence: BiometryEvidence,
  lengths: readonly Measurement[],
): Gap | null {
  const { keys, plane } = STRUCTURES[structure];
  const missing = keys.filter((key) => !acceptedValue(lengths, key));
  if (missing.length === 0) return null;
  const names = abbreviations(missing);
  const readings = evidence.readings.filter((reading) => reading.structure === structure);
  if (evidence.withoutModel.includes(structure)) {
    const detail = `${names} not measured: no permitted model locates the ${structure}.`;
    return { code: 'no_model', detail, need: `a permitted ${structure} model` };
  }
  if (readings.length === 0) return withoutPlane(structure, names, evidence);
  const uncalibrated = readings.every(({ clip }) => clip.regions.length === 0);
  if (uncalibrated) {
    const refused = readings.flatMap(({ clip }) => clip.calibrationRefused ?? [])[0];
    const why = refused ?? 'no physical scale was available';
    const detail = `${names} not measured: ${why}.`;
    return { code: 'no_calibration', detail, need: 'calibrated images or mm_per_px' };
  }
  if (readings.every((reading) => reading.located !== null && lengthsOf(reading) === null)) {
    const detail = `${names} not measured: the ${structure} is not inside one calibrated region.`;
    return { code: 'outside_calibrated_region', detail, need: plane };
  }
  const own = lengths.filter(({ concept }) => keys.some((key) => key === concept.key));
  if (own.some(({ quality }) => quality === 'inadequate')) {
    const detail = `${names} not accepted: the values of the ${structure} are implausible.`;
    return { code: 'implausible', detail, need: plane };
  }
  const excluded = readings.flatMap((reading) => excludedBy(reading) ?? [])[0];
  if (excluded) {
    const detail = `${names} not accepted: ${excluded}.`;
    return { code: 'plane_excluded', detail, need: plane };
  }
  const detail = `${names} not accepted: the ${structure} could not be outlined with confidence.`;
  return { code: 'low_confidence', detail, need: `a clearer ${plane}` };
}

/** Lengths that stand although a better plane of their structure would be wanted. */
function lastResort(lengths: readonly Measurement[]): Gap[] {
  const { keys, plane } = STRUCTURES.head;
  const used = keys.filter((key) => {
    const value = acceptedValue(lengths, key);
    return value !== null && isOfLastResort(value);
  });
  if (used.length === 0) return [];
  const detail = `${abbreviations(used)} ${LAST_RESORT} (criterion not met: cerebellum not visible); confirm on the ${plane}.`;
  return [{ code: 'plane_of_last_resort', detail, need: plane }];
}

function spreadFinding(key: ConceptKey, measurements: readonly Measurement[]): FindingDraft[] {
  const combined = acceptedValue(measurements, key);
  if (combined?.derivation !== 'median') return [];
  const values = measurements
    .filter(({ id }) => combined.inputs.includes(id))
    .map(({ value }) => value);
  const spread = Math.max(...values) - Math.min(...values);
  const limit =
    key === 'fl' ? REPEATABILITY.femurMm : REPEATABILITY.circumferenceShare * combined.value;
  if (spread <= limit) return [];
  return [
    {
      id: `repeatability-${key}`,
      section: 'biometry',
      concept: findingConcept('repeatability'),
      text: `Repeated values of ${abbreviations([key])} differ by ${formatValue(key, spread)}; measure again.`,
      severity: 'abnormal',
      confidence: null,
      evidence: combined.inputs,
    },
  ];
}

/** What a sentence says of the BPD of an index. */
const PLACEMENT = {
  'outer-outer': 'with BPD outer to outer',
  'not-stated': 'with the BPD of the ultrasound machine, whose placement is not stated',
} as const satisfies Record<ReturnType<typeof bpdConvention>, string>;

function headShapeFinding(measurements: readonly Measurement[]): FindingDraft[] {
  const index = acceptedValue(measurements, 'cephalic-index');
  const shape = index && headShape(index.value);
  if (!index || !shape) return [];
  return [
    {
      id: 'head-shape',
      section: 'biometry',
      concept: findingConcept('head-shape'),
      text: `Cephalic index ${formatValue('cephalic-index', index.value)} ${PLACEMENT[bpdConvention(measurements)]} (${shape}): head shape outside the usual range; head circumference is preferred to BPD.`,
      severity: 'info',
      confidence: null,
      evidence: [index.id],
    },
  ];
}

const SUMMARY_KEYS = ['bpd', 'ofd', 'hc', 'ac', 'fl', 'efw'] as const;

function machineSentence(measurements: readonly Measurement[]): string[] {
  const weight = acceptedValue(measurements, 'efw')?.source.provenance === 'cart-sr';
  const keys = [...fromMachine(measurements), ...(weight ? (['efw'] as const) : [])];
  if (keys.length === 0) return [];
  return [`${abbreviations(keys)} from the report of the ultrasound machine.`];
}

function summaryOf(
  measurements: readonly Measurement[],
  gaps: readonly Gap[],
  beside: readonly (string | null)[],
): string {
  const values = SUMMARY_KEYS.flatMap((key) => {
    const value = acceptedValue(measurements, key);
    return value ? [`${abbreviations([key])} ${formatValue(key, value.value)}`] : [];
  });
  return [
    values.length > 0 ? `${values.join(', ')}.` : 'Nothing was measured.',
    ...machineSentence(measurements),
    ...gaps.map(({ detail }) => detail),
    ...beside.filter((text) => text !== null),
  ].join(' ');
}

/** How BPD was placed, and where the scale of our own lengths is from (obstetric 2.1 and 0.4). */
function dataOf(
  { readings }: BiometryEvidence,
  lengths: readonly Measurement[],
): Record<string, unknown> {
  const scales = readings.flatMap((reading) => lengthsOf(reading)?.calibration ?? []);
  const calibration = scales.find((one) => one === 'user') ?? scales[0] ?? 'none';
  const structures = structuresWithoutScale(readings);
  return { bpd_convention: bpdConvention(lengths), calibration, structures };
}

/** Of several fetuses no two images are put together (obstetric 0.5 and 19). */
function apart(
  evidence: BiometryEvidence,
  measurements: Measurement[],
  why: string,
): SectionOutcome {
  const { unused } = compareWithCart(evidence, []);
  const detail = `Each length stands by itself, without a median, an age, a weight or a ratio: ${why}.`;
  return {
    status: 'partial',
    reason: { code: 'several_fetuses', detail, needs: ['a study of each fetus by itself'] },
    summary: [detail, ...(unused ? [unused] : [])].join(' '),
    data: dataOf(evidence, measurements),
    measurements,
  };
}

function run(evidence: BiometryEvidence): SectionOutcome {
  const several = evidence.severalFetuses;
  const single = several ? NAMES.flatMap((structure) => measureApart(structure, evidence)) : [];
  if (several && single.length > 0) return apart(evidence, single, several);
  const own = NAMES.flatMap((structure) => measureStructure(structure, evidence));
  const { lengths, beside, findings, unused } = compareWithCart(evidence, own);
  const gaps = NAMES.flatMap((structure) => gapOf(structure, evidence, lengths) ?? []);
  const gaDays = evidence.options.dating?.ga_days ?? null;
  const calculated = withCartInputs(deriveBiometry(lengths, gaDays), lengths);
  const weight = several
    ? { derived: calculated, findings: [] }
    : withCartWeight(evidence, calculated);
  const index = acceptedValue(calculated, 'cephalic-index') ? [] : uncalibratedIndex(evidence);
  const measurements = [...lengths, ...weight.derived, ...(several ? [] : index)];
  const none = lengths.every(({ quality }) => quality !== 'accepted');
  const told = [...gaps, ...lastResort(lengths)];
  const [first] = told;
  const inadequate = none && gaps.some(({ code }) => INADEQUATE.has(code));
  return {
    status: !first ? 'complete' : !none ? 'partial' : inadequate ? 'inadequate' : 'not_assessed',
    reason: first
      ? {
          code: first.code,
          detail: told.map(({ detail }) => detail).join(' '),
          needs: told.map(({ need }) => need),
        }
      : null,
    summary: summaryOf(measurements, told, [weightGap(lengths, gaDays), unused]),
    data: dataOf(evidence, lengths),
    measurements: [...measurements, ...beside],
    findings: [
      ...findings,
      ...weight.findings,
      ...(['hc', 'ac', 'fl'] as const).flatMap((key) => spreadFinding(key, measurements)),
      ...consistencyFindings(measurements),
      ...headShapeFinding(measurements),
    ],
  };
}

export const biometry: ObstetricSection<BiometryEvidence> = {
  id: 'biometry',
  title: 'Biometry',
  needs: ['transthalamic head plane', 'abdominal circumference plane', 'femur', 'calibration'],
  run,
};
