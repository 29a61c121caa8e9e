import type { ErrorCode } from '../../errors/catalogue.ts';
import type { Operation } from './operation.ts';

const STORE_ERRORS: readonly ErrorCode[] = [
  'invalid_multipart',
  'unsupported_media_type',
  'overloaded',
];

const STORE = {
  method: 'post',
  group: 'DICOMweb',
  scope: 'store',
  status: 200,
  answer: 'json',
  mediaType: 'application/dicom+json',
  bodyType: 'multipart/related',
  otherStatuses: {
    202: 'Some objects were stored, the answer names the others with their Failure Reason',
    409: 'No object was stored; the answer names each with its Failure Reason',
  },
} as const;

/** Studies that come by STOW-RS (docs/dicomweb.md). */
export const DICOMWEB_OPERATIONS: readonly Operation[] = [
  {
    ...STORE,
    id: 'storeInstances',
    path: '/dicomweb/studies',
    summary: 'Store objects (STOW-RS): multipart/related; type="application/dicom"',
    errors: STORE_ERRORS,
  },
  {
    ...STORE,
    id: 'storeInstancesOfStudy',
    path: '/dicomweb/studies/{study}',
    summary: 'Store objects of one study (STOW-RS); objects of another are refused',
    errors: [...STORE_ERRORS, 'not_found'],
  },
];
