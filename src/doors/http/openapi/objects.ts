import { z } from 'zod';
import { changedSchema, changeSchema } from '../../../../pipelines/contract/review.ts';
import { SCOPES } from '../../../core/accounts/keys.ts';
import { DELIVERY_STATES } from '../../../core/outbox/delivery.ts';
import { WEBHOOK_EVENTS } from '../../../core/requests/announce.ts';
import { EVENT_NAMES } from '../../../core/requests/events.ts';
import { REQUEST_STATUS } from '../../../core/requests/request.ts';
import { REVIEW_STATES } from '../../../core/reviews/review-rows.ts';
import { ERRORS, type ErrorCode } from '../../../platform/errors/catalogue.ts';
import { EXAMPLE } from './examples.ts';

/**
 * Schemas of the objects in responses, for the API description; a test compares them with real
 * responses. An object's example is composed of its fields' examples.
 */

const text = (description: string, example: string) =>
  z.string().meta({ description, examples: [example] });
const count = (description: string, example: number) =>
  z
    .number()
    .int()
    .meta({ description, examples: [example] });
const flag = (description: string, example: boolean) =>
  z.boolean().meta({ description, examples: [example] });
const time = (description: string, example: string = EXAMPLE.time) =>
  z.iso.datetime().meta({ description, examples: [example] });
const maybeTime = (description: string, example: string | null = null) =>
  z.iso
    .datetime()
    .nullable()
    .meta({ description, examples: [example] });
const money = (description: string, example = '0.08') =>
  text(`${description}; a decimal number in USD, as text so that it is exact`, example);
const link = (description: string, path: string) => text(description, `${EXAMPLE.address}${path}`);

const pointedError = z.strictObject({
  pointer: text('Place in the body (JSON Pointer, RFC 6901)', '/input/files/0'),
  detail: text('What is wrong there', `${EXAMPLE.file} is not a ready file`),
});

/** A code from the catalogue. Other versions of the gateway may have further codes. */
const errorCode = z.string().meta({
  description: 'Stable code of the error; `/errors/{code}` explains each',
  examples: ['file_not_ready' satisfies ErrorCode],
});

export const problem = z
  .object({
    type: link('Address of a page that explains the code', '/errors/file_not_ready'),
    title: text('The code in words', ERRORS.file_not_ready.title),
    status: count('HTTP status', ERRORS.file_not_ready.http),
    detail: text(
      'What happened in this case',
      `/input/files/0: ${EXAMPLE.file} is not a ready file`,
    ),
    code: errorCode,
    instance: text('Path of what the error is about', `/v1/requests/${EXAMPLE.request}`).optional(),
    request_id: text('The `X-Request-Id` of the call', EXAMPLE.call).optional(),
    errors: z
      .array(pointedError)
      .optional()
      .meta({ description: 'Each mistake of the body, all at once' }),
  })
  .meta({ description: 'Problem details (RFC 9457)' });

export const stage = z
  .strictObject({
    name: text(
      '`received` and `validating` (in short: `received`), `queued_gpu` (`queued`), `starting` and `preprocessing` (`preprocessing`), `inference.<step>` and `postprocessing` (`inference`), `reporting` and `uploading` (`report`), `completed`; new steps may be added',
      'inference.head',
    ),
    label: text('The same for a person', 'Measuring the head'),
    progress: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'Part of the whole run that is done', examples: [0.45] }),
    eta_s: z
      .number()
      .nullable()
      .meta({ description: 'Seconds that are left; null if unknown', examples: [3] }),
  })
  .meta({ description: 'What a request is doing' });

const cost = z
  .strictObject({
    currency: z.literal('USD').meta({ description: 'Always USD' }),
    total: money('Sum of the lines'),
    lines: z
      .array(
        z.strictObject({
          item: text('What is charged', 'us/obstetric/interpret'),
          quantity: z.number().meta({ description: 'How many', examples: [1] }),
          unit_price: money('Price of one'),
          amount: money('Price of all'),
        }),
      )
      .meta({ description: 'What the total consists of; empty for test keys' }),
  })
  .meta({
    description:
      'What the request costs if it succeeds; 0.00 for a test key, and for a request that ended otherwise',
  });

