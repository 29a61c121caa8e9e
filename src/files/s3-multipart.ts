import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  NoSuchUpload,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type MultipartAccess, PartDiffersError } from './blob-store.ts';

/** Errors of CompleteMultipartUpload that another PUT of the parts mends. */
const DIFFERS = new Set(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'NoSuchUpload']);

/** Multipart uploads to the objects of a bucket whose names begin with `prefix`. */
export function s3Multipart(client: S3Client, Bucket: string, prefix: string): MultipartAccess {
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
