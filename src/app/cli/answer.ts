/** The option `--json` of every command that prints an answer. */
export interface AnswerForm {
  json?: boolean;
}

/**
 * Prints the answer of a command to standard output: for a program one JSON document, for a person
 * lines of text. Progress and errors go to standard error in both cases.
 */
export function answer({ json }: AnswerForm, value: unknown, lines: readonly string[]): void {
  const text = json ? JSON.stringify(value, null, 2) : lines.join('\n');
  if (text !== '') process.stdout.write(`${text}\n`);
}