/** A request as it appears in a list: without `input` and `output`. */
export const listedRequest = z
  .strictObject({
    id: text('Id of the request', EXAMPLE.request),
    object: z.literal('request').meta({ description: 'Kind of this object' }),
    model: text('Model', 'us/obstetric'),
    endpoint: text('Endpoint of the model', 'us/obstetric/interpret'),
    version: text('Version of the endpoint that runs', '1.0.0'),
    status: z.enum(REQUEST_STATUS).meta({
      description:
        '`queued`, `preparing` and `running`; then `succeeded`, `failed`, `canceled` or `rejected` (the input cannot be interpreted). `expired` follows `succeeded` when the result has been purged',
      examples: ['succeeded'],
    }),
    stage,
    created_at: time('When it was submitted'),
    started_at: maybeTime('When a worker began', EXAMPLE.time),
    ended_at: maybeTime('When it ended', EXAMPLE.time),
    expires_at: maybeTime('When its result will be purged'),
    key: z
      .string()
      .nullable()
      .meta({
        description: 'Key that made it; null for studies from DICOM',
        examples: [EXAMPLE.key],
      }),
    test: flag('Whether a test key made it', false),
    priority: z
      .enum(['low', 'normal', 'high'])
      .meta({ description: 'Order among waiting requests', examples: ['normal'] }),
    metadata: z
      .unknown()
      .meta({ description: 'Your own data, as submitted', examples: [{ worklist: 'A' }] }),
    webhook: z
      .object({
        url: text('Address that is called', EXAMPLE.receiver),
        events: z
          .array(z.enum(WEBHOOK_EVENTS))
          .meta({ description: 'Events that are sent', examples: [[...WEBHOOK_EVENTS]] }),
      })
      .nullable()
      .meta({ description: 'Where events are announced' }),
    source: z
      .object({
        kind: z
          .enum(['api', 'queue', 'dicom'])
          .meta({ description: 'Door that it came through', examples: ['api'] }),
      })
      .meta({ description: 'How it was submitted; no identity' }),
    cost,
    error: problem
      .nullable()
      .meta({ description: 'Why there is no result; null otherwise', examples: [null] }),
    urls: z
      .strictObject({
        self: link('The request', `/v1/requests/${EXAMPLE.request}`),
        events: link('Its events', `/v1/requests/${EXAMPLE.request}/events`),
        cancel: link('POST here to cancel it', `/v1/requests/${EXAMPLE.request}/cancel`),
      })
      .meta({ description: 'Addresses of the request' }),
  })
  .meta({ description: 'A request without input and output' });

/** A critical flag, as in the event `triage` and in webhooks. */
export const triageFlag = z
  .strictObject({
    code: text('Code of what was seen', 'absent-end-diastolic-flow'),
    system: text('Coding system', 'urn:sonogate:99USINT'),
    display: text('The same for a person', 'Absent umbilical end-diastolic flow'),
    severity: z.literal('critical').meta({ description: 'Always critical' }),
    section: text('Section of the result', 'doppler'),
    evidence: z
      .array(z.string())
      .meta({ description: 'Ids of measurements, or frames', examples: [['ua-edv-1']] }),
    at: time('When it was raised'),
  })
  .meta({ description: 'A critical flag' });

export const request = listedRequest
  .extend({
    input: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description: 'The input as submitted; null when purged',
        examples: [{ files: [EXAMPLE.file] }],
      }),
    output: z.unknown().meta({
      description: 'The result envelope of the endpoint; null unless succeeded',
      examples: [null],
    }),
  })
  .meta({ description: 'One interpretation, from submit to result' });

