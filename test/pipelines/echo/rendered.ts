import type { Measurement } from '../../../pipelines/result/envelope.ts';
import {
  byId,
  renderOutcome,
  renderStatement,
  withNote,
} from '../../../pipelines/result/render/render.ts';
import type { SectionOutcome } from '../../../pipelines/result/section-outcome.ts';
import type { Statement } from '../../../pipelines/result/statement.ts';

/** Returns the remarks on measurements as they appear in the report. */
export const notesOf = (measurements: readonly Measurement[]) =>
  measurements.map((one) => withNote(one).note);

export const noteOf = (measurement: Measurement | null | undefined) =>
  measurement ? withNote(measurement).note : null;

export const textOf = (statement: Statement | null, measurements: readonly Measurement[] = []) =>
  statement && renderStatement(statement, byId(measurements));

/** Returns the rendered text of one section. `others` are measurements from other sections. */
export const rendered = (outcome: SectionOutcome, others: readonly Measurement[] = []) =>
  renderOutcome(
    'section',
    outcome,
    byId([...others, ...(outcome.measurements ?? [])].map(withNote)),
  );
