import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import type { Archive, FoundStudy, StudyKeys } from '../../dimse/archive/archive.ts';
import { openArchives } from '../../dimse/archive/open-archives.ts';
import type { RetrievalRow } from '../../dimse/archive/retrievals.ts';
import { httpAccess } from '../../fhir/http-access.ts';
import { callAdminSocket, NoGatewayError } from '../admin/socket.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { silentLogger } from '../logging/logger.ts';
import { runOperation } from './operations.ts';

export interface FindOptions extends Omit<StudyKeys, 'studyInstanceUid'> {
  from: string;
  study?: string;
  /** Lists the objects of the study too. */
  objects?: boolean;
  limit: number;
  json?: boolean;
}

/** Asks an archive which studies it has. @returns the exit status: 1 when it has none. */
export async function find({
  from,
  study,
  objects,
  limit,
  json,
  ...keys
}: FindOptions): Promise<number> {
  const archive = archiveNamed(loadConfig(), from);
  try {
    const studies = await archive.studies(
      { ...keys, ...(study !== undefined && { studyInstanceUid: study }) },
      { limit },
    );
    const found = await Promise.all(
      studies.map(async (one) => ({
        ...one,
        ...(objects && { listed: await archive.objects(one.studyInstanceUid) }),
      })),
    );
    if (json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    else for (const one of found) process.stdout.write(`${inWords(one)}\n`);
    if (!json && found.length === 0) process.stdout.write(`${from} has no such study\n`);
    return found.length > 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    process.stderr.write(`${from}: ${error.message}\n`);
    return 1;
  }
}

function inWords({
  studyInstanceUid,
  studyDate,
  modalities,
  objects,
  description,
  listed = [],
}: FoundStudy & { listed?: Awaited<ReturnType<Archive['objects']>> }): string {
  const count = objects === null ? 'objects unknown' : `${objects} objects`;
  return [
    `${studyInstanceUid}  ${studyDate || 'no date'}  ${modalities.join(',') || '-'}  ${count}  ${description}`,
    ...listed.map(({ sopInstanceUid, modality }) => `  ${modality.padEnd(4)}${sopInstanceUid}`),
  ].join('\n');
}

const POLL_MS = 500;
const PATIENCE_MS = 600_000;

/** Has the running gateway fetch a study and route it. @returns the exit status: 0 when it is here. */
export async function fetchStudy(
  study: string,
  { from, detach }: { from: string; detach?: boolean },
): Promise<number> {
  const { id } = await runOperation<{ id: string }>('archives.fetch', { study, from });
  if (detach) {
    process.stdout.write(`${id}\n`);
    return 0;
  }
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { state, detail } = await retrieval(id);
    if (state === 'succeeded' || state === 'failed') {
      process.stdout.write(`${state}: ${detail}\n`);
      return state === 'succeeded' ? 0 : 1;
    }
    if (Date.now() > deadline) {
      process.stdout.write(`${state}: the gateway goes on; npx sonogate explain ${study}\n`);
      return 1;
    }
    await sleep(POLL_MS);
  }
}

/** @throws Error when no gateway runs: the next one that starts fetches the study. */
async function retrieval(id: string): Promise<Pick<RetrievalRow, 'state' | 'detail'>> {
  try {
    const { dataDir } = loadConfig();
    return (await callAdminSocket(dataDir, 'archives.retrieval', { id })) as RetrievalRow;
  } catch (error) {
    if (!(error instanceof NoGatewayError)) throw error;
    throw new Error(`${error.message}: the study is fetched when one starts`);
  }
}

/** @throws Error when no archive has that name. */
function archiveNamed(config: Config, name: string): Archive {
  const archive = openArchives(config, silentLogger, httpAccess).find((one) => one.name === name);
  if (archive) return archive;
  const known = config.archives.map((one) => one.name).join(', ') || 'none is configured';
  throw new Error(`there is no archive "${name}"; there are: ${known}`);
}
