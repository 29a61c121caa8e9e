import {
  type FindingConceptKey,
  findingConcept,
  type ObstetricConcept,
} from '../../concepts/obstetric.ts';
import { centileOf } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measured.ts';
import { type Abnormality, SIZE_NAMES, say } from '../../result/render/obstetric/anomaly-screen.ts';
import { withSubject } from '../../result/render/obstetric/shared.ts';
import {
  type ClassificationDraft,
  categoryWithin,
  criterion,
  type FindingDraft,
} from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import { atCutOff, isChosen } from '../shared/measurement.ts';
import { keyFrame } from '../shared/plane.ts';
import { finding } from '../shared/section.ts';
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

/** Quantities on the checklist that have size limits or a size chart. */
export const SCREENED = [
  'atrial-width',
  'transcerebellar-diameter',
  'cisterna-magna',
  'nuchal-fold',
] as const satisfies readonly ObstetricConcept[];
type ScreenKey = (typeof SCREENED)[number];

/**
 * Status of a checklist item. `abnormal` means that a size led to a finding. There is no `normal`,
 * because a size within its limits does not prove that the structure is normal.
 */
type ItemStatus = 'measured' | 'abnormal' | 'plane-seen' | 'not-examined';

/**
 * Checklist item for each quantity. The measurement may come from this section or from an earlier
 * one.
 */
const ITEM_OF: Readonly<Partial<Record<ObstetricConcept, string>>> = {
  'atrial-width': 'ventricles',
  'transcerebellar-diameter': 'cerebellum',
  'cisterna-magna': 'cisterna-magna',
  'nuchal-fold': 'nuchal-fold',
  'fetal-heart-rate': 'heart-activity',
  'deepest-vertical-pocket': 'fluid',
  'amniotic-fluid-index': 'fluid',
};

interface CheckedItem {
  region: string;
  item: string;
  text: string;
  mandatory: boolean;
  status: ItemStatus;
  plane: string | null;
  file: string | null;
  frame: number | null;
}

/** Returns every checklist item, each with the best frame of a plane that shows it. */
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

/**
 * Adds the sizes to the items. An item with a size becomes `measured`, or `abnormal` if the size is
 * the evidence of a finding.
 */
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

/**
 * Returns the sizes to classify. For each quantity, this is our value or, if there is none, the
 * machine's. With several fetuses, each size is classified separately.
 */
export function countingSizes(
  measurements: readonly Measurement[],
  several: boolean,
): Measurement[] {
  const accepted = measurements.filter(({ quality }) => quality === 'accepted');
  if (several) return accepted;
  const ours = accepted.filter((one) => !isOfMachine(one) && isChosen(one));
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

/**
 * Returns the z-score of a size in mm, calculated from the chart at z = 0 and z = 1. For the
 * cisterna magna it is calculated on ln(mm). Null outside the chart.
 */
function zScore(structure: BrainStructure, weeks: number, mm: number): number | null {
  const mean = brainStructureAt(structure, weeks, 0);
  const above = brainStructureAt(structure, weeks, 1);
  if (mean === null || above === null) return null;
  return structure === 'cisterna-magna'
    ? Math.log(mm / mean) / Math.log(above / mean)
    : (mm - mean) / (above - mean);
}

/** Adds z-score and centile to an accepted measurement that has a chart. */
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
  key: keyof typeof SIZE_NAMES;
  concept: FindingConceptKey;
  scheme: string;
  category: string;
  /** The limit or range checked, and whether the size meets it. */
  criterion: { name: string; met: boolean };
  /** Null if the size is within its limits. */
  abnormality: Abnormality | null;
}

function judgeVentricle(mm: number): Judgement {
  const category = ventricleCategory(mm);
  return {
    key: 'atrial-width',
    concept: 'ventriculomegaly',
    scheme: 'ISUOG 2020 CNS part 1; SMFM 2018, Fox et al., AJOG 219:B2-B9',
    category,
    criterion: { name: `at least ${VENTRICLE_MM.mild} mm`, met: category !== 'normal' },
    abnormality: category === 'normal' ? null : `${category}-ventriculomegaly`,
  };
}

function judgeCisterna(mm: number): Judgement {
  const category = cisternaMagnaCategory(mm);
  const { low, high } = SCREEN_MM.cisternaMagna;
  return {
    key: 'cisterna-magna',
    concept: 'cisterna-magna',
    scheme: 'ISUOG 2020 CNS part 1',
    category,
    criterion: { name: `from ${low} to ${high} mm`, met: category === 'normal' },
    abnormality: category === 'normal' ? null : `${category}-cisterna-magna`,
  };
}

