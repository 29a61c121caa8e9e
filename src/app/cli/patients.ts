import { type AnswerForm, answer } from './answer.ts';
import { runCommand } from './operations.ts';

/** Lists the patients merged by HL7 messages, without patient identity. */
export async function listMerges(form: AnswerForm): Promise<void> {
  const merges = await runCommand('patients.merges', {});
  const lines = merges.map(
    ({ id, at, sender, controlId, studies }) =>
      `${id}  ${new Date(at).toISOString()}  message ${controlId} of ${sender}, studies changed: ${studies}`,
  );
  answer(form, merges, lines.length > 0 ? lines : ['no patients are merged']);
}

export async function separate(id: string, form: AnswerForm): Promise<void> {
  const done = await runCommand('patients.separate', { id });
  answer(form, done, [`separated; studies that have their own patient ID again: ${done.studies}`]);
}
