import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../../config/load.ts';
import type { StudyKeys } from '../../../dimse/archive/archive.ts';
import type { CommandAnswer } from '../../operations/commands.ts';
import { commandsOfGateway, NoGatewayError } from '../../operations/socket.ts';
import { type AnswerForm, answer } from './answer.ts';
import { EXIT, type ExitStatus } from './exit-status.ts';
import { runCommand } from './operations.ts';

interface FindOptions
  extends AnswerForm,
    Omit<StudyKeys, 'studyInstanceUid' | 'issuerOfPatientId'> {
  from: string;
  study?: string;
  objects?: boolean;
  limit: number;
}

/** Lists the studies in an archive. Finding none is a success, because the archive answered. */
export async function find({
  from,
  study,
  objects = false,
  limit,
  json = false,
  patientId,
  accessionNumber,
  studyDate,
  modality,
}: FindOptions): Promise<void> {
  const keys = { patientId, studyInstanceUid: study, accessionNumber, studyDate, modality };
  const asked = { from, keys, limit, objects };
  const found = await runCommand('archives.find', asked);
  const lines = found.map(inWords);
  answer({ json }, found, lines.length > 0 ? lines : [`${from} has no matching study`]);
}

function inWords({
  studyInstanceUid,
  studyDate,
  modalities,
  objects,
  description,
  listed,
}: CommandAnswer<'archives.find'>[number]): string {
  const count = objects === null ? 'number of objects unknown' : `${objects} objects`;
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
 * Has the running gateway retrieve a study and route it. Unless `detach` is set, waits until the
 * study has arrived.
 */
export async function fetchStudy(
  study: string,
  { from, detach, ...form }: AnswerForm & { from: string; detach?: boolean },
): Promise<ExitStatus> {
  const { id } = await runCommand('archives.fetch', { study, from });
  if (detach) {
    answer(form, { id }, [id]);
    return EXIT.success;
  }
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { state, detail } = await retrieval(id);
    if (state === 'succeeded' || state === 'failed') {
      answer(form, { id, state, detail }, [`${state}: ${detail}`]);
      return state === 'succeeded' ? EXIT.success : EXIT.failed;
    }
    if (Date.now() > deadline) {
      answer(form, { id, state, detail }, [
        `${state}: the gateway continues; see npx sonogate explain ${study}`,
      ]);
      return EXIT.failed;
    }
    await sleep(POLL_MS);
  }
}

/**
 * Returns the state of a retrieval.
 * @throws NoGatewayError if no gateway is running. The retrieval then continues after the next
 * startup.
 */
async function retrieval(id: string): Promise<CommandAnswer<'archives.retrieval'>> {
  try {
    const { dataDir } = loadConfig();
    return await commandsOfGateway(dataDir)('archives.retrieval', { id });
  } catch (error) {
    if (!(error instanceof NoGatewayError)) throw error;
    throw new NoGatewayError(`${error.message}: the study will be retrieved when one starts`);
  }
}
