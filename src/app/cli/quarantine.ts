import type { CommandAnswer } from '../../operations/commands.ts';
import { type AnswerForm, answer } from './answer.ts';
import { runCommand } from './operations.ts';

type QuarantinedObject = CommandAnswer<'quarantine.list'>[number];

/**
 * Lists the received objects that could not be recorded, newest first, without patient identity.
 */
export async function listQuarantine(form: AnswerForm): Promise<void> {
  const objects = await runCommand('quarantine.list', {});
  const lines = objects.flatMap(inWords);
  answer(form, objects, lines.length > 0 ? lines : ['no quarantined objects']);
}

/** Registers an object again, as if it had just arrived. */
export async function registerAgain(id: string, form: AnswerForm): Promise<void> {
  await runCommand('quarantine.register', { id });
  answer(form, { id }, [`${id} is registered`]);
}

/** Deletes an object permanently. */
export async function removeFromQuarantine(id: string, form: AnswerForm): Promise<void> {
  await runCommand('quarantine.remove', { id });
  answer(form, { id }, [`${id} is removed`]);
}

function inWords({ id, at, bytes, source, callingAeTitle, code, detail }: QuarantinedObject) {
  const from = [source ?? 'unknown source', callingAeTitle].filter(Boolean).join(', ');
  return [
    `${id}  ${at}  ${bytes} bytes from ${from}`,
    `  ${code ?? 'no reason recorded'}${detail ? `: ${detail}` : ''}`,
  ];
}
