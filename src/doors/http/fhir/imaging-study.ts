import { z } from 'zod';
import { RETRIEVED_STORAGE } from '../../../../pipelines/dicom/sop-classes.ts';
import { isUid } from '../../../../pipelines/dicom/uid.ts';
import type { ArchivedObject } from '../../../core/files/archived-objects.ts';
import { InvalidInputError } from '../../../platform/errors/problem.ts';
import { MOST_FILES } from '../submission.ts';
import type { StudySource } from './study-source.ts';
import { DICOM_UID } from './subscription.ts';

const MOST_ENDPOINTS = 5;

const reference = z.looseObject({ reference: z.string().max(2000).optional() });
const identifier = z.looseObject({ system: z.string().optional(), value: z.string().optional() });
const study = z.looseObject({
  resourceType: z.literal('ImagingStudy'),
  identifier: z.array(identifier).default([]),
  contained: z.array(z.unknown()).default([]),
  endpoint: z.array(reference).default([]),
  series: z
    .array(
      z.looseObject({
        instance: z.array(z.looseObject({ uid: z.string() })).default([]),
      }),
    )
    .default([]),
});
const endpoint = z.looseObject({
  resourceType: z.literal('Endpoint'),
  status: z.string().optional(),
  connectionType: z.looseObject({ code: z.string().optional() }),
  address: z.string(),
});

type ImagingStudy = z.infer<typeof study>;

const refuse = (detail: string): never => {
  throw new InvalidInputError([{ pointer: '/focus', detail }]);
};

/** Finds a contained resource by its id (R4 2.28.3). */
function containedIn(resources: readonly unknown[], id: string): unknown {
  return resources.find(
    (one) => typeof one === 'object' && one !== null && 'id' in one && one.id === id,
  );
}

/**
 * Returns the objects of a Task's study, as listed by the archive. If the ImagingStudy lists
 * objects, only these are returned. Objects of classes that the gateway does not retrieve are
 * omitted.
 * @param contained the resources contained in the Task.
 * @param options.looksUp false for a test key, for which no archive is queried.
 * @throws InvalidInputError, SonogateError `overloaded`
 */
export async function objectsToInterpret(
  source: StudySource,
  { focus, contained }: { focus: string; contained: readonly unknown[] },
  { looksUp }: { looksUp: boolean },
): Promise<ArchivedObject[]> {
  const found = await findStudy(source, focus, contained, looksUp);
  const studyInstanceUid = uidOf(found);
  const named = new Set(found.series.flatMap(({ instance }) => instance.map(({ uid }) => uid)));
  if (named.size > MOST_FILES) refuse(tooMany);
  const archive = await archiveOf(source, found, contained, looksUp);
  if (!looksUp) {
    const uids = named.size > 0 ? [...named] : [''];
    const unknown = { archive, studyInstanceUid, seriesInstanceUid: '', sopClassUid: '' };
    return uids.map((sopInstanceUid) => ({ ...unknown, sopInstanceUid }));
  }
  const listed = await source.objects(archive, studyInstanceUid);
  const absent = named.difference(new Set(listed.map(({ sopInstanceUid }) => sopInstanceUid)));
  if (absent.size > 0) {
    refuse(`${archive} lacks ${absent.size} of the study's ${named.size} objects`);
  }
  const wanted = listed.filter(
    ({ sopClassUid, sopInstanceUid }) =>
      (named.size === 0 || named.has(sopInstanceUid)) &&
      (sopClassUid === '' || RETRIEVED_STORAGE.has(sopClassUid)),
  );
  if (wanted.length === 0) refuse(`${archive} has no images of the study`);
  if (wanted.length > MOST_FILES) refuse(tooMany);
  return wanted.map((object) => ({ ...object, archive }));
}

const tooMany = `a study of at most ${MOST_FILES} objects`;

async function findStudy(
  source: StudySource,
  focus: string,
  contained: readonly unknown[],
  looksUp: boolean,
): Promise<ImagingStudy> {
  const resource = focus.startsWith('#')
    ? containedIn(contained, focus.slice(1))
    : looksUp && (await source.read('ImagingStudy', focus));
  const parsed = study.safeParse(resource || undefined);
  return parsed.success
    ? parsed.data
    : refuse(
        looksUp
          ? 'an ImagingStudy contained in the Task, or one in an EHR that the site has configured'
          : 'an ImagingStudy contained in the Task; a test key cannot read from an EHR',
      );
}

function uidOf({ identifier }: ImagingStudy): string {
  const value = identifier.find(({ system }) => system === DICOM_UID)?.value ?? '';
  const uid = value.replace(/^urn:oid:/, '');
  return isUid(uid) ? uid : refuse(`an ImagingStudy with its Study Instance UID (${DICOM_UID})`);
}

/**
 * Returns the archive at the address of the study's dicom-wado-rs Endpoint, or the usual archive if
 * the study has no such Endpoint.
 * @throws InvalidInputError if the address belongs to no permitted archive.
 */
async function archiveOf(
  source: StudySource,
  { endpoint: references, contained: inStudy }: ImagingStudy,
  inTask: readonly unknown[],
  looksUp: boolean,
): Promise<string> {
  if (references.length > MOST_ENDPOINTS) refuse(`at most ${MOST_ENDPOINTS} endpoints`);
  let addresses = 0;
  for (const { reference: target = '' } of references) {
    const resource = target.startsWith('#')
      ? containedIn([...inStudy, ...inTask], target.slice(1))
      : looksUp && (await source.read('Endpoint', target));
    const { data } = endpoint.safeParse(resource || undefined);
    if (data?.connectionType.code !== 'dicom-wado-rs') continue;
    addresses += 1;
    const archive = source.archiveAt(data.address);
    if (archive !== null) return archive;
  }
  if (addresses > 0) {
    refuse('the address of the study does not belong to an archive that the site permits');
  }
  return source.usualArchive;
}
