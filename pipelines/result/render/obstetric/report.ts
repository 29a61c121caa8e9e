import { CONCEPTS, chartEntry } from '../../../concepts/concepts.ts';
import type { Measurement, Result, Section } from '../../envelope.ts';
import { isAssessed } from '../../section-outcome.ts';
import { countingValues } from '../../standing.ts';
import type { Remark } from '../../statement.ts';
import { impressionWith } from '../conclusion.ts';
import { remarkText } from '../render.ts';
import {
  findingLine,
  imagesLine,
  isOfFiles,
  NOTHING_ACCEPTED,
  titleAndLimitations,
} from '../report-lines.ts';
import { withMethod } from '../statement.ts';
import { centileText, sentence, withUnit, zScoreText } from '../unit-text.ts';
import { marginText, valueText } from '../value-text.ts';
import { datingOf, OBSTETRIC_TOPICS } from './impression.ts';
import { BASIS_TEXT, remark, SIMULATED_ONLY, weeksAndDays, withSubject } from './shared.ts';

type Report = NonNullable<Result['report']>;

const SIMULATED = remark('method.simulated-only', {});

/** Sections in the order of the structured text (obstetric 14). */
const ORDER = [
  'presentation',
  'biometry',
  'early-pregnancy',
  'nt',
  'anomaly-screen',
  'fetal-heart',
  'amniotic-fluid',
  'placenta',
  'cervix',
  'doppler',
  'labor-progress',
] as const;

/** Sections that appear only as a table, because their summary repeats the table. */
const TABLE_ONLY: ReadonlySet<string> = new Set(['biometry']);

/** Rows of the biometry table, in the order of ISUOG 2022. */
const ROWS = Object.keys(CONCEPTS);

function withMargin(measurement: Measurement): string {
  const { unit } = measurement;
  const value = valueText(measurement);
  const margin = unit === 'd' ? null : marginText(measurement);
  return margin === null ? value : `${value} ± ${withUnit(margin, unit)}`;
}

function referenceText({ reference }: Measurement): string {
  if (reference?.centile == null || reference.z_score == null) return '';
  const chart = chartEntry(reference.chart)?.name ?? reference.chart;
  return `, centile ${centileText(reference.centile)}, z-score ${zScoreText(reference.z_score)} (${chart})`;
}

const isSimulatedOnly = ({ code }: Remark) => code === SIMULATED.code;

/**
 * Returns the remarks that apply to this value only. Remarks about a whole section follow its rows.
 */
function ownRemarks(measurement: Measurement): string {
  const remarks = measurement.remarks.filter((one) => !isSimulatedOnly(one));
  const own = remarkText({ ...measurement, remarks });
  return own ? ` Note: ${sentence(own)}` : '';
}

function measurementLine(measurement: Measurement): string {
  const name = withSubject(measurement.label, measurement);
  const value = `${withMargin(measurement)}${referenceText(measurement)}`;
  return `${name}: ${withMethod(value, measurement)}${ownRemarks(measurement)}`;
}

/** Returns a section's accepted values that are used for their quantity, in table order. */
function tableOf({ measurements }: Result, section: string): Measurement[] {
  const own = measurements.filter((one) => one.section === section && one.quality === 'accepted');
  const row = ({ concept }: Measurement) => ROWS.indexOf(concept.key);
  return countingValues(own).toSorted((one, other) => row(one) - row(other));
}

function sectionLines(result: Result, id: (typeof ORDER)[number]): string[] {
  const section = result.sections.find((one) => one.id === id);
  if (!section || !isAssessed(section)) return [];
  const values = tableOf(result, id);
  const rows = values.map(measurementLine);
  const simulated = values.some(({ remarks }) => remarks.some(isSimulatedOnly));
  return [
    ...(TABLE_ONLY.has(id) ? [] : findingLine(section, result.measurements)),
    ...rows,
    ...(simulated ? [`${section.title}: ${sentence(SIMULATED_ONLY)}`] : []),
  ];
}

/**
 * Returns the line on the dating. There is no line if the section with the gestational age failed,
 * because it is then unknown whether an age was given.
 */
function datingLine(growth: Section | undefined): string[] {
  if (growth?.status === 'failed') return [];
  const stated = datingOf({ sections: growth ? [growth] : [] });
  if (!stated) return ['Gestational age was not given.'];
  const { days, basis } = stated;
  const how = basis ? `, by ${BASIS_TEXT[basis]}` : '';
  return [`Stated gestational age: ${weeksAndDays(days)} weeks${how}.`];
}

/**
 * Writes the draft report in the order of obstetric 14. The result is its only input, so the report
 * cannot contain anything else. Negative findings are reported only for what was assessed.
 */
export function writeReport(result: Result): Report {
  const growth = result.sections.find(({ id }) => id === 'growth');
  const assessed = ORDER.flatMap((id) => sectionLines(result, id));
  const noted = result.findings.filter((one) => one.severity === 'info' && !isOfFiles(one));
  const impression = impressionWith(OBSTETRIC_TOPICS, result);
  return {
    language: 'en',
    ...titleAndLimitations(result, impression.impression_lines),
    findings: [
      ...datingLine(growth),
      imagesLine(result),
      ...(assessed.length > 0 ? assessed : [NOTHING_ACCEPTED]),
      ...noted.map(({ text }) => text),
    ],
    ...impression,
  };
}
