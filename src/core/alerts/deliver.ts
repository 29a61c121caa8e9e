import type { AlertList, Alerts } from '../../../config/alerts.ts';
import type { DicomIdentity, Subject } from '../../../pipelines/dicom/subject.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { MailError, type Mailer } from '../../platform/outbound/mail.ts';
import { type Deliverer, failed, type RequestDelivery } from '../outbox/delivery.ts';
import type { TriageData } from '../requests/events.ts';
import { ALERT, ESCALATION, isSeen, listOf } from './alerts.ts';

interface MailDelivererParts {
  database: Queryable;
  alerts: Alerts;
  mailer: Mailer;
  subjectOf(requestId: string): Promise<Subject | null>;
  /** Returns the title of an endpoint as shown to people. */
  titleOf(endpoint: string): string;
  /** URL of the console; null if there is no console. */
  consoleUrl: string | null;
}

/** Creates the outbox deliverer that sends mails about critical flags. */
export function createMailDeliverer(parts: MailDelivererParts): Deliverer<'mail'> {
  const { database, alerts, mailer } = parts;
  return {
    kind: 'mail',
    async probe(destination) {
      if (!listOf(alerts, destination)) return undefined;
      try {
        await mailer.check();
        return null;
      } catch (error) {
        if (error instanceof MailError) return error.code;
        throw error;
      }
    },
    async send(delivery, signal) {
      const { requestId, destination, object, id } = delivery;
      const list = listOf(alerts, destination);
      if (!list) return failed('mail_list_unknown', 'The list is no longer in the settings.');
      const isEscalation = object === ESCALATION;
      const to = isEscalation ? list.escalation?.to : list.to;
      if (!to) return failed('mail_list_unknown', 'The list no longer has an escalation.');
      // A person may have looked at the study while the escalation was waiting for the mail server.
      if (isEscalation && (await isSeen(database, requestId))) {
        return {
          outcome: 'delivered',
          notSent: true,
          detail: 'Not sent: the finding has been acknowledged in the meantime.',
        };
      }
      const facts = await readFacts(delivery, parts);
      if (!facts) {
        const detail = 'Not sent: the result has been purged.';
        return { outcome: 'delivered', notSent: true, detail };
      }
      const message = alertMessage({ ...facts, list, isEscalation });
      const messageId = `${id}@${alerts.from.split('@')[1]}`;
      try {
        const former = await acceptedRecipients(database, id);
        const sendTo = to.filter((address) => !former.has(address));
        if (sendTo.length === 0) {
          return {
            outcome: 'delivered',
            detail: recipientsText({ accepted: former.size, refused: 0 }),
          };
        }
        const mail = { from: alerts.from, to, sendTo, messageId, ...message };
        const { accepted, refused, deferral } = await mailer.send(mail, signal);
        if (deferral) {
          // The next attempt omits the recipients who were accepted now, so that nobody gets the
          // mail twice.
          await recordAccepted(database, id, accepted);
          return failed(deferral.code, deferral.message);
        }
        const all = { accepted: former.size + accepted.length, refused };
        return { outcome: 'delivered', detail: recipientsText(all) };
      } catch (error) {
        if (error instanceof MailError) return failed(error.code, error.message);
        throw error;
      }
    },
  };
}

/** Returns the recipients already accepted by the server in an earlier attempt. */
async function acceptedRecipients(database: Queryable, delivery: string): Promise<Set<string>> {
  const { rows } = await database.query<{ address: string }>(
    'SELECT address FROM mail_recipients WHERE delivery_id = $1',
    [delivery],
  );
  return new Set(rows.map(({ address }) => address));
}

async function recordAccepted(
  database: Queryable,
  delivery: string,
  addresses: readonly string[],
): Promise<void> {
  await database.query(
    `INSERT INTO mail_recipients (delivery_id, address) SELECT $1, unnest($2::text[])
     ON CONFLICT DO NOTHING`,
    [delivery, addresses],
  );
}

interface RequestFacts {
  endpoint: string;
  source: { study?: string };
}

/** Reads the facts for a mail; null if the result has been purged. */
async function readFacts(
  { requestId, object }: RequestDelivery,
  { database, alerts, subjectOf, titleOf, consoleUrl }: MailDelivererParts,
) {
  const [request] = (
    await database.query<RequestFacts>('SELECT endpoint, source FROM requests WHERE id = $1', [
      requestId,
    ])
  ).rows;
  const { rows } = await database.query<{ data: TriageData | { purged: true } }>(
    `SELECT data FROM request_events WHERE request_id = $1 AND name = 'triage' ORDER BY seq`,
    [requestId],
  );
  const all = rows.flatMap(({ data }) => ('purged' in data ? [] : [data]));
  const own = all.filter(
    ({ section, code }) => object === ESCALATION || object === `${ALERT} ${section} ${code}`,
  );
  // Duplicates are left out: a run repeated after a crash logs its flags again.
  const flags = [...new Map(own.map((flag) => [`${flag.section} ${flag.code}`, flag])).values()];
  if (!request || flags.length === 0) return null;
  const identity = (await subjectOf(requestId))?.identity ?? null;
  return {
    flags,
    examination: titleOf(request.endpoint),
    requestId,
    accessionNumber: identity?.AccessionNumber || null,
    identity: alerts.identity ? identity : null,
    link: consoleUrl && `${consoleUrl}/worklist/${request.source.study ?? requestId}`,
  };
}

function recipientsText({ accepted, refused }: { accepted: number; refused: number }): string {
  const text = accepted === 1 ? '1 recipient' : `${accepted} recipients`;
  return refused === 0 ? text : `${text}; the server refused ${refused}`;
}

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
