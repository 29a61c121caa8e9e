import type { NaturalDataset } from 'dcmjs';
import { SonogateError } from '../../src/errors/catalogue.ts';
import { decodeDataSet, encodeDataSet } from '../data-set.ts';
import type { CalledNode, CallingAssociation } from '../network/calling-association.ts';
import { COMMAND } from '../network/command-set.ts';
import { converse, isPending } from '../network/conversation.ts';
import { QUERY_RETRIEVE } from '../sop-classes.ts';
import { acceptedSyntax, openAssociation, queryContext } from './association.ts';
import { refusedBy } from './refusal.ts';

/** Query/Retrieve Level (0008,0052), PS3.4 C.6. */
export type QueryLevel = 'PATIENT' | 'STUDY' | 'SERIES' | 'IMAGE';

export interface Query {
  level: QueryLevel;
  /** By keyword; '' asks for the value. */
  keys: Readonly<Record<string, string>>;
}

/** Longest a query may take, whatever the archive sends meanwhile. */
const MAX_QUERY_MS = 120_000;
/** Matches of one query at the most: an archive that sends more is told to stop. */
export const MAX_MATCHES = 20_000;

/**
 * An association for queries (PS3.4 C.4.1), one after the other. The patient level is of the Patient
 * Root model, the others of the Study Root model; each by hierarchical search.
 */
export interface QueryAssociation {
  /**
   * C-FIND. @returns the identifiers of the matches, at most `limit`: then the archive is told to
   * cancel.
   */
  find(query: Query, limit?: number): Promise<NaturalDataset[]>;
  release(): Promise<void>;
}

/** @throws SonogateError `peer_unreachable`, `peer_rejected_association`. */
export async function openQuery(node: CalledNode, signal?: AbortSignal): Promise<QueryAssociation> {
  const models = [QUERY_RETRIEVE.studyRootFind, QUERY_RETRIEVE.patientRootFind];
  const contexts = models.map((model, index) => queryContext(2 * index + 1, model));
  const association = await openAssociation(node, contexts, { signal });
  return {
    find: (query, limit = MAX_MATCHES) => find(association, query, limit, signal),
    release: () => association.release(),
  };
}

async function find(
  association: CallingAssociation,
  { level, keys }: Query,
  limit: number,
  signal?: AbortSignal,
): Promise<NaturalDataset[]> {
  const sopClassUid =
    level === 'PATIENT' ? QUERY_RETRIEVE.patientRootFind : QUERY_RETRIEVE.studyRootFind;
  const transferSyntax = acceptedSyntax(association, sopClassUid);
  const enough = new AbortController();
  const late = AbortSignal.timeout(MAX_QUERY_MS);
  const cancel = AbortSignal.any([enough.signal, late, ...(signal ? [signal] : [])]);
  const question = {
    commandField: COMMAND.cFind,
    sopClassUid,
    transferSyntax,
    identifier: encodeDataSet(identifierOf(level, keys), transferSyntax),
  };
  const matches: NaturalDataset[] = [];
  for await (const answer of converse(association, question, { cancel })) {
    if (isPending(answer.status)) {
      if (answer.dataSet && matches.length < limit) {
        matches.push(decodeDataSet(answer.dataSet, transferSyntax));
      }
      if (matches.length >= limit) enough.abort();
    } else if (late.aborted) {
      throw new SonogateError('peer_unreachable', 'The query took too long.');
    } else {
      // What was asked to stop has stopped.
      if (!enough.signal.aborted) refusedBy('C-FIND', answer);
    }
  }
  return matches;
}

/** PS3.4 C.2.2.2: keys beyond the default repertoire are written in Unicode. */
function identifierOf(level: QueryLevel, keys: Query['keys']): NaturalDataset {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ISO 646.
  const plain = Object.values(keys).every((value) => /^[\x00-\x7f]*$/.test(value));
  return {
    ...(!plain && { SpecificCharacterSet: 'ISO_IR 192' }),
    QueryRetrieveLevel: level,
    ...keys,
  };
}
