import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  NoSuchKey,
  NoSuchUpload,
  NotFound,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { S3Location } from '../../../config/schema.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import {
  BlobMissingError,
  type BlobStore,
  type DirectAccess,
  IN_USE_MS,
  type MultipartAccess,
  PartDiffersError,
  UPLOAD_LIFE_MS,
  WrongSizeError,
} from './blob-store.ts';
import { writeAtomically } from './whole-file.ts';

/** CompleteMultipartUpload errors that can be resolved by sending the parts again. */
const DIFFERS = new Set(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'NoSuchUpload']);

/** Creates multipart uploads to those objects in a bucket whose names begin with `prefix`. */
function s3Multipart(client: S3Client, Bucket: string, prefix: string): MultipartAccess {
  const object = (id: string) => ({ Bucket, Key: prefix + id });

  return {
    async begin(id) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(object(id)));
      if (UploadId === undefined) throw new TypeError('the storage gave the upload no id');
      return UploadId;
    },

    partUrl: (id, UploadId, { partNumber: PartNumber, bytes: ContentLength }, expiresIn) =>
      getSignedUrl(
        client,
        new UploadPartCommand({ ...object(id), UploadId, PartNumber, ContentLength }),
        { expiresIn, signableHeaders: new Set(['host', 'content-length']) },
      ),

    async arrived(id, UploadId) {
      const found: { partNumber: number; etag: string }[] = [];
      let PartNumberMarker: string | undefined;
      do {
        const page = await client.send(
          new ListPartsCommand({ ...object(id), UploadId, PartNumberMarker }),
        );
        for (const { PartNumber = 0, ETag = '' } of page.Parts ?? []) {
          found.push({ partNumber: PartNumber, etag: ETag });
        }
        PartNumberMarker = page.IsTruncated ? page.NextPartNumberMarker : undefined;
      } while (PartNumberMarker !== undefined);
      return found;
    },

    async join(id, UploadId, parts) {
      const Parts = parts.map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag }));
      try {
        await client.send(
          new CompleteMultipartUploadCommand({
            ...object(id),
            UploadId,
            MultipartUpload: { Parts },
          }),
        );
      } catch (error) {
        if (!(error instanceof S3ServiceException) || !DIFFERS.has(error.name)) throw error;
        throw new PartDiffersError(error.name);
      }
    },

    async abort(id, UploadId) {
      try {
        await client.send(new AbortMultipartUploadCommand({ ...object(id), UploadId }));
      } catch (error) {
        if (!(error instanceof NoSuchUpload)) throw error;
      }
    },
  };
}

/** Timeouts in milliseconds for unresponsive storage. The client tries three times. */
const CONNECT_MS = 5000;
const LONGEST_SILENCE_MS = 60_000;

const BLOBS = 'blobs/';
const INCOMING = 'incoming/';

export interface S3BlobStore extends BlobStore {
  direct: DirectAccess;
}

/**
 * Opens a blob store in a bucket on S3-compatible storage. A stream of unknown digest and size is
 * first written to `spool`, a folder on this machine.
 * @throws the storage error if the bucket cannot be listed: with a wrong address or key, the
 * gateway does not start.
 */
