import type { Config, FhirDestination } from '../../../config/schema.ts';
import { openArchives } from '../../../dimse/archive/open-archives.ts';
import { httpAccess } from '../../../fhir/client/authorization.ts';
import { connectFhir } from '../../../fhir/client/client.ts';
import { FhirFailure } from '../../../fhir/client/outcome.ts';
import type { StudySource } from '../../doors/http/fhir/study-source.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import type { ClientCertificates } from '../../platform/tls/client-files.ts';

const ASKING_MILLISECONDS = 30_000;

/** Returns a normalised URL without trailing slashes; null for text that is not a URL. */
const normal = (address: string): string | null =>
  URL.parse(address)?.href.replace(/\/+$/, '') ?? null;

/**
 * Connects the archives and EHRs from which studies may be submitted; null if none are permitted.
 */
export function studySourceOf(
  config: Pick<Config, 'http' | 'archives' | 'destinations' | 'dicom'>,
  { certificates, logger }: { certificates: ClientCertificates; logger: Logger },
): StudySource | null {
  const { fhirSubmission } = config.http;
  const [usualArchive] = fhirSubmission?.archives ?? [];
  if (!fhirSubmission || usualArchive === undefined) return null;
  const settings = config.archives.filter(({ name }) => fhirSubmission.archives.includes(name));
  const archives = openArchives(
    { ...config, archives: settings },
    { logger, certificates, access: httpAccess(certificates) },
  );
  const named = new Map(
    settings.flatMap((one) =>
      one.type === 'dicomweb' ? [[normal(one.baseUrl), one.name] as const] : [],
    ),
  );
  const ehrs = config.destinations
    .filter((one): one is FhirDestination => one.type === 'fhir')
    .filter(({ name }) => fhirSubmission.ehrs.includes(name))
    .map((destination) => ({
      name: destination.name,
      base: normal(destination.baseUrl),
      server: connectFhir(destination, certificates),
    }));
  /** Logs the cause, which is not sent to the client. */
  const failed = (peer: string, error: unknown): never => {
    logger.event('study_source_failed', { peer, error: String(error) });
    throw new SonogateError('overloaded', `"${peer}" could not be queried for the study.`);
  };
  return {
    usualArchive,
    archiveAt: (address) => named.get(normal(address)) ?? null,
    async objects(name, studyInstanceUid) {
      const archive = archives.find((one) => one.name === name);
      const signal = AbortSignal.timeout(ASKING_MILLISECONDS);
      const found = await archive
        ?.objects(studyInstanceUid, { signal })
        .catch((error: unknown) => failed(name, error));
      return (found ?? []).map((object) => ({ ...object, studyInstanceUid }));
    },
    async read(type, reference) {
      const form = new RegExp(`^(?:(.+)/)?${type}/([A-Za-z0-9.-]{1,64})$`);
      const [, base, id] = form.exec(reference) ?? [];
      if (id === undefined) return null;
      // A relative reference refers to the first EHR.
      const ehr = base === undefined ? ehrs[0] : ehrs.find((one) => one.base === normal(base));
      if (!ehr) return null;
      try {
        return await ehr.server.read(type, id, AbortSignal.timeout(ASKING_MILLISECONDS));
      } catch (error) {
        if (!(error instanceof FhirFailure)) throw error;
        return failed(ehr.name, error);
      }
    },
  };
}
