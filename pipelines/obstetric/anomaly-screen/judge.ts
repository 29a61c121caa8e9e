import {
  type ConceptKey,
  type FindingConceptKey,
  findingConcept,
} from '../../concepts/concepts.ts';
import { centileOf } from '../../measure/statistics.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { acrossCutOff } from '../../result/obstetric/limits.ts';
import { formatValue } from '../../result/render/number-text.ts';
import { withSubject } from '../../result/render/report-lines.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import { keyFrame } from '../shared/key-frames.ts';
import type { ScreenEvidence } from './evidence.ts';
import {
  BRAIN_DAYS,
  type BrainStructure,
  brainStructureAt,
  CHECKLIST,
  cisternaMagnaCategory,
  nuchalFoldCategory,
  SCREEN_MM,
  VENTRICLE_MM,
  ventricleCategory,
} from './guideline.ts';

/** Structures of the checklist whose size has a limit or a chart. */
export const SCREENED = [
  'atrial-width',
  'transcerebellar-diameter',
  'cisterna-magna',
  'nuchal-fold',
] as const satisfies readonly ConceptKey[];
export type ScreenKey = (typeof SCREENED)[number];

/**
 * What is said of an item. A size within its limits is no normal structure, so none is `normal`;
 * `abnormal` is one whose size is outside of them.
 */
type ItemStatus = 'measured' | 'abnormal' | 'plane-seen' | 'not-examined';

/** Items that a measurement of this section or of one before it is about. */
const ITEM_OF: Readonly<Partial<Record<ConceptKey, string>>> = {
  'atrial-width': 'ventricles',
  'transcerebellar-diameter': 'cerebellum',
  'cisterna-magna': 'cisterna-magna',
  'nuchal-fold': 'nuchal-fold',
  'fetal-heart-rate': 'heart-activity',
  'deepest-vertical-pocket': 'fluid',
  'amniotic-fluid-index': 'fluid',
};

export interface CheckedItem {
  region: string;
  item: string;
  text: string;
  mandatory: boolean;
  status: ItemStatus;
  plane: string | null;
  file: string | null;
  frame: number | null;
}

/** Each item of the checklist, with the best frame of a plane that shows it. */
export function checkItems(evidence: ScreenEvidence): CheckedItem[] {
  return Object.entries(CHECKLIST).flatMap(([region, items]) =>
    items.map(({ id, text, mandatory, shownBy }) => {
      const frames = shownBy.flatMap((plane) => keyFrame(evidence.planes ?? [], plane) ?? []);
      const best = frames.toSorted((a, b) => b.estimate.confidence - a.estimate.confidence)[0];
      return {
        region,
        item: id,
        text,
        mandatory,
        status: best ? 'plane-seen' : 'not-examined',
        plane: best?.estimate.label ?? null,
        file: best?.clip.file ?? null,
        frame: best ? best.frame.index + 1 : null,
      };
    }),
  );
}

/** An item whose size is known says so; one whose size is outside its limits is abnormal. */
export function withSizes(
  items: readonly CheckedItem[],
  sized: readonly Measurement[],
  findings: readonly FindingDraft[],
): CheckedItem[] {
  return items.map((one) => {
    const own = sized.filter(({ concept }) =>
      Object.entries(ITEM_OF).some(([key, item]) => key === concept.key && item === one.item),
    );
    if (own.length === 0) return one;
    const abnormal = findings.some(({ evidence }) => own.some(({ id }) => evidence.includes(id)));
    return { ...one, status: abnormal ? 'abnormal' : 'measured' };
  });
}

export const ANOMALY_SECTION = 'anomaly-screen';

const keyOf = ({ concept }: Measurement) => SCREENED.find((name) => name === concept.key);

/** "Atrial width (fetus A) 8.0 mm". */
export function sizeText(one: Measurement): string[] {
  const key = keyOf(one);
  return key ? [`${withSubject(one.label, one)} ${formatValue(key, one.value)}`] : [];
}

/**
 * The sizes that stand: of a quantity ours, else the machine's; where there are several fetuses each
 * by itself, since none stands for another.
 */
