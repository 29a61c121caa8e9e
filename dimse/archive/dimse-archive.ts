import type { Logger } from '../../src/logging/logger.ts';
import type { CalledNode } from '../network/calling-association.ts';
import type { Archive, AskOptions } from './archive.ts';
import { openQuery, type QueryAssociation } from './query.ts';
import { getObjects, moveObjects } from './retrieve.ts';
import { findObjects, findStudies } from './study-query.ts';

export interface DimseArchiveSettings {
  name: string;
  node: CalledNode;
  retrieve: 'c-get' | 'c-move';
  /** Our AE title as the archive knows it, for C-MOVE. */
  moveTo: string;
}

/** A PACS that is asked by C-FIND and gives by C-GET or C-MOVE (PS3.4 C). */
export function dimseArchive(
  { name, node, retrieve, moveTo }: DimseArchiveSettings,
  logger: Logger,
): Archive {
  const query = async <T>(
    { signal }: AskOptions,
    ask: (association: QueryAssociation) => Promise<T>,
  ): Promise<T> => {
    const association = await openQuery(node, signal);
    try {
      return await ask(association);
    } finally {
      await association.release();
    }
  };
  return {
    name,
    studies: (keys, { limit, ...options }) =>
      query(options, (association) => findStudies(association, keys, limit)),
    objects: (studyInstanceUid, options = {}) =>
      query(options, (association) => findObjects(association, studyInstanceUid)),
    retrieve: (wanted, { signal } = {}) =>
      retrieve === 'c-get'
        ? getObjects(node, wanted, { signal, logger })
        : moveObjects(node, wanted, { signal, moveTo }),
  };
}
