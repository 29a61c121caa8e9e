import type { Config } from '../../config/schema.ts';
import type { WriteAudit } from '../../src/core/audit/audit.ts';
import type { ArchiveOperations } from '../../src/operations/operations.ts';
import type { Database } from '../../src/platform/database/port.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { inParallel } from '../../src/platform/in-parallel.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { queryEntry } from '../receive/audit.ts';
import type { Archive } from './archive.ts';
import { type ArchiveAccess, auditedArchive, openArchives } from './open-archives.ts';
import { findRetrieval, requestRetrieval } from './retrievals.ts';

/** Maximum number of concurrent queries, each of which opens an association. Archives allow few. */
const QUERIES_AT_A_TIME = 4;

/**
 * Creates the archive operations of the admin socket. `find` writes an audit entry before it
 * responds (PS3.15 A.5.3.10). `fetch` makes the running gateway retrieve and route a study.
 */
export function createArchiveOperations(
  config: Pick<Config, 'archives' | 'dicom'>,
  {
    database,
    access,
    certificates,
    writeAudit,
    logger,
  }: {
    database: Database;
    access: ArchiveAccess;
    certificates: ClientCertificates;
    writeAudit: WriteAudit;
    logger: Logger;
  },
): ArchiveOperations {
  const unknown = (name: string) => {
    const known = config.archives.map((one) => one.name).join(', ');
    const others = known === '' ? 'No archive is configured.' : `Configured: ${known}.`;
    return new SonogateError('not_found', `There is no archive "${name}". ${others}`);
  };
  const archiveFor = (name: string, person: string | undefined): Archive => {
    const archive = openArchives(config, { logger, certificates, access }).find(
      (one) => one.name === name,
    );
    if (!archive) throw unknown(name);
    const actor = person === undefined ? 'command-line' : `person:${person}`;
    return auditedArchive(archive, {
      queried: (asked, found) => writeAudit(queryEntry(asked, found, { actor, at: new Date() })),
    });
  };
  return {
    async find({ from, keys, limit, objects, person }) {
      const archive = archiveFor(from, person);
      const studies = await archive.studies(keys, { limit });
      return inParallel(studies, QUERIES_AT_A_TIME, async (study) => ({
        ...study,
        listed: objects ? await archive.objects(study.studyInstanceUid) : null,
      }));
    },
    async fetch(study, from) {
      if (!config.archives.some(({ name }) => name === from)) throw unknown(from);
      const wanted = { archive: from, studyInstanceUid: study, purpose: 'study' } as const;
      return { id: await requestRetrieval(database, wanted, new Date()) };
    },
    async retrieval(id) {
      const found = await findRetrieval(database, id);
      if (!found) throw new SonogateError('not_found', 'There is no retrieval with this id.');
      return found;
    },
  };
}
