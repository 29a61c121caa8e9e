import { z } from 'zod';
import type { Config } from '../../config/schema.ts';
import type { WriteAudit } from '../../src/core/audit/audit.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import { queryEntry } from '../receive/audit.ts';
import type { Archive, FoundObject, FoundStudy } from './archive.ts';
import { type ArchiveAccess, auditedArchive, openArchives } from './open-archives.ts';
import { findRetrieval, requestRetrieval } from './retrievals.ts';

/** PS3.5 9.1: what becomes part of queries and paths. */
const uid = z.string().regex(/^[0-9.]{1,64}$/, 'a UID');
const fetchSchema = z.strictObject({ study: uid, from: z.string() });
const findSchema = z.strictObject({
  from: z.string(),
  keys: z.strictObject({
    patientId: z.string().optional(),
    studyInstanceUid: z.string().optional(),
    accessionNumber: z.string().optional(),
    studyDate: z.string().optional(),
    modality: z.string().optional(),
  }),
  limit: z.int().min(1),
  /** Whether the objects of each study are listed too. */
  objects: z.boolean(),
  person: z.string().optional(),
});
const byId = z.strictObject({ id: z.uuid() });

/** What an archive has, as `archives.find` answers. */
export type FoundInArchive = FoundStudy & { listed: FoundObject[] | null };

/**
 * What commands may ask of archives: which studies one has, written down before it is told (PS3.15
 * A.5.3.10), and that a running gateway fetches one into its intake and routes it.
 */
export function createArchiveOperations(
  config: Pick<Config, 'archives' | 'dicom'>,
  {
    database,
    access,
    writeAudit,
    logger,
  }: { database: Database; access: ArchiveAccess; writeAudit: WriteAudit; logger: Logger },
): Record<string, (parameters: unknown) => Promise<unknown>> {
  const requireKnown = (name: string) => {
    if (config.archives.some((one) => one.name === name)) return;
    const known = config.archives.map((one) => one.name).join(', ') || 'none is configured';
    throw new SonogateError('not_found', `There is no archive "${name}"; there are: ${known}.`);
  };
  const archiveFor = (name: string, person: string | undefined): Archive => {
    requireKnown(name);
    const archives = openArchives(config, logger, access);
    const archive = archives.find((one) => one.name === name) as Archive;
    const actor = person === undefined ? 'command-line' : `person:${person}`;
    return auditedArchive(archive, {
      queried: (asked, found) => writeAudit(queryEntry(asked, found, { actor, at: new Date() })),
    });
  };
  return {
    'archives.find': async (parameters): Promise<FoundInArchive[]> => {
      const { from, keys, limit, objects, person } = findSchema.parse(parameters);
      const archive = archiveFor(from, person);
      const studies = await archive.studies(keys, { limit });
      return Promise.all(
        studies.map(async (study) => ({
          ...study,
          listed: objects ? await archive.objects(study.studyInstanceUid) : null,
        })),
      );
    },
    'archives.fetch': async (parameters) => {
      const { study, from } = fetchSchema.parse(parameters);
      requireKnown(from);
      const wanted = { archive: from, studyInstanceUid: study, purpose: 'study' } as const;
      return { id: await requestRetrieval(database, wanted, new Date()) };
    },
    'archives.retrieval': async (parameters) => {
      const found = await findRetrieval(database, byId.parse(parameters).id);
      if (!found) throw new SonogateError('not_found', 'There is no retrieval of this id.');
      return found;
    },
  };
}
