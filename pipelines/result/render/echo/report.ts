import { chartEntry, methodEntry } from '../../../concepts/concepts.ts';
import type { EchoConcept } from '../../../concepts/echo.ts';
import type { Measurement, Result, Section } from '../../envelope.ts';
import { isSameStatement, type Statement } from '../../statement.ts';
import { byId, type MeasurementsById, renderStatements } from '../render.ts';
import {
  imagesLine,
  isAssessed,
  limitationsOf,
  NOTHING_ACCEPTED,
  NOTHING_CONCLUDED,
  sentence,
  withSubject,
} from '../report-lines.ts';
import { namedText, valueText } from './shared.ts';

type Report = NonNullable<Result['report']>;

/**
 * The section that states what the study contains and lacks. It comes before the structures and is
 * not a conclusion.
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

/** Maximum number of statements in the impression, the most important first (echo 16). */
const IMPRESSIONS = 10;

/** Words that compare a value with its range. */
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

/** A row of the findings: the value with its range, its method and its remarks. */
function measurementLine(measurement: Measurement): string {
  const { concept, value, note } = measurement;
  const name = withSubject(measurement.label, measurement);
  const method = methodEntry(measurement.method)?.text ?? measurement.method;
  const remark = note ? ` Note: ${sentence(note)}` : '';
  return `${name}: ${valueText(concept.key as EchoConcept, value)}${rangeText(measurement)}; ${sentence(method)}${remark}`;
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

const OUTSIDE = { H: 'above its range', L: 'below its range', A: 'abnormal' } as const;

/** A value as text; if it is outside its range, with the words for it. */
function outsideText(one: Measurement): string {
  const { interpretation } = one;
  return interpretation && interpretation !== 'N'
    ? `${namedText(one)} (${OUTSIDE[interpretation]})`
    : namedText(one);
}

/** Maximum number of values that represent a section in which nothing else is concluded. */
const HEADLINES = 3;

/**
 * The values that represent a section in the impression: those outside their range, otherwise the
 * first ones.
 */
function headlineText(accepted: readonly Measurement[], concluded: boolean): string[] {
  const outside = accepted.filter(({ interpretation }) => (interpretation ?? 'N') !== 'N');
  const headlines =
    outside.length > 0 ? outside.slice(0, HEADLINES) : accepted.slice(0, concluded ? 1 : HEADLINES);
  return headlines.length > 0 ? [`${headlines.map(outsideText).join(', ')}.`] : [];
}

/**
 * The text of an assessed section for the impression: its headline values and its conclusions. The
 * other values are listed in the findings, what is missing in the limitations.
 */
function conclusionText(
  { summary, statements }: Section,
  measurements: MeasurementsById,
  elsewhere: readonly Statement[],
): string {
  const isGap = ({ kind }: Statement) => kind === 'gap';
  if (!statements || statements.every(isGap)) return summary;
  const concluded = statements.filter(
    (one) =>
      one.kind !== 'gap' &&
      one.kind !== 'value' &&
      !elsewhere.some((other) => isSameStatement(one, other)),
  );
  const values = statements
    .filter(({ kind }) => kind === 'value')
    .flatMap(({ about }) => about.flatMap((id) => measurements.get(id) ?? []));
  return [
    ...headlineText(values, concluded.length > 0),
    renderStatements(concluded, measurements),
    statements.some(isGap) ? 'Assessed in part, see limitations.' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/**
 * A line for each assessed section without an abnormal finding.
 * @param elsewhere statements that the document shows in another place.
 */
function sectionConclusions(result: Result, elsewhere: readonly Statement[]): string[] {
  const measurements = byId(result.measurements);
  const reported = new Set(
    result.findings.filter(({ severity }) => severity !== 'info').map(({ section }) => section),
  );
  return ORDER.flatMap((id) => {
    const section = result.sections.find((one) => one.id === id);
    if (!section || !isAssessed(section) || reported.has(id)) return [];
    const text = conclusionText(section, measurements, elsewhere);
    return text ? [`${section.title}: ${text}`] : [];
  });
}

/** The conclusions of the sections, for a document that lists the findings separately. */
export function conclusionsBesideFindings(result: Result): string[] {
  const loud = result.findings.filter(({ severity }) => severity !== 'info');
  return sectionConclusions(
    result,
    result.findings.flatMap(({ statement }) => statement ?? []),
  ).slice(0, Math.max(0, IMPRESSIONS - loud.length));
}

/**
 * The impression: abnormal findings first, then the conclusions of the other sections, then
 * findings that are only noted.
 */
function impressionOf(result: Result): string[] {
  const findings = result.findings.toSorted(
    (one, other) => WEIGHT[one.severity] - WEIGHT[other.severity],
  );
  const loud = findings.filter(({ severity }) => severity !== 'info');
  const quiet = findings.filter(({ severity }) => severity === 'info');
  const lines = [
    ...loud.map(({ text }) => text),
    ...sectionConclusions(result, []),
    ...quiet.map(({ text }) => text),
  ];
  return lines.length > 0 ? lines.slice(0, IMPRESSIONS) : [NOTHING_CONCLUDED];
}

/**
 * The draft report in the order of REP25. It is written from the result alone, so it cannot contain
 * anything that is not in the result.
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
