/** A log line that an operator may act on. Its fields contain no patient identity. */
export interface LogEvent<Fields extends object = object> {
  /** Stable id, on which alerts and metrics rely. The text may be reworded. */
  id: string;
  level: 'info' | 'warn' | 'error';
  text: string;
  meaning: string;
  /** What the operator should do; null if no action is needed. */
  action: string | null;
  /** Used only as a type: the fields of this event's log line, in addition to its text. */
  fields?: Fields;
}

/** Type of the fields of an event that is logged without fields. */
export type NoFields = Record<never, never>;

/** Defines an event and the fields of its log line. */
export const event = <Fields extends object = NoFields>(
  described: LogEvent<Fields>,
): LogEvent<Fields> => described;
