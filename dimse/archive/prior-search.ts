import type { PriorsSettings } from '../../config/archive.ts';
import type { DicomIdentity } from '../../pipelines/artifacts/subject.ts';
import type { Queryable } from '../../src/database/port.ts';
import { ERRORS, SonogateError } from '../../src/errors/catalogue.ts';
import { ACCEPTED_REPORTS } from '../sop-classes.ts';
import type { InstanceRow } from '../study-store.ts';
import type { Archive, FoundObject, FoundStudy } from './archive.ts';
import { comingToUs } from './held-objects.ts';
import { choosePriors, patientOf, priorKeys, whyNotSamePatient } from './prior-match.ts';
import type { PriorSearch } from './priors.ts';
import { fetchPrior, type RetrievalParts } from './retrievals.ts';

/** Studies of one patient that an archive may answer with. */
const MAX_FOUND = 200;

type Found = Pick<PriorSearch, 'state' | 'detail'> & { instances: string[] };

export interface SearchedStudy {
  identity: DicomIdentity;
  settings: PriorsSettings;
}

/** Asks the archives in turn until one has earlier examinations, and fetches what is wanted of them. */
export async function findPriors(
  study: SearchedStudy,
  archives: ReadonlyMap<string, Archive>,
  parts: RetrievalParts,
  signal: AbortSignal,
): Promise<Found> {
  const wanted = priorKeys(study.identity, study.settings);
  if ('why' in wanted) return without('none', `Not looked for: ${wanted.why}.`);
  const told: Found[] = [];
  for (const name of study.settings.from) {
    const archive = archives.get(name);
    if (!archive) continue;
    try {
      const found = await archive.studies(wanted.keys, { signal, limit: MAX_FOUND });
      const answer = await bring(study, found, archive, parts, signal);
      if (answer.state === 'found') return answer;
      told.push(answer);
    } catch (error) {
      const title = ERRORS[error instanceof SonogateError ? error.code : 'internal'].title;
      told.push(without('unavailable', `Not available: ${name} could not be asked (${title}).`));
    }
  }
  // Nothing found is only said where every archive has answered.
  const silent = told.find(({ state }) => state === 'unavailable');
  return silent ?? told[0] ?? without('none', 'No archive to ask.');
}

async function bring(
  { identity, settings }: SearchedStudy,
  found: readonly FoundStudy[],
  archive: Archive,
  parts: RetrievalParts,
  signal: AbortSignal,
): Promise<Found> {
  const { chosen, refused } = choosePriors(identity, found, settings);
  const notUsed = countWords(refused);
  const instances: string[] = [];
  const troubles: string[] = [];
  let studies = 0;
  for (const { studyInstanceUid } of chosen) {
    const wanted = await wantedObjects(studyInstanceUid, settings, archive, parts, signal);
    if (wanted.length === 0) continue;
    const { state, detail } = await fetchPrior(studyInstanceUid, wanted, archive, parts, signal);
    if (state === 'failed' && detail) troubles.push(detail);
    const { same, other } = await verified(identity, studyInstanceUid, wanted, parts.database);
    notUsed.push(...countWords(other));
    if (same.length > 0) studies += 1;
    instances.push(...same);
  }
  const notes = [...notUsed, ...troubles].map((note) => `; ${note}`).join('');
  if (instances.length > 0) {
    const detail = `${counted(studies, 'earlier examination')} from ${archive.name}, ${counted(instances.length, 'object')}${notes}.`;
    return { state: 'found', detail, instances };
  }
  if (troubles.length > 0) return without('unavailable', `Not available: ${troubles.join('; ')}.`);
  const what = settings.objects === 'reports' ? 'report of an earlier' : 'earlier';
  return without('none', `No ${what} examination in ${archive.name}${notes}.`);
}

async function wantedObjects(
  studyInstanceUid: string,
  { objects: kind }: PriorsSettings,
  archive: Archive,
  { database }: RetrievalParts,
  signal: AbortSignal,
): Promise<FoundObject[]> {
  const there = await archive.objects(studyInstanceUid, { signal });
  const coming = await comingToUs(database, studyInstanceUid, there);
  if (kind === 'all') return coming;
  return coming.filter(({ sopClassUid, modality }) =>
    sopClassUid === '' ? modality === 'SR' : ACCEPTED_REPORTS.has(sopClassUid),
  );
}

/** Objects that are here and say themselves that they are of the patient. */
async function verified(
  identity: DicomIdentity,
  studyInstanceUid: string,
  wanted: readonly FoundObject[],
  database: Queryable,
): Promise<{ same: string[]; other: string[] }> {
  const { rows } = await database.query<Pick<InstanceRow, 'id' | 'header'>>(
    `SELECT DISTINCT ON (i.sop_instance_uid) i.id, i.header
     FROM instances i JOIN studies s ON s.id = i.study_id
     WHERE s.study_instance_uid = $1 AND i.sop_instance_uid = ANY ($2::text[])
     ORDER BY i.sop_instance_uid, i.ordinal DESC`,
    [studyInstanceUid, wanted.map(({ sopInstanceUid }) => sopInstanceUid)],
  );
  const patient = patientOf(identity);
  const judged = rows.map(({ id, header }) => ({
    id,
    why: whyNotSamePatient(patient, patientOf(header.identity)),
  }));
  return {
    same: judged.filter(({ why }) => why === null).map(({ id }) => id),
    other: judged.flatMap(({ why }) => why ?? []),
  };
}

function without(state: 'none' | 'unavailable', detail: string): Found {
  return { state, detail, instances: [] };
}

/** "2 not used: another birth date", one for each reason. */
function countWords(reasons: readonly string[]): string[] {
  const counts = Map.groupBy(reasons, (reason) => reason);
  return [...counts].map(([reason, { length }]) => `${length} not used: ${reason}`);
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
