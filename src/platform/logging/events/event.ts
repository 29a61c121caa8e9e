/** A line of the log that an operator may act on. */
export interface LogEvent {
  level: 'info' | 'warn' | 'error';
  /** As the code writes it. */
  text: string;
  meaning: string;
  /** Null: nothing is to be done. */
  action: string | null;
}