/** The message sent to a webhook: the request, the event, and the critical flags so far. */
export const webhookMessage = request
  .extend({
    event: z
      .enum(WEBHOOK_EVENTS)
      .meta({ description: 'Why the address is called', examples: ['request.succeeded'] }),
    triage: z
      .array(triageFlag)
      .meta({ description: 'Critical flags that are known so far, oldest first' }),
    output_omitted: z
      .literal(true)
      .optional()
      .meta({ description: 'Present where `output` is too long for a webhook: fetch `urls.self`' }),
    input_omitted: z
      .literal(true)
      .optional()
      .meta({ description: 'Present where `input` is too long as well' }),
  })
  .meta({
    description: 'Body of a webhook',
  });

const page = <T extends z.ZodType>(item: T) =>
  z
    .strictObject({
      data: z.array(item).meta({ description: 'Newest first' }),
      has_more: flag('Whether another page follows', false),
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: '`cursor` of the next page', examples: [null] }),
    })
    .meta({ description: 'One page of a list' });

export const requestPage = page(listedRequest);

export const artifact = z
  .strictObject({
    name: text('Name, the same for every request', 'report.pdf'),
    media_type: text('Media type', 'application/pdf'),
    bytes: count('Size', 48_213),
    sha256: text('SHA-256 of the bytes', EXAMPLE.sha256),
    section: z
      .string()
      .nullable()
      .meta({ description: 'Section that it belongs to', examples: [null] }),
  })
  .meta({ description: 'A file of the result' });

export const artifactList = z
  .strictObject({ data: z.array(artifact).meta({ description: 'All artifacts' }) })
  .meta({ description: 'The artifacts of a request' });

export const file = z
  .strictObject({
    id: text('Id for `input.files`', EXAMPLE.file),
    object: z.literal('file').meta({ description: 'Kind of this object' }),
    status: z
      .enum(['pending', 'ready'])
      .meta({ description: '`ready` once it is completed', examples: ['ready'] }),
    filename: text('Name as announced', 'scan.dcm'),
    bytes: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Size as announced', examples: [524_288] }),
    media_type: text('Media type as announced', 'application/dicom'),
    sha256: z
      .string()
      .nullable()
      .meta({ description: 'SHA-256 of the bytes; null until ready', examples: [EXAMPLE.sha256] }),
    expires_at: time('When it is deleted: 24 hours after the last request that uses it'),
  })
  .meta({ description: 'A file that a client uploads' });

const putHeaders = z.record(z.string(), z.string()).meta({
  description: 'Headers to send with the bytes',
  examples: [{ 'Content-Type': 'application/dicom' }],
});

export const wholeUpload = z
  .strictObject({
    url: link(
      'PUT the bytes here; needs no key',
      `/v1/uploads/${EXAMPLE.file}/content?signature=…`,
    ),
    method: z.literal('PUT').meta({ description: 'Method of the call' }),
    headers: putHeaders,
    expires_at: time('Until when the address is valid'),
  })
  .meta({ description: 'One address for all bytes' });

export const uploadPart = z
  .strictObject({
    part_number: count('Number of the part, from 1', 1),
    url: link('PUT the part here; needs no key', `/v1/uploads/${EXAMPLE.file}/parts/1?signature=…`),
    headers: putHeaders,
    first_byte: count('Where it begins in the file', 0),
    bytes: count('Its size', 67_108_864),
    etag: z
      .string()
      .nullable()
      .meta({ description: 'Null until the bytes have arrived', examples: [null] }),
  })
  .meta({ description: 'One part of a large file' });

export const uploadInParts = z
  .strictObject({
    part_size: count('Size of every part but the last', 67_108_864),
    parts: z.array(uploadPart).meta({ description: 'All parts, also those that have arrived' }),
    expires_at: time('Until when the addresses are valid'),
  })
  .meta({ description: 'An address for each part' });

export const upload = z
  .strictObject({
    file,
    upload: z.union([wholeUpload, uploadInParts]).meta({ description: 'Where to PUT the bytes' }),
    complete_url: link('POST here when all bytes are sent', `/v1/uploads/${EXAMPLE.file}/complete`),
  })
  .meta({ description: 'A file, and where to PUT its bytes' });

