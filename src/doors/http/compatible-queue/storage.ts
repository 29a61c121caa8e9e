import type { Router } from '@koa/router';
import type { Middleware } from 'koa';
import { z } from 'zod';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import { EXAMPLE } from '../openapi/examples.ts';
import { BODY_ERRORS, operationsOf } from '../openapi/operation.ts';
import { servingOn } from '../route.ts';
import { LINK_LIFE_MS, sentBytes, uploadBody } from '../uploads.ts';
import { COMPATIBLE_QUEUE } from './answers.ts';

const FILES = `${COMPATIBLE_QUEUE}/storage/files`;
const INITIATE = `${COMPATIBLE_QUEUE}/storage/upload/initiate`;

const storageUploadBody = z.strictObject({
  file_name: uploadBody.shape.filename,
  content_type: uploadBody.shape.media_type,
});

/** The calls with which the client of the compatible queue stores files. */
export const QUEUE_STORAGE_OPERATIONS = operationsOf('Compatible queue', {
  queueInitiateUpload: {
    method: 'post',
    path: INITIATE,
    summary: 'Start an upload',
    scope: 'uploads',
    once: true,
    body: storageUploadBody,
    answer: 'queueUpload',
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  queuePutUpload: {
    method: 'put',
    path: `${FILES}/{id}`,
    summary: 'Send the bytes of a file to a signed URL, which completes the upload',
    pathExamples: { id: EXAMPLE.file },
    scope: null,
    answer: 'queueFile',
    errors: ['not_found', 'expired', 'upload_incomplete', 'payload_too_large', 'overloaded'],
  },
  queueGetFile: {
    method: 'get',
    path: `${FILES}/{id}`,
    summary: 'Fetch the bytes of a file',
    pathExamples: { id: EXAMPLE.file },
    scope: 'uploads',
    answer: 'bytes',
    errors: ['not_found'],
  },
});

/**
 * Adds file storage as the client of the compatible queue uses it (exchange 5.1): initiate, PUT,
 * then pass the `file_url` in `input.files`. The PUT determines the size and completes the upload.
 */
export function addCompatibleStorageRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { uploads, config, signer, now = () => new Date() } = deps;
  const serve = servingOn(router, deps);

  serve(QUEUE_STORAGE_OPERATIONS.queueInitiateUpload, async (context, { body }) => {
    const { id } = await uploads.create(context.state.principal, {
      filename: body.file_name,
      bytes: null,
      mediaType: body.content_type,
    });
    const address = baseUrl(context, config);
    const expires = new Date(now().getTime() + LINK_LIFE_MS);
    context.body = {
      upload_url: `${address}${signer.sign('PUT', `${FILES}/${id}`, expires)}`,
      file_url: `${address}${FILES}/${id}`,
    };
  });

  serve(QUEUE_STORAGE_OPERATIONS.queuePutUpload, async (context) => {
    signer.verify('PUT', context.path, context.query, now());
    const { id = '' } = context.params;
    const { account_id: accountId, test } = await uploads.receive(id, ...sentBytes(context));
    await uploads.complete({ accountId, test }, id, null);
    context.body = {};
  });

  serve(QUEUE_STORAGE_OPERATIONS.queueGetFile, async (context) => {
    const { id = '' } = context.params;
    const file = (await uploads.ready(context.state.principal, [id])).get(id);
    if (!file) throw new SonogateError('not_found', 'There is no such file.');
    context.type = 'application/octet-stream';
    context.length = file.bytes;
    context.attachment(file.name);
    context.body = await uploads.read(file);
  });
}

const FILE_METHODS = 'HEAD, GET, PUT';

/**
 * Refuses unsupported methods on a stored file. Its path also matches the submit path
 * (`/queue/{ns}/{model}/{endpoint}`), which would otherwise accept a POST and appear in `Allow`.
 */
export function storedFileMethods(): Middleware<HttpState> {
  return async (context, next) => {
    if (!context.path.startsWith(`${FILES}/`)) return next();
    if (context.method === 'POST') {
      context.set('Allow', FILE_METHODS);
      context.status = 405;
      return;
    }
    await next();
    if (context.response.get('Allow')) context.set('Allow', FILE_METHODS);
  };
}

/** Returns the input with each `file_url` on this server replaced by the file's id. */
export function ownFileIds(input: unknown, address: string): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const ours = `${address}${FILES}/`;
  const id = (file: unknown) =>
    typeof file === 'string' && file.startsWith(ours) ? file.slice(ours.length) : file;
  return Object.fromEntries(
    Object.entries(input).map(([field, value]) =>
      (field === 'files' || field === 'prior_files') && Array.isArray(value)
        ? [field, value.map(id)]
        : [field, value],
    ),
  );
}
