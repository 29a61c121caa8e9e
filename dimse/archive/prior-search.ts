import type { PriorsSettings } from '../../config/peers.ts';
import { dayNumber, dicomDate } from '../../pipelines/dicom/dates.ts';
import { ACCEPTED_REPORTS } from '../../pipelines/dicom/sop-classes.ts';
import type { DicomIdentity } from '../../pipelines/dicom/subject.ts';
import {
  MISMATCH_WORDS,
  type PatientIdentity,
  type PatientMismatch,
  patientIdentity,
  patientMismatch,
} from '../../src/core/studies/patient.ts';
import type { PriorSearch } from '../../src/core/studies/priors.ts';
import { newestObjects } from '../../src/core/studies/study-store.ts';
import type { FoundObject, FoundStudy } from '../../src/operations/operations.ts';
import { DatabaseUnreachableError } from '../../src/platform/database/pooled.ts';
import type { Queryable } from '../../src/platform/database/port.ts';
import { ERRORS, SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Archive, StudyKeys } from './archive.ts';
import { fetchPrior, objectsWeAccept, type RetrievalParts } from './retrievals.ts';

interface PriorChoice {
  /** The chosen studies, newest first. */
  chosen: FoundStudy[];
  /** Why other studies with the same patient ID were not chosen. */
  refused: PatientMismatch[];
}

/**
 * Returns the matching keys for earlier examinations, or why no archive can be queried.
 * @param identity the identity in the current study.
 */
export function priorKeys(
  identity: DicomIdentity,
  { withinDays, modality }: Pick<PriorsSettings, 'withinDays' | 'modality'>,
): { keys: StudyKeys } | { why: string } {
  if (identity.PatientID === '') return { why: 'the study has no patient ID' };
  // Wildcards would match other patients (PS3.4 C.2.2.2.4). A backslash would separate two values.
  if (/[*?\\]/.test(identity.PatientID)) return { why: 'the patient ID contains a wildcard' };
  const to = daysBefore(identity.StudyDate, 1);
  const from = daysBefore(identity.StudyDate, withinDays);
  if (to === null || from === null) return { why: 'the study has no date' };
  return { keys: { patientId: identity.PatientID, studyDate: `${from}-${to}`, modality } };
}

/**
 * Chooses the earlier examinations of the same patient. Archives may return studies that do not
 * match the query.
 */
export function choosePriors(
  identity: DicomIdentity,
  found: readonly FoundStudy[],
  settings: Pick<PriorsSettings, 'withinDays' | 'modality' | 'description' | 'studies'>,
): PriorChoice {
  const from = daysBefore(identity.StudyDate, settings.withinDays) ?? '';
  const wanted = settings.description ? new RegExp(settings.description, 'i') : null;
  const fitting = found
    .filter(({ studyInstanceUid }) => studyInstanceUid !== identity.StudyInstanceUID)
    .filter(({ studyDate }) => studyDate !== '' && studyDate >= from)
    .filter(({ studyDate }) => studyDate < identity.StudyDate)
    .filter(({ modalities }) => modalities.length === 0 || modalities.includes(settings.modality))
    .filter(({ description }) => wanted === null || wanted.test(description))
    .toSorted((one, other) => (one.studyDate < other.studyDate ? 1 : -1));
  const patient = patientIdentity(identity);
  const compared = fitting.map((study) => ({ study, mismatch: patientMismatch(patient, study) }));
  return {
    chosen: compared
      .filter(({ mismatch }) => mismatch === null)
      .map(({ study }) => study)
      .slice(0, settings.studies),
    refused: compared.flatMap(({ mismatch }) => mismatch ?? []),
  };
}

/** Returns the date (DA) the given number of days before `date`; null if `date` is not a date. */
function daysBefore(date: string, days: number): string | null {
  const day = dayNumber(date);
  return day === null ? null : dicomDate(day - days);
}

const MAX_FOUND = 200;

type Found = Pick<PriorSearch, 'state' | 'detail'> & { instances: string[] };

interface SearchedStudy {
  identity: DicomIdentity;
  /** The patient's former IDs, which were merged into the patient ID in the study. */
  formerIds?: readonly string[];
  settings: PriorsSettings;
}

