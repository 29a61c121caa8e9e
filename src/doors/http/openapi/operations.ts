import type { ErrorCode } from '../../../platform/errors/catalogue.ts';
import { newKeyBody, rotateKeyBody, usageQuery } from '../account.ts';
import { logsQuery, storageUploadBody } from '../compatible-queue.ts';
import { eventsQuery, historyQuery, waitQuery } from '../requests.ts';
import { reviewChangesBody, signBody } from '../reviews.ts';
import { uploadBody, uploadCompletionBody } from '../uploads.ts';
import { deliveriesQuery } from '../webhooks.ts';
import { EXAMPLE } from './examples.ts';
import { BODY_ERRORS, INPUT_ERRORS, ONCE_ERRORS, type Operation } from './operation.ts';

/** Errors of the calls that change a review. */
const REVIEW_CHANGE_ERRORS = [
  'not_found',
  'review_unavailable',
  'already_signed',
  'later_result_signed',
  'if_match_required',
  'stale_review',
  ...INPUT_ERRORS,
] as const;

/** Returns an example that contains only the beginning of an OpenAPI document. */
const describing = (title: string, path: string) => ({
  openapi: '3.1.0',
  info: { title, version: '1.0.0' },
  paths: { [path]: {} },
});

/** Returns the operations of a group. Their status is 200 if they do not state another. */
const inGroup = (
  group: Operation['group'],
  operations: readonly (Omit<Operation, 'group' | 'status'> & Partial<Pick<Operation, 'status'>>)[],
): Operation[] => operations.map((operation) => ({ status: 200, ...operation, group }));

const REQUEST_OPERATIONS = inGroup('Requests', [
  {
    id: 'listRequests',
    method: 'get',
    path: '/v1/requests',
    summary: "The account's requests, newest first",
    scope: 'read',
    query: historyQuery,
    answer: 'requestPage',
    errors: ['invalid_input'],
  },
  {
    id: 'getRequest',
    method: 'get',
    path: '/v1/requests/{id}',
    summary: 'A request, immediately or as soon as its status changes',
    scope: 'read',
    query: waitQuery,
    answer: 'request',
    errors: ['not_found', 'invalid_input'],
  },
  {
    id: 'followRequest',
    method: 'get',
    path: '/v1/requests/{id}/events',
    summary: 'Follow a request by server-sent events',
    query: eventsQuery,
    scope: 'read',
    answer: 'serverSentEvent',
    mediaType: 'text/event-stream',
    errors: ['not_found'],
  },
  {
    id: 'cancelRequest',
    method: 'post',
    once: true,
    path: '/v1/requests/{id}/cancel',
    summary: 'Cancel a request',
    scope: 'run',
    status: 202,
    answer: 'request',
    errors: ['not_found', 'already_finished', ...INPUT_ERRORS, ...ONCE_ERRORS],
  },
  {
    id: 'listArtifacts',
    method: 'get',
    path: '/v1/requests/{id}/artifacts',
    summary: 'The artifacts of a request',
    scope: 'read',
    answer: 'artifactList',
    errors: ['not_found', 'expired'],
  },
  {
    id: 'getArtifact',
    method: 'get',
    path: '/v1/requests/{id}/artifacts/{name}',
    summary: 'Fetch an artifact (redirects to a signed URL)',
    scope: 'read',
    status: 302,
    answer: 'empty',
    errors: ['not_found', 'expired'],
  },
  {
    id: 'downloadArtifact',
    method: 'get',
    path: '/v1/downloads/{id}/{name}',
    summary: 'The bytes of an artifact, at a signed URL',
    scope: null,
    answer: 'bytes',
    errors: ['not_found', 'expired'],
  },
  {
    id: 'getReview',
    method: 'get',
    path: '/v1/requests/{id}/review',
    summary: 'The reviewed result, its changes and who has the review open',
    scope: 'read',
    answer: 'review',
    errors: ['not_found', 'review_unavailable'],
  },
  {
    id: 'followReview',
    method: 'get',
    path: '/v1/requests/{id}/review/events',
    summary: 'Follow the changes of a review by server-sent events; lists the caller as a reader',
    scope: 'read',
    answer: 'reviewEvent',
    mediaType: 'text/event-stream',
    errors: ['not_found'],
  },
  {
    id: 'changeReview',
    method: 'patch',
    path: '/v1/requests/{id}/review',
    summary: 'Change a review: accept, reject or edit values, undo changes, add notes',
    scope: 'review',
    ifMatch: true,
    body: reviewChangesBody,
    answer: 'review',
    errors: REVIEW_CHANGE_ERRORS,
  },
  {
    id: 'signResult',
    method: 'post',
    path: '/v1/requests/{id}/sign',
    summary: 'Sign the reviewed result in the name of the key',
    scope: 'sign',
    ifMatch: true,
    body: signBody,
    bodyOptional: true,
    answer: 'review',
    errors: REVIEW_CHANGE_ERRORS,
  },
]);

