import type { Config, Source } from '../../config/schema.ts';
import { headerInBytes, wantedAttributes } from '../../pipelines/dicom/bounded-header.ts';
import { ACCEPTED_STORAGE } from '../../pipelines/dicom/sop-classes.ts';
import {
  COMPRESSED_TRANSFER_SYNTAXES,
  NATIVE_TRANSFER_SYNTAXES,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import { attributeText } from '../../src/core/studies/instance-header.ts';
import type {
  StoreInstances,
  StoreOutcome,
  StoreTransaction,
} from '../../src/core/studies/store-port.ts';
import { DatabaseUnreachableError } from '../../src/platform/database/pooled.ts';
import {
  catalogueEntry,
  type ErrorCode,
  SonogateError,
} from '../../src/platform/errors/catalogue.ts';
import { isOutOfSpace } from '../../src/platform/errors/file-system.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type { AssociationPeer, IncomingObject, StorageService } from '../network/service-ports.ts';
import { STATUS } from '../network/status.ts';
import type { StorageScp } from '../receive/storage-scp.ts';
import { type BodyPart, bodyParts, dicomBoundary, storeFile } from './multipart.ts';

/**
 * Calling AE title of objects that arrive by STOW-RS, for routing rules and the file meta
 * information.
 */
const STOW_AE_TITLE = 'DICOMWEB';

const TRANSFER_SYNTAXES: ReadonlySet<string> = new Set([
  ...COMPRESSED_TRANSFER_SYNTAXES,
  ...NATIVE_TRANSFER_SYNTAXES,
]);

/**
 * Stores the objects of a STOW-RS transaction as the origin server, in the same way as objects that
 * arrive by C-STORE. The settings of a source apply: the one that lists the caller's API key or,
 * for a user of the console, the one with `consoleUploads`. For the limits, a transaction counts as
 * one association.
 */
export function createStoreInstances({
  door,
  config: { dicom, sources },
  logger,
}: {
  door: Pick<StorageScp, 'storage' | 'sourceLimits'>;
  config: Pick<Config, 'dicom' | 'sources'>;
  logger: Logger;
}): StoreInstances {
  let open = 0;

  const admit = (keyName: string | null): { source: Source; leave: () => void } => {
    const source = sources.find(({ apiKeys, consoleUploads }) =>
      keyName === null ? consoleUploads : apiKeys.some((name) => name === '*' || name === keyName),
    );
    if (!source) {
      throw new SonogateError(
        'forbidden',
        keyName === null
          ? 'No entry of `sources` has `consoleUploads`.'
          : 'No entry of `sources` lists the key in `apiKeys`.',
      );
    }
    const left = door.sourceLimits.associate(source);
    if (open >= dicom.maxAssociations || typeof left !== 'function') {
      if (typeof left === 'function') left();
      throw new SonogateError(
        'overloaded',
        'Too many transactions, or too much data from this source.',
      );
    }
    open += 1;
    return {
      source,
      leave: () => {
        open -= 1;
        left();
      },
    };
  };

  return async ({ id, keyName, address, study, contentType, body }) => {
    const boundary = dicomBoundary(contentType);
    if (boundary === null) {
      const wanted = 'multipart/related; type="application/dicom"; boundary=…';
      throw new SonogateError('unsupported_media_type', `Send \`Content-Type: ${wanted}\`.`);
    }
    const { source, leave } = admit(keyName);
    const peer: AssociationPeer = {
      id,
      callingAeTitle: STOW_AE_TITLE,
      calledAeTitle: dicom.aeTitle,
      address,
      source: source.name,
    };
    const outcome: StoreOutcome = { stored: [], failed: [], unreadable: [] };
    let whole = false;
    try {
      for await (const part of bodyParts(body, boundary)) {
        await storePart(part, { outcome, storage: door.storage, peer, study, logger });
      }
      whole = true;
    } finally {
      leave();
      await door.storage.ended(peer, whole ? 'released' : 'aborted');
    }
    return outcome;
  };
}

async function storePart(
  { mediaType, bytes }: BodyPart,
  {
    outcome,
    storage,
    peer,
    study,
    logger,
  }: {
    outcome: StoreOutcome;
    storage: StorageService;
    peer: AssociationPeer;
    study: StoreTransaction['study'];
    logger: Logger;
  },
): Promise<void> {
  let named: IncomingObject | null = null;
  const checked: StorageService = {
    ...storage,
    async open(object, from) {
      named = object;
      requireAccepted(object);
      return storage.open({ ...object, statedStudy: study ?? undefined }, from);
    },
  };
  try {
    if (mediaType !== '' && mediaType !== 'application/dicom') {
      throw new SonogateError('object_not_understood', `A part is ${mediaType}.`);
    }
    const { object, start, whole } = await storeFile(bytes, checked, peer);
    const { sopClassUid, sopInstanceUid } = object;
    outcome.stored.push({ sopClassUid, sopInstanceUid, within: seriesOf(start, whole) });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'internal') logger.event('stow_object_failed', { call: peer.id, err: error });
    note(outcome, named, code);
  }
}

const SERIES = wantedAttributes(['StudyInstanceUID', 'SeriesInstanceUID']);

/**
 * Returns the study and series of a stored object; null if its header is damaged or longer than
 * `start`.
 */
function seriesOf(start: Buffer, whole: boolean): StoreOutcome['stored'][number]['within'] {
  let header: ReturnType<typeof headerInBytes>;
  try {
    header = headerInBytes(start, whole, SERIES);
  } catch {
    return null;
  }
  const study = attributeText(header?.StudyInstanceUID);
  const series = attributeText(header?.SeriesInstanceUID);
  return study !== '' && series !== '' ? { study, series } : null;
}

function note(outcome: StoreOutcome, object: IncomingObject | null, code: ErrorCode): void {
  const reason = failureReason(code);
  if (object === null) {
    outcome.unreadable.push(reason);
    return;
  }
  const { sopClassUid, sopInstanceUid } = object;
  const transient = catalogueEntry(code).retry === 'transient';
  outcome.failed.push({ sopClassUid, sopInstanceUid, reason, transient });
}

function requireAccepted({ sopClassUid, transferSyntax }: IncomingObject): void {
  if (!ACCEPTED_STORAGE.has(sopClassUid)) throw new SonogateError('sop_class_not_supported');
  if (!TRANSFER_SYNTAXES.has(transferSyntax)) {
    throw new SonogateError('transfer_syntax_not_supported');
  }
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof SonogateError) return error.code;
  const passing = isOutOfSpace(error) || error instanceof DatabaseUnreachableError;
  return passing ? 'overloaded' : 'internal';
}

/** Returns the Failure Reason of an error; PS3.18 table 10.5.3-2 uses the statuses of C-STORE. */
function failureReason(code: ErrorCode): number {
  const { dimse = '' } = catalogueEntry(code);
  return /^[0-9A-F]{4}$/.test(dimse) ? Number.parseInt(dimse, 16) : STATUS.processingFailure;
}
