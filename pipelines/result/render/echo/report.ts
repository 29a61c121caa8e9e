import { chartEntry } from '../../../concepts/concepts.ts';
import type { EchoConcept } from '../../../concepts/echo.ts';
import type { Measurement, Result } from '../../envelope.ts';
import { isAssessed } from '../../section-outcome.ts';
import { impressionWith } from '../conclusion.ts';
import { withSubject } from '../obstetric/shared.ts';
import { findingLine, imagesLine, NOTHING_ACCEPTED, titleAndLimitations } from '../report-lines.ts';
import { withMethod } from '../statement.ts';
import { sentence } from '../unit-text.ts';
import { ECHO_TOPICS } from './impression.ts';
import { valueText } from './shared.ts';

type Report = NonNullable<Result['report']>;

/**
 * Section on what the study contains and lacks. It comes before the structures and draws no
 * conclusions.
 */
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

/** Renders a row of the findings: the value with its range, method and remarks. */
function measurementLine(measurement: Measurement): string {
  const { concept, value, note } = measurement;
  const name = withSubject(measurement.label, measurement);
  const remark = note ? ` Note: ${sentence(note)}` : '';
  const shown = `${valueText(concept.key as EchoConcept, value)}${rangeText(measurement)}`;
  return `${name}: ${withMethod(shown, measurement)}${remark}`;
}

function sectionLines(result: Result, id: string): string[] {
  const section = result.sections.find((one) => one.id === id);
  if (!section || !isAssessed(section)) return [];
  const rows = result.measurements
    .filter((one) => one.section === id && one.quality === 'accepted')
    .map(measurementLine);
  return [...findingLine(section, result.measurements), ...rows];
}

/**
 * Writes the draft report in the order of REP25. The result is its only input, so the report cannot
 * contain anything else.
 */
export function writeReport(result: Result): Report {
  const study = sectionLines(result, STUDY);
  const assessed = ORDER.flatMap((id) => sectionLines(result, id));
  const impression = impressionWith(ECHO_TOPICS, result);
  return {
    language: 'en',
    ...titleAndLimitations(result, impression.impression_lines),
    findings: [
      imagesLine(result),
      ...study,
      ...(assessed.length > 0 ? assessed : [NOTHING_ACCEPTED]),
    ],
    ...impression,
  };
}
