import { randomUUID } from 'node:crypto';
import type { NaturalDataset } from 'dcmjs';
import { encodeDataSet } from '../../pipelines/dicom/data-set.ts';
import {
  ACCEPTED_REPORTS,
  QUERY_RETRIEVE,
  RETRIEVED_STORAGE,
} from '../../pipelines/dicom/sop-classes.ts';
import {
  COMPRESSED_TRANSFER_SYNTAXES,
  NATIVE_TRANSFER_SYNTAXES,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type { CallingAssociation } from '../network/calling-association.ts';
import type { CalledNode } from '../network/dial.ts';
import { DimseProvider } from '../network/dimse-provider.ts';
import { COMMAND } from '../network/message.ts';
import { type DimseResponse, isPending, responsesTo } from '../network/pending-responses.ts';
import type { AssociationEnd, AssociationPeer } from '../network/service-ports.ts';
import type { Retrieved, Wanted } from './archive.ts';
import { acceptedSyntax, openAssociation, queryContext, throwIfRefused } from './query.ts';

/**
 * Maximum number of storage contexts. Presentation context ids are odd numbers up to 255 (PS3.8
 * 9.3.2.2), and one is needed for C-GET itself.
 */
const MAX_STORAGE_CONTEXTS = 127;
/** Maximum number of UIDs per identifier: some implementations limit a list of UIDs to 64 KiB. */
const UIDS_PER_REQUEST = 500;

interface RetrieveOptions {
  signal?: AbortSignal | undefined;
  logger: Logger;
}

/**
 * Retrieves objects by C-GET (PS3.4 C.4.3). They arrive over our own association, on which we
 * propose the SCP role for their SOP classes. There is one presentation context per class and
 * transfer syntax, so that no object is decompressed for the transfer.
 * @throws SonogateError, see `throwIfRefused` and `CallingAssociation.open`.
 */
export async function getObjects(
  node: CalledNode,
  wanted: Wanted,
  { signal, logger }: RetrieveOptions,
): Promise<Retrieved> {
  const total: Retrieved = { completed: 0, failed: 0, detail: '' };
  const groups = inGroups(classesOf(wanted));
  let refused: unknown = null;
  for (const [index, classes] of groups.entries()) {
    const { association, provider, peer } = await openGet(node, classes, wanted, signal, logger);
    // The study must not count as complete because of a retrieval that failed, or that continues
    // over another association (receptions.ts).
    let end: AssociationEnd = 'aborted';
    try {
      await ask(association, ofClasses(wanted, classes), total, {
        commandField: COMMAND.cGet,
        sopClassUid: QUERY_RETRIEVE.studyRootGet,
        provider,
        signal,
      });
      if (index === groups.length - 1 && refused === null) end = 'released';
    } catch (error) {
      // If there are several associations, a failure on one of them does not end the retrieval. The
      // archive may only have tried to send an object whose class was negotiated on another
      // association.
      if (groups.length === 1 || association.closed) throw error;
      refused = error;
    } finally {
      await provider.end();
      await wanted.into.ended(peer, association.closed ? 'aborted' : end);
      await association.release();
    }
  }
  if (refused !== null) {
    if (total.completed === 0) throw refused;
    total.detail = refused instanceof SonogateError ? refused.detail : String(refused);
  }
  // An object that is requested over several associations fails on all but the one with its class.
  if (groups.length > 1) total.failed = Math.max(0, wanted.objects.length - total.completed);
  return total;
}

/**
 * Returns the objects to request over an association with contexts for `classes`. A request for the
 * whole study stays as it is; otherwise, objects of other classes are left out. An object whose
 * class the archive did not state is requested over every association.
 */
function ofClasses(wanted: Wanted, classes: readonly string[]): Wanted {
  if (wanted.whole) return wanted;
  const objects = wanted.objects.filter(
    ({ sopClassUid }) => sopClassUid === '' || classes.includes(sopClassUid),
  );
  return { ...wanted, objects };
}

/**
 * Retrieves objects by C-MOVE (PS3.4 C.4.2) to our own AE title. They arrive over associations
 * opened by the archive. The archive must have the title configured with our address, and must be
 * one of `sources`.
 * @param moveTo our AE title as configured in the archive.
 */
export async function moveObjects(
  node: CalledNode,
  wanted: Wanted,
  { signal, moveTo }: Pick<RetrieveOptions, 'signal'> & { moveTo: string },
): Promise<Retrieved> {
  const total: Retrieved = { completed: 0, failed: 0, detail: '' };
  const contexts = [queryContext(1, QUERY_RETRIEVE.studyRootMove)];
  const association = await openAssociation(node, contexts, { signal });
  try {
    await ask(association, wanted, total, {
      commandField: COMMAND.cMove,
      sopClassUid: QUERY_RETRIEVE.studyRootMove,
      moveDestination: moveTo,
      signal,
    });
  } finally {
    await association.release();
  }
  return total;
}

interface Operation {
  commandField: number;
  sopClassUid: string;
  moveDestination?: string;
  provider?: DimseProvider;
  signal?: AbortSignal | undefined;
}

async function ask(
  association: CallingAssociation,
  wanted: Wanted,
  total: Retrieved,
  { commandField, sopClassUid, moveDestination, provider, signal }: Operation,
): Promise<void> {
  const transferSyntax = acceptedSyntax(association, sopClassUid);
  for (const keys of identifiersOf(wanted)) {
    const identifier = encodeDataSet(keys, transferSyntax);
    const question = { commandField, sopClassUid, transferSyntax, identifier, moveDestination };
    for await (const answer of responsesTo(association, question, { provider, cancel: signal })) {
      if (isPending(answer.status)) continue;
      count(answer, total);
      throwIfRefused(commandField === COMMAND.cGet ? 'C-GET' : 'C-MOVE', answer);
    }
  }
}

/**
 * Reads the sub-operation counts from the final response. An object with a warning has been stored.
 */
function count(
  { completed, failed, warning, status, errorComment }: DimseResponse,
  total: Retrieved,
): void {
  total.completed += (completed ?? 0) + (warning ?? 0);
  total.failed += failed ?? 0;
  if (status !== 0 && errorComment) total.detail = errorComment;
}

/**
 * Yields one identifier for a whole study. For individual objects, yields one or more identifiers
 * per series, because an identifier may list several UIDs only at its own level (PS3.4 C.4.2.2.1).
 */
function* identifiersOf({ studyInstanceUid, objects, whole }: Wanted): Generator<NaturalDataset> {
  if (whole) {
    yield { QueryRetrieveLevel: 'STUDY', StudyInstanceUID: studyInstanceUid };
    return;
  }
  for (const [series, ofSeries] of Map.groupBy(objects, (object) => object.seriesInstanceUid)) {
    for (let start = 0; start < ofSeries.length; start += UIDS_PER_REQUEST) {
      const part = ofSeries.slice(start, start + UIDS_PER_REQUEST);
      yield {
        QueryRetrieveLevel: 'IMAGE',
        StudyInstanceUID: studyInstanceUid,
        SeriesInstanceUID: series,
        SOPInstanceUID: part.map(({ sopInstanceUid }) => sopInstanceUid),
      };
    }
  }
}

/**
 * Returns the SOP classes of the objects to retrieve; all accepted classes if the archive did not
 * state them.
 */
function classesOf({ objects }: Wanted): string[] {
  const stated = new Set(objects.map(({ sopClassUid }) => sopClassUid));
  const all = stated.has('') || stated.size === 0;
  return [...RETRIEVED_STORAGE.keys()].filter((uid) => all || stated.has(uid));
}

/**
 * Returns the transfer syntaxes to propose for a class: all of them for images, only the
 * uncompressed ones for reports.
 */
function syntaxesOf(sopClassUid: string): readonly string[] {
  return ACCEPTED_REPORTS.has(sopClassUid)
    ? NATIVE_TRANSFER_SYNTAXES
    : [...COMPRESSED_TRANSFER_SYNTAXES, ...NATIVE_TRANSFER_SYNTAXES];
}

/** Groups the SOP classes so that the contexts of each group fit into one association. */
function inGroups(classes: readonly string[]): string[][] {
  const groups: string[][] = [];
  let contexts = MAX_STORAGE_CONTEXTS;
  for (const uid of classes) {
    contexts += syntaxesOf(uid).length;
    if (contexts > MAX_STORAGE_CONTEXTS) {
      groups.push([]);
      contexts = syntaxesOf(uid).length;
    }
    groups.at(-1)?.push(uid);
  }
  return groups;
}

async function openGet(
  node: CalledNode,
  classes: readonly string[],
  { into, source }: Wanted,
  signal: AbortSignal | undefined,
  logger: Logger,
): Promise<{
  association: CallingAssociation;
  provider: DimseProvider;
  peer: AssociationPeer;
}> {
  const kinds = classes.flatMap((uid) => syntaxesOf(uid).map((syntax) => [uid, syntax] as const));
  const contexts = kinds.map(([abstractSyntax, syntax], index) => ({
    id: 2 * index + 3,
    abstractSyntax,
    transferSyntaxes: [syntax],
  }));
  const roles = classes.map((sopClassUid) => ({ sopClassUid, scu: false, scp: true }));
  const association = await openAssociation(
    node,
    [queryContext(1, QUERY_RETRIEVE.studyRootGet), ...contexts],
    { signal, roles },
  );
  const peer = peerOf(node, source);
  const provider = new DimseProvider({
    contexts: association.contexts,
    peer,
    storage: into,
    normalized: null,
    // An error can be ignored here: a lost connection is detected when the next message is read.
    send: (contextId, command) => void association.sendAnswer(contextId, command).catch(() => {}),
    log: (event, fields) => logger.event(event, { archive: node.aeTitle, ...fields }),
  });
  return { association, provider, peer };
}

/**
 * Describes the archive as the peer from which its objects arrive, so that they are stored in the
 * same way as objects that a cart sends.
 */
function peerOf(
  { aeTitle, callingAeTitle, host }: Pick<CalledNode, 'aeTitle' | 'callingAeTitle' | 'host'>,
  source: string,
): AssociationPeer {
  const id = randomUUID();
  return { id, callingAeTitle: aeTitle, calledAeTitle: callingAeTitle, address: host, source };
}
