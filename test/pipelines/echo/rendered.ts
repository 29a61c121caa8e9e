import type { Measurement } from '../../../pipelines/result/envelope.ts';
import {
  byId,
  renderOutcome,
  renderStatement,
  withNote,
} from '../../../pipelines/result/render/render.ts';
import type { SectionOutcome } from '../../../pipelines/result/section-outcome.ts';
import type { Statement } from '../../../pipelines/result/statement.ts';

/** The remarks of measurements as the report shows them. */
export const notesOf = (measurements: readonly Measurement[]) =>
  measurements.map((one) => withNote(one).note);

/** The remarks of one measurement as the report shows them. */
export const noteOf = (measurement: Measurement | null | undefined) =>
  measurement ? withNote(measurement).note : null;

/** A statement as the report shows it. */
export const textOf = (statement: Statement | null, measurements: readonly Measurement[] = []) =>
  statement && renderStatement(statement, byId(measurements));

/** The rendered text of one section; `others` are measurements of other sections. */
export const rendered = (outcome: SectionOutcome, others: readonly Measurement[] = []) =>
  renderOutcome(outcome, byId([...others, ...(outcome.measurements ?? [])].map(withNote)));
