import { createReadStream } from 'node:fs';
import type { DicomDestination } from '../../config/schema.ts';
import { convertedFile, OTHER_LITTLE_ENDIAN } from '../../pipelines/dicom/explicit-implicit.ts';
import { decodeFileMeta, readFileMeta } from '../../pipelines/dicom/part10.ts';
import { failed, type SendOutcome } from '../../src/core/outbox/delivery.ts';
import { ERRORS, type ErrorCode, SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { type CalledNode, clientTls } from '../network/dial.ts';
import { Requestor } from '../network/requestor.ts';
import type { OutgoingObject } from '../network/service-ports.ts';
import { isWarning, STATUS, statusHex } from '../network/status.ts';
import {
  type AssociationPool,
  type Associations,
  contextsFor,
  FRESH_ASSOCIATIONS,
  MAX_CONTEXTS,
  type ObjectKind,
  objectKindKey,
} from './association-pool.ts';
import { echo } from './verification.ts';

/**
 * Opens a DICOM file as an object to send. Its data set is streamed from the disk.
 * @throws SonogateError `object_not_understood` if it is not a DICOM file.
 */
export async function outgoingFile(path: string): Promise<OutgoingObject> {
  const { meta, dataSetOffset, bytes } = await readFileMeta(path);
  return {
    sopClassUid: meta.sopClassUid,
    sopInstanceUid: meta.sopInstanceUid,
    transferSyntax: meta.transferSyntax,
    bytes: bytes - dataSetOffset,
    read: (size) => createReadStream(path, { start: dataSetOffset, highWaterMark: size }),
  };
}

/**
 * Wraps a DICOM file in memory as an object to send.
 * @throws SonogateError `object_not_understood` if it is not a DICOM file.
 */
export function outgoingBuffer(file: Buffer): OutgoingObject {
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const dataSet = file.subarray(dataSetOffset);
  return {
    sopClassUid: meta.sopClassUid,
    sopInstanceUid: meta.sopInstanceUid,
    transferSyntax: meta.transferSyntax,
    bytes: dataSet.length,
    *read(size) {
      for (let start = 0; start < dataSet.length; start += size) {
        yield dataSet.subarray(start, start + size);
      }
    },
  };
}

/** The result of storing one object (PS3.4 B.2.3). `status` is null when the peer returned none. */
export interface StoreResult {
  sopClassUid: string;
  sopInstanceUid: string;
  outcome: 'stored' | 'warning' | 'failed';
  status: number | null;
  /** Error code; null if the object was stored. */
  code: ErrorCode | null;
  detail: string;
  /** Seconds that the peer asked us to wait. */
  retryAfter?: number | undefined;
}

/**
 * Sends DICOM files byte for byte, each in its own transfer syntax, over as few associations as
 * their presentation contexts allow. A failing file does not stop the others.
 * @param mayConvert for an object in Explicit or Implicit VR Little Endian, also proposes the other
 * of the two, and converts the object if the peer accepts only that one.
 * @param onResult called after each file, in order, except that a file that cannot be read is
 * reported before those waiting for the next association.
 * @throws SonogateError `peer_unreachable` or `peer_rejected_association` if the first association
 * for a group of files cannot be opened. Files of earlier groups may have been sent.
 */
export async function sendFiles(
  node: CalledNode,
  paths: readonly string[],
  {
    mayConvert = false,
    onResult,
    signal,
  }: {
    mayConvert?: boolean;
    onResult?: (path: string, result: StoreResult) => void;
    signal?: AbortSignal;
  } = {},
): Promise<StoreResult[]> {
  const results: StoreResult[] = [];
  let batch: BatchEntry[] = [];
  let kinds = new Set<string>();

  const report = (path: string, result: StoreResult) => {
    results.push(result);
    onResult?.(path, result);
  };
  const flush = async () => {
    if (batch.length > 0) await sendBatch(node, batch, report, signal);
    batch = [];
    kinds = new Set();
  };

  for (const path of paths) {
    let object: OutgoingObject;
    try {
      object = await outgoingFile(path);
    } catch (error) {
      report(path, failedResult('', error));
      continue;
    }
    const forms = mayConvert ? formsOf(object) : [object];
    const added = forms.filter((form) => !kinds.has(objectKindKey(form)));
    if (kinds.size + added.length > MAX_CONTEXTS) await flush();
    for (const form of forms) kinds.add(objectKindKey(form));
    batch.push({ path, object, forms });
  }
  await flush();
  return results;
}

/**
 * Sends objects over one association. Each entry of `objects` contains the forms of one object, the
 * preferred one first (see `StoreTransport.send`). The first form for which the peer accepted a
 * context is sent. Stops at the first failure, because the next attempt sends all objects again. An
 * association that the peer ended while it was idle is replaced without counting as a failure. A
 * failure on the peer's side never throws.
 * @returns a result for each object that was tried.
 */
export async function sendObjects(
  node: CalledNode,
  objects: readonly (readonly OutgoingObject[])[],
  {
    signal,
    associations = FRESH_ASSOCIATIONS,
  }: { signal?: AbortSignal | undefined; associations?: Associations } = {},
): Promise<StoreResult[]> {
  const results: StoreResult[] = [];
  try {
    let lent = await associations.acquire(node, objects, signal);
    for (const forms of objects) {
      if (forms.length === 0) continue;
      let result = await storeInFirstForm(lent.requestor, forms);
      if (lent.wasIdle && isLoss(result) && !signal?.aborted) {
        lent.requestor.abort();
        await associations.giveBack(node, lent);
        lent = await associations.acquire(node, objects, signal);
        result = await storeInFirstForm(lent.requestor, forms);
      }
      lent.wasIdle = false;
      results.push(result);
      if (result.outcome === 'failed') break;
    }
    await associations.giveBack(node, lent);
    return results;
  } catch (error) {
    return [...results, failedResult(objects[0]?.[0]?.sopInstanceUid ?? '', error)];
  }
}

const isLoss = ({ code }: StoreResult): boolean =>
  code === 'peer_unreachable' || code === 'peer_connection_lost';

function storeInFirstForm(
  requestor: Requestor,
  forms: readonly OutgoingObject[],
): Promise<StoreResult> {
  const [preferred] = forms;
  const accepted = forms.find((form) => requestor.accepts(form)) ?? preferred;
  if (!accepted) throw new SonogateError('internal', 'The delivery has no form of the object.');
  return storeOne(requestor, accepted);
}

function formsOf({ sopClassUid, transferSyntax }: OutgoingObject): ObjectKind[] {
  const other = OTHER_LITTLE_ENDIAN[transferSyntax];
  const stored = { sopClassUid, transferSyntax };
  return other ? [stored, { sopClassUid, transferSyntax: other }] : [stored];
}

type BatchEntry = { path: string; object: OutgoingObject; forms: readonly ObjectKind[] };

/**
 * Sends objects over one association. If the connection is lost, only the object being sent fails,
 * and a new association is opened for the remaining objects.
 */
async function sendBatch(
  node: CalledNode,
  batch: readonly BatchEntry[],
  report: (path: string, result: StoreResult) => void,
  signal?: AbortSignal,
): Promise<void> {
  const contexts = contextsFor(batch.flatMap(({ forms }) => forms));
  let requestor = await Requestor.open(node, contexts, signal);
  for (const [index, entry] of batch.entries()) {
    const { path } = entry;
    const result = await storeInAcceptedForm(requestor, entry);
    report(path, result);
    if (!requestor.closed || index === batch.length - 1) continue;
    try {
      requestor = await Requestor.open(node, contexts, signal);
    } catch (error) {
      for (const left of batch.slice(index + 1)) {
        report(left.path, failedResult(left.object.sopInstanceUid, error));
      }
      return;
    }
  }
  await requestor.release();
}

async function storeInAcceptedForm(
  requestor: Requestor,
  { path, object, forms }: BatchEntry,
): Promise<StoreResult> {
  const form = forms.find((each) => requestor.accepts(each)) ?? object;
  if (form.transferSyntax === object.transferSyntax) return storeOne(requestor, object);
  try {
    return await storeOne(requestor, await convertedFile(path));
  } catch (error) {
    return failedResult(object.sopInstanceUid, error);
  }
}

async function storeOne(requestor: Requestor, object: OutgoingObject): Promise<StoreResult> {
  try {
    const { status, comment } = await requestor.store(object);
    const detail = `status ${statusHex(status)}${comment ? `: ${comment}` : ''}`;
    const { sopClassUid, sopInstanceUid } = object;
    const sop = { sopClassUid, sopInstanceUid };
    if (status === 0) return { ...sop, outcome: 'stored', status, code: null, detail };
    if (isWarning(status)) {
      return { ...sop, outcome: 'warning', status, code: null, detail };
    }
    return { ...sop, ...resultOfFailureStatus(status, detail) };
  } catch (error) {
    return failedResult(object.sopInstanceUid, error);
  }
}

/**
 * Returns the result for a failure status of C-STORE (PS3.4 B.2.3, PS3.7 C.5), or for a STOW-RS
 * Failure Reason (PS3.18 table 10.5.3-2), which has the same values.
 */
export function resultOfFailureStatus(
  status: number,
  detail: string,
): Pick<StoreResult, 'outcome' | 'status' | 'code' | 'detail'> {
  if (status === STATUS.duplicateSopInstance) {
    const known = `${detail} (the peer has the object already)`;
    return { outcome: 'warning', status, code: null, detail: known };
  }
  return { outcome: 'failed', status, code: refusalCode(status), detail };
}

/** Returns the error code for a failure status of C-STORE. */
export function refusalCode(status: number): ErrorCode {
  if (status === STATUS.processingFailure) return 'peer_processing_failure';
  return (status & 0xff00) === 0xa700 ? 'peer_out_of_resources' : 'peer_refused_object';
}

/** Returns the result for an error that occurred on the way to the peer. */
export function failedResult(sopInstanceUid: string, error: unknown): StoreResult {
  const ours = error instanceof SonogateError ? error : null;
  const code = ours?.code ?? 'internal';
  // The code is reported along with the detail, so the detail need not repeat it.
  const detail = ours?.detail ?? (error instanceof Error ? error.message : ERRORS[code].title);
  return { sopClassUid: '', sopInstanceUid, outcome: 'failed', status: null, code, detail };
}

/** Sends objects to one destination, by C-STORE or STOW-RS. */
export interface StoreTransport {
  /**
   * Sends each object in the first of its forms that the peer supports. The forms of an object
   * encode the same content with different SOP classes, the preferred one first. With C-STORE,
   * stops at the first failure. A failure on the peer's side never throws.
   */
  send(
    objects: readonly (readonly OutgoingObject[])[],
    signal: AbortSignal,
  ): Promise<StoreResult[]>;
  /** True if storage commitment is requested from the peer. STOW-RS has no storage commitment. */
  commits: boolean;
  /**
   * Checks whether the peer works, without sending an object.
   * @returns the error code; null if the peer works.
   */
  probe?(signal: AbortSignal): Promise<ErrorCode | null>;
}

/**
 * Creates a transport that sends by C-STORE over pooled associations. C-ECHO checks whether the
 * node works.
 */
export function cStoreTransport(
  destination: DicomDestination,
  aeTitle: string,
  {
    associations,
    certificates,
  }: { associations: AssociationPool; certificates: ClientCertificates },
): StoreTransport {
  const node = calledNodeOf(destination, aeTitle, certificates);
  return {
    send: (objects, signal) => sendObjects(node, objects, { signal, associations }),
    commits: destination.storageCommitment,
    async probe(signal) {
      try {
        await echo(node, signal);
        return null;
      } catch (error) {
        const code = error instanceof SonogateError ? error.code : 'internal';
        // A node that refuses the Verification class has still answered, so it is reachable.
        return code === 'presentation_context_refused' ? null : code;
      }
    },
  };
}

/**
 * Returns the node of a destination.
 * @param aeTitle our AE title, unless the destination specifies another.
 */
export function calledNodeOf(
  destination: DicomDestination,
  aeTitle: string,
  certificates: ClientCertificates,
): CalledNode {
  const { host, port, callingAeTitle = aeTitle, timeoutSeconds } = destination;
  const tls = clientTls(destination.tls, certificates);
  return { host, port, aeTitle: destination.aeTitle, callingAeTitle, timeoutSeconds, tls };
}

/**
 * Returns the outcome of a delivery. A warning counts as delivered, because the peer has the object
 * (PS3.4 B.2.3).
 */
export function sendOutcomeOf(
  results: readonly StoreResult[],
  { commits }: Pick<StoreTransport, 'commits'>,
): SendOutcome {
  const refused = results.find(({ code }) => code !== null);
  if (!refused?.code) {
    const details = new Set(results.map(({ detail }) => detail));
    const objects = results.length > 1 ? `${results.length} objects, ` : '';
    const detail = `${objects}${[...details].join('; ')}`;
    return { outcome: 'delivered', detail, objects: results, commits };
  }
  const { code, detail, retryAfter } = refused;
  const outcome = failed(code, detail);
  return retryAfter === undefined ? outcome : { ...outcome, retryAfter };
}

/** Sends a file, as it is, as the only object of a delivery. */
export async function sendFile(
  path: string,
  transport: StoreTransport,
  signal: AbortSignal,
): Promise<SendOutcome> {
  try {
    const file = await outgoingFile(path);
    return sendOutcomeOf(await transport.send([[file]], signal), transport);
  } catch (error) {
    return sendOutcomeOf([failedResult('', error)], transport);
  }
}
