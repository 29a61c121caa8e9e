import { Readable } from 'node:stream';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { described } from '../../../pipelines/result/envelope.ts';
import type { PartState } from '../../core/files/upload-parts.ts';
import type { FileRow } from '../../core/files/uploads.ts';
import { baseUrl, type HttpDeps, type HttpState } from './context.ts';
import { EXAMPLE } from './openapi/examples.ts';
import { BODY_ERRORS, operationsOf } from './openapi/operation.ts';
import { servingOn } from './route.ts';

export const LINK_LIFE_MS = 3_600_000;

/**
 * Maximum length of a file name in bytes of UTF-8. File systems allow 255 (ext4, XFS); the rest is
 * reserved for the number that makes equal names unique (submission.ts).
 */
export const LONGEST_NAME_BYTES = 200;

export const uploadBody = z.strictObject({
  filename: z
    .string()
    .min(1)
    .max(LONGEST_NAME_BYTES)
    .refine(
      (name) => Buffer.byteLength(name) <= LONGEST_NAME_BYTES,
      `at most ${LONGEST_NAME_BYTES} bytes in UTF-8`,
    )
    // The name must not be a path, because the file has this name in the work folder and in the
    // result.
    .refine((name) => !/[/\\]/.test(name), 'a name without a folder, so without / and \\')
    .refine((name) => !/\p{Cc}/u.test(name), 'a name without control characters')
    .refine((name) => name !== '.' && name !== '..', 'a name other than . and ..')
    .meta({
      description: 'Name of the file, without a folder',
      examples: ['scan.dcm'],
      pattern: '^(?!\\.{1,2}$)[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]+$',
      // JSON Schema cannot count bytes. It therefore allows 50 characters of any kind, which never
      // exceed 200 bytes of UTF-8, or 200 characters of ASCII.
      anyOf: [{ maxLength: LONGEST_NAME_BYTES / 4 }, { pattern: '^[ -~]*$' }],
    }),
  bytes: described(z.number().int().positive(), 'Size', 524_288),
  media_type: described(
    z
      .string()
      .max(127)
      .regex(/^[\w.+-]+\/[\w.+-]+$/, 'a media type such as application/dicom'),
    'Media type',
    'application/dicom',
  ),
});

const uploadCompletionBody = z.strictObject({
  sha256: described(
    z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, '64 hexadecimal digits')
      .meta({ examples: [EXAMPLE.sha256] })
      .transform((text) => text.toLowerCase())
      .optional(),
    'SHA-256 of the whole file, to be verified',
  ),
  parts: described(
    z
      .array(
        z.strictObject({
          part_number: described(z.number().int().positive(), 'Number of the part', 1),
          etag: described(
            z.string().max(100),
            '`ETag` returned by the PUT of the part',
            '"9f86d0"',
          ),
        }),
      )
      .optional(),
    'The uploaded parts, to be verified',
  ),
});

