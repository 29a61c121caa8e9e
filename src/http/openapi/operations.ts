import { ACCOUNT_OPERATIONS } from './account-operations.ts';
import { COMPATIBLE_QUEUE_OPERATIONS } from './compatible-queue-operations.ts';
import { DICOMWEB_OPERATIONS } from './dicomweb-operations.ts';
import type { Operation } from './operation.ts';
import { REQUEST_OPERATIONS } from './request-operations.ts';
import { UPLOAD_OPERATIONS } from './upload-operations.ts';

/** Every call of the HTTP API but the submits, which each endpoint has of its own. */
export const OPERATIONS: readonly Operation[] = [
  ...REQUEST_OPERATIONS,
  ...UPLOAD_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...DICOMWEB_OPERATIONS,
  ...COMPATIBLE_QUEUE_OPERATIONS,
];
