/** A line of the log that an operator may act on. Its fields hold no patient identity. */
export interface LogEvent<Fields extends object = object> {
  /** Stable: alerts and metrics go by it. The text may be reworded. */
  id: string;
  level: 'info' | 'warn' | 'error';
  text: string;
  meaning: string;
  /** What the operator should do; null when nothing needs to be done. */
  action: string | null;
  /** Only a type: what a line of this event says besides its text. */
  fields?: Fields;
}

/** Of an event whose line needs no fields. */
export type NoFields = Record<never, never>;

/** Describes an event and the fields of its lines. */
export const event = <Fields extends object = NoFields>(
  described: LogEvent<Fields>,
): LogEvent<Fields> => described;
