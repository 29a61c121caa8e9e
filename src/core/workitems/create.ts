import { isDeepStrictEqual } from 'node:util';
import type { Routing } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import type { JsonDataSet } from '../../../pipelines/dicom/dicom-json.ts';
import type { Database } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { InvalidInputError } from '../../platform/errors/problem.ts';
import { DEFAULT_ACCOUNT_ID } from '../accounts/keys.ts';
import type { SubmitAudit } from '../audit/audit.ts';
import type { Priority, RequestRow, SubmitCommand } from '../requests/request.ts';
import type { SubmitRow } from '../requests/submit.ts';
import { holdText } from '../studies/patient.ts';
import {
  fileName,
  findStudy,
  type InstanceRow,
  instancesOf,
  ownSeries,
  recordSubmission,
  type StudyRow,
} from '../studies/study-store.ts';
import { submissionOf } from '../studies/submission.ts';
import { isTaken } from './find.ts';

/** A new workitem as requested by a client: an endpoint, and objects of one study. */
export interface NewWorkitem {
  uid: string;
  endpoint: string;
  priority: Priority;
  study: string;
  objects: readonly string[];
  /** The patient in the client's data set; '' for missing values. */
  patient: { id: string; issuer: string; birthDate: string };
  /**
   * Names of the destinations requested by the client; null to leave the choice to the routing
   * rule.
   */
  deliverTo: readonly string[] | null;
  attributes: JsonDataSet;
  startAt: Date;
}

/** Who creates a workitem; `audit` is written together with the request. */
interface Creator {
  accountId: string;
  keyId: string;
  test: boolean;
  audit: SubmitAudit;
}

interface CreateParts {
  database: Database;
  submit: SubmitRow;
  config: Pick<Config, 'dataDir' | 'destinations'>;
  routing: () => Routing;
}

/** Pointer (RFC 6901) of the Input Information Sequence. */
const INPUT = '/00404021';
const PATIENT_ID = '/00100020';
const PATIENT_BIRTH_DATE = '/00100030';

/**
 * Creates a workitem: a request for a study received by the gateway. Options come from the first
 * routing rule that runs the endpoint, and so do the destinations if the client names none. If the
 * process ended after the request was stored, repeating the call completes the workitem.
 * @throws SonogateError `workitem_exists`; `workitem_conflict` for a study that waits for a person;
 * InvalidInputError for objects that the gateway does not have, or that belong to another patient.
 */
export async function createWorkitem(
  { database, submit, config, routing }: CreateParts,
  creator: Creator,
  workitem: NewWorkitem,
): Promise<RequestRow> {
  const { uid, endpoint } = workitem;
  const { accountId, keyId, test, audit } = creator;
  if (await isTaken(database, uid)) throw taken(uid);
  const uniqueKey = `workitem:${uid}`;
  const run = routing().rules.find((rule) => rule.run?.endpoint === endpoint);
  const rule = {
    // The request is listed under this name among those made by the rules for the study.
    name: uniqueKey,
    run: { endpoint, options: run?.run?.options ?? {}, priority: workitem.priority },
    deliverTo: [...(workitem.deliverTo ?? run?.deliverTo ?? [])],
  };
  const command = test
    ? mockSubmission(workitem, rule, config)
    : await liveSubmission(database, creator, workitem, rule, config);
  const asked = { ...command, accountId, keyId, test, audit, uniqueKey, workitemUid: uid };
  const row = await submit(asked);
  // After a concurrent or interrupted create request, this UID may already belong to a different
  // request.
  if (!isRequestOf(asked, row)) throw taken(uid);
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `INSERT INTO workitems (request_id, attributes, start_at, changed_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT DO NOTHING`,
      [row.id, JSON.stringify(workitem.attributes), workitem.startAt, audit.at],
    );
    if (rowCount !== 1) throw taken(uid);
    if (row.source.kind !== 'dicom') return;
    const { study: id, revision, rule: name } = row.source;
    await recordSubmission(tx, { id, revision }, { rule: name, requestId: row.id, at: audit.at });
  });
  return row;
}

