import type { NaturalDataset } from 'dcmjs';
import type { Config, MoveDestination } from '../../config/schema.ts';
import { characterSetFor, decodeDataSet, encodeDataSet } from '../../pipelines/dicom/data-set.ts';
import { convertedFile, OTHER_LITTLE_ENDIAN } from '../../pipelines/dicom/explicit-implicit.ts';
import { QUERY_RETRIEVE } from '../../pipelines/dicom/sop-classes.ts';
import { isUid } from '../../pipelines/dicom/uid.ts';
import type { ReceivedObjects } from '../../src/core/files/received-objects.ts';
import {
  ATTRIBUTES,
  type Keyword,
  keywordOf,
  LEVELS,
  type Level,
} from '../../src/core/query/attributes.ts';
import { find, type HeldObject, heldObjects, type Match } from '../../src/core/query/find.ts';
import { attributeText } from '../../src/core/studies/instance-header.ts';
import type { Queryable } from '../../src/platform/database/port.ts';
import { type ErrorCode, SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { clientTls } from '../network/dial.ts';
import type {
  AssociationPeer,
  OutgoingObject,
  QueryAnswer,
  QueryingAssociation,
  QueryRequest,
  QueryService,
  SubOperations,
} from '../network/service-ports.ts';
import { isWarning, STATUS } from '../network/status.ts';
import type { DicomAudit } from '../receive/audit.ts';
import { outgoingFile, refusalCode, sendFiles } from '../send/store-scu.ts';

/**
 * Query/Retrieve as SCP in the Study Root information model (PS3.4 C.6.2), for received studies and
 * for results stored in this gateway. Workstations can thus find and retrieve a draft.
 */

interface QueryParts {
  database: Queryable;
  objects: ReceivedObjects;
  config: Pick<Config, 'dicom' | 'queryRetrieve'>;
  certificates: ClientCertificates;
  audit: Pick<DicomAudit, 'searched' | 'retrieved'>;
}

/** Maximum size of an identifier, which holds a few keys or a list of UIDs. */
const MAX_IDENTIFIER_BYTES = 128 * 1024;
/** Maximum number of matches per query. If there are more, the peer must narrow the query. */
const MOST_MATCHES = 5000;
const MOST_OBJECTS = 20_000;

export function queryService(parts: QueryParts): QueryService {
  const { aeTitle } = parts.config.dicom;
  return async function* answer(request, peer, association) {
    if (!peer.mayQuery) throw new SonogateError('operation_not_authorized');
    if (request.sopClassUid !== SOP_CLASS[request.operation]) {
      throw new SonogateError('sop_class_not_supported');
    }
    const identifier = readIdentifier(request);
    if (request.operation === 'C-FIND') {
      yield* matches(identifier, request, { ...parts, aeTitle, peer, association });
    } else {
      yield* retrieve(identifier, request, { ...parts, peer, association });
    }
  };
}

const SOP_CLASS: Readonly<Record<QueryRequest['operation'], string>> = {
  'C-FIND': QUERY_RETRIEVE.studyRootFind,
  'C-MOVE': QUERY_RETRIEVE.studyRootMove,
  'C-GET': QUERY_RETRIEVE.studyRootGet,
};

interface Identifier {
  level: Level;
  /**
   * Keys of this level and of the levels above it, with their values; '' requests the attribute.
   */
  keys: Map<Keyword, string>;
  hasOthers: boolean;
}

const NO_KEYS = new Set([
  'QueryRetrieveLevel',
  'SpecificCharacterSet',
  'TimezoneOffsetFromUTC',
  '_vrMap',
]);

/**
 * Reads an identifier.
 * @throws SonogateError `invalid_query`
 */
function readIdentifier({ identifier, transferSyntax }: QueryRequest): Identifier {
  if (identifier.length > MAX_IDENTIFIER_BYTES) {
    throw new SonogateError('invalid_query', 'The identifier is too long.');
  }
  const dataSet = decodeDataSet(identifier, transferSyntax);
  const stated = attributeText(dataSet.QueryRetrieveLevel);
  const level = LEVELS.find((one) => one === stated);
  if (!level) throw new SonogateError('invalid_query', 'The level is not one of Study Root.');
  const keys = new Map<Keyword, string>();
  let hasOthers = false;
  for (const [name, value] of Object.entries(dataSet)) {
    if (NO_KEYS.has(name)) continue;
    const keyword = keywordOf(name);
    if (keyword && LEVELS.indexOf(ATTRIBUTES[keyword].level) <= LEVELS.indexOf(level)) {
      keys.set(keyword, attributeText(value));
    } else if (!IGNORED.has(name)) {
      hasOthers = true;
    }
  }
  return { level, keys, hasOthers };
}

/** Attributes that we return with our own values. Their values in the request are ignored. */
const IGNORED = new Set(['RetrieveAETitle', 'InstanceAvailability']);

/** Unique keys of the levels (PS3.4 C.6.2.1). */
const UNIQUE = {
  STUDY: 'StudyInstanceUID',
  SERIES: 'SeriesInstanceUID',
  IMAGE: 'SOPInstanceUID',
} as const satisfies Record<Level, Keyword>;

/**
 * Requires one UID for each level above that of the identifier (hierarchical search, PS3.4
 * C.4.1.3.1.1). For a retrieval, the level itself also needs a UID or a list of UIDs (C.4.2.2.1).
 */
function requireUniqueKeys({ level, keys }: Identifier, retrieves: boolean): void {
  const depth = LEVELS.indexOf(level);
  for (const [index, above] of LEVELS.entries()) {
    const values = (keys.get(UNIQUE[above]) ?? '').split('\\');
    const isNeeded = index < depth || (index === depth && retrieves);
    if (!isNeeded) continue;
    if ((index < depth && values.length > 1) || !values.every(isUid)) {
      throw new SonogateError('invalid_query', `${UNIQUE[above]} must be given.`);
    }
  }
}

/** Summaries of a study or series, which are returned only at their own level. */
const COUNTS: readonly Keyword[] = [
  'ModalitiesInStudy',
  'SOPClassesInStudy',
  'NumberOfStudyRelatedSeries',
  'NumberOfStudyRelatedInstances',
  'NumberOfSeriesRelatedInstances',
];

async function* matches(
  identifier: Identifier,
  { transferSyntax }: QueryRequest,
  {
    database,
    audit,
    peer,
    association,
    aeTitle,
  }: QueryParts & { aeTitle: string; peer: AssociationPeer; association: QueryingAssociation },
): AsyncGenerator<QueryAnswer> {
  requireUniqueKeys(identifier, false);
  const { level } = identifier;
  const countedAbove = COUNTS.filter((keyword) => ATTRIBUTES[keyword].level !== level);
  const keys = new Map([...identifier.keys].filter(([keyword]) => !countedAbove.includes(keyword)));
  const matched = [...keys].filter(([keyword]) => !COUNT_ONLY.has(keyword));
  const found = await find(database, {
    level,
    keys: Object.fromEntries(matched),
    limit: MOST_MATCHES,
  });
  await audit.searched(peer, found.matches.length);
  const status =
    identifier.hasOthers || keys.size < identifier.keys.size
      ? STATUS.pendingWithoutKey
      : STATUS.pending;
  for (const match of found.matches) {
    if (association.canceled.aborted) return yield { status: STATUS.canceled };
    const answer = answerOf(match, { level, keys: [...keys.keys()], aeTitle });
    yield { status, dataSet: encodeDataSet(answer, transferSyntax) };
  }
  if (association.canceled.aborted) yield { status: STATUS.canceled };
  else if (found.more)
    yield { status: STATUS.outOfResources, comment: 'More matches: narrow the query' };
  else yield { status: STATUS.success };
}

/** Counts that are returned but cannot be matched. A value in the identifier is ignored. */
const COUNT_ONLY: ReadonlySet<Keyword> = new Set([
  'NumberOfStudyRelatedSeries',
  'NumberOfStudyRelatedInstances',
  'NumberOfSeriesRelatedInstances',
]);

/** Returns the identifier of one match: the requested keys, empty if they have no value. */
function answerOf(
  match: Match,
  { level, keys, aeTitle }: { level: Level; keys: readonly Keyword[]; aeTitle: string },
): NaturalDataset {
  const asked = new Set<Keyword>([...keys, UNIQUE[level]]);
  const values = Object.fromEntries([...asked].map((keyword) => [keyword, match[keyword] ?? '']));
  return {
    ...characterSetFor(values),
    QueryRetrieveLevel: level,
    RetrieveAETitle: aeTitle,
    InstanceAvailability: 'ONLINE',
    ...values,
  };
}

interface RetrieveParts extends QueryParts {
  peer: AssociationPeer;
  association: QueryingAssociation;
}

async function* retrieve(
  identifier: Identifier,
  { operation, moveDestination, transferSyntax }: QueryRequest,
  parts: RetrieveParts,
): AsyncGenerator<QueryAnswer> {
  const { database, config, association, peer } = parts;
  requireUniqueKeys(identifier, true);
  const destination = config.queryRetrieve.moveDestinations.find(
    (one) => one.aeTitle === moveDestination,
  );
  const to = operation === 'C-MOVE' ? moveDestination : peer.callingAeTitle;
  const counts: SubOperations = { remaining: 0, completed: 0, failed: 0, warning: 0 };
  const logIncomplete = (...codes: ErrorCode[]) => {
    const { completed, failed, warning } = counts;
    const fields = { operation, destination: to, codes, completed, failed, warning };
    association.log('retrieval_incomplete', fields);
  };
  if (operation === 'C-MOVE' && !destination) {
    logIncomplete('move_destination_unknown');
    return yield { status: STATUS.moveDestinationUnknown, comment: 'Not a configured destination' };
  }
  const uids = (level: Level) => identifier.keys.get(UNIQUE[level])?.split('\\').filter(Boolean);
  const held = await heldObjects(
    database,
    {
      study: uids('STUDY') ?? [],
      ...(identifier.level !== 'STUDY' && { series: uids('SERIES') ?? [] }),
      ...(identifier.level === 'IMAGE' && { objects: uids('IMAGE') ?? [] }),
    },
    MOST_OBJECTS + 1,
  );
  if (held.length > MOST_OBJECTS) {
    logIncomplete('invalid_query');
    return yield { status: STATUS.outOfResources, comment: 'Too many objects: retrieve by series' };
  }
  counts.remaining = held.length;
  const failures = new Set<ErrorCode>();
  const failedUids: string[] = [];
  const sent: HeldObject[] = [];
  const results = destination ? moved(held, destination, parts) : sendByGet(held, parts);
  for await (const { object, outcome, code } of results) {
    counts.remaining -= 1;
    counts[outcome] += 1;
    if (code !== null) failures.add(code);
    if (outcome === 'failed') failedUids.push(object.sopInstanceUid);
    else sent.push(object);
    if (association.canceled.aborted) break;
    yield { status: STATUS.pending, subOperations: { ...counts } };
  }
  if (failures.size > 0) logIncomplete(...failures);
  await auditRetrieval(sent, to, parts);
  yield {
    status: finalStatus(counts, association.canceled.aborted),
    subOperations: counts,
    ...(failedUids.length > 0 && {
      dataSet: encodeDataSet({ FailedSOPInstanceUIDList: failedUids }, transferSyntax),
    }),
  };
}

function finalStatus({ completed, failed, warning }: SubOperations, canceled: boolean): number {
  if (canceled) return STATUS.canceled;
  if (failed > 0 && completed === 0 && warning === 0) return STATUS.subOperationsFailed;
  return failed > 0 || warning > 0 ? STATUS.subOperationsWarning : STATUS.success;
}

interface SubOperation {
  object: HeldObject;
  outcome: 'completed' | 'failed' | 'warning';
  /** Error code of a failed sub-operation; otherwise null. */
  code: ErrorCode | null;
}

const failure = (object: HeldObject, code: ErrorCode): SubOperation => ({
  object,
  outcome: 'failed',
  code,
});

/**
 * Sends objects over the association of a C-GET, one after the other, and yields the outcome of
 * each. An object that cannot be read has failed, and does not stop the others.
 */
async function* sendByGet(
  held: readonly HeldObject[],
  { objects, association }: RetrieveParts,
): AsyncGenerator<SubOperation> {
  for (const object of held) {
    const path = await objects.locate(object);
    if (path === null) {
      yield failure(object, 'expired');
      continue;
    }
    const file = await asAccepted(path, association).catch(() => null);
    if (file === null) {
      yield failure(object, 'object_not_understood');
      continue;
    }
    const status = await association.store(file);
    if (status === null) yield failure(object, 'presentation_context_refused');
    else if (status === STATUS.success) yield { object, outcome: 'completed', code: null };
    else if (isWarning(status)) yield { object, outcome: 'warning', code: null };
    else yield failure(object, refusalCode(status));
  }
}

/**
 * Opens an object as stored, or converts it if the peer accepts only the other little-endian
 * transfer syntax.
 */
async function asAccepted(path: string, { accepts }: QueryingAssociation): Promise<OutgoingObject> {
  const stored = await outgoingFile(path);
  const accepted = accepts(stored.sopClassUid);
  const other = OTHER_LITTLE_ENDIAN[stored.transferSyntax];
  const isConverted =
    other !== undefined && !accepted.includes(stored.transferSyntax) && accepted.includes(other);
  return isConverted ? convertedFile(path) : stored;
}

/**
 * Sends objects to the destination of a C-MOVE, over as few associations as the presentation
 * contexts allow.
 */
async function* moved(
  held: readonly HeldObject[],
  destination: MoveDestination,
  { objects, config, certificates, association }: RetrieveParts,
): AsyncGenerator<SubOperation> {
  const byPath = new Map<string, HeldObject>();
  for (const object of held) {
    const path = await objects.locate(object);
    if (path === null) yield failure(object, 'expired');
    else byPath.set(path, object);
  }
  const ready: SubOperation[] = [];
  let wake = () => {};
  let done = false;
  let unsent: ErrorCode = 'internal';
  const tls = clientTls(destination.tls, certificates);
  const node = { ...destination, callingAeTitle: config.dicom.aeTitle, tls };
  const sending = sendFiles(node, [...byPath.keys()], {
    mayConvert: true,
    signal: association.canceled,
    onResult(path, { outcome, code }) {
      const object = byPath.get(path);
      byPath.delete(path);
      const result = { stored: 'completed', warning: 'warning', failed: 'failed' } as const;
      if (object) ready.push({ object, outcome: result[outcome], code });
      wake();
    },
  })
    // Objects that could not be sent remain in `byPath`, and are reported as failed below.
    .catch((error: unknown) => {
      unsent = error instanceof SonogateError ? error.code : 'internal';
    })
    .finally(() => {
      done = true;
      wake();
    });
  while (!done || ready.length > 0) {
    const next = ready.shift();
    if (next) {
      yield next;
      continue;
    }
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (done || ready.length > 0) resolve();
    });
  }
  await sending;
  for (const object of byPath.values()) yield failure(object, unsent);
}

async function auditRetrieval(
  sent: readonly HeldObject[],
  to: string,
  { audit, peer }: RetrieveParts,
): Promise<void> {
  for (const [studyId, objects] of Map.groupBy(sent, (one) => one.studyId)) {
    await audit.retrieved(peer, { studyId, to, objects: objects.length });
  }
}
