import type { NaturalDataset } from 'dcmjs';
import { attributesOfMessage, wantedAttributes } from '../../pipelines/dicom/bounded-header.ts';
import { characterSetFor, encodeDataSet } from '../../pipelines/dicom/data-set.ts';
import { QUERY_RETRIEVE } from '../../pipelines/dicom/sop-classes.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import { attributeText } from '../../src/core/studies/instance-header.ts';
import type { FoundObject, FoundStudy } from '../../src/operations/operations.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { CallingAssociation } from '../network/calling-association.ts';
import type { CalledNode } from '../network/dial.ts';
import { COMMAND } from '../network/message.ts';
import type { ProposedContext, RoleSelection } from '../network/pdu.ts';
import { type DimseResponse, isPending, responsesTo } from '../network/pending-responses.ts';
import { statusHex } from '../network/status.ts';
import type { StudyKeys } from './archive.ts';

/**
 * Returns the presentation context for a query or retrieval. It proposes only uncompressed transfer
 * syntaxes, because identifiers are small.
 */
export function queryContext(id: number, abstractSyntax: string): ProposedContext {
  return {
    id,
    abstractSyntax,
    transferSyntaxes: [EXPLICIT_VR_LITTLE_ENDIAN, IMPLICIT_VR_LITTLE_ENDIAN],
  };
}

/**
 * Returns the transfer syntax that the peer accepted for a class.
 * @throws SonogateError `presentation_context_refused`.
 */
export function acceptedSyntax(association: CallingAssociation, sopClassUid: string): string {
  for (const context of association.contexts.values()) {
    if (context.abstractSyntax === sopClassUid) return context.transferSyntax;
  }
  throw new SonogateError(
    'presentation_context_refused',
    `The peer does not accept ${sopClassUid}.`,
  );
}

/**
 * Opens an association for operations that can be canceled by C-CANCEL.
 * @param signal aborts only the opening. Later operations have their own signals.
 * @throws SonogateError `peer_unreachable`, `peer_rejected_association`.
 */
