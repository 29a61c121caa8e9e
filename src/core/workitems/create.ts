import type { Routing } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import type { JsonDataSet } from '../../../pipelines/dicom/dicom-json.ts';
import type { Database } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { InvalidInputError } from '../../platform/errors/problem.ts';
import { DEFAULT_ACCOUNT_ID } from '../accounts/keys.ts';
import type { SubmitAudit } from '../audit/audit.ts';
import type { Priority, RequestRow } from '../requests/request.ts';
import type { SubmitRow } from '../requests/submit.ts';
import { holdText } from '../studies/patient.ts';
import {
  findStudy,
  type InstanceRow,
  instancesOf,
  ownSeries,
  recordSubmission,
  type StudyRow,
} from '../studies/study-store.ts';
import { submissionOf } from '../studies/submission.ts';
import { isTaken } from './find.ts';
import { uniqueKeyOf } from './workitem.ts';

/** A new workitem as a client requests it: an endpoint, and objects of one study. */
export interface NewWorkitem {
  uid: string;
  endpoint: string;
  priority: Priority;
  /** The input: objects of one study. */
  study: string;
  objects: readonly string[];
  /** The patient in the client's data set; '' for missing values. */
  patient: { id: string; issuer: string };
  /** Names of the destinations that the client requests; null if the routing rule decides. */
  deliverTo: readonly string[] | null;
  attributes: JsonDataSet;
  startAt: Date;
}

/** The caller who creates a workitem; `audit` is written together with the request. */
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

/**
 * Creates a workitem: a request for a study that the gateway has received. Options and destinations
 * come from the first routing rule that runs the endpoint. The request of a test key is not
 * attached to the study, and its made-up result is delivered nowhere.
 * @throws SonogateError `workitem_exists`; `workitem_conflict` for a study that waits for a person;
 * InvalidInputError for objects that the gateway does not have, or that belong to another patient.
 */
export async function createWorkitem(
  { database, submit, config, routing }: CreateParts,
  creator: Creator,
  workitem: NewWorkitem,
): Promise<RequestRow> {
  const { uid, endpoint } = workitem;
  if (await isTaken(database, uid)) throw taken(uid);
  const study = await studyFor(database, creator, workitem);
  const instances = await inputOf(database, study, workitem);
  const rule = routing().rules.find(({ run }) => run?.endpoint === endpoint);
  const command = submissionOf(
    study,
    instances,
    {
      name: uniqueKeyOf(uid),
      run: { endpoint, options: rule?.run?.options ?? {}, priority: workitem.priority },
      deliverTo: [...(workitem.deliverTo ?? rule?.deliverTo ?? [])],
    },
    config,
  );
  const { accountId, keyId, test, audit } = creator;
  const caller = { accountId, keyId, test, audit, uniqueKey: uniqueKeyOf(uid) };
  const row = await submit(
    test
      ? { ...command, ...caller, source: { kind: 'api' }, deliverTo: [] }
      : { ...command, ...caller },
  );
  if (row.account_id !== accountId || row.endpoint !== endpoint) throw taken(uid);
  if (row.source.kind === 'dicom') {
    const { rule: name } = row.source;
    await recordSubmission(database, study, { rule: name, requestId: row.id, at: audit.at });
  }
  const { rowCount } = await database.query(
    `INSERT INTO workitems (request_id, attributes, start_at, changed_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING`,
    [row.id, JSON.stringify(workitem.attributes), workitem.startAt, audit.at],
  );
  // Two concurrent calls sent the same UID, and the other call created the workitem.
  if (rowCount !== 1) throw taken(uid);
  return row;
}

const taken = (uid: string) =>
  new SonogateError('workitem_exists', `There is a workitem with the UID ${uid}.`);

const invalid = (pointer: string, detail: string) =>
  new InvalidInputError([{ pointer, detail }], 'invalid_workitem');

async function studyFor(
  database: Database,
  { accountId }: Creator,
  { study: uid, patient }: NewWorkitem,
): Promise<StudyRow> {
  // Received studies belong to the account of the site.
  const study = accountId === DEFAULT_ACCOUNT_ID ? await findStudy(database, uid) : null;
  if (!study) {
    throw invalid(INPUT, `the study ${uid} is not held here; send it to the gateway first`);
  }
  const { PatientID: id, IssuerOfPatientID: issuer } = study.identity;
  const differs = (one: string, other: string) => one !== '' && other !== '' && one !== other;
  if (differs(patient.id, id) || differs(patient.issuer, issuer)) {
    throw invalid(PATIENT_ID, 'the study is of another patient');
  }
  const hold = holdText(study.hold_reason, study.patient_mismatch);
  if (hold !== null || study.state === 'held') {
    throw new SonogateError('workitem_conflict', 'The study is held until a person releases it.');
  }
  return study;
}

/** Returns the referenced objects. Our own results are not used as input. */
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
  throw invalid(INPUT, `${missing} of its objects are not held here; send them first`);
}
