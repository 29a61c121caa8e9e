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
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { ifMissing, isOutOfSpace } from '../../platform/errors/file-system.ts';
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

/** Timeouts in milliseconds for unresponsive storage. The client tries three times. */
const CONNECT_MS = 5000;
const LONGEST_SILENCE_MS = 60_000;

/** Names of stored files begin with this prefix, followed by their SHA-256. */
const BLOBS = 'blobs/';
/** Names of uploads that have not been accepted begin with this prefix, followed by their id. */
const INCOMING = 'incoming/';

/** Name of an object that every host writes to see whether the bucket accepts writes. */
const WRITABLE = 'writable';

/** CompleteMultipartUpload errors that can be resolved by sending the parts again. */
const DIFFERS = new Set(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'NoSuchUpload']);

/** Errors with which working storage may answer a command on an object, an upload or its parts. */
const ANSWERS = new Set(['NoSuchKey', 'NotFound', 'PreconditionFailed', ...DIFFERS]);

/**
 * Returns the error for the caller: `storage_unreachable` if the storage is down, overloaded or
 * refuses the gateway. Answers of working storage and faults of this host are returned unchanged.
 */
function asUnreachable(error: unknown): unknown {
  const here = isOutOfSpace(error) || (error instanceof Error && 'path' in error);
  const answered = error instanceof S3ServiceException && ANSWERS.has(error.name);
  const judged = error instanceof BlobMissingError || error instanceof SonogateError;
  if (here || answered || judged) return error;
  return new SonogateError('storage_unreachable', undefined, { cause: error });
}

/** A bucket, with the operations on its objects that the store needs. */
class Bucket {
  readonly client: S3Client;
  readonly name: string;

  constructor({ endpoint, region, bucket, ...credentials }: S3Location, silenceMs: number) {
    this.name = bucket;
    this.client = new S3Client({
      endpoint,
      region,
      credentials,
      // Settings that every S3-compatible server supports: bucket in the path, no trailing
      // checksums.
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: Math.min(CONNECT_MS, silenceMs),
        socketTimeout: silenceMs,
      },
    });
  }

  /**
   * Checks that the bucket can be listed. From then on, every command throws `storage_unreachable`
   * in place of the storage error (`asUnreachable`).
   * @throws the storage error, which shows the operator what is wrong with the settings.
   */
  async open(): Promise<void> {
    await this.client.send(new ListObjectsV2Command({ Bucket: this.name, MaxKeys: 1 }));
    this.client.middlewareStack.add(
      (next) => (args) =>
        next(args).catch((error: unknown) => {
          throw asUnreachable(error);
        }),
      { step: 'initialize', priority: 'high' },
    );
  }

  /** Identifies an object, as the commands of the S3 client require. */
  object(Key: string) {
    return { Bucket: this.name, Key };
  }

  /** Reads an object; null if it does not exist. With `IfMatch`, only the version with this ETag. */
  async read(Key: string, IfMatch?: string): Promise<Readable | null> {
    try {
      const command = new GetObjectCommand({ ...this.object(Key), IfMatch });
      const { Body } = await this.client.send(command);
      if (Body instanceof Readable) return Body;
      throw new TypeError('the S3 client gave no stream of Node.js');
    } catch (error) {
      if (error instanceof NoSuchKey) return null;
      throw error;
    }
  }

  /** Returns the size, date and ETag of an object; null if it does not exist. */
  async head(Key: string) {
    try {
      return await this.client.send(new HeadObjectCommand(this.object(Key)));
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  }

  /** Stores a local file as an object. */
  async put(Key: string, path: string, bytes: number, abortSignal?: AbortSignal): Promise<void> {
    const Body = createReadStream(path);
    const command = new PutObjectCommand({ ...this.object(Key), Body, ContentLength: bytes });
    await this.client.send(command, { abortSignal });
  }

  async discard(Key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand(this.object(Key)));
  }

  /** Yields all objects whose names begin with `Prefix`. */
  async *list(Prefix: string) {
    let ContinuationToken: string | undefined;
    do {
      const page = await this.client.send(
        new ListObjectsV2Command({ Bucket: this.name, Prefix, ContinuationToken }),
      );
      yield* page.Contents ?? [];
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }
}

export interface S3BlobStore extends BlobStore {
  direct: DirectAccess;
}

/**
 * Opens a blob store in a bucket on S3-compatible storage. A stream of unknown digest and size is
 * first written to `spool`, a folder on this host.
 * @throws the storage error if the bucket cannot be listed: with a wrong address or key, the
 * gateway does not start.
 */
