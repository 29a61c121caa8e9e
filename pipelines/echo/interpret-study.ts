import { assembleResult } from '../result/assemble.ts';
import type { Result } from '../result/envelope.ts';
import { writeReport } from '../result/render/echo/report.ts';
import { sayOfEcho } from '../result/render/echo/shared.ts';
import type { SectionOutcome } from '../result/section-outcome.ts';
import { logFailure, runSection, type SectionFailed, withDraftReport } from '../run/sections.ts';
import { type EchoEvidence, SURFACE_SECTION } from './evidence.ts';
import { SECTIONS } from './sections.ts';
import type { EchoOptions } from './shared/input.ts';
import { withWithheld } from './shared/section.ts';
import { valuesOf } from './shared/values.ts';

export const ECHO = {
  id: 'us/echo/interpret',
  model: 'us/echo',
  version: '1.0.0',
  title: 'Echocardiography',
} as const;

/**
 * Adds the remark of a focused study, which every number from such a study carries (echo 15), in
 * whichever section.
 */
function withFocusedRemark(outcome: SectionOutcome): SectionOutcome {
  const { measurements = [], statements = [] } = outcome;
  if (!measurements.some(({ quality }) => quality === 'accepted')) return outcome;
  return {
    ...outcome,
    statements: [...statements, sayOfEcho.limitation('echo.focused-study', {})],
  };
}

/**
 * Runs every section on the evidence, in the order of the endpoint, and assembles the result
 * envelope. A section sees the measured values and what the sections before it calculated. If a
 * section throws, only that section fails. Pure except for the log of a failed section; the date is
 * passed in.
 */
export function interpretStudy(
  evidence: EchoEvidence,
  options: EchoOptions,
  generatedAt: Date,
  models: Result['models'] = [],
  onFailure: SectionFailed = logFailure,
): Result {
  const outcomes: SectionOutcome[] = [];
  for (const section of SECTIONS) {
    const calculated = outcomes.flatMap(({ measurements = [] }) => measurements);
    const values = valuesOf([...calculated, ...evidence.measured]);
    const outcome = runSection(section, () => section.run(evidence, values), onFailure);
    const withheld = evidence.measured.filter(
      (one) => one.section === section.id && one.quality !== 'accepted',
    );
    const whole = withWithheld(outcome, section.needs, withheld);
    outcomes.push(evidence.handheld ? withFocusedRemark(whole) : whole);
  }
  const surface = evidence.measured.filter(
    ({ section, concept, quality }) =>
      section === SURFACE_SECTION &&
      concept.key === 'body-surface-area' &&
      // A value that was withheld is not passed on; its section already lists it as withheld.
      quality === 'accepted',
  );
  const result = assembleResult({
    endpoint: ECHO.id,
    version: ECHO.version,
    generatedAt,
    models,
    study: evidence.study,
    refusedFrames: [],
    priors: evidence.priors.length,
    sections: SECTIONS.flatMap((section, i) => {
      const outcome = outcomes[i];
      return outcome ? [{ ...section, outcome }] : [];
    }),
    measurements: [...surface, ...outcomes.flatMap(({ measurements = [] }) => measurements)],
  });
  return withDraftReport(result, options.report ? writeReport : null, onFailure);
}
