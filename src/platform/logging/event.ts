/** A line of the log on which an operator may act. Its fields contain no patient identity. */
export interface LogEvent<Fields extends object = object> {
  /** Stable id, on which alerts and metrics depend. The text may be reworded. */
  id: string;
  level: 'info' | 'warn' | 'error';
  text: string;
  meaning: string;
  /** What the operator should do; null if no action is needed. */
  action: string | null;
  /** Used only as a type: the fields of a line of this event, in addition to its text. */
  fields?: Fields;
}

/** Fields of an event whose lines have no fields. */
export type NoFields = Record<never, never>;

/** Describes an event and the fields of its lines. */
export const event = <Fields extends object = NoFields>(
  described: LogEvent<Fields>,
): LogEvent<Fields> => described;
