import { CONTENT_ENDPOINT, contentSchema } from '../pipelines/content/content.ts';
import type { Queryable } from '../src/database/port.ts';
import { FINAL_STATUS, type ResultReader, type Submit } from '../src/requests/port.ts';
import type { ContentFacts } from './routing/condition.ts';
import type { InstanceRow, StudyRow } from './study-store.ts';
import { requestFiles } from './study-submission.ts';

type Revision = Pick<StudyRow, 'id' | 'revision'>;

export const NOT_LOOKED_AT: ContentFacts = { unknown: 'the images were not looked at' };

/** What was seen on the images of a revision; null when nobody has looked. */
export async function contentOf(
  database: Queryable,
  { id, revision }: Revision,
): Promise<ContentFacts | null> {
  const { rows } = await database.query<{ facts: ContentFacts }>(
    'SELECT facts FROM study_content WHERE study_id = $1 AND revision = $2',
    [id, revision],
  );
  return rows[0]?.facts ?? null;
}

export interface LookParts {
  dataDir: string;
  database: Queryable;
  submit: Submit;
  result: ResultReader['result'];
}

/**
 * Has the classifiers look at a revision, as a request of the one queue; asked again, it says how
 * far that is.
 * @returns null while it goes on.
 */
export async function lookAtImages(
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
    // The study itself waits for it.
    priority: 'high',
    metadata: {},
    webhook: null,
    source: { kind: 'dicom', study: study.id, revision: study.revision, rule: CONTENT_ENDPOINT },
    uniqueKey: `content:${study.study_instance_uid}:${study.revision}`,
    accountId: null,
    keyId: null,
    test: false,
    deliverTo: [],
  });
  if (!FINAL_STATUS.has(status)) return null;
  const facts = factsOfLook(status, status === 'succeeded' ? await result(id) : null);
  await database.query(
    'INSERT INTO study_content (study_id, revision, facts) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [study.id, study.revision, JSON.stringify(facts)],
  );
  return facts;
}

/** No readable image is an answer: nothing is on them. */
function factsOfLook(status: string, result: unknown): ContentFacts {
  if (status === 'rejected') return { known: { anatomy: [], plane: [], view: [] } };
  const seen = contentSchema.safeParse(result);
  if (!seen.success) return { unknown: `the look at the images ended as ${status}` };
  const { anatomy, planes, views } = seen.data;
  return {
    known: {
      anatomy: anatomy === null ? [] : [anatomy],
      plane: planes.map(({ name }) => name),
      view: views.map(({ name }) => name),
    },
  };
}