export const key = z
  .strictObject({
    id: text('Id of the key', EXAMPLE.key),
    object: z.literal('key').meta({ description: 'Kind of this object' }),
    name: text('Your name for it', 'ward 3'),
    test: flag('Whether it runs the mock backend', false),
    scopes: z
      .array(z.enum(SCOPES))
      .meta({ description: 'What it may do', examples: [['run', 'read', 'uploads']] }),
    created_at: time('When it was made'),
    last_used_at: maybeTime('When it was last used'),
    expires_at: maybeTime('When it ends'),
    revoked_at: maybeTime('When it was revoked'),
  })
  .meta({ description: 'A key, without the key itself' });

export const newKey = key
  .extend({
    key: z
      .string()
      .nullable()
      .meta({
        description: 'The key itself: shown in this answer only, null when the answer is replayed',
        examples: ['sg_live_…'],
      }),
  })
  .meta({ description: 'A key that was just made' });
export const keyList = z
  .strictObject({ data: z.array(key).meta({ description: 'All keys' }) })
  .meta({ description: 'The keys of the account' });

export const usage = z
  .strictObject({
    data: z
      .array(
        z.strictObject({
          month: text('Month (UTC)', '2026-11'),
          key: z
            .string()
            .nullable()
            .meta({ description: 'Key; null for studies from DICOM', examples: [EXAMPLE.key] }),
          requests: count('Requests that ended', 120),
          succeeded: count('Of these, the ones with a result', 117),
          cost: z
            .strictObject({
              currency: z.literal('USD').meta({ description: 'Always USD' }),
              total: money('Sum', '9.36'),
            })
            .meta({ description: 'What they cost' }),
        }),
      )
      .meta({ description: 'One entry for each month and key' }),
  })
  .meta({ description: 'Requests and their cost' });

export const webhookSecret = z
  .strictObject({
    object: z.literal('webhook_secret').meta({ description: 'Kind of this object' }),
    secret: z
      .string()
      .nullable()
      .meta({
        description: 'The signing secret; null when the answer is replayed',
        examples: ['whsec_…'],
      }),
    created_at: time('When it was made').optional(),
  })
  .meta({ description: 'The secret that webhooks are signed with' });

export const webhookDelivery = z
  .object({
    id: text('The `webhook-id` of every attempt', EXAMPLE.delivery),
    object: z.literal('webhook_delivery').meta({ description: 'Kind of this object' }),
    request: text('Request that it announces', EXAMPLE.request),
    event: text('Event', 'request.succeeded'),
    url: text('Address', EXAMPLE.receiver),
    state: z
      .enum(DELIVERY_STATES)
      .meta({ description: '`dead` when it was given up', examples: ['delivered'] }),
    disabled_at: maybeTime('When the address was disabled'),
    created_at: time('When the event happened'),
    next_attempt_at: maybeTime('When it is tried again'),
    ended_at: maybeTime('When it was delivered or given up', EXAMPLE.time),
    error: z
      .object({
        code: errorCode,
        detail: z
          .string()
          .nullable()
          .meta({
            description: 'What happened in this case',
            examples: ['The receiver answered 500.'],
          }),
      })
      .nullable()
      .meta({ description: 'Why the last attempt failed', examples: [null] }),
    attempts: z
      .array(
        z.object({
          at: time('When'),
          status: z
            .number()
            .int()
            .nullable()
            .meta({ description: 'HTTP status of your answer', examples: [204] }),
          duration_ms: z.number().meta({ description: 'How long it took', examples: [41] }),
          answer_bytes: count('Size of your answer', 0),
          error: z
            .string()
            .nullable()
            .meta({ description: 'What went wrong', examples: [null] }),
        }),
      )
      .meta({ description: 'Every attempt' }),
  })
  .meta({ description: 'One webhook with its attempts' });
export const webhookDeliveries = page(webhookDelivery);

