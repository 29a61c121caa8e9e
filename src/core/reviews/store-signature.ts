import { createReadStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArtifactEntry,
  isAmendment,
  type Result,
  type Verification,
} from '../../../pipelines/result/envelope.ts';
import type { AlsoStored, Database, Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import type { BlobStore } from '../files/blob-store.ts';
import { enqueueDeliveries } from '../outbox/deliveries.ts';
import { announceVerified } from '../requests/announce.ts';
import type { StudyReview } from '../requests/endpoint.ts';
import type { RequestRow } from '../requests/request.ts';
import {
  addArtifact,
  addToResult,
  describeFile,
  flushArtifacts,
  signedResultName,
} from '../requests/results.ts';
import { lockRequest } from '../requests/transitions.ts';
import { requireNotWithdrawn } from '../requests/withdrawal.ts';
import { signingFolder } from '../requests/work-folder.ts';
import { isSignedLater, lockStudyOf, signedBefore } from '../studies/signed-results.ts';
import {
  addSignature,
  lockReview,
  type ReviewRow,
  type SignatureRow,
  saveReview,
} from './review-rows.ts';

interface Signing {
  row: RequestRow;
  review: ReviewRow;
  /** All signatures of the new revision. The last one is not stored yet. */
  signatures: readonly SignatureRow[];
  /** True if this is the last required signature. */
  isLast: boolean;
  result: Result;
  study: StudyReview;
  /** @throws SonogateError `stale_review` if another reader has changed the review. */
  requireCurrent(review: ReviewRow): void;
  /** Stored in the same transaction. */
  also: AlsoStored;
}

export type StoreSignature = (signing: Signing) => Promise<void>;

interface SignParts {
  database: Database;
  blobs: BlobStore;
  dataDir: string;
  giveUpSeconds: number;
  artifactPath(requestId: string, name: string): Promise<string | null>;
}

/**
 * Stores signatures permitted by reviews.ts. The documents are first written to a folder of this
 * attempt, and to the bucket if there is one. Then one transaction stores the signature, the new
 * revision, its artifacts and its deliveries.
 *
 * The transaction also moves the documents to the result. Their names are the same for every
 * reader, so only the reader who holds the lock on the review may put them in place. If the process
 * dies before the commit, nothing is signed; if it dies afterwards, nothing is lost.
 */
export function createStoreSignature(parts: SignParts): StoreSignature {
  const { database, dataDir, giveUpSeconds } = parts;
  return async (signing) => {
    const { row, signatures, isLast, requireCurrent, also } = signing;
    const signature = signatures.at(-1);
    if (!signature) throw new TypeError('a result is signed by somebody');
    const verification = await verificationBy(signing, database);
    const folder = signingFolder(dataDir, row.id);
    try {
      const artifacts = isLast ? await writeSigned(signing, verification, folder, parts) : [];
      await database.transaction(async (tx) => {
        await lockStudyOf(tx, row.id);
        await requireUnchanged(tx, row.id, verification);
        const review = await lockReview(tx, row.id);
        await requireNotWithdrawn(tx, row.id);
        requireCurrent(review);
        await addSignature(tx, row.id, signature);
        await also(tx);
        const revision = review.revision + 1;
        if (!isLast) return saveReview(tx, row.id, { ...review, state: 'in-review', revision });
        const signed = signature.signed_revision;
        await saveReview(tx, row.id, {
          state: isAmendment(verification) ? 'amended' : 'signed',
          revision,
          signed_revision: signed,
        });
        for (const artifact of artifacts) await addArtifact(tx, row.id, artifact);
        const stored = await lockRequest(tx, row.id);
        await enqueueDeliveries(tx, row.id, stored?.deliver_to ?? [], giveUpSeconds, signed);
        await announceVerified(tx, row, signed);
        await addToResult(dataDir, row.id, folder, artifacts);
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

/** Returns who signs, and which signed result of an earlier request is replaced. */
async function verificationBy(
  { row, signatures }: Signing,
  database: Database,
): Promise<Verification> {
  const revision = signatures[0]?.signed_revision ?? 1;
  const replaces = revision === 1 ? await signedBefore(database, row.id) : null;
  return {
    kind: 'verified',
    revision,
    signatures: signatures.map(({ observer, organization, at, statement }) => ({
      observer,
      organization,
      at: at.toISOString(),
      statement,
    })),
    ...(replaces && { replaces }),
  };
}

/**
 * Checks that no other result of the study was signed while the documents were written.
 * @throws SonogateError `later_result_signed`, `stale_review`
 */
async function requireUnchanged(
  tx: Queryable,
  requestId: string,
  { revision, replaces }: Verification,
): Promise<void> {
  if (await isSignedLater(tx, requestId)) throw new SonogateError('later_result_signed');
  const former = revision === 1 ? await signedBefore(tx, requestId) : null;
  const isSame = former?.request === replaces?.request && former?.revision === replaces?.revision;
  if (isSame) return;
  throw new SonogateError('stale_review', 'Another result of the study was signed; sign again.');
}

/** Writes the signed result and its documents to `folder`, and to the bucket if there is one. */
async function writeSigned(
  { row: { id }, result, study }: Signing,
  verification: Verification,
  folder: string,
  { blobs, artifactPath }: SignParts,
): Promise<ArtifactEntry[]> {
  const { revision } = verification;
  await mkdir(folder, { recursive: true });
  const verified: Result = { ...result, draft: false, verification };
  const signed = await study.sign(verified, {
    requestId: id,
    folder,
    suffix: `-signed-${revision}`,
    artifactPath: (name) => artifactPath(id, name),
  });
  const name = signedResultName(revision);
  await writeFile(join(folder, name), `${JSON.stringify(signed.result, null, 2)}\n`);
  const described = await describeFile(join(folder, name));
  const entry = { name, media_type: 'application/json', ...described, section: null };
  const all = [...signed.artifacts, entry];
  await flushArtifacts(folder, all);
  if (blobs.direct) {
    for (const { name, bytes } of all) {
      await blobs.write(createReadStream(join(folder, name)), bytes);
    }
  }
  return all;
}
