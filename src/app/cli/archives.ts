import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../../config/load.ts';
import type { StudyKeys } from '../../../dimse/archive/archive.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { commandsOfGateway, NoGatewayError } from '../../operations/socket.ts';
import { runCommand } from './operations.ts';

interface FindOptions extends Omit<StudyKeys, 'studyInstanceUid' | 'issuerOfPatientId'> {
  from: string;
  study?: string;
  /** List the objects of each study as well. */
  objects?: boolean;
  limit: number;
  json?: boolean;
}

/** Lists the studies that an archive has. @returns the exit status: 1 when the archive has none. */
export async function find({
  from,
  study,
  objects = false,
  limit,
  json,
  patientId,
  accessionNumber,
  studyDate,
  modality,
}: FindOptions): Promise<number> {
  const keys = { patientId, studyInstanceUid: study, accessionNumber, studyDate, modality };
  const asked = { from, keys, limit, objects, person: userInfo().username };
  const found = await runCommand('archives.find', asked);
  if (json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  else for (const one of found) process.stdout.write(`${inWords(one)}\n`);
  if (!json && found.length === 0) process.stdout.write(`${from} has no matching study\n`);
  return found.length > 0 ? 0 : 1;
}

function inWords({
  studyInstanceUid,
  studyDate,
  modalities,
  objects,
  description,
  listed,
}: CommandAnswer<'archives.find'>[number]): string {
  const count = objects === null ? 'objects unknown' : `${objects} objects`;
  return [
    `${studyInstanceUid}  ${studyDate || 'no date'}  ${modalities.join(',') || '-'}  ${count}  ${description}`,
    ...(listed ?? []).map(
      ({ sopInstanceUid, modality }) => `  ${modality.padEnd(4)}${sopInstanceUid}`,
    ),
  ].join('\n');
}

const POLL_MS = 500;
const PATIENCE_MS = 600_000;

/**
 * Makes the running gateway retrieve a study and route it. @returns the exit status: 0 when the
 * study has arrived.
 */
export async function fetchStudy(
  study: string,
  { from, detach }: { from: string; detach?: boolean },
): Promise<number> {
  const { id } = await runCommand('archives.fetch', { study, from });
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
      process.stdout.write(`${state}: the gateway continues; see npx sonogate explain ${study}\n`);
      return 1;
    }
    await sleep(POLL_MS);
  }
}

/**
 * The state of a retrieval. @throws Error when no gateway runs: the retrieval then continues at the
 * next start of a gateway.
 */
async function retrieval(id: string): Promise<CommandAnswer<'archives.retrieval'>> {
  try {
    const { dataDir } = loadConfig();
    return await commandsOfGateway(dataDir)('archives.retrieval', { id });
  } catch (error) {
    if (!(error instanceof NoGatewayError)) throw error;
    throw new Error(`${error.message}: the study will be retrieved when one starts`);
  }
}