const model = z
  .object({
    id: text('Endpoint', 'us/obstetric/interpret'),
    model: text('Model, also short for the endpoint', 'us/obstetric'),
    version: text('Version', '1.0.0'),
    title: text('Name', 'Obstetric ultrasound'),
    urls: z
      .strictObject({
        run: link('POST here to submit', '/v1/run/us/obstetric/interpret'),
        openapi: link('Its description', '/v1/models/us/obstetric/interpret/openapi.json'),
      })
      .meta({ description: 'Addresses of the endpoint' }),
  })
  .meta({ description: 'An endpoint' });
export const modelDetail = model
  .extend({
    versions: z.array(z.string()).meta({ description: 'All versions', examples: [['1.0.0']] }),
    prices: z
      .strictObject({
        currency: z.literal('USD').meta({ description: 'Always USD' }),
        lines: z
          .array(
            z.strictObject({
              item: text('What is charged', 'us/obstetric/interpret'),
              unit_price: money('Price'),
            }),
          )
          .meta({ description: 'The run, and the report' }),
        by_frames: z
          .array(
            z.strictObject({
              up_to_frames: z
                .number()
                .int()
                .nullable()
                .meta({ description: 'Most frames at this price', examples: [1000] }),
              price: money('Price of the run', '0.06'),
            }),
          )
          .nullable()
          .meta({
            description: 'Prices by frames; null where there is one price',
            examples: [null],
          }),
      })
      .meta({ description: 'What a run costs' }),
    limits: z
      .strictObject({
        body_bytes: count('Largest body of a call', 1_048_576),
        file_bytes: count('Largest file', 5_368_709_120),
      })
      .meta({ description: 'Limits of this gateway' }),
    sections: z
      .array(z.strictObject({ id: text('Id', 'biometry'), title: text('Title', 'Biometry') }))
      .meta({ description: 'Sections of every result' }),
    models: z
      .array(
        z.strictObject({
          id: text('Name', 'fetal-head'),
          version: text('Version', '1.0.0'),
          task: text('What it does', 'head-outline'),
          licence: text('Licence', 'CC-BY-4.0'),
          pack: z
            .enum(['permissive', 'research'])
            .meta({ description: 'Whether anyone may use it', examples: ['permissive'] }),
          sha256: text('SHA-256 of its weights', EXAMPLE.sha256),
          accuracy: z
            .unknown()
            .meta({ description: 'As measured on held-out data', examples: [{ dice: 0.97 }] }),
        }),
      )
      .meta({ description: 'Models that a result may name' }),
  })
  .meta({ description: 'An endpoint with everything that is known about it' });
export const modelList = z
  .strictObject({ data: z.array(model).meta({ description: 'All endpoints' }) })
  .meta({ description: 'The endpoints of this gateway' });

/** One frame of an event stream; its fields are text (WHATWG HTML 9.2.6). */
export const serverSentEvent = z
  .object({
    id: z
      .string()
      .regex(/^\d+$/)
      .meta({ description: 'Number of the event, from 1 without gaps', examples: ['2'] }),
    event: z.enum(EVENT_NAMES).meta({ description: 'Kind of event', examples: ['status'] }),
    data: z.unknown().meta({
      description: 'JSON text, by kind of event',
      examples: [{ status: 'preparing', previous: 'queued', at: EXAMPLE.time }],
    }),
  })
  .meta({ description: 'One server-sent event' });

