import { QUERY_RETRIEVE, RETRIEVED_STORAGE } from '../../pipelines/dicom/sop-classes.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../pipelines/dicom/transfer-syntaxes.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { CalledNode } from '../network/dial.ts';
import { newUid } from '../services/referenced-objects.ts';
import type { Archive } from './archive.ts';
import { openAssociation, queryContext } from './query.ts';
import { moveObjects } from './retrieve.ts';

/** Why a retrieval would fail; null if the check found no reason. */
type Obstacle = string | null;

/**
 * Queries for a study that does not exist.
 * @returns the response time in milliseconds and the number of studies found.
 * @throws SonogateError as listed at `Archive`.
 */
export async function checkQuery(
  archive: Archive,
): Promise<{ milliseconds: number; matched: number }> {
  const start = performance.now();
  const found = await archive.studies({ studyInstanceUid: newUid() }, { limit: 1 });
  return { milliseconds: performance.now() - start, matched: found.length };
}

/**
 * Negotiates the contexts and roles of a C-GET without sending a request.
 * @throws SonogateError if no association can be established.
 */
export async function checkGet(node: CalledNode): Promise<Obstacle> {
  const classes = [...RETRIEVED_STORAGE.keys()];
  const contexts = classes.map((abstractSyntax, index) => ({
    id: 2 * index + 3,
    abstractSyntax,
    transferSyntaxes: [EXPLICIT_VR_LITTLE_ENDIAN],
  }));
  const roles = classes.map((sopClassUid) => ({ sopClassUid, scu: false, scp: true }));
  const association = await openAssociation(
    node,
    [queryContext(1, QUERY_RETRIEVE.studyRootGet), ...contexts],
    { roles },
  );
  const accepted = new Set(
    [...association.contexts.values()].map(({ abstractSyntax }) => abstractSyntax),
  );
  const granted = new Set(
    association.roles.flatMap(({ sopClassUid, scp }) => (scp ? [sopClassUid] : [])),
  );
  await association.release();
  if (!accepted.has(QUERY_RETRIEVE.studyRootGet)) return 'does not support C-GET';
  const given = classes.filter((uid) => accepted.has(uid));
  if (given.length === 0) return 'offers none of the accepted SOP classes for C-GET';
  if (!given.some((uid) => granted.has(uid))) return 'does not grant the SCP role for C-GET';
  return null;
}

/**
 * Requests a C-MOVE of a study that does not exist. Some archives still look up the destination and
 * report that they do not know it (A801H); others report this only when a study is actually
 * retrieved.
 * @throws SonogateError as listed at `Archive`, except `move_destination_unknown` and
 * `archive_refused_query`.
 */
export async function checkMove(node: CalledNode, moveTo: string): Promise<Obstacle> {
  const into = {
    open: () => Promise.reject(new SonogateError('internal')),
    ended: async () => {},
  };
  const wanted = { studyInstanceUid: newUid(), objects: [], whole: true, source: '', into };
  try {
    await moveObjects(node, wanted, { moveTo });
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    if (error.code === 'move_destination_unknown') {
      return `does not know "${moveTo}" as a C-MOVE destination`;
    }
    // Some archives report a failure for a study that they do not have. This still shows that the
    // association and the service work.
    if (error.code !== 'archive_refused_query') throw error;
  }
  return null;
}
