import { resolve } from 'node:path';
import type { RoutingRule } from '../../../config/routing.ts';
import type { Config, Destination } from '../../../config/schema.ts';
import { CONTENT_ENDPOINT, contentSchema } from '../../../pipelines/contract/content.ts';
import { objectFits } from '../../../pipelines/contract/object-endpoints.ts';
import { TRANSLATE_ENDPOINT } from '../../../pipelines/contract/translate.ts';
import { ACCEPTED_REPORTS } from '../../../pipelines/dicom/sop-classes.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { ReceivedObjects } from '../files/received-objects.ts';
import type { DeliveryTarget } from '../outbox/delivery.ts';
import {
  FINAL_STATUS,
  type RequestFile,
  type ResultReader,
  type Submit,
  type SubmitCommand,
} from '../requests/request.ts';
import { inputFor } from './clinical-context.ts';
import type { OrderAnswer } from './order.ts';
import { orderNote, studyContext } from './order-join.ts';
import type { Priors } from './priors.ts';
import { attributeValues } from './rules/attribute-values.ts';
import type { ContentFacts, StudyFacts } from './rules/route.ts';
import { fileName, type InstanceRow, type StudyRow } from './study-store.ts';

/**
 * Returns the facts that the routing rules are applied to.
 * @param paths attributes used in the rules; files are opened only for these.
 */
export async function studyFactsOf(
  study: StudyRow,
  instances: readonly InstanceRow[],
  {
    paths,
    objects,
    at,
    content,
  }: { paths: readonly string[]; objects: ReceivedObjects; at: Date; content: ContentFacts },
): Promise<StudyFacts> {
  const headers = instances.map((instance) => instance.header);
  const files = paths.length > 0 ? await filesOf(instances, objects) : [];
  return {
    known: {
      source: [study.source],
      callingAeTitle: [study.calling_ae_title],
      calledAeTitle: [study.called_ae_title],
      modality: distinct(headers.map((header) => header.modality)),
      studyDescription: distinct([study.identity.StudyDescription]),
      procedureCode: distinct(headers.flatMap((header) => header.procedureCodes)),
      sopClass: distinct(headers.map((header) => header.sopClassUid)),
    },
    attributes: await attributeValues(files, paths),
    at,
    content,
  };
}

/** Returns the local paths of the objects. Objects received by another host are fetched first. */
async function filesOf(
  instances: readonly InstanceRow[],
  objects: ReceivedObjects,
): Promise<string[]> {
  const files: string[] = [];
  for (const { path, file_sha256: fileSha256 } of instances) {
    const file = await objects.locate({ path, fileSha256 });
    if (file === null) throw new Error(`the received object ${path} has been removed`);
    files.push(file);
  }
  return files;
}

function requestFiles(instances: readonly InstanceRow[], dataDir: string): RequestFile[] {
  return instances.map((instance) => ({
    name: fileName(instance),
    path: resolve(dataDir, instance.path),
    sha256: instance.file_sha256,
  }));
}

interface SubmissionDetails {
  /**
   * True if another rule has already run on this revision: the request then needs a different
   * unique key.
   */
  further?: boolean;
  /** Earlier examinations; null if the rule requests none. */
  priors?: Priors | null;
  /** The outcome of the search for the order; null if there was no search. */
  order?: OrderAnswer | null;
}

export type RunningRule = RoutingRule & { run: NonNullable<RoutingRule['run']> };

const runsEndpoint = (rule: RoutingRule): rule is RunningRule => rule.run !== undefined;

/** A rule, and the objects on which it runs an endpoint. */
export interface Run {
  rule: RunningRule;
  instances: readonly InstanceRow[];
}

/**
 * Returns the runs that the acting rules require. A rule either runs its endpoint on the whole
 * study or translates the study's reports. A translation is omitted if the study has no reports.
 */
export function runsOf(acting: readonly RoutingRule[], instances: readonly InstanceRow[]): Run[] {
  const reports = instances.filter(({ header }) => ACCEPTED_REPORTS.has(header.sopClassUid));
  return acting.flatMap((rule): Run[] => {
    if (runsEndpoint(rule)) return [{ rule, instances }];
    if (!rule.translate || reports.length === 0) return [];
    const run = { endpoint: TRANSLATE_ENDPOINT, options: {}, priority: 'normal' } as const;
    return [{ rule: { ...rule, run }, instances: reports }];
  });
}

type Revision = Pick<StudyRow, 'id' | 'revision'>;

/**
 * Creates a request from a complete study. It contains no name, identifier or date of the patient.
 * Its unique key contains the id of the study's row rather than the Study Instance UID: a study
 * that was removed by the retention and is sent again gets a new request.
 */