type Rule = Parameters<typeof submissionOf>[2];

async function liveSubmission(
  database: Database,
  creator: Creator,
  workitem: NewWorkitem,
  rule: Rule,
  config: CreateParts['config'],
): Promise<SubmitCommand> {
  const study = await studyFor(database, creator, workitem);
  return submissionOf(study, await inputOf(database, study, workitem), rule, config);
}

/** Used in place of a study in a submission with a test key. */
const NO_STUDY = { id: '', revision: 0 };

/**
 * Returns the submission for a test key. No study is looked up, so that the response does not
 * reveal which studies and patients the gateway has. The mock pipeline opens no file, and its
 * made-up result is not delivered.
 */
function mockSubmission(
  { objects }: NewWorkitem,
  rule: Rule,
  config: CreateParts['config'],
): SubmitCommand {
  const command = submissionOf(NO_STUDY, [], rule, config);
  const files = [...new Set(objects)].map((_, index) => fileName({ ordinal: index + 1 }));
  const input = { ...command.input, files };
  return { ...command, input, source: { kind: 'api' }, deliverTo: [] };
}

/** Returns true if a stored request is the one that a command would create. */
function isRequestOf(asked: SubmitCommand, row: RequestRow): boolean {
  const studyOf = ({ source }: Pick<RequestRow, 'source'>) =>
    source.kind === 'dicom' ? source.study : null;
  return (
    row.account_id === asked.accountId &&
    row.test === asked.test &&
    row.endpoint === asked.endpoint &&
    studyOf(row) === studyOf(asked) &&
    isDeepStrictEqual(row.input?.files, asked.input.files)
  );
}

const taken = (uid: string) =>
  new SonogateError('workitem_exists', `There is already a workitem with the UID ${uid}.`);

const invalid = (pointer: string, detail: string) =>
  new InvalidInputError([{ pointer, detail }], 'invalid_workitem');

async function studyFor(
  database: Database,
  { accountId }: Creator,
  { study: uid, patient }: NewWorkitem,
): Promise<StudyRow> {
  // Received studies belong to the installation's own account.
  const study = accountId === DEFAULT_ACCOUNT_ID ? await findStudy(database, uid) : null;
  if (!study) {
    throw invalid(INPUT, `the gateway does not have the study ${uid}; send it first`);
  }
  const { PatientID: id, IssuerOfPatientID: issuer, PatientBirthDate: birthDate } = study.identity;
  const differs = (one: string, other: string) => one !== '' && other !== '' && one !== other;
  if (differs(patient.id, id) || differs(patient.issuer, issuer)) {
    throw invalid(PATIENT_ID, 'the study belongs to another patient');
  }
  if (differs(patient.birthDate, birthDate)) {
    throw invalid(PATIENT_BIRTH_DATE, 'the patient of the study has a different date of birth');
  }
  const hold = holdText(study.hold_reason, study.patient_mismatch);
  if (hold !== null || study.state === 'held') {
    throw new SonogateError('workitem_conflict', 'The study is held until a person releases it.');
  }
  return study;
}

/**
 * Returns the referenced objects. Our own results are not used as input.
 * @throws InvalidInputError if one of the objects has not been received.
 */
async function inputOf(
  database: Database,
  study: StudyRow,
  { objects }: NewWorkitem,
): Promise<InstanceRow[]> {
  const asked = new Set(objects);
  const ours = await ownSeries(database, study.study_instance_uid);
  const held = (await instancesOf(database, study)).filter(
    ({ header }) => !ours.has(header.seriesInstanceUid),
  );
  const found = held.filter(({ sop_instance_uid: uid }) => asked.has(uid));
  const missing = asked.size - new Set(found.map(({ sop_instance_uid: uid }) => uid)).size;
  if (missing === 0) return found;
  throw invalid(INPUT, `${missing} of its objects have not been received; send them first`);
}
