import { z } from 'zod';
import { SCOPES } from '../../../core/accounts/keys.ts';
import { EVENT_NAMES } from '../../../core/requests/events.ts';
import { REQUEST_STATUS } from '../../../core/requests/request.ts';

/**
 * The objects of answers, for the description of the API; a test compares them with real answers.
 */

const time = z.iso.datetime();
const maybeTime = time.nullable();
const money = z.string().describe('Decimal, in USD');

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string().describe('A code of docs/errors.md'),
    instance: z.string().optional(),
    request_id: z.string().optional(),
    errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
  })
  .describe('Problem details (RFC 9457)');

export const stage = z.strictObject({
  name: z.string(),
  label: z.string(),
  progress: z.number().min(0).max(1),
  eta_s: z.number().nullable(),
});

const cost = z.strictObject({
  currency: z.literal('USD'),
  total: money,
  lines: z.array(
    z.strictObject({
      item: z.string(),
      quantity: z.number(),
      unit_price: money,
      amount: money,
    }),
  ),
});

/** A request in a list: without `input` and `output`. */
const listedRequest = z.strictObject({
  id: z.string(),
  object: z.literal('request'),
  model: z.string(),
  endpoint: z.string(),
  version: z.string(),
  status: z.enum(REQUEST_STATUS),
  stage,
  created_at: time,
  started_at: maybeTime,
  ended_at: maybeTime,
  expires_at: maybeTime,
  key: z.string().nullable(),
  test: z.boolean(),
  priority: z.enum(['low', 'normal', 'high']),
  metadata: z.record(z.string(), z.string()),
  webhook: z.object({ url: z.string(), events: z.array(z.string()) }).nullable(),
  source: z.object({ kind: z.enum(['api', 'queue', 'dicom']) }),
  cost,
  error: problem.nullable(),
  urls: z.strictObject({ self: z.string(), events: z.string(), cancel: z.string() }),
});

export const request = listedRequest.extend({
  input: z.record(z.string(), z.unknown()).nullable(),
  output: z.unknown().describe('The result envelope of the endpoint; null unless succeeded'),
});

const page = <T extends z.ZodType>(item: T) =>
  z.strictObject({
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  });

export const requestPage = page(listedRequest);

export const artifactList = z.strictObject({
  data: z.array(
    z.strictObject({
      name: z.string(),
      media_type: z.string(),
      bytes: z.number().int(),
      sha256: z.string(),
      section: z.string().nullable(),
    }),
  ),
});

export const file = z.strictObject({
  id: z.string(),
  object: z.literal('file'),
  status: z.enum(['pending', 'ready']),
  filename: z.string(),
  bytes: z.number().int().nullable(),
  media_type: z.string(),
  sha256: z.string().nullable(),
  expires_at: time,
});

export const upload = z.strictObject({
  file,
  upload: z.union([
    z.strictObject({
      url: z.string(),
      method: z.literal('PUT'),
      headers: z.record(z.string(), z.string()),
      expires_at: time,
    }),
    z.strictObject({
      part_size: z.number().int(),
      parts: z.array(
        z.strictObject({
          part_number: z.number().int(),
          url: z.string(),
          headers: z.record(z.string(), z.string()),
          first_byte: z.number().int(),
          bytes: z.number().int(),
          etag: z.string().nullable().describe('Null until the bytes have arrived'),
        }),
      ),
      expires_at: time,
    }),
  ]),
  complete_url: z.string(),
});

export const key = z.strictObject({
  id: z.string(),
  object: z.literal('key'),
  name: z.string(),
  test: z.boolean(),
  scopes: z.array(z.enum(SCOPES)),
  created_at: time,
  last_used_at: maybeTime,
  expires_at: maybeTime,
  revoked_at: maybeTime,
});

export const newKey = key.extend({
  key: z.string().nullable().describe('Shown only in this answer'),
});
export const keyList = z.strictObject({ data: z.array(key) });

export const usage = z.strictObject({
  data: z.array(
    z.strictObject({
      month: z.string(),
      key: z.string().nullable(),
      requests: z.number().int(),
      succeeded: z.number().int(),
      cost: z.strictObject({ currency: z.literal('USD'), total: money }),
    }),
  ),
});

export const webhookSecret = z.strictObject({
  object: z.literal('webhook_secret'),
  secret: z.string().nullable(),
  created_at: time.optional(),
});

export const webhookDelivery = z.object({
  id: z.string(),
  object: z.literal('webhook_delivery'),
  request: z.string(),
  event: z.string(),
  url: z.string(),
  state: z.string(),
});
export const webhookDeliveries = page(webhookDelivery);

const model = z.object({
  id: z.string(),
  model: z.string(),
  version: z.string(),
  title: z.string(),
  urls: z.strictObject({ run: z.string(), openapi: z.string() }),
});
export const modelDetail = model.extend({
  versions: z.array(z.string()),
  prices: z.strictObject({
    currency: z.literal('USD'),
    lines: z.array(z.strictObject({ item: z.string(), unit_price: money })),
    by_frames: z
      .array(z.strictObject({ up_to_frames: z.number().int().nullable(), price: money }))
      .nullable(),
  }),
  limits: z.strictObject({ body_bytes: z.number().int(), file_bytes: z.number().int() }),
  sections: z.array(z.strictObject({ id: z.string(), title: z.string() })),
  models: z.array(
    z.strictObject({
      id: z.string(),
      version: z.string(),
      task: z.string(),
      licence: z.string(),
      pack: z.enum(['permissive', 'research']),
      sha256: z.string(),
      accuracy: z.unknown().describe('As measured on held-out data'),
    }),
  ),
});
export const modelList = z.strictObject({ data: z.array(model) });

/** One frame of an event stream. */
export const serverSentEvent = z.object({
  id: z.number().int(),
  event: z.enum(EVENT_NAMES),
  data: z.unknown(),
});

export const queueStatus = z.strictObject({
  status: z.enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']),
  request_id: z.string(),
  response_url: z.string(),
  status_url: z.string(),
  cancel_url: z.string(),
  queue_position: z.number().int().optional(),
  logs: z
    .array(
      z.strictObject({
        message: z.string(),
        level: z.enum(['INFO', 'WARN', 'ERROR']),
        source: z.literal('USER'),
        timestamp: time,
      }),
    )
    .optional(),
  metrics: z.strictObject({ inference_time: z.number().nullable() }).optional(),
});

export const queueCancellation = z.object({ status: z.string() });
export const queueUpload = z.strictObject({ upload_url: z.string(), file_url: z.string() });
export const queueError = z.object({
  message: z.string(),
  detail: z.unknown(),
  code: z.string().optional(),
});
