import type { Study } from '../contract/study.ts';
import { assembleResult } from '../result/assemble.ts';
import type { Measurement, Result } from '../result/envelope.ts';
import { writeReport } from '../result/render/obstetric/report.ts';
import { sayOfRun } from '../result/render/shared.ts';
import { failed } from '../result/section-outcome.ts';
import { logFailure, runSection, type SectionFailed, withDraftReport } from '../run/sections.ts';
import { evidenceOf, type ObstetricEvidence, type StudyEvidence } from './evidence.ts';
import type { Locator } from './locator.ts';
import { SECTIONS } from './sections.ts';
import type { Amendment, ObstetricSection, SectionOutcome } from './shared/section.ts';

type Section = ObstetricSection<ObstetricEvidence>;

export const OBSTETRIC = {
  id: 'us/obstetric/interpret',
  model: 'us/obstetric',
  version: '1.0.0',
  title: 'Obstetric ultrasound',
} as const;

function amend(measurement: Measurement, amendments: readonly Amendment[]): Measurement {
  const own = amendments.find((amendment) => amendment.measurement === measurement.id);
  if (!own) return measurement;
  return {
    ...measurement,
    reference: own.reference,
    interpretation: own.interpretation,
    remarks: [...measurement.remarks, ...own.remarks],
  };
}

/**
 * Whether a reader of a section failed: the section then reports this, whatever else the study
 * contains.
 */
function readerFailed(section: Section, { views }: ObstetricEvidence): boolean {
  return Object.entries(views).some(
    ([reader, found]) => found === null && section.reads?.includes(reader),
  );
}

/**
 * Each section with its outcome; sections that draw conclusions run last. An error in one section
 * does not affect the others.
 */
function runSections(
  evidence: ObstetricEvidence,
  onFailure: SectionFailed,
): Map<Section, SectionOutcome> {
  const ran = new Map<Section, SectionOutcome>();
  const inTurn = [
    ...SECTIONS.filter(({ concludes }) => !concludes),
    ...SECTIONS.filter(({ concludes }) => concludes),
  ];
  for (const section of inTurn) {
    const before = [...ran.values()];
    const measured = before.flatMap(({ measurements = [] }) => measurements);
    const classified = before.flatMap(({ classifications = [] }) => classifications);
    const outcome = readerFailed(section, evidence)
      ? failed('reader_failed', sayOfRun.gap('run.reader-failed', {}), section.needs)
      : runSection(section, () => section.run(evidence, measured, classified), onFailure);
    ran.set(section, outcome);
  }
  return ran;
}

/**
 * Runs every section on the evidence, in the order of the endpoint, and builds the result envelope.
 * Pure except for the log of a section that failed; the date is passed in.
 */
export function interpretStudy(
  given: StudyEvidence,
  refusedFrames: Study['refused'],
  models: Locator['models'],
  generatedAt: Date,
  onFailure: SectionFailed = logFailure,
): Result {
  const evidence = evidenceOf(given);
  const ran = runSections(evidence, onFailure);
  const outcomes = SECTIONS.flatMap((section) => ran.get(section) ?? []);
  const sections = SECTIONS.flatMap((section) => {
    const outcome = ran.get(section);
    return outcome ? [{ ...section, outcome }] : [];
  });
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
    measurements: outcomes
      .flatMap(({ measurements = [] }) => measurements)
      .map((measurement) => amend(measurement, amendments)),
  });
  return withDraftReport(result, evidence.options.report ? writeReport : null, onFailure);
}