export function standingSizes(
  measurements: readonly Measurement[],
  several: boolean,
): Measurement[] {
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  if (several) return accepted;
  const ours = accepted.filter((one) => !isOfMachine(one) && one.id === one.concept.key);
  const machine = accepted.filter(isOfMachine);
  return [
    ...ours,
    ...machine.filter((one) => !ours.some(({ concept }) => concept.key === one.concept.key)),
  ];
}

const CHART_OF: Partial<Record<ScreenKey, { structure: BrainStructure; chart: string }>> = {
  'atrial-width': { structure: 'posterior-horn', chart: 'intergrowth-2020-brain' },
  'cisterna-magna': { structure: 'cisterna-magna', chart: 'intergrowth-2020-brain' },
  'transcerebellar-diameter': { structure: 'cerebellum', chart: 'intergrowth-2021-tcd' },
};

/** z-score by the chart's own curves at z 0 and 1; the cisterna magna's are those of ln(mm). */
function zScore(structure: BrainStructure, weeks: number, mm: number): number | null {
  const mean = brainStructureAt(structure, weeks, 0);
  const above = brainStructureAt(structure, weeks, 1);
  if (mean === null || above === null) return null;
  return structure === 'cisterna-magna'
    ? Math.log(mm / mean) / Math.log(above / mean)
    : (mm - mean) / (above - mean);
}

/** A size with its place on its chart, where there is one and the size was accepted. */
export function withChart(measurement: Measurement, gaDays: number): Measurement {
  const key = keyOf(measurement);
  const entry = key && CHART_OF[key];
  if (!entry || measurement.quality !== 'accepted') return measurement;
  const z = zScore(entry.structure, gaDays / 7, measurement.value);
  if (z === null) return measurement;
  const centile = centileOf(z);
  return {
    ...measurement,
    reference: { low: null, high: null, centile, z_score: z, chart: entry.chart },
  };
}

interface Judgement {
  key: ScreenKey;
  concept: FindingConceptKey;
  name: string;
  scheme: string;
  category: string;
  /** What is looked at, and whether it holds. */
  criterion: { name: string; met: boolean };
  /** As a finding says it; null: within its limits. */
  finding: string | null;
  /** Millimetres, where a size begins to be a finding. */
  limits: readonly number[];
}

function judge(measurement: Measurement, gaDays: number): Judgement | null {
  const key = keyOf(measurement);
  const { value } = measurement;
  const inRange = gaDays >= BRAIN_DAYS.from && gaDays <= BRAIN_DAYS.to;
  if (key === 'atrial-width' && inRange) {
    const category = ventricleCategory(value);
    return {
      key,
      concept: 'ventriculomegaly',
      name: 'Width of the lateral ventricle',
      scheme: 'ISUOG 2020 CNS part 1; SMFM 2018, Fox et al., AJOG 219:B2-B9',
      category,
      criterion: { name: `at least ${VENTRICLE_MM.mild} mm`, met: category !== 'normal' },
      finding: category === 'normal' ? null : `${category} ventriculomegaly`,
      limits: [VENTRICLE_MM.mild],
    };
  }
  if (key === 'cisterna-magna' && inRange) {
    const category = cisternaMagnaCategory(value);
    const { low, high } = SCREEN_MM.cisternaMagna;
    return {
      key,
      concept: 'cisterna-magna',
      name: 'Cisterna magna',
      scheme: 'ISUOG 2020 CNS part 1',
      category,
      criterion: { name: `from ${low} to ${high} mm`, met: category === 'normal' },
      finding: category === 'normal' ? null : `${category} cisterna magna`,
      limits: [low, high],
    };
  }
  const fold = key === 'nuchal-fold' ? nuchalFoldCategory(value, gaDays) : null;
  if (key !== 'nuchal-fold' || fold === null) return null;
  return {
    key,
    concept: 'nuchal-fold',
    name: 'Nuchal fold',
    scheme: 'Benacerraf 1985; ISUOG',
    category: fold,
    criterion: { name: `at least ${SCREEN_MM.nuchalFold} mm`, met: fold === 'thick' },
    finding: fold === 'thick' ? 'thick nuchal fold' : null,
    limits: [SCREEN_MM.nuchalFold],
  };
}

