import type { Study } from '../contract/study.ts';
import { assembleResult } from '../result/assemble.ts';
import { type Decisions, deciding } from '../result/decisions.ts';
import type { Measurement, Result } from '../result/envelope.ts';
import { forConclusions, withReview } from '../result/needs-review.ts';
import { writeReport } from '../result/render/obstetric/report.ts';
import { sayOfRun } from '../result/render/shared.ts';
import { failed } from '../result/section-outcome.ts';
import { logFailure, runSection, type SectionFailed, withDraftReport } from '../run/sections.ts';
import { evidenceOf, type ObstetricEvidence, type StudyEvidence } from './evidence.ts';
import type { Locator } from './locator.ts';
import { SECTIONS } from './sections.ts';
import type { Amendment, ObstetricSection, SectionOutcome } from './shared/section.ts';
import { severalFetuses } from './shared/several-fetuses.ts';
import { withholdUnvalidated } from './withhold-unvalidated.ts';

type Section = ObstetricSection<ObstetricEvidence>;

export const OBSTETRIC = {
  id: 'us/obstetric/interpret',
  model: 'us/obstetric',
  version: '1.0.0',
  title: 'Obstetric ultrasound',
  operation: 'InterpretObstetric',
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
 * Returns true if a reader that the section depends on failed. The section then reports the
 * failure, even if the study contains usable images.
 */
function readerFailed(section: Section, { views }: ObstetricEvidence): boolean {
  return Object.entries(views).some(
    ([reader, found]) => found === null && section.reads?.includes(reader),
  );
}

/**
 * Runs each section and returns it with its outcome. Sections that draw on the conclusions of other
 * sections run last. An error in one section does not affect the others.
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

function outcomesOf(
  given: StudyEvidence,
  models: Locator['models'],
  onFailure: SectionFailed,
  decisions: Decisions | null,
): SectionOutcome[] {
  const several = severalFetuses(given);
  const run = (of: StudyEvidence, failed: SectionFailed) => {
    const ran = runSections(evidenceOf(of, several), failed);
    return SECTIONS.flatMap((section) => ran.get(section) ?? []);
  };
  const whole = deciding(decisions, () => run(given, onFailure));
  if (given.accept === 'simulated') return whole;
  const setting = {
    accept: given.accept,
    gaDays: given.options.dating?.ga_days ?? null,
    models: new Set(models.map(({ id }) => id)),
  };
  const counting = deciding(forConclusions(decisions, setting), () =>
    run(withholdUnvalidated(given, setting, decisions), onFailure),
  );
  return withReview(whole, counting, setting);
}

/**
 * Runs every section on the evidence and builds the result envelope, with the sections in the order
 * of the endpoint. The only side effect is the logging of failed sections; the date is passed in.
 * @param decisions a person's decisions from a review.
 */
export function interpretStudy(
  given: StudyEvidence,
  refusedFrames: Study['refused'],
  models: Locator['models'],
  generatedAt: Date,
  onFailure: SectionFailed = logFailure,
  decisions: Decisions | null = null,
): Result {
  const outcomes = outcomesOf(given, models, onFailure, decisions);
  const sections = SECTIONS.flatMap((section, i) => {
    const outcome = outcomes[i];
    return outcome ? [{ ...section, outcome }] : [];
  });
  const amendments = outcomes.flatMap((outcome) => outcome.amendments ?? []);
  const result = assembleResult({
    endpoint: OBSTETRIC.id,
    version: OBSTETRIC.version,
    generatedAt,
    models,
    accept: given.accept,
    study: given.study,
    refusedFrames,
    priors: given.priors.length,
    sections,
    measurements: outcomes
      .flatMap(({ measurements = [] }) => measurements)
      .map((measurement) => amend(measurement, amendments)),
  });
  return withDraftReport(result, given.options.report ? writeReport : null, onFailure);
}
