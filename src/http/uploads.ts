import { Readable } from 'node:stream';
import type { Router } from '@koa/router';
import { z } from 'zod';
import { SonogateError } from '../errors/catalogue.ts';
import { InvalidInputError, pointedErrors } from '../errors/problem.ts';
import type { FileRow } from '../files/uploads.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { idempotent } from './idempotency.ts';
import { jsonBody } from './json-body.ts';

export const LINK_LIFE_MS = 3_600_000;

/** Leaves room for the number that tells two files of one name apart (input-files.ts). */
export const LONGEST_NAME = 180;

export const announcement = z.strictObject({
  filename: z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    // A name, not a path: it names the file in the work folder and in the result.
    .refine((name) => !/[/\\\p{Cc}]/u.test(name) && name !== '.' && name !== '..', 'a file name'),
  bytes: z.number().int().positive(),
  media_type: z
    .string()
    .max(127)
    .regex(/^[\w.+-]+\/[\w.+-]+$/, 'a media type such as application/dicom'),
});

export const completion = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, '64 hexadecimal digits')
    .transform((text) => text.toLowerCase())
    .optional(),
});

/** `POST /v1/uploads`, the signed PUT it answers with, `POST /v1/uploads/{id}/complete` */
export function addUploadRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { uploads, config, signer, now = () => new Date() } = deps;
  const scope = requireScope(deps, 'uploads');
  const body = jsonBody(config.maxBodyBytes);

  router.post('/v1/uploads', scope, body, idempotent(deps), async (context) => {
    const { filename, bytes, media_type } = parseBody(announcement, context.state.body);
    const { accountId } = context.state.principal;
    const file = await uploads.create(accountId, { filename, bytes, mediaType: media_type });
    const expires = new Date(now().getTime() + LINK_LIFE_MS);
    const address = baseUrl(context, config);
    const path = `/v1/uploads/${file.id}/content`;
    context.status = 201;
    context.body = {
      file: view(file),
      upload: {
        url: `${address}${signer.sign('PUT', path, expires)}`,
        method: 'PUT',
        headers: { 'Content-Type': media_type },
        expires_at: expires.toISOString(),
      },
      complete_url: `${address}/v1/uploads/${file.id}/complete`,
    };
  });

  router.put('/v1/uploads/:id/content', async (context) => {
    signer.verify('PUT', context.path, context.query, now());
    const announced = context.get('Content-Length');
    // Destroying the call would take the connection with it, and a refusal could not be sent.
    const source = Readable.from(context.req.iterator({ destroyOnReturn: false }));
    const length = announced === '' ? null : Number(announced);
    const { sha256 } = await uploads.receive(context.params.id as string, source, length);
    context.set('ETag', `"${sha256}"`);
    context.body = '';
  });

  router.post('/v1/uploads/:id/complete', scope, body, idempotent(deps), async (context) => {
    const { sha256 = null } = parseBody(completion, context.state.body ?? {});
    const { accountId } = context.state.principal;
    context.body = view(await uploads.complete(accountId, context.params.id as string, sha256));
  });
}

/** The body, checked. @throws InvalidInputError naming each wrong place. */
export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  if (body === undefined) throw new SonogateError('invalid_json', 'The call has no body.');
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
  return parsed.data;
}

/** The file object of the HTTP contract. */
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