function findingOf(
  { concept }: Judgement,
  measurement: Measurement,
  text: string,
  beside: readonly Measurement[] = [],
): FindingDraft {
  return {
    id: `${concept}-${measurement.id}`,
    section: ANOMALY_SECTION,
    concept: findingConcept(concept),
    text,
    severity: 'abnormal',
    confidence: measurement.confidence,
    evidence: [measurement, ...beside].map(({ id }) => id),
  };
}

const wordsOf = ({ finding }: Judgement) => finding ?? 'within its limits';

const originOf = (measurement: Measurement) =>
  isOfMachine(measurement) ? 'value of the ultrasound machine' : 'measured on the image';

/** Values of the machine that fall into another category than ours; none where the machine's stand. */
function contradicting(
  measurement: Measurement,
  { key, category }: Judgement,
  measurements: readonly Measurement[],
  gaDays: number,
): Measurement[] {
  if (isOfMachine(measurement)) return [];
  return measurements.filter(
    (one) =>
      isOfMachine(one) &&
      one.quality === 'accepted' &&
      one.concept.key === key &&
      judge(one, gaDays)?.category !== category,
  );
}

function contradictionText(
  judged: Judgement,
  measurement: Measurement,
  others: readonly Measurement[],
  gaDays: number,
): string {
  const machine = others.flatMap((one) => {
    const words = judge(one, gaDays);
    const side = withSubject('by the ultrasound machine', one);
    return words ? [`${formatValue(judged.key, one.value)} ${side} (${wordsOf(words)})`] : [];
  });
  const own = `${formatValue(judged.key, measurement.value)} as measured here (${wordsOf(judged)})`;
  return `${judged.name} ${[own, ...machine].join(', ')}: measure by hand.`;
}

export interface ScreenConclusion {
  classifications: Result['classifications'];
  findings: FindingDraft[];
  /** What could not be decided, a sentence each. */
  unsure: string[];
}

/**
 * The categories of the sizes that stand, and what is abnormal. Where the machine's value falls into
 * another category than ours neither is given, and both are told; nor is one given where the interval
 * of a size holds a cut-off. A size of several fetuses that
 * names none of them has no category, and is told where it is abnormal.
 */
export function concludeSizes(
  measurements: readonly Measurement[],
  gaDays: number,
  several: boolean,
): ScreenConclusion {
  const concluded: ScreenConclusion = { classifications: [], findings: [], unsure: [] };
  for (const measurement of standingSizes(measurements, several)) {
    const judged = judge(measurement, gaDays);
    if (!judged) continue;
    const others = several ? [] : contradicting(measurement, judged, measurements, gaDays);
    if (others.length > 0) {
      const text = contradictionText(judged, measurement, others, gaDays);
      concluded.findings.push(findingOf(judged, measurement, text, others));
      continue;
    }
    const name = withSubject(judged.name, measurement);
    const value = formatValue(judged.key, measurement.value);
    const unnamed = several && measurement.fetus === null;
    const near = acrossCutOff(measurement.value, measurement.uncertainty, judged.limits);
    if (near) {
      concluded.unsure.push(`${name} ${value}. ${near}`);
      continue;
    }
    if (!unnamed) {
      concluded.classifications.push({
        id: `${judged.concept}-${measurement.id}`,
        section: ANOMALY_SECTION,
        concept: findingConcept(judged.concept),
        name,
        value: judged.category,
        scheme: judged.scheme,
        criteria: [{ ...judged.criterion, value }],
      });
    }
    if (!judged.finding) continue;
    const whose = unnamed ? '; of which fetus it is, is not known' : '';
    const text = `${name} ${value}: ${judged.finding} (${originOf(measurement)}${whose}).`;
    concluded.findings.push(findingOf(judged, measurement, text));
  }
  return concluded;
}
