import type { AlertList } from '../../../config/alerts.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { TriageData } from '../requests/events.ts';

export interface AlertFacts {
  /** One flag or, for an escalation, all flags of the request. */
  flags: readonly TriageData[];
  /** Title of the endpoint. */
  examination: string;
  requestId: string;
  accessionNumber: string | null;
  /** The patient's identity; null unless mails may contain it. */
  identity: DicomIdentity | null;
  /** URL of the study in the console; null if there is no console. */
  link: string | null;
  list: AlertList;
  isEscalation: boolean;
}

/** Returns the subject and text of the mail. Only the text may contain the patient's identity. */
export function alertMessage(facts: AlertFacts): { subject: string; text: string } {
  const { flags, list, isEscalation, link } = facts;
  const found = flags.map(({ display }) => display).join('; ');
  const wait = list.escalation && minutesText(list.escalation.afterMinutes);
  return {
    subject: isEscalation
      ? `Critical finding, not acknowledged for ${wait}: ${found}`
      : `Critical finding: ${found}`,
    text: `${[
      isEscalation
        ? `Nobody has acknowledged this finding for ${wait}. Please look at the study now.`
        : 'The software found something that a clinician should look at without delay.',
      'It is an unverified draft: look at the images before you act on it.',
      '',
      ...factLines(facts),
      '',
      ...(link ? ['Open the study:', link, ''] : []),
      ...(isEscalation || !wait
        ? ['Acknowledge the finding on the study page, so that others know you have seen it.']
        : [
            `Acknowledge the finding on the study page. If nobody does so within ${wait},`,
            'a mail is sent to the second list of recipients.',
          ]),
    ].join('\n')}\n`,
  };
}

function factLines({
  flags,
  examination,
  accessionNumber,
  requestId,
  identity,
}: AlertFacts): string[] {
  const rows: [string, string | null | undefined][] = [
    ...flags.map(({ display }): [string, string] => ['Finding', display]),
    ['Examination', examination],
    ['Patient', identity && nameText(identity.PatientName)],
    ['Born', identity?.PatientBirthDate.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3')],
    ['Patient ID', identity?.PatientID],
    ['Accession', accessionNumber],
    ['Request', requestId],
    ['Found', flags[0] && `${flags[0].at.slice(0, 16).replace('T', ' ')} UTC`],
  ];
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  return rows.flatMap(([label, value]) => (value ? [`${`${label}:`.padEnd(width)}${value}`] : []));
}

/**
 * Returns a name as `Family, Given`, from its first component group that is not empty: a name may
 * have only an ideographic one (PS3.5 6.2.1).
 */
function nameText(name: string): string {
  const group = name.split('=').find((text) => text.trim() !== '') ?? '';
  const [family = '', given = ''] = group.split('^');
  return [family, given].filter((part) => part !== '').join(', ');
}

const minutesText = (minutes: number): string =>
  minutes === 1 ? 'one minute' : `${minutes} minutes`;