const MODEL_OPERATIONS = inGroup('Models', [
  {
    id: 'listModels',
    method: 'get',
    path: '/v1/models',
    summary: 'Endpoints and their versions',
    scope: 'read',
    answer: 'modelList',
  },
  {
    id: 'getModel',
    method: 'get',
    path: '/v1/models/{ns}/{model}',
    summary: 'Versions, prices, limits, sections and the models behind an endpoint',
    scope: 'read',
    answer: 'modelDetail',
    errors: ['unknown_endpoint'],
  },
  {
    id: 'describeEndpoint',
    method: 'get',
    path: '/v1/models/{ns}/{model}/{endpoint}/openapi.json',
    summary: 'OpenAPI description of one endpoint',
    scope: 'read',
    answer: 'json',
    example: describing('Obstetric ultrasound', '/v1/run/us/obstetric/interpret'),
    errors: ['unknown_endpoint'],
  },
  {
    id: 'describeApi',
    method: 'get',
    path: '/v1/openapi.json',
    summary: 'This OpenAPI description',
    scope: null,
    answer: 'json',
    example: describing('Sonogate', '/v1/requests'),
  },
]);

const UPLOAD_OPERATIONS = inGroup('Uploads', [
  {
    id: 'createUpload',
    method: 'post',
    once: true,
    path: '/v1/uploads',
    summary: 'Start an upload',
    scope: 'uploads',
    body: uploadBody,
    status: 201,
    answer: 'upload',
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  {
    id: 'getUpload',
    method: 'get',
    pathExamples: { id: EXAMPLE.file },
    path: '/v1/uploads/{id}',
    summary: 'The state of an upload, with new URLs to resume it',
    scope: 'uploads',
    answer: 'upload',
    errors: ['not_found'],
  },
  {
    id: 'abortUpload',
    method: 'delete',
    pathExamples: { id: EXAMPLE.file },
    path: '/v1/uploads/{id}',
    summary: 'Abort an incomplete upload',
    scope: 'uploads',
    status: 204,
    answer: 'empty',
    errors: ['not_found'],
  },
  {
    id: 'putUploadPart',
    method: 'put',
    pathExamples: { id: EXAMPLE.file },
    path: '/v1/uploads/{id}/parts/{number}',
    summary: 'The bytes of one part, at a signed URL',
    scope: null,
    answer: 'empty',
    errors: ['not_found', 'expired', 'upload_incomplete', 'overloaded'],
  },
  {
    id: 'putUpload',
    method: 'put',
    pathExamples: { id: EXAMPLE.file },
    path: '/v1/uploads/{id}/content',
    summary: 'The bytes of a file, at a signed URL',
    scope: null,
    answer: 'empty',
    errors: ['not_found', 'expired', 'upload_incomplete', 'payload_too_large', 'overloaded'],
  },
  {
    id: 'completeUpload',
    method: 'post',
    once: true,
    pathExamples: { id: EXAMPLE.file },
    path: '/v1/uploads/{id}/complete',
    summary: 'Complete an upload',
    scope: 'uploads',
    body: uploadCompletionBody,
    bodyOptional: true,
    answer: 'file',
    errors: [...BODY_ERRORS, 'not_found', 'upload_incomplete'],
  },
]);

const ACCOUNT_OPERATIONS = inGroup('Account', [
  {
    id: 'getUsage',
    method: 'get',
    path: '/v1/usage',
    summary: 'Requests and their cost by month and key',
    scope: 'read',
    query: usageQuery,
    answer: 'usage',
    errors: ['invalid_input'],
  },
  {
    id: 'listKeys',
    method: 'get',
    path: '/v1/keys',
    summary: 'Keys of the account',
    scope: 'admin',
    answer: 'keyList',
  },
  {
    id: 'createKey',
    method: 'post',
    once: true,
    path: '/v1/keys',
    summary: 'Create a key',
    scope: 'admin',
    body: newKeyBody,
    status: 201,
    answer: 'newKey',
    errors: BODY_ERRORS,
  },
  {
    id: 'rotateKey',
    method: 'post',
    once: true,
    pathExamples: { id: EXAMPLE.key },
    path: '/v1/keys/{id}/rotate',
    summary: 'Rotate a key; the old one expires after an overlap',
    scope: 'admin',
    body: rotateKeyBody,
    bodyOptional: true,
    status: 201,
    answer: 'newKey',
    errors: [...BODY_ERRORS, 'not_found'],
  },
  {
    id: 'revokeKey',
    method: 'delete',
    pathExamples: { id: EXAMPLE.key },
    path: '/v1/keys/{id}',
    summary: 'Revoke a key',
    scope: 'admin',
    answer: 'key',
    errors: ['not_found'],
  },
]);

const WEBHOOK_OPERATIONS = inGroup('Webhooks', [
  {
    id: 'getWebhookSecret',
    method: 'get',
    path: '/v1/webhooks/secret',
    summary: 'The secret used to sign webhooks',
    scope: 'admin',
    answer: 'webhookSecret',
  },
  {
    id: 'rotateWebhookSecret',
    method: 'post',
    once: true,
    path: '/v1/webhooks/secret/rotate',
    summary: 'Rotate the secret; for 24 hours the old one is also used',
    scope: 'admin',
    answer: 'webhookSecret',
    errors: [...INPUT_ERRORS, ...ONCE_ERRORS],
  },
  {
    id: 'listWebhookDeliveries',
    method: 'get',
    path: '/v1/webhooks/deliveries',
    summary: 'Webhook deliveries with their attempts',
    scope: 'admin',
    query: deliveriesQuery,
    answer: 'webhookDeliveries',
    errors: ['invalid_input'],
  },
  {
    id: 'redeliverWebhook',
    method: 'post',
    once: true,
    pathExamples: { id: EXAMPLE.delivery },
    path: '/v1/webhooks/deliveries/{id}/redeliver',
    summary: 'Send a webhook again with the same id',
    scope: 'admin',
    status: 202,
    answer: 'webhookDelivery',
    errors: ['not_found', ...INPUT_ERRORS, ...ONCE_ERRORS],
  },
]);

const QUEUE_CANCEL = {
  path: '/queue/{ns}/{model}/requests/{id}/cancel',
  summary: 'Cancel a request; 400 if it has already ended',
  scope: 'run',
  status: 202,
  answer: 'queueCancellation',
} as const;

/** Errors with which a request can end. */
const RUN_ERRORS = [
  'no_readable_image',
  'no_obstetric_image',
  'hosted_file_unreachable',
  'pipeline_failed',
  'pipeline_crashed',
  'pipeline_timeout',
  'invalid_result',
  'out_of_space',
] as const;

/** Calls of the compatible queue other than submissions. */
const COMPATIBLE_QUEUE_OPERATIONS = inGroup('Compatible queue', [
  {
    id: 'queueStatus',
    method: 'get',
    path: '/queue/{ns}/{model}/requests/{id}/status',
    summary: 'Status of a request',
    scope: 'read',
    query: logsQuery,
    answer: 'queueStatus',
    errors: ['not_found'],
  },
  {
    id: 'queueStatusStream',
    method: 'get',
    path: '/queue/{ns}/{model}/requests/{id}/status/stream',
    summary: 'Each status as server-sent events, COMPLETED last',
    scope: 'read',
    query: logsQuery,
    answer: 'queueStatus',
    mediaType: 'text/event-stream',
    errors: ['not_found'],
  },
  {
    id: 'queueResult',
    method: 'get',
    path: '/queue/{ns}/{model}/requests/{id}',
    summary: 'The result, or the reason why there is none',
    scope: 'read',
    answer: 'queueResult',
    errors: ['not_found', 'not_finished', 'request_canceled', 'expired', ...RUN_ERRORS],
  },
  { ...QUEUE_CANCEL, id: 'queueCancel', method: 'put', errors: ['not_found', 'already_finished'] },
  {
    ...QUEUE_CANCEL,
    id: 'queueCancelByPost',
    method: 'post',
    once: true,
    errors: ['not_found', 'already_finished', ...INPUT_ERRORS, ...ONCE_ERRORS],
  },
  {
    id: 'queueInitiateUpload',
    method: 'post',
    once: true,
    path: '/queue/storage/upload/initiate',
    summary: 'Start an upload',
    scope: 'uploads',
    body: storageUploadBody,
    answer: 'queueUpload',
    errors: [...BODY_ERRORS, 'overloaded'],
  },
  {
    id: 'queuePutUpload',
    method: 'put',
    pathExamples: { id: EXAMPLE.file },
    path: '/queue/storage/files/{id}',
    summary: 'The bytes of a file, at a signed URL; completes the upload',
    scope: null,
    answer: 'queueFile',
    errors: ['not_found', 'expired', 'upload_incomplete', 'payload_too_large', 'overloaded'],
  },
  {
    id: 'queueGetFile',
    method: 'get',
    pathExamples: { id: EXAMPLE.file },
    path: '/queue/storage/files/{id}',
    summary: 'The bytes of a file',
    scope: 'uploads',
    answer: 'bytes',
    errors: ['not_found'],
  },
]);

const STORE_ERRORS: readonly ErrorCode[] = [
  'invalid_multipart',
  'unsupported_media_type',
  'overloaded',
];

/** An object in a STOW-RS response (PS3.18 10.5.3.2), with a reason if it was not stored. */
const object = (instance: string, reason?: number) => ({
  '00081150': { vr: 'UI', Value: ['1.2.840.10008.5.1.4.1.1.6.1'] },
  '00081155': { vr: 'UI', Value: [instance] },
  ...(reason === undefined
    ? { '00081190': { vr: 'UR' } }
    : { '00081197': { vr: 'US', Value: [reason] } }),
});
const INSTANCES = ['1.2.826.0.1.3680043.8.498.1.1', '1.2.826.0.1.3680043.8.498.1.2'] as const;
const STORED = {
  '00081190': { vr: 'UR' },
  '00081199': { vr: 'SQ', Value: [object(INSTANCES[0])] },
};
/** C000H: the object cannot be parsed. */
const REFUSED = { '00081198': { vr: 'SQ', Value: [object(INSTANCES[1], 0xc000)] } };

const STORE = {
  method: 'post',
  scope: 'store',
  answer: 'json',
  mediaType: 'application/dicom+json',
  example: STORED,
  bodyType: 'multipart/related',
  bodyExample: '--b\r\nContent-Type: application/dicom\r\n\r\n…\r\n--b--\r\n',
  otherStatuses: {
    202: {
      description:
        'Only some objects were stored; the response lists the others with their Failure Reason',
      example: { ...STORED, ...REFUSED },
    },
    409: {
      description: 'No object was stored; the response lists each one with its Failure Reason',
      example: REFUSED,
    },
  },
} as const;

/** Calls for storing studies with STOW-RS (docs/dicomweb.md). */
const DICOMWEB_OPERATIONS = inGroup('DICOMweb', [
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
    summary: 'Store objects of one study (STOW-RS); objects of other studies are refused',
    errors: [...STORE_ERRORS, 'not_found'],
  },
]);

/**
 * Every call of the HTTP API except submissions, which depend on the endpoint, and calls that another
 * standard describes (guides.ts).
 */
export const OPERATIONS: readonly Operation[] = [
  ...REQUEST_OPERATIONS,
  ...MODEL_OPERATIONS,
  ...UPLOAD_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...DICOMWEB_OPERATIONS,
  ...COMPATIBLE_QUEUE_OPERATIONS,
];
