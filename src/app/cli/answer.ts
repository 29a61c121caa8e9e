/** The option `--json` of every command that prints an answer. */
export interface AnswerForm {
  json?: boolean;
}

/**
 * Prints a command's answer to standard output: one JSON document for a program, or lines of text
 * for a person. Progress and errors go to standard error in both cases.
 */
export function answer({ json }: AnswerForm, value: unknown, lines: readonly string[]): void {
  const text = json ? JSON.stringify(value, null, 2) : lines.join('\n');
  if (text !== '') process.stdout.write(`${text}\n`);
}
