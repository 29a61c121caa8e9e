import type { Router, RouterContext } from '@koa/router';
import { STORAGE_CLASS } from '../../../../pipelines/dicom/sop-classes.ts';
import { keyName } from '../../../core/accounts/keys.ts';
import type { StoredInstance, StoreOutcome } from '../../../core/studies/store-port.ts';
import type { ErrorCode } from '../../../platform/errors/catalogue.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import { operationsOf } from '../openapi/operation.ts';
import { servingOn } from '../route.ts';
import { acceptedRanges, preferredType } from './accept.ts';
import { nativeDicomModel } from './native-model.ts';

const DICOM_JSON = 'application/dicom+json';
const DICOM_XML = 'application/dicom+xml';

/** Form of a UID (PS3.5 9.1). */
const UID = /^(?=.{1,64}$)(0|[1-9]\d*)(\.(0|[1-9]\d*))*$/;

const STORED_EXAMPLE = {
  sopClassUid: STORAGE_CLASS.ultrasound,
  sopInstanceUid: '1.2.826.0.1.3680043.8.498.1.1',
  within: null,
};
/** C000H: the object cannot be parsed. */
const FAILED_EXAMPLE = {
  sopClassUid: STORAGE_CLASS.ultrasound,
  sopInstanceUid: '1.2.826.0.1.3680043.8.498.1.2',
  reason: 0xc000,
  transient: false,
};
const exampleOf = (outcome: Pick<StoreOutcome, 'stored' | 'failed'>) =>
  storeResponse({ ...outcome, unreadable: [] }, null);

const STORE_ERRORS: readonly ErrorCode[] = [
  'invalid_multipart',
  'unsupported_media_type',
  'overloaded',
];

const STORE = {
  method: 'post',
  scope: 'store',
  bodyType: 'multipart/related',
  bodyExample: '--b\r\nContent-Type: application/dicom\r\n\r\n…\r\n--b--\r\n',
  otherStatuses: {
    202: {
      description:
        'Only some objects were stored; the response lists the others with their Failure Reason',
      example: exampleOf({ stored: [STORED_EXAMPLE], failed: [FAILED_EXAMPLE] }),
    },
    409: {
      description: 'No object was stored; the response lists each one with its Failure Reason',
      example: exampleOf({ stored: [], failed: [FAILED_EXAMPLE] }),
    },
  },
  answer: 'json',
  mediaType: DICOM_JSON,
  example: exampleOf({ stored: [STORED_EXAMPLE], failed: [] }),
} as const;

/** Calls for storing studies with STOW-RS (docs/dicomweb.md). */
export const STORE_OPERATIONS = operationsOf('DICOMweb', {
  storeInstances: {
    ...STORE,
    path: '/dicomweb/studies',
    summary: 'Store objects (STOW-RS): multipart/related; type="application/dicom"',
    errors: STORE_ERRORS,
  },
  storeInstancesOfStudy: {
    ...STORE,
    path: '/dicomweb/studies/{study}',
    summary: 'Store objects of one study (STOW-RS); objects of other studies are refused',
    errors: [...STORE_ERRORS, 'not_found', 'invalid_query'],
  },
});

/** Adds `/dicomweb/studies`: the store transactions of DICOMweb (STOW-RS, PS3.18 10.5). */
export function addStoreRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { database, storeInstances } = deps;
  const serve = servingOn(router, deps);

  const store = async (context: RouterContext<HttpState>) => {
    const { study = null } = context.params;
    if (study !== null && !UID.test(study)) {
      throw new SonogateError('invalid_query', 'The path does not contain a Study Instance UID.');
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
    const address = deps.servesStudies ? `${baseUrl(context, deps.config)}/dicomweb` : null;
    const response = storeResponse(outcome, address);
    // JSON is the default, also for a caller that accepts neither form (PS3.18 table 8.7.3-1).
    const accepted = preferredType(acceptedRanges(context), [DICOM_JSON, DICOM_XML]);
    context.type = accepted ?? DICOM_JSON;
    context.body = accepted === DICOM_XML ? nativeDicomModel(response) : JSON.stringify(response);
  };
  serve(STORE_OPERATIONS.storeInstances, store);
  serve(STORE_OPERATIONS.storeInstancesOfStudy, store);
}

/**
 * Returns the HTTP status of a store transaction (PS3.18 table 10.5.3-1): 200 if all objects were
 * stored, 202 if some were, 409 if none were.
 * @throws SonogateError `overloaded` if no object was stored, and every refusal was temporary: the
 * caller may send the objects again later.
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
