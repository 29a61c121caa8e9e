import { setTimeout as delay } from 'node:timers/promises';
import type { NaturalDataset } from 'dcmjs';
import dimse from 'dcmjs-dimse';
import { newUid } from '../../../dimse/services/referenced-objects.ts';
import { PERFORMED_PROCEDURE_STEP } from '../../../pipelines/dicom/sop-classes.ts';
import { type StudyOutcome, stepBegun, stepEnded } from './cart-study.ts';
import {
  type NodeForDcmjs,
  overAssociation,
  type StoredByDcmjs,
  storeByDcmjs,
} from './dcmjs-client.ts';

const { Dataset, requests } = dimse;

/**
 * Sends a study by dcmjs-dimse: MPPS N-CREATE, the objects over one association, MPPS N-SET. With a
 * pause, each object gets its own association, because the queue of a `Client` cannot wait. Storage
 * commitment is not requested, because a `Client` does not wait for the report (docs/dicom.md).
 */
export async function sendPlainStudy(
  node: NodeForDcmjs,
  {
    files,
    studyInstanceUid,
    pauseMilliseconds = 0,
    onStored,
  }: {
    files: readonly Buffer[];
    studyInstanceUid: string;
    pauseMilliseconds?: number;
    onStored?: (object: StoredByDcmjs, status: number | null) => void;
  },
): Promise<StudyOutcome> {
  const step = newUid();
  const begin = new requests.NCreateRequest(PERFORMED_PROCEDURE_STEP, step);
  const begun = await ask(node, begin, stepBegun(studyInstanceUid, node));
  const objects: StoredByDcmjs[] = [];
  const batches = pauseMilliseconds === 0 ? [files] : files.map((file) => [file]);
  for (const [index, batch] of batches.entries()) {
    if (index > 0) await delay(pauseMilliseconds);
    for (const object of await storeByDcmjs(node, batch)) {
      objects.push(object);
      onStored?.(object, object.status);
    }
  }
  const end = new requests.NSetRequest(PERFORMED_PROCEDURE_STEP, step);
  const ended = await ask(node, end, stepEnded(objects));
  return {
    stored: objects.map(({ status }) => status),
    performedProcedure: begun === null || ended === null ? null : [begun, ended],
    committed: null,
  };
}

/**
 * Performs one normalized request over its own association, as most carts do.
 * @returns the status; null if the peer does not accept MPPS.
 */
async function ask(
  node: NodeForDcmjs,
  request: dimse.requests.Request,
  dataSet: NaturalDataset,
): Promise<number | null> {
  let status: number | null = null;
  request.setDataset(new Dataset(dataSet));
  request.on('response', (response: dimse.responses.Response) => {
    status = response.getStatus();
  });
  await overAssociation(node, (client) => client.addRequest(request));
  return status;
}
