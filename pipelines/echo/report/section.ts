import { type ConceptKey, chartEntry, methodEntry } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import {
  imagesLine,
  isAssessed,
  limitationsOf,
  NOTHING_ACCEPTED,
  NOTHING_CONCLUDED,
  sentence,
  withSubject,
} from '../../result/render/report-lines.ts';
import { conclusionOf } from '../shared/conclude.ts';
import { shown } from '../shared/values.ts';

type Report = NonNullable<Result['report']>;

/** What the study holds and lacks stands before the structures, and is no conclusion. */
const STUDY = 'views';

/** Structures in the fixed order of REP25 (echo 16). */
const ORDER = [
  'lv-size',
  'lvef',
  'wall-motion',
  'lv-strain',
  'diastolic',
  'rv-function',
  'la-volume',
  'valves',
  'pulmonary-hypertension',
  'pericardial-effusion',
  'cardiomyopathy',
  'focused',
] as const;

/** At most so many statements, the most important first (echo 16). */
const IMPRESSIONS = 10;

/** How a value lies to the range that stands with it. */
const RANGE_TEXT = {
  N: 'within the range of',
  L: 'below the range of',
  H: 'above the range of',
  A: 'abnormal by the range of',
  none: 'not compared with the range of',
} as const satisfies Record<NonNullable<Measurement['interpretation']> | 'none', string>;

function rangeText({ reference, interpretation }: Measurement): string {
  if (!reference) return '';
  const source = chartEntry(reference.chart)?.name ?? reference.chart;
  return `, ${RANGE_TEXT[interpretation ?? 'none']} ${source}`;
}

function measurementLine(measurement: Measurement): string {
  const { concept, value, note } = measurement;
  const name = withSubject(measurement.label, measurement);
  const method = methodEntry(measurement.method)?.text ?? measurement.method;
  const remark = note ? ` Note: ${sentence(note)}` : '';
  return `${name}: ${shown(concept.key as ConceptKey, value)}${rangeText(measurement)}; ${sentence(method)}${remark}`;
}

function sectionLines(result: Result, id: string): string[] {
  const section = result.sections.find((one) => one.id === id);
  if (!section || !isAssessed(section)) return [];
  const rows = result.measurements
    .filter((one) => one.section === id && one.quality === 'accepted')
    .map(measurementLine);
  return [`${section.title}: ${section.summary}`, ...rows];
}

const WEIGHT = { critical: 0, abnormal: 1, info: 2 } as const;

/** What is abnormal first, then what was assessed beside it, then what is only to be noted. */
function impressionOf(result: Result): string[] {
  const findings = result.findings.toSorted(
    (one, other) => WEIGHT[one.severity] - WEIGHT[other.severity],
  );
  const loud = findings.filter(({ severity }) => severity !== 'info');
  const told = new Set(loud.map(({ section }) => section));
  const assessed = ORDER.flatMap((id) => {
    const section = result.sections.find((one) => one.id === id);
    if (!section || !isAssessed(section) || told.has(id)) return [];
    const own = result.measurements.filter((one) => one.section === id);
    return [`${section.title}: ${conclusionOf(section, own)}`];
  });
  const quiet = findings.filter(({ severity }) => severity === 'info');
  const lines = [...loud.map(({ text }) => text), ...assessed, ...quiet.map(({ text }) => text)];
  return lines.length > 0 ? lines.slice(0, IMPRESSIONS) : [NOTHING_CONCLUDED];
}

/**
 * The draft report in the order of REP25: written from the result alone, so that it can say nothing
 * that the result does not hold, and nothing of what was not assessed but that.
 */
export function writeReport(result: Result): Report {
  const study = sectionLines(result, STUDY);
  const assessed = ORDER.flatMap((id) => sectionLines(result, id));
  return {
    language: 'en',
    title: 'Echocardiography: draft report',
    findings: [
      imagesLine(result),
      ...study,
      ...(assessed.length > 0 ? assessed : [NOTHING_ACCEPTED]),
    ],
    impression: impressionOf(result),
    limitations: limitationsOf(result),
  };
}
