import type { Measurement } from '../../result/envelope.ts';
import { ofFetusId } from '../../result/measured.ts';
import type { ClassificationDraft, FindingDraft } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';

interface Judged {
  measurements: Measurement[];
  findings: FindingDraft[];
  classifications: ClassificationDraft[];
}

/** A statement about one of several fetuses, whose measurements have ids of that fetus. */
export const statementOfFetus = (statement: Statement, fetus: string): Statement => ({
  ...statement,
  fetus,
  about: statement.about.map((id) => ofFetusId(id, fetus)),
});

/**
 * Measurements, findings and classifications of one of several fetuses: the ids, the names and the
 * statements say which one (obstetric 0.5: every fetal section is keyed by fetus).
 */
export function keyedByFetus(judged: Judged, fetus: string): Judged {
  const idOf = (id: string) => ofFetusId(id, fetus);
  return {
    measurements: judged.measurements.map((one) => ({
      ...one,
      id: idOf(one.id),
      fetus,
      inputs: one.inputs.map(idOf),
    })),
    findings: judged.findings.map(({ statement, statements, ...one }) => ({
      ...one,
      id: idOf(one.id),
      ...(statement && { statement: statementOfFetus(statement, fetus) }),
      ...(statements && { statements: statements.map((said) => statementOfFetus(said, fetus)) }),
      evidence: one.evidence.map(idOf),
    })),
    classifications: judged.classifications.map((one) => ({
      ...one,
      id: idOf(one.id),
      name: `${one.name}, fetus ${fetus}`,
    })),
  };
}
