import type { ArchiveSettings } from '../../../config/archive.ts';
import type { Config } from '../../../config/schema.ts';
import { checkGet, checkMove, checkQuery } from '../../../dimse/archive/check-archive.ts';
import { archiveNode, openArchives } from '../../../dimse/archive/open-archives.ts';
import { httpAccess } from '../../../fhir/http-access.ts';
import { silentLogger } from '../../logging/logger.ts';
import { type Finding, fault, inOneLine, ok, warning } from './finding.ts';

const PATIENCE_SECONDS = 20;

/** Whether each archive answers queries and would give objects; nothing is fetched. */
export async function checkArchives(config: Config): Promise<Finding[]> {
  const findings = await Promise.all(config.archives.map((settings) => archive(settings, config)));
  return findings.flat();
}

async function archive(settings: ArchiveSettings, config: Config): Promise<Finding[]> {
  const what = `archive ${settings.name}`;
  const patient = { ...settings, timeoutSeconds: PATIENCE_SECONDS };
  try {
    const [opened] = openArchives({ ...config, archives: [patient] }, silentLogger, httpAccess);
    if (!opened) return [];
    const { milliseconds, matched } = await checkQuery(opened);
    const findings = [
      matched === 0
        ? ok(what, `answers queries in ${milliseconds.toFixed(0)} ms`)
        : warning(what, 'answers a query for a study that does not exist with others'),
    ];
    return [...findings, ...(await retrieval(what, patient, config))];
  } catch (error) {
    return [fault(what, inOneLine(error))];
  }
}

async function retrieval(
  what: string,
  settings: ArchiveSettings,
  { dicom, sources }: Config,
): Promise<Finding[]> {
  if (settings.type === 'dicomweb') return [];
  const node = archiveNode(settings, dicom);
  if (settings.retrieve === 'c-get') {
    const obstacle = await checkGet(node);
    return [obstacle ? fault(what, obstacle) : ok(what, 'C-GET is accepted')];
  }
  const moveTo = settings.moveTo ?? dicom.aeTitle;
  const obstacle = await checkMove(node, moveTo);
  if (obstacle) return [fault(what, obstacle)];
  const admitted = sources.some(({ callingAeTitles }) =>
    callingAeTitles.some((title) => title === '*' || title === settings.aeTitle),
  );
  if (!admitted) return [fault(what, `is no source: "${settings.aeTitle}" may not send to us`)];
  return [ok(what, `C-MOVE is accepted; it must know "${moveTo}" with our address`)];
}
