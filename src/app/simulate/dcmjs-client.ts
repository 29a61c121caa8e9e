import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { NaturalDataset } from 'dcmjs';
import dimse from 'dcmjs-dimse';
import { rejectionInWords } from '../../../dimse/network/pdu.ts';
import { newUid } from '../../../dimse/services/referenced-objects.ts';
import { decodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import { PERFORMED_PROCEDURE_STEP } from '../../../pipelines/dicom/sop-classes.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { type StudyOutcome, stepBegun, stepEnded } from './cart-study.ts';

const { Client, Dataset, association, constants, requests } = dimse;
const { TransferSyntax } = constants;

// Otherwise dcmjs-dimse writes every PDU to the console.
dimse.log.disableAll();

/** A node that dcmjs-dimse connects to, and our own AE title. */
export interface NodeForDcmjs {
  host: string;
  port: number;
  aeTitle: string;
  callingAeTitle: string;
}

/** Milliseconds without a response from the peer after which dcmjs-dimse aborts. */
const PATIENCE_MILLISECONDS = 300_000;

/**
 * Performs the requests that `ask` adds to a dcmjs-dimse `Client`, one after the other, over one
 * association, and waits for its release.
 * @throws SonogateError `peer_rejected_association`
 * @throws SonogateError `peer_unreachable`, also if the association is lost later
 */
export async function overAssociation(
  { host, port, aeTitle, callingAeTitle }: NodeForDcmjs,
  ask: (client: dimse.Client) => void,
): Promise<void> {
  const client = new Client();
  ask(client);
  const closed = once(client, 'closed');
  const failed = once(client, 'networkError').then(([{ message }]) => {
    // The message begins with the log prefix of dcmjs-dimse.
    throw new SonogateError('peer_unreachable', `${message}`.replace(/^.*-> /, ''));
  });
  const rejected = once(client, 'associationRejected').then(([{ result, source, reason }]) => {
    throw new SonogateError(
      'peer_rejected_association',
      `A-ASSOCIATE-RJ: ${rejectionInWords({ result, source, reason })}.`,
    );
  });
  client.send(host, port, callingAeTitle, aeTitle, { pduTimeout: PATIENCE_MILLISECONDS });
  await Promise.race([closed, failed, rejected]);
}

/**
 * The data set of a DICOM file that dcmjs-dimse sends exactly as encoded, including compressed
 * frames. dcmjs-dimse would decode a plain `Dataset` into elements and encode it again.
 */
class EncodedDataset extends Dataset {
  readonly #bytes: Buffer;

  constructor(file: Buffer) {
    const { meta, dataSetOffset } = decodeFileMeta(file);
    const uids = { SOPClassUID: meta.sopClassUid, SOPInstanceUID: meta.sopInstanceUid };
    super(uids, meta.transferSyntax);
    this.#bytes = file.subarray(dataSetOffset);
  }

  override getDenaturalizedDataset(): Buffer {
    return this.#bytes;
  }

  /**
   * Called if the peer accepted the class only in another transfer syntax, to which the data set is
   * converted.
   */
  override getElements(): Record<string, unknown> {
    return new Dataset(this.#bytes, this.getTransferSyntaxUid()).getElements();
  }
}

/**
 * An object and the status of its C-STORE. The status is null if the peer did not respond, for
 * example because it accepted no context.
 */
export interface StoredByDcmjs {
  sopClassUid: string;
  sopInstanceUid: string;
  status: number | null;
}

const NATIVE: ReadonlySet<string> = new Set([
  TransferSyntax.ImplicitVRLittleEndian,
  TransferSyntax.ExplicitVRLittleEndian,
]);

/**
 * Sends DICOM files by C-STORE over one dcmjs-dimse association. Each kind of object gets a
 * presentation context with its own transfer syntax, in addition to the context with Implicit and
 * Explicit VR that dcmjs-dimse proposes for every class.
 * @throws SonogateError `peer_rejected_association`
 * @throws SonogateError `peer_unreachable`, also if the association is lost later
 */
export async function storeByDcmjs(
  node: NodeForDcmjs,
  files: readonly Buffer[],
): Promise<StoredByDcmjs[]> {
  const stored: StoredByDcmjs[] = [];
  await overAssociation(node, (client) => {
    const proposed = new Set<string>();
    for (const file of files) {
      const dataset = new EncodedDataset(file);
      const request = new requests.CStoreRequest(dataset);
      const sopClassUid = request.getAffectedSopClassUid();
      const transferSyntax = dataset.getTransferSyntaxUid();
      const sopInstanceUid = request.getAffectedSopInstanceUid();
      const answer: StoredByDcmjs = { sopClassUid, sopInstanceUid, status: null };
      stored.push(answer);
      request.on('response', (response: dimse.responses.CStoreResponse) => {
        answer.status = response.getStatus();
      });
      client.addRequest(request);
      const kind = `${sopClassUid} ${transferSyntax}`;
      // dcmjs-dimse itself proposes a separate context for compressed objects.
      if (!NATIVE.has(transferSyntax) || proposed.has(kind)) continue;
      proposed.add(kind);
      const context = new association.PresentationContext(0, sopClassUid, transferSyntax);
      client.addAdditionalPresentationContext(context, true);
    }
  });
  return stored;
}

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
