import type { Router } from '@koa/router';
import { z } from 'zod';
import { SonogateError } from '../errors/catalogue.ts';
import { requireScope } from './authentication.ts';
import { COMPATIBLE_QUEUE } from './compatible-status.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { idempotent } from './idempotency.ts';
import { jsonBody } from './json-body.ts';
import { announcement, LINK_LIFE_MS, parseBody, sentBytes } from './uploads.ts';

const FILES = `${COMPATIBLE_QUEUE}/storage/files`;
const INITIATE = `${COMPATIBLE_QUEUE}/storage/upload/initiate`;

export const initiation = z.strictObject({
  file_name: announcement.shape.filename,
  content_type: announcement.shape.media_type,
});

/**
 * Storage as the client of the compatible queue uses it (interop 5.1): initiate, PUT, and the
 * `file_url` is good for `input.files`. The PUT tells the size and completes the upload.
 */
export function addCompatibleStorageRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { uploads, config, signer, now = () => new Date() } = deps;
  const scope = requireScope(deps, 'uploads');

  const body = jsonBody(config.maxBodyBytes);
  router.post(INITIATE, scope, body, idempotent(deps), async (context) => {
    const { file_name, content_type } = parseBody(initiation, context.state.body);
    const { id } = await uploads.create(context.state.principal.accountId, {
      filename: file_name,
      bytes: null,
      mediaType: content_type,
    });
    const address = baseUrl(context, config);
    const expires = new Date(now().getTime() + LINK_LIFE_MS);
    context.body = {
      upload_url: `${address}${signer.sign('PUT', `${FILES}/${id}`, expires)}`,
      file_url: `${address}${FILES}/${id}`,
    };
  });

  router.put(`${FILES}/:id`, async (context) => {
    signer.verify('PUT', context.path, context.query, now());
    const { id = '' } = context.params;
    const { account_id } = await uploads.receive(id, ...sentBytes(context));
    await uploads.complete(account_id, id, null);
    context.status = 200;
    context.body = {};
  });

  router.get(`${FILES}/:id`, scope, async (context) => {
    const { id = '' } = context.params;
    const file = (await uploads.ready(context.state.principal.accountId, [id])).get(id);
    if (!file) throw new SonogateError('not_found', 'There is no such file.');
    context.type = 'application/octet-stream';
    context.length = file.bytes;
    context.attachment(file.name);
    context.body = await uploads.read(file);
  });
}

/** The input with every `file_url` of ours replaced by the id that it stands for. */
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
