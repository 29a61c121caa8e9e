import type { Router } from '@koa/router';
import { keyName } from '../../../core/accounts/keys.ts';
import type { StoredInstance, StoreOutcome } from '../../../core/studies/store-port.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { requireScope } from '../authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';

const DICOM_JSON = 'application/dicom+json';

/** Form of a UID (PS3.5 9.1). */
const UID = /^(?=.{1,64}$)(0|[1-9]\d*)(\.(0|[1-9]\d*))*$/;

/** Adds `/dicomweb/studies`: the store transactions of DICOMweb (STOW-RS, PS3.18 10.5). */
export function addStoreRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { database, storeInstances } = deps;
  const scope = requireScope(deps, 'store');

  router.post(['/dicomweb/studies', '/dicomweb/studies/:study'], scope, async (context) => {
    const { study = null } = context.params;
    if (study !== null && !UID.test(study)) {
      throw new SonogateError('not_found', 'The path does not contain a Study Instance UID.');
    }
    if (context.state.principal.test) {
      throw new SonogateError('forbidden', 'A test key cannot store objects.');
    }
    const outcome = await storeInstances({
      id: context.state.requestId,
      keyName: await keyName(database, context.state.principal.keyId),
      address: context.ip,
      study,
      contentType: context.get('Content-Type'),
      body: context.req,
    });
    context.status = statusOf(outcome);
    context.type = DICOM_JSON;
    const address = deps.servesStudies ? `${baseUrl(context, deps.config)}/dicomweb` : null;
    context.body = JSON.stringify(storeResponse(outcome, address));
  });
}

/**
 * Returns the HTTP status of a store transaction (PS3.18 table 10.5.3-1): 200 if all objects were
 * stored, 202 if some were, 409 if none were.
 * @throws SonogateError `overloaded` if no object was stored, but all of them may be if the caller
 * sends them again later.
 */
export function statusOf({ stored, failed, unreadable }: StoreOutcome): 200 | 202 | 409 {
  if (failed.length === 0 && unreadable.length === 0) return 200;
  if (stored.length > 0) return 202;
  if (unreadable.length === 0 && failed.every(({ transient }) => transient)) {
    throw new SonogateError('overloaded', 'Objects cannot be stored at the moment.');
  }
  return 409;
}

/**
 * Returns the Store Instances Response Module (PS3.18 table 10.5.3-2) in the DICOM JSON model
 * (PS3.18 F).
 *
 * @param address where the gateway's studies can be retrieved; null if they cannot. The Retrieve
 * URLs are then empty.
 */
export function storeResponse(
  { stored, failed, unreadable }: StoreOutcome,
  address: string | null,
) {
  const attribute = (vr: string, ...Value: unknown[]) => ({ vr, Value });
  const reference = ({ sopClassUid, sopInstanceUid }: StoredInstance) => ({
    '00081150': attribute('UI', sopClassUid),
    '00081155': attribute('UI', sopInstanceUid),
  });
  const retrieveUrl = (path: string | null) =>
    address === null || path === null ? { vr: 'UR' } : attribute('UR', `${address}${path}`);
  const studies = new Set(stored.map(({ within }) => within?.study ?? null));
  const [oneStudy = null] = studies.size === 1 ? studies : [];
  return {
    '00081190': retrieveUrl(oneStudy ? `/studies/${oneStudy}` : null),
    ...(failed.length > 0 && {
      '00081198': attribute(
        'SQ',
        ...failed.map(({ reason, ...sop }) => ({
          ...reference(sop),
          '00081197': attribute('US', reason),
        })),
      ),
    }),
    ...(stored.length > 0 && {
      '00081199': attribute(
        'SQ',
        ...stored.map(({ within, ...sop }) => ({
          ...reference(sop),
          '00081190': retrieveUrl(
            within &&
              `/studies/${within.study}/series/${within.series}/instances/${sop.sopInstanceUid}`,
          ),
        })),
      ),
    }),
    // Other Failures Sequence: one item for each part in which no object could be read.
    ...(unreadable.length > 0 && {
      '0008119A': attribute(
        'SQ',
        ...unreadable.map((reason) => ({ '00081197': attribute('US', reason) })),
      ),
    }),
  };
}