function judgeFold(mm: number, gaDays: number): Judgement | null {
  const category = nuchalFoldCategory(mm, gaDays);
  return (
    category && {
      key: 'nuchal-fold',
      concept: 'nuchal-fold',
      scheme: 'Benacerraf 1985; ISUOG',
      category,
      criterion: { name: `at least ${SCREEN_MM.nuchalFold} mm`, met: category === 'thick' },
      abnormality: category === 'thick' ? 'thick-nuchal-fold' : null,
    }
  );
}

function judge(measurement: Measurement, gaDays: number, mm = measurement.value): Judgement | null {
  const key = keyOf(measurement);
  const inRange = gaDays >= BRAIN_DAYS.from && gaDays <= BRAIN_DAYS.to;
  if (key === 'atrial-width' && inRange) return judgeVentricle(mm);
  if (key === 'cisterna-magna' && inRange) return judgeCisterna(mm);
  return key === 'nuchal-fold' ? judgeFold(mm, gaDays) : null;
}

function findingOf(
  { concept }: Judgement,
  { id, confidence }: Measurement,
  said: Statement,
): FindingDraft {
  const given = { confidence };
  return finding(`${concept}-${id}`, concept, said, 'abnormal', given);
}

/**
 * Returns the machine values that fall into a different category from ours; empty if the classified
 * value is the machine's.
 */
function contradicting(
  measurement: Measurement,
  { key, category }: Judgement,
  measurements: readonly Measurement[],
  gaDays: number,
): { value: Measurement; abnormality: Abnormality | null }[] {
  if (isOfMachine(measurement)) return [];
  return measurements.flatMap((value) => {
    if (!isOfMachine(value) || value.quality !== 'accepted' || value.concept.key !== key) return [];
    const other = judge(value, gaDays);
    return other && other.category !== category ? [{ value, abnormality: other.abnormality }] : [];
  });
}

interface ScreenConclusion {
  classifications: ClassificationDraft[];
  findings: FindingDraft[];
  /** Statements about sizes that could not be classified. */
  uncertain: Statement[];
}

/**
 * Returns the categories of the classified sizes, and a finding for each abnormal size.
 *
 * If the machine value falls into a different category from ours, there is no category, and a
 * finding shows both values. There is also no category if the interval of a size includes a
 * cut-off. With several fetuses, a size not assigned to a fetus has no category, but if it is
 * outside its limits, there is still a finding.
 */
export function concludeSizes(
  measurements: readonly Measurement[],
  gaDays: number,
  several: boolean,
): ScreenConclusion {
  const concluded: ScreenConclusion = { classifications: [], findings: [], uncertain: [] };
  for (const measurement of countingSizes(measurements, several)) {
    const judged = judge(measurement, gaDays);
    if (!judged) continue;
    const { key, abnormality, concept } = judged;
    const others = several ? [] : contradicting(measurement, judged, measurements, gaDays);
    if (others.length > 0) {
      const values = others.map(({ value }) => value);
      const findings = [abnormality, ...others.map((one) => one.abnormality)];
      const said = say.gap('screen.contradiction', { key, findings }, [measurement, ...values]);
      concluded.findings.push(findingOf(judged, measurement, said));
      continue;
    }
    const within = categoryWithin(
      measurement,
      (mm) => judge(measurement, gaDays, mm)?.category ?? '',
    );
    if (within.between !== null) {
      const [low] = within.between;
      concluded.uncertain.push(...atCutOff(measurement, within));
      // Neither category is normal, so the ventricle is enlarged in any case.
      if (key === 'atrial-width' && low !== 'normal') {
        const given = {
          key,
          finding: 'ventriculomegaly' as const,
          unnamed: several && !measurement.fetus,
        };
        const said = say.conclusion('screen.abnormal', given, [measurement]);
        concluded.findings.push(findingOf(judged, measurement, said));
      }
      continue;
    }
    const unnamed = several && measurement.fetus === null;
    if (!unnamed) {
      concluded.classifications.push({
        id: `${concept}-${measurement.id}`,
        concept: findingConcept(concept),
        name: withSubject(SIZE_NAMES[key], measurement),
        value: judged.category,
        scheme: judged.scheme,
        criteria: [
          criterion(
            judged.criterion.name,
            { of: key, value: measurement.value },
            judged.criterion.met,
          ),
        ],
      });
    }
    if (!abnormality) continue;
    const given = { key, finding: abnormality, unnamed };
    const said = say.conclusion('screen.abnormal', given, [measurement]);
    concluded.findings.push(findingOf(judged, measurement, said));
  }
  return concluded;
}
