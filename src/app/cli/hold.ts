import type { CommandAnswer } from '../../operations/commands.ts';
import { type AnswerForm, answer } from './answer.ts';
import { runCommand } from './operations.ts';

type HeldReport = CommandAnswer<'holds.list'>[number];

/**
 * Lists the reports that wait for a person, with the reason and the candidates but without patient
 * identity.
 */
export async function listHeld(form: AnswerForm): Promise<void> {
  const reports = await runCommand('holds.list', {});
  const lines = reports.flatMap(inWords);
  answer(form, reports, lines.length > 0 ? lines : ['no report is held']);
}

/**
 * Shows one report with the patient identity from its images. Who viewed it is recorded in the
 * audit trail.
 */
export async function showHeld(id: string, form: AnswerForm): Promise<void> {
  const report = await runCommand('holds.show', { id });
  const { identity } = report;
  const images = identity
    ? [
        `  images: ${identity.PatientName}, born ${identity.PatientBirthDate || 'unknown'}, sex ${identity.PatientSex || 'unknown'}`,
        `  patient id ${identity.PatientID} of issuer "${identity.IssuerOfPatientID}"`,
        `  accession number ${identity.AccessionNumber || 'none'}, study of ${identity.StudyDate}`,
      ]
    : ['  the study has been removed'];
  answer(form, report, [...inWords(report), ...images]);
}

/** Sends a held report, to the chosen patient and with the chosen order. */
export async function releaseHeld(
  id: string,
  { patient, order, ...form }: AnswerForm & { patient?: string; order?: string | false },
): Promise<void> {
  const report = await runCommand('holds.release', {
    id,
    patient,
    // `--no-order` sets the option to false.
    order: order || undefined,
    withoutOrder: order === false,
  });
  const whom = patient ? ` for ${patient}` : '';
  answer(form, report, [`${report.id} will be sent to ${report.destination}${whom}`]);
}

export async function rejectHeld(
  id: string,
  { reason, ...form }: AnswerForm & { reason: string },
): Promise<void> {
  const report = await runCommand('holds.reject', { id, reason });
  answer(form, report, [`${report.id} is rejected and will not be sent to ${report.destination}`]);
}

function inWords(report: HeldReport): string[] {
  const retried = report.retried ? ', still tried' : '';
  return [
    `${report.id}  ${report.request_id} → ${report.destination}, since ${report.since}${retried}`,
    `  ${report.code}: ${report.detail}`,
    ...report.candidates.map(({ reference, agrees, differs }) => {
      const same = agrees.length > 0 ? ` same ${agrees.join(', ')};` : '';
      const other = differs.length > 0 ? ` other ${differs.join(', ')}` : ' nothing differs';
      return `  candidate ${reference}:${same}${other}`;
    }),
  ];
}