/** Queries the archives in turn until one of them has earlier examinations, and retrieves these. */
export async function findPriors(
  study: SearchedStudy,
  archives: ReadonlyMap<string, Archive>,
  parts: RetrievalParts,
  signal: AbortSignal,
): Promise<Found> {
  const wanted = priorKeys(study.identity, study.settings);
  if ('why' in wanted) return without('none', `Not searched for: ${wanted.why}.`);
  const answers: Found[] = [];
  for (const name of study.settings.from) {
    const archive = archives.get(name);
    if (!archive) continue;
    try {
      const found = new Map<string, FoundStudy>();
      for (const patientId of [study.identity.PatientID, ...safeKeys(study)]) {
        const keys = { ...wanted.keys, patientId };
        const studies = await archive.studies(keys, { signal, limit: MAX_FOUND });
        for (const each of studies) found.set(each.studyInstanceUid, asMerged(study)(each));
      }
      const answer = await bring(study, [...found.values()], archive, parts, signal);
      if (answer.state === 'found') return answer;
      answers.push(answer);
    } catch (error) {
      // An outage of our database shows nothing about the archive. The search is repeated when
      // its lease has expired.
      if (error instanceof DatabaseUnreachableError) throw error;
      const title = ERRORS[error instanceof SonogateError ? error.code : 'internal'].title;
      answers.push(
        without('unavailable', `Not available: ${name} could not be queried (${title}).`),
      );
    }
  }
  // "None found" is reported only if every archive has answered.
  const unavailable = answers.find(({ state }) => state === 'unavailable');
  return unavailable ?? answers[0] ?? without('none', 'No archive to query.');
}

const safeKeys = ({ formerIds = [] }: SearchedStudy) =>
  formerIds.filter((id) => !/[*?\\]/.test(id));

/**
 * In a response of an archive, replaces a former patient ID with the surviving one, because the
 * archive might not know of the merge.
 */
const asMerged =
  ({ identity, formerIds = [] }: SearchedStudy) =>
  <Patient extends PatientIdentity>(patient: Patient): Patient =>
    formerIds.includes(patient.patientId) ? { ...patient, patientId: identity.PatientID } : patient;

async function bring(
  study: SearchedStudy,
  found: readonly FoundStudy[],
  archive: Archive,
  parts: RetrievalParts,
  signal: AbortSignal,
): Promise<Found> {
  const { identity, settings } = study;
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
    const { same, other } = await verified(study, studyInstanceUid, wanted, parts.database);
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
  const coming = await objectsWeAccept(database, studyInstanceUid, there);
  if (kind === 'all') return coming;
  return coming.filter(({ sopClassUid, modality }) =>
    sopClassUid === '' ? modality === 'SR' : ACCEPTED_REPORTS.has(sopClassUid),
  );
}

/**
 * Compares the headers of the retrieved objects with the study's patient.
 * @returns the ids of the objects that belong to the same patient, and the mismatches of the
 * others.
 */
async function verified(
  study: SearchedStudy,
  studyInstanceUid: string,
  wanted: readonly FoundObject[],
  database: Queryable,
): Promise<{ same: string[]; other: PatientMismatch[] }> {
  const uids = wanted.map(({ sopInstanceUid }) => sopInstanceUid);
  const objects = await newestObjects(database, studyInstanceUid, uids);
  const patient = patientIdentity(study.identity);
  const merged = asMerged(study);
  const compared = objects.map(({ id, header }) => ({
    id,
    mismatch: patientMismatch(patient, merged(patientIdentity(header.identity))),
  }));
  return {
    same: compared.filter(({ mismatch }) => mismatch === null).map(({ id }) => id),
    other: compared.flatMap(({ mismatch }) => mismatch ?? []),
  };
}

function without(state: 'none' | 'unavailable', detail: string): Found {
  return { state, detail, instances: [] };
}

function countWords(mismatches: readonly PatientMismatch[]): string[] {
  const counts = Map.groupBy(mismatches, (mismatch) => mismatch);
  return [...counts].map(([each, { length }]) => `${length} not used: ${MISMATCH_WORDS[each]}`);
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
