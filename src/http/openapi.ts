import { z } from 'zod';
import type { Endpoint } from '../requests/endpoint.ts';
import { submitBody } from './submit-body.ts';

const PROBLEM = {
  description: 'Problem details (RFC 9457); `code` is a code of the error catalogue',
  content: {
    'application/problem+json': {
      schema: {
        type: 'object',
        required: ['type', 'title', 'status', 'detail'],
        properties: {
          type: { type: 'string' },
          title: { type: 'string' },
          status: { type: 'integer' },
          detail: { type: 'string' },
          code: { type: 'string' },
          request_id: { type: 'string' },
          errors: {
            type: 'array',
            items: {
              type: 'object',
              properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
            },
          },
        },
      },
    },
  },
};

/** OpenAPI 3.1 of one endpoint: its submit call with the schemas of input and output. */
export function describeEndpoint(endpoint: Endpoint, address: string) {
  return {
    openapi: '3.1.0',
    info: { title: endpoint.title, version: endpoint.version },
    servers: [{ url: address }],
    security: [{ key: [] }],
    paths: {
      [`/v1/run/${endpoint.id}`]: {
        post: {
          operationId: endpoint.id.replaceAll('/', '-'),
          summary: endpoint.title,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(submitBody(endpoint), 'input') } },
          },
          responses: {
            202: {
              description: 'Accepted: the request object. Follow it at `Location`.',
              headers: { Location: { schema: { type: 'string' } } },
              content: {
                'application/json': {
                  schema: {
                    type: 'object',
                    required: ['id', 'object', 'status'],
                    properties: {
                      id: { type: 'string' },
                      object: { const: 'request' },
                      status: { type: 'string' },
                      output: {
                        anyOf: [{ $ref: '#/components/schemas/Output' }, { type: 'null' }],
                      },
                    },
                  },
                },
              },
            },
            default: PROBLEM,
          },
        },
      },
    },
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { Output: schemaOf(endpoint.output, 'output') },
    },
  };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output') {
  return z.toJSONSchema(schema, { io, unrepresentable: 'any' });
}
