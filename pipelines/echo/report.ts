import { type ConceptKey, chartEntry, methodEntry } from '../result/concepts.ts';
import type { Measurement, Result, Section } from '../result/envelope.ts';
import { conclusionOf } from './conclude.ts';
import { shown } from './values.ts';

type Report = NonNullable<Result['report']>;

/** What the study holds and lacks stands before the structures, and is no conclusion. */
const STUDY = 'views';

/** Structures in the fixed order of REP25 (echo reference 16). */
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

/** At most so many statements, the most important first (reference 16). */
const IMPRESSIONS = 10;

const ASSESSED: ReadonlySet<Section['status']> = new Set(['complete', 'partial', 'inadequate']);

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

function measurementLine(measurement: Measurement): string {
  const { label, concept, value, reference, note } = measurement;
  const method = methodEntry(measurement.method)?.text ?? measurement.method;
  const flag =
    measurement.interpretation === 'H'
      ? ', above the range of'
      : measurement.interpretation === 'L'
        ? ', below the range of'
        : ', within the range of';
  const range = reference ? `${flag} ${chartEntry(reference.chart)?.name ?? reference.chart}` : '';
  const remark = note ? ` Note: ${sentence(note)}` : '';
  return `${label}: ${shown(concept.key as ConceptKey, value)}${range}; ${sentence(method)}${remark}`;
}

function sectionLines(result: Result, id: string): string[] {
  const section = result.sections.find((one) => one.id === id);
  if (!section || !ASSESSED.has(section.status)) return [];
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
    if (!section || !ASSESSED.has(section.status) || told.has(id)) return [];
    const own = result.measurements.filter((one) => one.section === id);
    return [`${section.title}: ${conclusionOf(section, own)}`];
  });
  const quiet = findings.filter(({ severity }) => severity === 'info');
  const lines = [...loud.map(({ text }) => text), ...assessed, ...quiet.map(({ text }) => text)];
  return lines.length > 0
    ? lines.slice(0, IMPRESSIONS)
    : ['No conclusion can be drawn from what was assessed.'];
}

/**
 * The draft report in the order of REP25: written from the result alone, so that it can say nothing
 * that the result does not hold, and nothing of what was not assessed but that.
 */
export function writeReport(result: Result): Report {
  const { files, frames, calibrated_frames: calibrated } = result.input_summary;
  const study = sectionLines(result, STUDY);
  const assessed = ORDER.flatMap((id) => sectionLines(result, id));
  const gaps = result.sections.flatMap(({ title, reason }) =>
    reason ? [`${title}: ${sentence(reason.detail)}`] : [],
  );
  const refused = result.input_summary.refused.map(
    ({ file, reason }) => `${file} was not read: ${sentence(reason)}`,
  );
  return {
    language: 'en',
    title: 'Echocardiography: draft report',
    findings: [
      `Images: ${frames} frames of ${files} files, ${calibrated} with a physical scale.`,
      ...study,
      ...(assessed.length > 0 ? assessed : ['No measurement was accepted.']),
    ],
    impression: impressionOf(result),
    limitations: [
      ...gaps,
      ...refused,
      'Computer-assisted draft; to be verified by the reporting clinician.',
    ],
  };
}
