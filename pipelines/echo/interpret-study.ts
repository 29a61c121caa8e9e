import { assembleResult } from '../result/assemble.ts';
import type { Result, Section } from '../result/envelope.ts';
import { unsupportedClaims } from '../result/report-check.ts';
import { withWithheld } from './conclude.ts';
import { SURFACE_SECTION } from './evidence.ts';
import type { EchoOptions } from './input.ts';
import { writeReport } from './report.ts';
import type { EchoEvidence, SectionOutcome } from './section.ts';
import { SECTIONS } from './sections/index.ts';
import { valuesOf } from './values.ts';

export const ECHO = {
  id: 'us/echo/interpret',
  model: 'us/echo',
  version: '1.0.0',
  title: 'Echocardiography',
} as const;

export const REPORT_SECTION = { id: 'report', title: 'Draft report' } as const;

const NOT_REQUESTED: SectionOutcome = {
  status: 'not_requested',
  reason: {
    code: 'not_requested',
    detail: 'The draft report was not requested.',
    needs: ['options.report'],
  },
  summary: 'The draft report was not requested.',
};

function toSection(id: string, title: string, outcome: SectionOutcome): Section {
  const { status, reason, summary, data = {} } = outcome;
  return { id, title, status, reason, summary, data, artifacts: [] };
}

/** Writes the report; one that says what the result does not hold is withheld. */
function report(result: Result): { report: Result['report']; outcome: SectionOutcome } {
  const written = writeReport(result);
  const unsupported = unsupportedClaims(written, result);
  if (unsupported.length === 0) {
    const summary = written.impression.join(' ');
    return { report: written, outcome: { status: 'complete', reason: null, summary } };
  }
  const detail = `The report was withheld: the result does not hold ${unsupported.join(', ')}.`;
  const reason = { code: 'unsupported_claim', detail, needs: [] };
  return { report: null, outcome: { status: 'failed', reason, summary: detail } };
}

/**
 * Runs every section over the evidence, in the order of the endpoint, and puts the envelope
 * together. A section sees what was measured, and what those before it calculated. Pure but for the
 * date, which is passed in.
 */
export function interpretStudy(
  evidence: EchoEvidence,
  options: EchoOptions,
  generatedAt: Date,
  models: Result['models'] = [],
): Result {
  const outcomes: SectionOutcome[] = [];
  for (const section of SECTIONS) {
    const calculated = outcomes.flatMap(({ measurements = [] }) => measurements);
    const outcome = section.run(evidence, valuesOf([...calculated, ...evidence.measured]));
    const withheld = evidence.measured.filter(
      (one) => one.section === section.id && one.quality !== 'accepted',
    );
    outcomes.push(withWithheld(outcome, section.needs, withheld));
  }
  const surface = evidence.measured.filter(
    ({ section, concept }) => section === SURFACE_SECTION && concept.key === 'body-surface-area',
  );
  const result = assembleResult({
    endpoint: ECHO.id,
    version: ECHO.version,
    generatedAt,
    models,
    study: evidence.study,
    refusedFrames: [],
    priors: evidence.priors.length,
    sections: SECTIONS.flatMap(({ id, title }, i) => {
      const outcome = outcomes[i];
      return outcome ? [toSection(id, title, outcome)] : [];
    }),
    findings: outcomes.flatMap(({ findings = [] }) => findings),
    measurements: [...surface, ...outcomes.flatMap(({ measurements = [] }) => measurements)],
    classifications: outcomes.flatMap(({ classifications = [] }) => classifications),
    guidance: outcomes.flatMap(({ guidance = [] }) => guidance),
    report: null,
  });
  const drafted = options.report ? report(result) : { report: null, outcome: NOT_REQUESTED };
  const { id, title } = REPORT_SECTION;
  return {
    ...result,
    report: drafted.report,
    sections: [...result.sections, toSection(id, title, drafted.outcome)],
  };
}