export async function openS3BlobStore(
  location: S3Location,
  spool: string,
  silenceMs = LONGEST_SILENCE_MS,
): Promise<S3BlobStore> {
  const bucket = new Bucket(location, silenceMs);
  await mkdir(spool, { recursive: true });
  await bucket.open();

  const read = async (sha256: string): Promise<Readable> => {
    const body = await bucket.read(BLOBS + sha256);
    if (!body) throw new BlobMissingError(sha256);
    return body;
  };

  return {
    async write(source, limit) {
      const path = join(spool, randomUUID());
      try {
        const stored = await writeAtomically(source, limit, path);
        await bucket.put(BLOBS + stored.sha256, path, stored.bytes);
        return stored;
      } finally {
        await rm(path, { force: true });
      }
    },

    read,

    async place(sha256, path) {
      try {
        await pipeline(await read(sha256), createWriteStream(path, { flags: 'wx' }));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(path, { force: true });
        throw asUnreachable(error);
      }
    },

    async remove(sha256, now) {
      const found = await bucket.head(BLOBS + sha256);
      if (found && isOlder(IN_USE_MS, found.LastModified, now)) {
        await bucket.discard(BLOBS + sha256);
      }
    },

    async removeAbandoned(now) {
      for (const name of await readdir(spool)) {
        const path = join(spool, name);
        const found = await ifMissing(stat(path), null);
        if (found && isOlder(IN_USE_MS, found.mtime, now)) await rm(path, { force: true });
      }
      for await (const { Key, LastModified } of bucket.list(INCOMING)) {
        if (Key !== undefined && isOlder(UPLOAD_LIFE_MS, LastModified, now)) {
          await bucket.discard(Key);
        }
      }
    },

    free: async () => Number.POSITIVE_INFINITY,

    async requireWritable() {
      const command = new PutObjectCommand({ ...bucket.object(WRITABLE), Body: '1' });
      const abortSignal = AbortSignal.timeout(Math.min(CONNECT_MS, silenceMs));
      await bucket.client.send(command, { abortSignal });
    },

    direct: directAccess(bucket),
    close: () => bucket.client.destroy(),
  };
}

/** Lets clients download the files in a bucket and send uploads to it. */
function directAccess(bucket: Bucket): DirectAccess {
  return {
    has: async (sha256) => (await bucket.head(BLOBS + sha256)) !== null,

    takeFile: (path, { sha256, bytes }, signal) => bucket.put(BLOBS + sha256, path, bytes, signal),

    async downloadUrl(sha256, { name, mediaType }, expiresIn) {
      if (!(await bucket.head(BLOBS + sha256))) return null;
      const command = new GetObjectCommand({
        ...bucket.object(BLOBS + sha256),
        ResponseContentType: mediaType,
        ResponseContentDisposition: attachment(name),
      });
      return getSignedUrl(bucket.client, command, { expiresIn });
    },

    uploadUrl(id, { bytes, mediaType }, expiresIn) {
      const object = bucket.object(INCOMING + id);
      return getSignedUrl(
        bucket.client,
        new PutObjectCommand({ ...object, ContentType: mediaType, ContentLength: bytes }),
        { expiresIn, signableHeaders: new Set(['host', 'content-type', 'content-length']) },
      );
    },

    async takeIn(id, bytes) {
      const source = INCOMING + id;
      const found = await bucket.head(source);
      if (!found) return null;
      const { ContentLength = 0, ETag } = found;
      if (ContentLength !== bytes) {
        await bucket.discard(source);
        throw new WrongSizeError(ContentLength);
      }
      // The client can still replace the upload through its signed URL. Only the version that was
      // hashed is therefore read and copied; its ETag identifies it.
      const sha256 = await digest(await bucket.read(source, ETag)).catch((error: unknown) => {
        throw asUnreachable(error);
      });
      await bucket.client.send(
        new CopyObjectCommand({
          ...bucket.object(BLOBS + sha256),
          CopySource: `${bucket.name}/${source}`,
          CopySourceIfMatch: ETag,
        }),
      );
      await bucket.discard(source);
      return { sha256, bytes };
    },

    multipart: multipartAccess(bucket),
  };
}

/** Lets clients send incoming uploads in parts. */
function multipartAccess(bucket: Bucket): MultipartAccess {
  const { client } = bucket;
  const object = (id: string) => bucket.object(INCOMING + id);

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
