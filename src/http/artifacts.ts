import { createReadStream } from 'node:fs';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { SonogateError } from '../errors/catalogue.ts';
import type { ArtifactEntry, RequestCore } from '../requests/core.ts';
import type { RequestRow } from '../requests/row.ts';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { ownRequest } from './requests.ts';

/** Life of an address that an artifact is downloaded from (interop 5.9). */
const LINK_LIFE_SECONDS = 300;

/** `GET /v1/requests/{id}/artifacts[/{name}]` and the signed addresses these lead to. */
export function addArtifactRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, blobs, config, signer, logger, now = () => new Date() } = deps;
  const read = requireScope(deps, 'read');

  function ownUrl(context: Context, { id }: RequestRow, { name }: ArtifactEntry): string {
    const path = `/v1/downloads/${id}/${encodeURIComponent(name)}`;
    const expires = new Date(now().getTime() + LINK_LIFE_SECONDS * 1000);
    return `${baseUrl(context, config)}${signer.sign('GET', path, expires)}`;
  }

  /** At the storage, when the artifact lies there. */
  async function directUrl(row: RequestRow, artifact: ArtifactEntry): Promise<string | null> {
    if (!blobs.direct) return null;
    const { name, sha256, media_type: mediaType } = artifact;
    const as = { name, mediaType };
    return blobs.direct.downloadUrl(sha256, as, LINK_LIFE_SECONDS).catch((error: unknown) => {
      logger.warn({ request: row.id, error: String(error) }, 'storage away, gateway serves it');
      return null;
    });
  }

  router.get(
    '/v1/requests/:id/artifacts',
    read,
    audited(deps, 'artifact.list'),
    async (context) => {
      const row = await ownRequest(core, context.params.id, context.state);
      refuseExpired(row);
      context.body = { data: await core.artifacts(row.id) };
    },
  );

  router.get(
    '/v1/requests/:id/artifacts/:name',
    read,
    audited(deps, 'artifact.read'),
    async (context) => {
      const row = await ownRequest(core, context.params.id, context.state);
      refuseExpired(row);
      const artifact = await listed(core, row.id, context.params.name);
      context.redirect((await directUrl(row, artifact)) ?? ownUrl(context, row, artifact));
      context.body = null;
      context.status = 302;
    },
  );

  router.get('/v1/downloads/:id/:name', async (context) => {
    signer.verify('GET', context.path, context.query, now());
    const { id = '', name } = context.params;
    // The signature stands for the key: the request may be of any account.
    const row = await core.get(id, null);
    if (row) refuseExpired(row);
    const artifact = await listed(core, id, name);
    const path = await core.artifactPath(id, artifact.name);
    if (path === null) throw new SonogateError('expired', 'The artifact has been purged.');
    context.type = artifact.media_type;
    context.length = artifact.bytes;
    context.attachment(artifact.name);
    context.body = createReadStream(path);
  });
}

function refuseExpired({ status }: RequestRow): void {
  if (status === 'expired') throw new SonogateError('expired', 'The artifacts have been purged.');
}

/** A name only ever selects from the list of the result, so that no path can be built from it. */
async function listed(
  core: RequestCore,
  id: string,
  name: string | undefined,
): Promise<ArtifactEntry> {
  const artifact = (await core.artifacts(id)).find((entry) => entry.name === name);
  if (!artifact) throw new SonogateError('not_found', 'There is no such artifact.');
  return artifact;
}