export const queueStatus = z
  .strictObject({
    status: z
      .enum(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'])
      .meta({ description: '`COMPLETED` whatever the end was', examples: ['IN_QUEUE'] }),
    request_id: text('Id of the request', EXAMPLE.request),
    response_url: link('Its result', `/queue/us/obstetric/requests/${EXAMPLE.request}`),
    status_url: link('Its status', `/queue/us/obstetric/requests/${EXAMPLE.request}/status`),
    cancel_url: link(
      'PUT here to cancel it',
      `/queue/us/obstetric/requests/${EXAMPLE.request}/cancel`,
    ),
    queue_position: count('How many are before it', 0).optional(),
    logs: z
      .array(
        z.strictObject({
          message: text('What happened', 'Measuring the head'),
          level: z
            .enum(['INFO', 'WARN', 'ERROR'])
            .meta({ description: 'How serious it is', examples: ['INFO'] }),
          source: z.literal('USER').meta({ description: 'Always USER' }),
          timestamp: time('When'),
        }),
      )
      .optional()
      .meta({ description: 'With `?logs=1`: its stages' }),
    metrics: z
      .strictObject({
        inference_time: z
          .number()
          .nullable()
          .meta({ description: 'Seconds that it ran', examples: [4.2] }),
      })
      .optional()
      .meta({ description: 'Once it is completed' }),
  })
  .meta({ description: 'Status of a request in the compatible queue' });

export const queueCancellation = z
  .object({ status: text('What happened', 'CANCELLATION_REQUESTED') })
  .meta({ description: 'Answer to a cancellation' });
/** The result of a request. The description refers to the results of all endpoints. */
export const queueResult = z.record(z.string(), z.unknown()).meta({ description: 'The result' });

/** The response to a file's PUT, which exists because the client of fal.ai expects JSON. */
export const queueFile = z.strictObject({}).meta({ description: 'The file was stored' });

export const queueUpload = z
  .strictObject({
    upload_url: link('PUT the bytes here', `/queue/storage/files/${EXAMPLE.file}?signature=…`),
    file_url: link('Name the file by this address', `/queue/storage/files/${EXAMPLE.file}`),
  })
  .meta({ description: 'Where to PUT a file' });
export const queueError = z
  .object({
    message: text('What happened', 'There is no such request.'),
    detail: z
      .unknown()
      .meta({ description: 'The same, or each mistake', examples: ['There is no such request.'] }),
    code: errorCode.optional(),
    request_id: text('The `X-Request-Id` of the call', EXAMPLE.call).optional(),
  })
  .meta({ description: 'An error as the client of the compatible queue reads it' });

/** A review. `result` and `original` have the same form as the endpoint's result. */
export const review = z
  .strictObject({
    object: z.literal('review').meta({ description: 'Kind of this object' }),
    request: text('Request that it is of', EXAMPLE.request),
    state: z
      .enum(REVIEW_STATES)
      .meta({ description: 'How far it is', examples: [REVIEW_STATES[0]] }),
    revision: count('Revision of the review', 3),
    signed_revision: count('Revision that was signed last; 0 for none', 0),
    etag: text('For `If-Match` of the next change', '"0-3"'),
    result: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The result with the changes', examples: [{}] }),
    original: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The result before the changes', examples: [{}] }),
    changes: z
      .array(
        z.strictObject({
          id: count('Number of the change', 1),
          at: time('When'),
          author: text('Who', 'Dr A. Reader'),
          kind: text('What kind', 'accept'),
          change: changeSchema.meta({ description: 'The change as it was sent' }),
          before: changedSchema.meta({ description: 'What the review showed before it' }),
          after: changedSchema.meta({ description: 'What it showed after it' }),
          undone: flag('Whether it was undone', false),
        }),
      )
      .meta({ description: 'Every change, oldest first', examples: [[]] }),
    signatures: z
      .array(
        z.strictObject({
          observer: text('Who signed', 'Dr A. Reader'),
          organization: text('Where they work', 'Example Hospital'),
          at: time('When'),
          statement: z
            .string()
            .nullable()
            .meta({ description: 'What the person declared', examples: [null] }),
        }),
      )
      .meta({ description: 'Signatures, oldest first', examples: [[]] }),
    signatures_needed: count('How many are needed', 1),
    readers: z
      .array(z.string())
      .meta({ description: 'Who has it open', examples: [['Dr A. Reader']] }),
    may: z
      .strictObject({
        edit: flag('Whether the key may change it', true),
        sign: flag('Whether the key may sign it', false),
      })
      .meta({ description: 'What the key may do' }),
  })
  .meta({ description: 'A review of a result' });
