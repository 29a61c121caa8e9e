import type { Study } from '../contract/study.ts';
import { assembleResult } from '../result/assemble.ts';
import type { Measurement, Result, Section } from '../result/envelope.ts';
import type { Locator } from './locator.ts';
import { writeReport } from './report.ts';
import type { Amendment, ObstetricEvidence, SectionOutcome } from './section.ts';
import { SECTIONS } from './sections/index.ts';

export const OBSTETRIC = {
  id: 'us/obstetric/interpret',
  model: 'us/obstetric',
  version: '1.0.0',
  title: 'Obstetric ultrasound',
} as const;

export const REPORT_SECTION = { id: 'report', title: 'Draft report' } as const;

function amend(measurement: Measurement, amendments: readonly Amendment[]): Measurement {
  const own = amendments.find((amendment) => amendment.measurement === measurement.id);
  if (!own) return measurement;
  const notes = [measurement.note, own.note].filter(Boolean).join('; ');
  return {
    ...measurement,
    reference: own.reference,
    interpretation: own.interpretation,
    note: notes || null,
  };
}

function toSection(id: string, title: string, outcome: SectionOutcome): Section {
  const { status, reason, summary, data = {} } = outcome;
  return { id, title, status, reason, summary, data, artifacts: [] };
}

function reportSection(report: Result['report'], result: Result): Section {
  const base = { ...REPORT_SECTION, data: {}, artifacts: [] };
  if (report) {
    const summary = report.impression.join(' ');
    return { ...base, status: 'complete', reason: null, summary };
  }
  const detail = 'The draft report was not requested.';
  return {
    ...base,
    status: 'not_requested',
    reason: { code: 'not_requested', detail, needs: ['options.report'] },
    summary: result.sections.length > 0 ? detail : '',
  };
}

/**
 * Runs every section over the evidence, in the order of the endpoint, and puts the envelope
 * together. Pure but for the date, which is passed in.
 */
export function interpretStudy(
  evidence: ObstetricEvidence,
  refusedFrames: Study['refused'],
  models: Locator['models'],
  generatedAt: Date,
): Result {
  const sections: Section[] = [];
  const outcomes: SectionOutcome[] = [];
  for (const section of SECTIONS) {
    const measured = outcomes.flatMap(({ measurements = [] }) => measurements);
    const outcome = section.run(evidence, measured);
    outcomes.push(outcome);
    sections.push(toSection(section.id, section.title, outcome));
  }
  const amendments = outcomes.flatMap((outcome) => outcome.amendments ?? []);
  const result = assembleResult({
    endpoint: OBSTETRIC.id,
    version: OBSTETRIC.version,
    generatedAt,
    models,
    study: evidence.study,
    refusedFrames,
    priors: evidence.priors.length,
    sections,
    findings: outcomes.flatMap(({ findings = [] }) => findings),
    measurements: outcomes
      .flatMap(({ measurements = [] }) => measurements)
      .map((measurement) => amend(measurement, amendments)),
    classifications: outcomes.flatMap(({ classifications = [] }) => classifications),
    guidance: outcomes.flatMap(({ guidance = [] }) => guidance),
    report: null,
  });
  const report = evidence.options.report ? writeReport(result) : null;
  return { ...result, report, sections: [...sections, reportSection(report, result)] };
}