export async function openS3BlobStore(
  location: S3Location,
  spool: string,
  silenceMs = LONGEST_SILENCE_MS,
): Promise<S3BlobStore> {
  const { endpoint, region, bucket: Bucket, accessKeyId, secretAccessKey } = location;
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    // Settings that every S3-compatible server supports: bucket in the path, no trailing checksums.
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: Math.min(CONNECT_MS, silenceMs),
      socketTimeout: silenceMs,
    },
  });
  await mkdir(spool, { recursive: true });
  await client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 1 }));

  const read = async (Key: string, IfMatch?: string): Promise<Readable | null> => {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, IfMatch }));
      if (Body instanceof Readable) return Body;
      throw new TypeError('the S3 client gave no stream of Node.js');
    } catch (error) {
      if (error instanceof NoSuchKey) return null;
      throw error;
    }
  };
  const present = async (sha256: string): Promise<Readable> => {
    const body = await read(BLOBS + sha256);
    if (!body) throw new BlobMissingError(sha256);
    return body;
  };
  const head = async (Key: string) => {
    try {
      return await client.send(new HeadObjectCommand({ Bucket, Key }));
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  };
  const discard = (Key: string) => client.send(new DeleteObjectCommand({ Bucket, Key }));

  return {
    async write(source, limit) {
      const path = join(spool, randomUUID());
      try {
        const stored = await writeAtomically(source, limit, path);
        const Key = BLOBS + stored.sha256;
        const Body = createReadStream(path);
        await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: stored.bytes }));
        return stored;
      } finally {
        await rm(path, { force: true });
      }
    },

    read: present,

    async place(sha256, path) {
      try {
        await pipeline(await present(sha256), createWriteStream(path, { flags: 'wx' }));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(path, { force: true });
        throw error;
      }
    },

    async remove(sha256, now) {
      const Key = BLOBS + sha256;
      const found = await head(Key);
      if (found && isOlder(IN_USE_MS, found.LastModified, now)) await discard(Key);
    },

    async removeAbandoned(now) {
      for (const name of await readdir(spool)) {
        const path = join(spool, name);
        const found = await ifMissing(stat(path), null);
        if (found && isOlder(IN_USE_MS, found.mtime, now)) await rm(path, { force: true });
      }
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket, Prefix: INCOMING, ContinuationToken }),
        );
        for (const { Key, LastModified } of page.Contents ?? []) {
          if (Key !== undefined && isOlder(UPLOAD_LIFE_MS, LastModified, now)) await discard(Key);
        }
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
    },

    free: async () => Number.POSITIVE_INFINITY,

    direct: {
      has: async (sha256) => (await head(BLOBS + sha256)) !== null,

      async takeFile(path, { sha256, bytes }, abortSignal) {
        const Body = createReadStream(path);
        const command = { Bucket, Key: BLOBS + sha256, Body, ContentLength: bytes };
        await client.send(new PutObjectCommand(command), { abortSignal });
      },

      async downloadUrl(sha256, { name, mediaType }, expiresIn) {
        const Key = BLOBS + sha256;
        if (!(await head(Key))) return null;
        const command = new GetObjectCommand({
          Bucket,
          Key,
          ResponseContentType: mediaType,
          ResponseContentDisposition: attachment(name),
        });
        return getSignedUrl(client, command, { expiresIn });
      },

      uploadUrl: (id, { bytes, mediaType }, expiresIn) =>
        getSignedUrl(
          client,
          new PutObjectCommand({
            Bucket,
            Key: INCOMING + id,
            ContentType: mediaType,
            ContentLength: bytes,
          }),
          { expiresIn, signableHeaders: new Set(['host', 'content-type', 'content-length']) },
        ),

      async takeIn(id, bytes) {
        const source = INCOMING + id;
        const found = await head(source);
        if (!found) return null;
        const { ContentLength = 0, ETag } = found;
        if (ContentLength !== bytes) {
          await discard(source);
          throw new WrongSizeError(ContentLength);
        }
        // The client can still replace the upload through its signed URL. Only the version that was
        // hashed is therefore read and copied; its ETag identifies it.
        const sha256 = await digest(await read(source, ETag));
        const target = { Bucket, Key: BLOBS + sha256 };
        const CopySource = `${Bucket}/${source}`;
        await client.send(
          new CopyObjectCommand({ ...target, CopySource, CopySourceIfMatch: ETag }),
        );
        await discard(source);
        return { sha256, bytes };
      },

      multipart: s3Multipart(client, Bucket, INCOMING),
    },

    close: () => client.destroy(),
  };
}

const isOlder = (ms: number, modified: Date | undefined, now: Date): boolean =>
  modified !== undefined && now.getTime() - modified.getTime() > ms;

/**
 * Returns a Content-Disposition (RFC 6266 4.1) in the extended notation of RFC 8187, which can
 * represent any name.
 */
function attachment(name: string): string {
  const octet = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, octet)}`;
}

async function digest(source: Readable | null): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source ?? []) hash.update(chunk);
  return hash.digest('hex');
}