export const UPLOAD_OPERATIONS = operationsOf('Uploads', {
  createUpload: {
    method: 'post',
    path: '/v1/uploads',
    summary: 'Start an upload',
    scope: 'uploads',
    once: true,
    body: uploadBody,
    status: 201,
    answer: 'upload',
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  getUpload: {
    method: 'get',
    path: '/v1/uploads/{id}',
    summary: 'Get the state of an upload, with new URLs to resume it',
    pathExamples: { id: EXAMPLE.file },
    scope: 'uploads',
    answer: 'upload',
    errors: ['not_found'],
  },
  deleteUpload: {
    method: 'delete',
    path: '/v1/uploads/{id}',
    summary: 'Delete a file, or abort its upload',
    pathExamples: { id: EXAMPLE.file },
    scope: 'uploads',
    status: 204,
    answer: 'empty',
    errors: ['not_found'],
  },
  putUploadPart: {
    method: 'put',
    path: '/v1/uploads/{id}/parts/{number}',
    summary: 'Send the bytes of one part to a signed URL',
    pathExamples: { id: EXAMPLE.file },
    scope: null,
    answer: 'empty',
    errors: ['not_found', 'expired', 'upload_incomplete', 'overloaded'],
  },
  putUpload: {
    method: 'put',
    path: '/v1/uploads/{id}/content',
    summary: 'Send the bytes of a file to a signed URL',
    pathExamples: { id: EXAMPLE.file },
    scope: null,
    answer: 'empty',
    errors: ['not_found', 'expired', 'upload_incomplete', 'payload_too_large', 'overloaded'],
  },
  completeUpload: {
    method: 'post',
    path: '/v1/uploads/{id}/complete',
    summary: 'Complete an upload',
    pathExamples: { id: EXAMPLE.file },
    scope: 'uploads',
    once: true,
    body: uploadCompletionBody,
    bodyOptional: true,
    answer: 'file',
    errors: [...BODY_ERRORS, 'not_found', 'upload_incomplete'],
  },
});

/**
 * Adds `/v1/uploads`: files are announced, PUT to signed URLs and completed. Their state can be
 * read, and they can be deleted.
 */
export function addUploadRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { uploads, config, signer, now = () => new Date() } = deps;
  const serve = servingOn(router, deps);

  serve(UPLOAD_OPERATIONS.createUpload, async (context, { body }) => {
    const { filename, bytes, media_type: mediaType } = body;
    const file = await uploads.create(context.state.principal, { filename, bytes, mediaType });
    context.body = await uploadView(file, baseUrl(context, config), deps);
  });

  serve(UPLOAD_OPERATIONS.getUpload, async (context) => {
    const { id = '' } = context.params;
    const file = await uploads.find(context.state.principal, id);
    context.body = await uploadView(file, baseUrl(context, config), deps);
  });

  serve(UPLOAD_OPERATIONS.deleteUpload, async (context) => {
    const { id = '' } = context.params;
    await uploads.remove(context.state.principal, id);
  });

  serve(UPLOAD_OPERATIONS.putUploadPart, async (context) => {
    signer.verify('PUT', context.path, context.query, now());
    const { id = '', number = '' } = context.params;
    const etag = await uploads.receivePart(id, Number(number), ...sentBytes(context));
    context.set('ETag', `"${etag}"`);
    context.body = '';
  });

  serve(UPLOAD_OPERATIONS.putUpload, async (context) => {
    signer.verify('PUT', context.path, context.query, now());
    const { id = '' } = context.params;
    const { sha256 } = await uploads.receive(id, ...sentBytes(context));
    context.set('ETag', `"${sha256}"`);
    context.body = '';
  });

  serve(UPLOAD_OPERATIONS.completeUpload, async (context, { body }) => {
    const { sha256 = null, parts = null } = body;
    const { id = '' } = context.params;
    context.body = view(await uploads.complete(context.state.principal, id, sha256, parts));
  });
}

/**
 * Returns the file with its upload URLs: one signed URL, or one for each part, including parts
 * that have already arrived. A complete file has none.
 */
async function uploadView(
  file: FileRow,
  address: string,
  { uploads, signer, now = () => new Date() }: HttpDeps,
) {
  const expires = new Date(now().getTime() + LINK_LIFE_MS);
  const base = `/v1/uploads/${file.id}`;
  const complete_url = `${address}${base}/complete`;
  if (file.status === 'ready') return { file: view(file), upload: null, complete_url };
  const signed = (path: string) => `${address}${signer.sign('PUT', path, expires)}`;
  const headers = { 'Content-Type': file.media_type };
  const seconds = LINK_LIFE_MS / 1000;
  const parts = await uploads.parts(file);
  const partView = async (part: PartState) => ({
    part_number: part.partNumber,
    url: (await uploads.partUrl(file, part, seconds)) ?? signed(`${base}/parts/${part.partNumber}`),
    headers,
    first_byte: part.firstByte,
    bytes: part.bytes,
    etag: part.etag && `"${part.etag}"`,
  });
  const upload = parts
    ? {
        part_size: parts[0]?.bytes ?? 0,
        parts: await Array.fromAsync(parts, partView),
        expires_at: expires.toISOString(),
      }
    : {
        url: (await uploads.directUrl(file, seconds)) ?? signed(`${base}/content`),
        method: 'PUT',
        headers,
        expires_at: expires.toISOString(),
      };
  return { file: view(file), upload, complete_url };
}

/** Returns the body of a PUT and its Content-Length. */
export function sentBytes({ req }: Context): [source: Readable, length: number | null] {
  const announced = req.headers['content-length'];
  // Destroying the incoming message would close the connection before a refusal is sent.
  const source = Readable.from(req.iterator({ destroyOnReturn: false }));
  return [source, announced === undefined ? null : Number(announced)];
}

function view({ id, status, filename, bytes, media_type, sha256, expires_at }: FileRow) {
  return {
    id,
    object: 'file',
    status,
    filename,
    bytes,
    media_type,
    sha256: status === 'ready' ? sha256 : null,
    expires_at: expires_at.toISOString(),
  };
}
