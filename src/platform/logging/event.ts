/** A log line that an operator may act on. Its fields contain no patient identity. */
export interface LogEvent<Fields extends object = object> {
  level: 'info' | 'warn' | 'error';
  /** May be reworded: alerts and metrics rely on the id, which is the key in the table. */
  text: string;
  meaning: string;
  /** What the operator should do; absent if no action is needed. */
  action?: string;
  /** Used only as a type: the fields of this event's log line, in addition to its text. */
  fields?: Fields;
}

/** Type of the fields of an event that is logged without fields. */
type NoFields = Record<never, never>;

/** Defines an event and the fields of its log line. */
export const event = <Fields extends object = NoFields>(
  described: LogEvent<Fields>,
): LogEvent<Fields> => described;
