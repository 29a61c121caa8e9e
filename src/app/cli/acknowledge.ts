import { userInfo } from 'node:os';
import { type AnswerForm, answer } from './answer.ts';
import { runCommand } from './operations.ts';

/**
 * Records who has seen the critical flags of a request: `by` or, if absent, the operating system
 * account.
 */
export async function acknowledge(
  request: string,
  { by, ...form }: AnswerForm & { by?: string },
): Promise<void> {
  const person = by ?? userInfo().username;
  await runCommand('alerts.acknowledge', { request, person });
  answer(form, { request, person }, [`acknowledged by ${person}; no further mail will be sent`]);
}
