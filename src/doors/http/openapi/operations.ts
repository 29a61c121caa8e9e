import { ACCOUNT_OPERATIONS } from '../account.ts';
import { QUEUE_OPERATIONS } from '../compatible-queue/routes.ts';
import { QUEUE_STORAGE_OPERATIONS } from '../compatible-queue/storage.ts';
import { STORE_OPERATIONS } from '../dicomweb/store.ts';
import { REQUEST_OPERATIONS } from '../requests.ts';
import { REVIEW_OPERATIONS } from '../reviews.ts';
import { UPLOAD_OPERATIONS } from '../uploads.ts';
import { WEBHOOK_OPERATIONS } from '../webhooks.ts';
import { type Operation, operationsOf } from './operation.ts';

/** Returns an example that contains only the beginning of an OpenAPI document. */
const describing = (title: string, path: string) => ({
  openapi: '3.1.0',
  info: { title, version: '1.0.0' },
  paths: { [path]: {} },
});

/**
 * The operations of models.ts are listed here, because that module imports this file, to serve the
 * description of all operations. If they were listed there, the imports would be circular.
 */
export const MODEL_OPERATIONS = operationsOf('Models', {
  listModels: {
    method: 'get',
    path: '/v1/models',
    summary: 'List the endpoints and their versions',
    scope: 'read',
    answer: 'modelList',
  },
  getModel: {
    method: 'get',
    path: '/v1/models/{ns}/{model}',
    summary: 'Get the versions, prices, limits, sections and models of an endpoint',
    scope: 'read',
    answer: 'modelDetail',
    errors: ['unknown_endpoint'],
  },
  describeEndpoint: {
    method: 'get',
    path: '/v1/models/{ns}/{model}/{endpoint}/openapi.json',
    summary: 'Get the OpenAPI description of one endpoint',
    scope: 'read',
    answer: 'json',
    example: describing('Obstetric ultrasound', '/v1/run/us/obstetric/interpret'),
    errors: ['unknown_endpoint'],
  },
  describeApi: {
    method: 'get',
    path: '/v1/openapi.json',
    summary: 'Get this OpenAPI description',
    scope: null,
    answer: 'json',
    example: describing('Sonogate', '/v1/requests'),
  },
});

/**
 * Every call of the HTTP API except submissions, which depend on the endpoint, and calls that another
 * standard describes (guides.ts).
 */
export const OPERATIONS: readonly Operation[] = [
  REQUEST_OPERATIONS,
  REVIEW_OPERATIONS,
  MODEL_OPERATIONS,
  UPLOAD_OPERATIONS,
  ACCOUNT_OPERATIONS,
  WEBHOOK_OPERATIONS,
  STORE_OPERATIONS,
  QUEUE_OPERATIONS,
  QUEUE_STORAGE_OPERATIONS,
].flatMap((group): Operation[] => Object.values(group));
