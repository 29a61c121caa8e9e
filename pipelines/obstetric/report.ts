import { CONCEPTS, chartEntry, conceptEntry, methodEntry } from '../result/concepts.ts';
import type { Measurement, Result, Section } from '../result/envelope.ts';
import { weeksAndDays } from './charts/dates.ts';
import { formatCentile } from './growth-references.ts';

type Report = NonNullable<Result['report']>;

/** Rows of the biometry table, in the order of ISUOG 2022. */
const ROWS = Object.keys(CONCEPTS);

function valueText({ concept, value, unit }: Measurement): string {
  if (unit === 'd') return `${weeksAndDays(value)} weeks`;
  const decimals = conceptEntry(concept.key)?.decimals ?? 1;
  const number = value.toFixed(decimals);
  return unit === '1' ? number : `${number} ${unit}`;
}

function referenceText({ reference }: Measurement): string {
  if (reference?.centile == null || reference.z_score == null) return '';
  const chart = chartEntry(reference.chart)?.name ?? reference.chart;
  return `, centile ${formatCentile(reference.centile)}, z-score ${reference.z_score.toFixed(1)} (${chart})`;
}

function measurementLine(measurement: Measurement): string {
  const method = methodEntry(measurement.method)?.text ?? measurement.method;
  const note = measurement.note ? ` Note: ${measurement.note}.` : '';
  return `${measurement.label}: ${valueText(measurement)}${referenceText(measurement)}; ${method}.${note}`;
}

/** Accepted values that stand for their concept, in the order of the table. */
function tableOf(result: Result): Measurement[] {
  return ROWS.flatMap(
    (key) =>
      result.measurements.find(({ id, quality }) => id === key && quality === 'accepted') ?? [],
  );
}

function datingLine(growth: Section | undefined): string {
  const dating = growth?.data.dating;
  const days =
    typeof dating === 'object' && dating !== null && 'ga_days' in dating ? dating.ga_days : null;
  return typeof days === 'number'
    ? `Stated gestational age: ${weeksAndDays(days)} weeks.`
    : 'Gestational age was not given.';
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function impressionOf(result: Result): string[] {
  const abnormal = result.findings
    .filter(({ severity }) => severity !== 'info')
    .map(({ text }) => text);
  const growth = result.sections.find(({ id }) => id === 'growth');
  const size =
    growth && (growth.status === 'complete' || growth.status === 'partial') ? [growth.summary] : [];
  const guidance = result.guidance.map(({ text }) => text);
  const lines = [...abnormal, ...size, ...guidance];
  return lines.length > 0 ? lines : ['No conclusion can be drawn from what was assessed.'];
}

function limitationsOf(result: Result): string[] {
  const gaps = result.sections.flatMap(({ title, reason }) =>
    reason ? [`${title}: ${sentence(reason.detail)}`] : [],
  );
  const refused = result.input_summary.refused.map(
    ({ file, reason }) => `${file} was not read: ${sentence(reason)}`,
  );
  return [
    ...gaps,
    ...refused,
    'Computer-assisted draft; to be verified by the reporting clinician.',
  ];
}

/**
 * The draft report in the order of obstetric reference 14: written from the result alone, so that
 * it can say nothing that the result does not hold, and negative only what was assessed.
 */
export function writeReport(result: Result): Report {
  const growth = result.sections.find(({ id }) => id === 'growth');
  const { files, frames, calibrated_frames: calibrated } = result.input_summary;
  const table = tableOf(result);
  return {
    language: 'en',
    title: 'Obstetric ultrasound: draft report',
    findings: [
      datingLine(growth),
      `Images: ${frames} frames of ${files} files, ${calibrated} with a physical scale.`,
      ...(table.length > 0 ? table.map(measurementLine) : ['No measurement was accepted.']),
      ...result.findings.filter(({ severity }) => severity === 'info').map(({ text }) => text),
    ],
    impression: impressionOf(result),
    limitations: limitationsOf(result),
  };
}