export function submissionOf(
  study: Revision,
  instances: readonly InstanceRow[],
  rule: Pick<RunningRule, 'name' | 'run' | 'deliverTo'>,
  config: Pick<Config, 'dataDir' | 'destinations'>,
  { further = false, priors = null, order = null }: SubmissionDetails = {},
): SubmitCommand {
  const files = requestFiles(instances, config.dataDir);
  const headers = instances.map((instance) => instance.header);
  const context = studyContext(headers, order?.order ?? null);
  return {
    endpoint: rule.run.endpoint,
    version: null,
    input: {
      files: files.map((file) => file.name),
      ...(priors &&
        priors.files.length > 0 && { prior_files: priors.files.map(({ name }) => name) }),
      ...inputFor(rule.run.endpoint, rule.run.options, context),
    },
    files,
    priorFiles: priors?.files ?? [],
    priority: rule.run.priority,
    metadata: {
      ...(priors && { priors: priors.note }),
      ...(order && { order: orderNote(order.detail ?? '', context) }),
    },
    webhook: null,
    source: { kind: 'dicom', study: study.id, revision: study.revision, rule: rule.name },
    uniqueKey: `dicom:${study.id}:${study.revision}${further ? `:${rule.name}` : ''}`,
    accountId: null,
    keyId: null,
    test: false,
    deliverTo: rule.deliverTo.flatMap((name) =>
      targets(name, rule.run.endpoint, config.destinations),
    ),
  };
}

function targets(
  name: string,
  endpoint: string,
  destinations: readonly Destination[],
): DeliveryTarget[] {
  const destination = destinations.find((candidate) => candidate.name === name);
  switch (destination?.type) {
    case 'dicom':
    case 'dicomweb':
    case 'local':
      return destination.objects
        .filter((object) => objectFits(object, endpoint))
        .map((object) => ({ kind: 'dicom', destination: name, object }));
    case 'fhir':
      return [{ kind: 'fhir', destination: name, object: 'fhir-bundle' }];
    case 'hl7v2':
      return [{ kind: 'hl7v2', destination: name, object: 'oru-r01' }];
    default:
      return [];
  }
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].filter((value) => value !== '');
}

export const NOT_LOOKED_AT: ContentFacts = { unknown: 'the images were not classified' };

/**
 * Returns what the classifiers recognised in the images of a revision; null if they have not run.
 */
export async function findContentFacts(
  database: Queryable,
  { id, revision }: Revision,
): Promise<ContentFacts | null> {
  const { rows } = await database.query<{ facts: ContentFacts }>(
    'SELECT facts FROM study_content WHERE study_id = $1 AND revision = $2',
    [id, revision],
    'study-content',
  );
  return rows[0]?.facts ?? null;
}

interface LookParts {
  dataDir: string;
  database: Queryable;
  submit: Submit;
  result: ResultReader['result'];
}

/**
 * Submits a revision to the classifiers, as a request in the same queue. Calls after the request
 * has ended return the content facts.
 * @returns null while the request is running.
 */
export async function classifyImages(
  study: StudyRow,
  instances: readonly InstanceRow[],
  { dataDir, database, submit, result }: LookParts,
): Promise<ContentFacts | null> {
  const files = requestFiles(instances, dataDir);
  const { id, status } = await submit({
    endpoint: CONTENT_ENDPOINT,
    version: null,
    input: { files: files.map(({ name }) => name) },
    files,
    priorFiles: [],
    // High priority, because the study is waiting for it.
    priority: 'high',
    metadata: {},
    webhook: null,
    source: { kind: 'dicom', study: study.id, revision: study.revision, rule: CONTENT_ENDPOINT },
    uniqueKey: `content:${study.id}:${study.revision}`,
    accountId: null,
    keyId: null,
    test: false,
    deliverTo: [],
  });
  if (!FINAL_STATUS.has(status)) return null;
  const facts = contentFactsOf(status, status === 'succeeded' ? await result(id) : null);
  await database.query(
    'INSERT INTO study_content (study_id, revision, facts) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [study.id, study.revision, JSON.stringify(facts)],
  );
  return facts;
}

/**
 * Returns the content facts of a classified study. A study without a readable image also gets
 * facts, in which no content is recognised.
 */
function contentFactsOf(status: string, result: unknown): ContentFacts {
  if (status === 'rejected') return { known: { anatomy: [], plane: [], view: [] } };
  const seen = contentSchema.safeParse(result);
  if (!seen.success) return { unknown: `the classification of the images ended as ${status}` };
  const { anatomy, planes, views } = seen.data;
  return {
    known: {
      anatomy: anatomy === null ? [] : [anatomy],
      plane: planes.map(({ name }) => name),
      view: views.map(({ name }) => name),
    },
  };
}