export async function openAssociation(
  node: CalledNode,
  contexts: readonly ProposedContext[],
  { signal, roles }: { signal?: AbortSignal | undefined; roles?: RoleSelection[] } = {},
): Promise<CallingAssociation> {
  const opening = new AbortController();
  const onAbort = () => opening.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    return await CallingAssociation.open(node, contexts, opening.signal, roles);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The archive does not know the destination of a C-MOVE (PS3.4 C.4.2.1.5). */
const MOVE_DESTINATION_UNKNOWN = 0xa801;
/** A7xx: out of resources; a later attempt may succeed. */
const OUT_OF_RESOURCES = 0xa700;
/** Sub-operations complete, some of them with failures. */
const SOME_FAILED = 0xb000;
const CANCELED = 0xfe00;

/**
 * Checks the final response. A warning that some objects failed is not a refusal.
 * @throws SonogateError `archive_refused_query`, `move_destination_unknown`,
 * `peer_out_of_resources` if the query or retrieval was refused.
 */
export function throwIfRefused(
  operation: 'C-FIND' | 'C-GET' | 'C-MOVE',
  { status, errorComment }: Pick<DimseResponse, 'status' | 'errorComment'>,
): void {
  if (status === 0 || status === SOME_FAILED) return;
  const words = status === CANCELED ? ', canceled' : errorComment ? `: ${errorComment}` : '';
  const detail = `${operation} status ${statusHex(status)}${words}`;
  if (status === MOVE_DESTINATION_UNKNOWN) {
    throw new SonogateError('move_destination_unknown', detail);
  }
  const later = (status & 0xff00) === OUT_OF_RESOURCES;
  throw new SonogateError(later ? 'peer_out_of_resources' : 'archive_refused_query', detail);
}

/** Query/Retrieve Level (0008,0052), PS3.4 C.6. */
type QueryLevel = 'PATIENT' | 'STUDY' | 'SERIES' | 'IMAGE';

interface Query {
  level: QueryLevel;
  /** Values to match, by keyword; '' asks the archive to return the value. */
  keys: Readonly<Record<string, string>>;
}

/** Maximum duration of a query in milliseconds, even if responses keep arriving. */
const MAX_QUERY_MS = 120_000;
/** Maximum number of matches per query. An archive that sends more receives a C-CANCEL. */
export const MAX_MATCHES = 20_000;

/**
 * An association for hierarchical queries, sent one after another (PS3.4 C.4.1). Queries at PATIENT
 * level use the Patient Root model, all others the Study Root model.
 */
export interface QueryAssociation {
  /**
   * Sends a C-FIND, and a C-CANCEL after `limit` matches.
   * @returns for each match, the attributes listed in `keys`.
   */
  find(query: Query, limit?: number): Promise<NaturalDataset[]>;
  release(): Promise<void>;
}

/**
 * Opens an association for queries.
 * @throws SonogateError `peer_unreachable`, `peer_rejected_association`.
 */
export async function openQuery(node: CalledNode, signal?: AbortSignal): Promise<QueryAssociation> {
  const models = [QUERY_RETRIEVE.studyRootFind, QUERY_RETRIEVE.patientRootFind];
  const contexts = models.map((model, index) => queryContext(2 * index + 1, model));
  const association = await openAssociation(node, contexts, { signal });
  return {
    find: (query, limit = MAX_MATCHES) => find(association, query, limit, signal),
    release: () => association.release(),
  };
}

function find(
  association: CallingAssociation,
  { level, keys }: Query,
  limit: number,
  signal?: AbortSignal,
): Promise<NaturalDataset[]> {
  const sopClassUid =
    level === 'PATIENT' ? QUERY_RETRIEVE.patientRootFind : QUERY_RETRIEVE.studyRootFind;
  const identifier = { QueryRetrieveLevel: level, ...keys };
  const question = { sopClassUid, identifier, returned: Object.keys(keys) };
  return findMatches(association, question, { limit, signal });
}

interface Question {
  sopClassUid: string;
  identifier: NaturalDataset;
  /** Keywords of the attributes to read from each match, at any depth. */
  returned: readonly string[];
}

/**
 * Sends a C-FIND in any information model. After `limit` matches, a C-CANCEL is sent.
 * @throws SonogateError if the query fails before that.
 */
export async function findMatches(
  association: CallingAssociation,
  { sopClassUid, identifier, returned }: Question,
  { limit, signal }: { limit: number; signal?: AbortSignal | undefined },
): Promise<NaturalDataset[]> {
  const transferSyntax = acceptedSyntax(association, sopClassUid);
  const enough = new AbortController();
  const late = AbortSignal.timeout(MAX_QUERY_MS);
  const cancel = AbortSignal.any([enough.signal, late, ...(signal ? [signal] : [])]);
  const question = {
    commandField: COMMAND.cFind,
    sopClassUid,
    transferSyntax,
    identifier: encodeDataSet({ ...characterSetFor(identifier), ...identifier }, transferSyntax),
  };
  // Only the requested attributes are parsed, because an archive may return attributes of any kind
  // and size.
  const asked = wantedAttributes(returned);
  const matches: NaturalDataset[] = [];
  try {
    for await (const answer of responsesTo(association, question, { cancel })) {
      if (isPending(answer.status)) {
        if (answer.dataSet && matches.length < limit) {
          matches.push(attributesOfMessage(answer.dataSet, transferSyntax, asked));
        }
        if (matches.length >= limit) enough.abort();
      } else {
        if (late.aborted) throw new SonogateError('peer_unreachable', 'The query took too long.');
        throwIfRefused('C-FIND', answer);
      }
    }
  } catch (error) {
    // After our own C-CANCEL, it does not matter how the query ends, even if the archive ignores
    // the C-CANCEL and the association is aborted: we have all the matches that we want.
    if (!enough.signal.aborted) throw error;
  }
  return matches;
}

/** Return keys at STUDY level; the archive may leave the optional ones empty. */
const STUDY_RETURN_KEYS = [
  'StudyInstanceUID',
  'StudyDate',
  'StudyTime',
  'StudyDescription',
  'ModalitiesInStudy',
  'NumberOfStudyRelatedInstances',
  'AccessionNumber',
  'PatientID',
  'IssuerOfPatientID',
  'PatientBirthDate',
  'PatientSex',
] as const;

const KEYWORDS: Readonly<Record<keyof StudyKeys, string>> = {
  patientId: 'PatientID',
  issuerOfPatientId: 'IssuerOfPatientID',
  studyInstanceUid: 'StudyInstanceUID',
  accessionNumber: 'AccessionNumber',
  studyDate: 'StudyDate',
  modality: 'ModalitiesInStudy',
};

export function matchingKeys(keys: StudyKeys): Record<string, string> {
  return Object.fromEntries(
    Object.entries(KEYWORDS).flatMap(([key, keyword]) => {
      const value = keys[key as keyof StudyKeys];
      return value === undefined || value === '' ? [] : [[keyword, value]];
    }),
  );
}

/** Returns the study in a match at STUDY level; null if it has no Study Instance UID. */
export function foundStudy(match: NaturalDataset): FoundStudy | null {
  const text = (keyword: string) => attributeText(match[keyword]);
  const studyInstanceUid = text('StudyInstanceUID');
  if (studyInstanceUid === '') return null;
  const objects = Number(text('NumberOfStudyRelatedInstances') || Number.NaN);
  return {
    studyInstanceUid,
    studyDate: text('StudyDate').replaceAll('.', ''),
    description: text('StudyDescription'),
    modalities: text('ModalitiesInStudy').split('\\').filter(Boolean),
    objects: Number.isInteger(objects) ? objects : null,
    patientId: text('PatientID'),
    issuerOfPatientId: text('IssuerOfPatientID'),
    birthDate: text('PatientBirthDate').replaceAll('.', ''),
    sex: text('PatientSex'),
  };
}

export async function findStudies(
  query: QueryAssociation,
  keys: StudyKeys,
  limit: number,
): Promise<FoundStudy[]> {
  const returned = Object.fromEntries(STUDY_RETURN_KEYS.map((keyword) => [keyword, '']));
  const matches = await query.find(
    { level: 'STUDY', keys: { ...returned, ...matchingKeys(keys) } },
    limit,
  );
  return matches.flatMap((match) => foundStudy(match) ?? []);
}

/**
 * Lists the objects series by series: every archive supports hierarchical queries, but few support
 * relational ones.
 */
export async function findObjects(
  query: QueryAssociation,
  studyInstanceUid: string,
): Promise<FoundObject[]> {
  const series = await query.find({
    level: 'SERIES',
    keys: { StudyInstanceUID: studyInstanceUid, SeriesInstanceUID: '', Modality: '' },
  });
  const objects: FoundObject[] = [];
  for (const one of series) {
    const seriesInstanceUid = attributeText(one.SeriesInstanceUID);
    if (seriesInstanceUid === '') continue;
    const images = await query.find({
      level: 'IMAGE',
      keys: {
        StudyInstanceUID: studyInstanceUid,
        SeriesInstanceUID: seriesInstanceUid,
        SOPInstanceUID: '',
        SOPClassUID: '',
      },
    });
    for (const image of images) {
      objects.push({
        seriesInstanceUid,
        sopInstanceUid: attributeText(image.SOPInstanceUID),
        sopClassUid: attributeText(image.SOPClassUID),
        modality: attributeText(one.Modality),
      });
    }
  }
  return objects.filter(({ sopInstanceUid }) => sopInstanceUid !== '');
}
