import { z } from 'zod';
import { changedSchema, changeSchema } from '../../../../pipelines/contract/review.ts';
import {
  RECEIVER_STATES,
  WITHDRAWAL_REASON_CODES,
} from '../../../../pipelines/contract/withdrawal.ts';
import {
  count,
  described,
  flag,
  maybeNumber,
  maybeText,
  text,
} from '../../../../pipelines/result/envelope.ts';
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

const maybeCount = (description: string, example: number | null) =>
  described(z.number().int().nullable(), description, example);
const time = (description: string, example: string = EXAMPLE.time) =>
  described(z.iso.datetime(), description, example);
const maybeTime = (description: string, example: string | null = null) =>
  described(z.iso.datetime().nullable(), description, example);
const money = (description: string, example = '0.08') =>
  text(`${description}; a decimal number in USD, as a string to keep it exact`, example);
const link = (description: string, path: string) => text(description, `${EXAMPLE.address}${path}`);

/** An object with exactly these fields. */
const object = <T extends z.ZodRawShape>(description: string, fields: T) =>
  described(z.strictObject(fields), description);
/** An object to which later versions of the API may add fields. */
const openObject = <T extends z.ZodRawShape>(description: string, fields: T) =>
  described(z.object(fields), description);
const choice = <const T extends string>(
  values: readonly T[],
  description: string,
  example: NoInfer<T>,
) => described(z.enum(values), description, example);
const list = <T extends z.ZodType>(item: T, description: string, ...examples: unknown[][]) =>
  described(z.array(item), description, ...examples);
const usd = described(z.literal('USD'), 'Always USD');
const kind = <T extends string>(name: T) => described(z.literal(name), 'Kind of this object');

const pointedError = z.strictObject({
  pointer: text('Location in the body (JSON Pointer, RFC 6901)', '/input/files/0'),
  detail: text('What is wrong at this location', `${EXAMPLE.file} is not a ready file`),
});

/** A code from the catalogue. Other versions of the gateway may have further codes. */
const errorCode = text(
  'Stable code of the error, explained at `/errors/{code}`',
  'file_not_ready' satisfies ErrorCode,
);

export const problem = openObject('Problem details (RFC 9457)', {
  type: link('URL of a page that explains the code', '/errors/file_not_ready'),
  title: text('Title of the error', ERRORS.file_not_ready.title),
  status: count('HTTP status', ERRORS.file_not_ready.http),
  detail: text(
    'Explanation specific to this occurrence',
    `/input/files/0: ${EXAMPLE.file} is not a ready file`,
  ),
  code: errorCode,
  instance: text(
    'Path of the resource that the error concerns',
    `/v1/requests/${EXAMPLE.request}`,
  ).optional(),
  request_id: text('The `X-Request-Id` of the call', EXAMPLE.call).optional(),
  errors: described(z.array(pointedError).optional(), 'Every error in the body'),
});

export const stage = object('Current stage of a request', {
  name: text(
    '`received` and `validating` (in short: `received`), `queued_gpu` (`queued`), `starting` and `preprocessing` (`preprocessing`), `inference.<step>` and `postprocessing` (`inference`), `reporting` and `uploading` (`report`), `completed`; new steps may be added',
    'inference.head',
  ),
  label: text('Human-readable name of the stage', 'Measuring the head'),
  progress: described(z.number().min(0).max(1), 'Fraction of the whole run that is complete', 0.45),
  eta_s: maybeNumber('Estimated seconds remaining; null if unknown', 3),
});

const cost = object(
  'Cost of the request if it succeeds; 0.00 with a test key, and if the request ends without a result',
  {
    currency: usd,
    total: money('Sum of all lines'),
    lines: list(
      z.strictObject({
        item: text('Item charged', 'us/obstetric/interpret'),
        quantity: described(z.number(), 'Quantity', 1),
        unit_price: money('Price per unit'),
        amount: money('Quantity times unit price'),
      }),
      'Items that make up the total; empty for test keys',
    ),
  },
);

const withdrawal = object('Withdrawal of a result, which must no longer be used', {
  at: time('When the result was withdrawn'),
  by: text('Who withdrew it: the name of a person, or of a key', 'Dr Kim'),
  reason: choice(WITHDRAWAL_REASON_CODES, 'Why', 'wrong-patient'),
  text: maybeText('What the person wrote about it'),
  receivers: described(
    z
      .array(
        z.strictObject({
          destination: text('Name of the receiver', 'ehr'),
          state: choice(
            RECEIVER_STATES,
            '`pending`, until the receiver has confirmed the withdrawal; `withdrawn`; `not_present`, if it has nothing to withdraw; `by_hand`, if people must withdraw the result there; `closed`, once a person has stated that nothing is left to do there',
            'withdrawn',
          ),
          closed: object('Who closed it; only if the state is `closed`', {
            at: time('When it was closed'),
            by: text('Who closed it', 'Sam Engineer'),
            reason: text('Why', 'Deleted there by hand'),
          }).optional(),
        }),
      )
      .optional(),
    'State at each receiver of the result; absent in list items',
  ),
});

/** A request as it appears in a list: without `input` and `output`. */
export const listedRequest = object('A request without input and output', {
  id: text('Id of the request', EXAMPLE.request),
  object: kind('request'),
  model: text('Model', 'us/obstetric'),
  endpoint: text('Endpoint of the model', 'us/obstetric/interpret'),
  version: text('Version of the endpoint that handles the request', '1.0.0'),
  status: choice(
    REQUEST_STATUS,
    '`queued`, `preparing` and `running`; then `succeeded`, `failed`, `canceled` or `rejected` (the input cannot be interpreted). `succeeded` becomes `expired` when the result is purged',
    'succeeded',
  ),
  stage,
  created_at: time('When the request was submitted'),
  started_at: maybeTime('When a worker started it', EXAMPLE.time),
  ended_at: maybeTime('When it ended', EXAMPLE.time),
  expires_at: maybeTime(
    'When the result will be purged; null without one. The `input` of a request that ended without a result is removed after the same time (`retention.days`)',
  ),
  key: maybeText('Key that made the request; null for studies received by DICOM', EXAMPLE.key),
  test: flag('True if made with a test key', false),
  priority: choice(['low', 'normal', 'high'], 'Priority among waiting requests', 'normal'),
  metadata: described(z.unknown(), 'Your own data, as submitted', { worklist: 'A' }),
  webhook: described(
    z
      .object({
        url: text('URL that is called', EXAMPLE.receiver),
        events: list(z.enum(WEBHOOK_EVENTS), 'Events for which it is called', [...WEBHOOK_EVENTS]),
      })
      .nullable(),
    'Webhook for events of the request',
  ),
  source: openObject('How the request was submitted; contains no patient identity', {
    kind: choice(['api', 'queue', 'dicom'], 'Interface that was used', 'api'),
  }),
  cost,
  error: described(problem.nullable(), 'Why there is no result; null otherwise', null),
  withdrawal: described(
    withdrawal.nullable(),
    'Null unless a person has withdrawn the result',
    null,
  ),
  urls: object('URLs of the request', {
    self: link('The request', `/v1/requests/${EXAMPLE.request}`),
    events: link('Events of the request', `/v1/requests/${EXAMPLE.request}/events`),
    cancel: link('POST here to cancel the request', `/v1/requests/${EXAMPLE.request}/cancel`),
  }),
});

/** A critical flag, as in the event `triage` and in webhooks. */
export const triageFlag = object('A critical flag', {
  code: text('Code of the finding', 'absent-end-diastolic-flow'),
  system: text('Coding system', 'urn:sonogate:99USINT'),
  display: text('Human-readable form of the code', 'Absent umbilical end-diastolic flow'),
  severity: described(z.literal('critical'), 'Always critical'),
  section: text('Section of the result', 'doppler'),
  evidence: list(z.string(), 'Ids of the measurements or frames that support it', ['ua-edv-1']),
  at: time('When the flag was raised'),
});

export const request = described(
  listedRequest.extend({
    input: described(
      z.record(z.string(), z.unknown()).nullable(),
      'The input as submitted; null when purged',
      { files: [EXAMPLE.file] },
    ),
    output: described(
      z.unknown(),
      'The result envelope of the endpoint; null unless succeeded',
      null,
    ),
  }),
  'One interpretation, from submission to result',
);

export const webhookMessage = described(
  request.extend({
    event: choice(WEBHOOK_EVENTS, 'Event that caused the call', 'request.succeeded'),
    triage: list(triageFlag, 'Critical flags raised so far, oldest first'),
    output_omitted: described(
      z.literal(true).optional(),
      'Present if `output` is too long for a webhook; fetch it from `urls.self`',
    ),
    input_omitted: described(z.literal(true).optional(), 'Present if `input` is too long, too'),
  }),
  'Body of a webhook',
);

const page = <T extends z.ZodType>(item: T) =>
  object('One page of a list', {
    data: list(item, 'Newest first'),
    has_more: flag('Whether another page follows', false),
    next_cursor: maybeText('`cursor` of the next page'),
  });

export const requestPage = page(listedRequest);

export const artifact = object('A file belonging to the result', {
  name: text('Name of the artifact; the same in every request', 'report.pdf'),
  media_type: text('Media type', 'application/pdf'),
  bytes: count('Size', 48_213),
  sha256: text('SHA-256 of the bytes', EXAMPLE.sha256),
  section: maybeText('Section to which the artifact belongs'),
});

export const artifactList = object('The artifacts of a request', {
  data: list(artifact, 'All artifacts'),
});

export const file = object('A file that a client uploads', {
  id: text('Id to use in `input.files`', EXAMPLE.file),
  object: kind('file'),
  status: choice(['pending', 'ready'], '`ready` once the upload is complete', 'ready'),
  filename: text('Name declared for the upload', 'scan.dcm'),
  bytes: maybeCount('Size declared for the upload', 524_288),
  media_type: text('Media type declared for the upload', 'application/dicom'),
  sha256: maybeText('SHA-256 of the bytes; null until ready', EXAMPLE.sha256),
  expires_at: time('When the file will be deleted, 24 hours after the last request that uses it'),
});

const putHeaders = described(z.record(z.string(), z.string()), 'Headers to send with the bytes', {
  'Content-Type': 'application/dicom',
});

export const wholeUpload = object('A single URL for the whole file', {
  url: link('PUT the bytes here; needs no key', `/v1/uploads/${EXAMPLE.file}/content?signature=…`),
  method: described(z.literal('PUT'), 'HTTP method to use'),
  headers: putHeaders,
  expires_at: time('When the URL expires'),
});

export const uploadPart = object('One part of a large file', {
  part_number: count('Number of the part, from 1', 1),
  url: link('PUT the part here; needs no key', `/v1/uploads/${EXAMPLE.file}/parts/1?signature=…`),
  headers: putHeaders,
  first_byte: count('Offset of the part in the file', 0),
  bytes: count('Size of the part', 67_108_864),
  etag: maybeText('ETag of the uploaded part; null until its bytes have arrived'),
});

export const uploadInParts = object('A URL for each part', {
  part_size: count('Size of every part except the last', 67_108_864),
  parts: list(uploadPart, 'All parts, including those already uploaded'),
  expires_at: time('When the URLs expire'),
});

export const upload = object('A file, and where to PUT its bytes', {
  file,
  upload: described(
    z.union([wholeUpload, uploadInParts]).nullable(),
    'Where to PUT the bytes; null once the file is ready',
  ),
  complete_url: link(
    'POST here once all bytes have been sent',
    `/v1/uploads/${EXAMPLE.file}/complete`,
  ),
});

export const key = object('A key, without its secret', {
  id: text('Id of the key', EXAMPLE.key),
  object: kind('key'),
  name: text('Name, chosen by you', 'ward 3'),
  test: flag('True for a test key, which uses the mock backend', false),
  scopes: list(z.enum(SCOPES), 'Scopes of the key', ['run', 'read', 'uploads']),
  created_at: time('When it was created'),
  last_used_at: maybeTime('When it was last used'),
  expires_at: maybeTime('When it expires'),
  revoked_at: maybeTime('When it was revoked'),
});

export const newKey = described(
  key.extend({
    key: maybeText(
      'The secret key; returned only in this response, and null if the response is replayed',
      'sg_live_…',
    ),
  }),
  'A newly created key',
);
export const keyList = object('The keys of the account', {
  data: list(key, 'All keys'),
});

export const usage = object('Number and cost of requests', {
  data: list(
    z.strictObject({
      month: text('Month (UTC)', '2026-11'),
      key: maybeText('Id of the key; null for studies received by DICOM', EXAMPLE.key),
      requests: count('Requests that ended', 120),
      succeeded: count('Number of these that succeeded', 117),
      cost: object('Cost of these requests', {
        currency: usd,
        total: money('Sum', '9.36'),
      }),
    }),
    'One entry per month and key',
  ),
});

export const webhookSecret = object('The secret used to sign webhooks', {
  object: kind('webhook_secret'),
  secret: maybeText('The signing secret; null if the response is replayed', 'whsec_…'),
  created_at: time('When it was created').optional(),
});

export const webhookDelivery = openObject('A webhook delivery with its attempts', {
  id: text('The `webhook-id` of every attempt', EXAMPLE.delivery),
  object: kind('webhook_delivery'),
  request: text('Request that the event concerns', EXAMPLE.request),
  event: text('Event', 'request.succeeded'),
  url: text('Address', EXAMPLE.receiver),
  state: choice(
    DELIVERY_STATES,
    '`dead` once the delivery has been given up, `closed` once the site has decided not to send it any more',
    'delivered',
  ),
  disabled_at: maybeTime('When the URL was disabled'),
  created_at: time('When the event happened'),
  next_attempt_at: maybeTime('When the next attempt is due'),
  ended_at: maybeTime('When the webhook was delivered or given up', EXAMPLE.time),
  error: described(
    z
      .object({
        code: errorCode,
        detail: maybeText('Explanation specific to this occurrence', 'The receiver answered 500.'),
      })
      .nullable(),
    'Why the last attempt failed',
    null,
  ),
  attempts: list(
    z.object({
      at: time('When'),
      status: maybeCount('HTTP status of your response', 204),
      duration_ms: described(z.number(), 'Duration of the attempt in milliseconds', 41),
      answer_bytes: count('Size of your response', 0),
      error: maybeText('What went wrong'),
    }),
    'All attempts',
  ),
});
export const webhookDeliveries = page(webhookDelivery);

const model = openObject('An endpoint', {
  id: text('Endpoint', 'us/obstetric/interpret'),
  model: text('Model; also a short name for the endpoint', 'us/obstetric'),
  version: text('Version', '1.0.0'),
  title: text('Name', 'Obstetric ultrasound'),
  urls: object('URLs of the endpoint', {
    run: link('POST here to submit', '/v1/run/us/obstetric/interpret'),
    openapi: link(
      'OpenAPI description of the endpoint',
      '/v1/models/us/obstetric/interpret/openapi.json',
    ),
  }),
});
export const modelDetail = described(
  model.extend({
    versions: list(z.string(), 'All versions', ['1.0.0']),
    prices: object('Price of a run', {
      currency: usd,
      lines: list(
        z.strictObject({
          item: text('Item charged', 'us/obstetric/interpret'),
          unit_price: money('Price'),
        }),
        'Prices of the run and of the report',
      ),
      by_frames: described(
        z
          .array(
            z.strictObject({
              up_to_frames: maybeCount(
                'Maximum number of frames at this price; null for no limit',
                1000,
              ),
              price: money('Price of the run', '0.06'),
            }),
          )
          .nullable(),
        'Prices by number of frames; null if there is only one price',
        null,
      ),
    }),
    limits: object('Limits of this gateway', {
      body_bytes: count('Maximum size of a request body', 1_048_576),
      file_bytes: count('Maximum size of a file', 5_368_709_120),
    }),
    sections: list(
      z.strictObject({ id: text('Id', 'biometry'), title: text('Title', 'Biometry') }),
      'Sections of every result',
    ),
    models: list(
      z.strictObject({
        id: text('Name', 'fetal-head'),
        version: text('Version', '1.0.0'),
        task: text('Task of the model', 'head-outline'),
        licence: text('Licence', 'CC-BY-4.0'),
        pack: choice(
          ['permissive', 'research'],
          '`permissive`: usable by anyone; `research`: only for non-commercial research',
          'permissive',
        ),
        sha256: text('SHA-256 of the weights', EXAMPLE.sha256),
        accuracy: described(z.unknown(), 'Accuracy measured on held-out data', { dice: 0.97 }),
      }),
      'Models that a result may list',
    ),
  }),
  'An endpoint with all its details',
);
export const modelList = object('The endpoints of this gateway', {
  data: list(model, 'All endpoints'),
});

/** One frame of an event stream; its fields are text (WHATWG HTML 9.2.6). */
export const serverSentEvent = openObject('One server-sent event', {
  id: described(z.string().regex(/^\d+$/), 'Number of the event, from 1 without gaps', '2'),
  event: choice(EVENT_NAMES, 'Kind of event', 'status'),
  data: described(z.unknown(), 'JSON text; its content depends on the kind of event', {
    status: 'preparing',
    previous: 'queued',
    at: EXAMPLE.time,
  }),
});

/** One frame of the event stream of a review. */
export const reviewEvent = openObject('One server-sent event of a review', {
  event: described(z.literal('review'), 'Kind of event'),
  data: described(z.unknown(), 'JSON text: the state of the review and who has it open', {
    revision: 3,
    state: REVIEW_STATES[0],
    etag: '"r3"',
    author: 'Dr A. Reader',
    readers: ['Dr A. Reader'],
  }),
});

export const queueStatus = object('Status of a request in the compatible queue', {
  status: choice(
    ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'],
    '`COMPLETED` once the request has ended, with or without a result',
    'IN_QUEUE',
  ),
  request_id: text('Id of the request', EXAMPLE.request),
  response_url: link('Result of the request', `/queue/us/obstetric/requests/${EXAMPLE.request}`),
  status_url: link(
    'Status of the request',
    `/queue/us/obstetric/requests/${EXAMPLE.request}/status`,
  ),
  cancel_url: link(
    'PUT here to cancel the request',
    `/queue/us/obstetric/requests/${EXAMPLE.request}/cancel`,
  ),
  queue_position: count('Number of requests ahead in the queue', 0).optional(),
  logs: described(
    z
      .array(
        z.strictObject({
          message: text('What happened', 'Measuring the head'),
          level: choice(['INFO', 'WARN', 'ERROR'], 'Severity of the message', 'INFO'),
          source: described(z.literal('USER'), 'Always USER'),
          timestamp: time('When'),
        }),
      )
      .optional(),
    'Stages of the request, if `?logs=1` was given',
  ),
  metrics: described(
    z
      .strictObject({ inference_time: maybeNumber('Duration of the run in seconds', 4.2) })
      .optional(),
    'Present once the request is completed',
  ),
});

export const queueCancellation = openObject('Response to a cancellation', {
  status: text('What happened', 'CANCELLATION_REQUESTED'),
});
/** The result of a request. The description refers to the results of all endpoints. */
export const queueResult = described(z.record(z.string(), z.unknown()), 'The result');

/** The response to a file's PUT. It exists only because the client of fal.ai expects JSON. */
export const queueFile = object('The file was stored', {});

export const queueUpload = object('Where to PUT a file', {
  upload_url: link('PUT the bytes here', `/queue/storage/files/${EXAMPLE.file}?signature=…`),
  file_url: link('URL to use for the file in the input', `/queue/storage/files/${EXAMPLE.file}`),
});
export const queueError = openObject(
  'An error in the form that a client of the compatible queue expects',
  {
    message: text('What happened', 'There is no such request.'),
    detail: described(
      z.unknown(),
      'The same message, or a list of the errors in the body',
      'There is no such request.',
    ),
    code: errorCode.optional(),
    request_id: text('The `X-Request-Id` of the call', EXAMPLE.call).optional(),
    status: text('Present if the request to be canceled has ended', 'ALREADY_COMPLETED').optional(),
  },
);

/** A review. `result` has the same form as the endpoint's result. */
export const review = object('A review of a result', {
  object: kind('review'),
  request: text('Request under review', EXAMPLE.request),
  state: choice(REVIEW_STATES, 'State of the review', REVIEW_STATES[0]),
  revision: count('Revision of the review', 3),
  signed_revision: count('Last signed revision; 0 if none', 0),
  etag: text('Value for `If-Match` in the next change', '"r3"'),
  result: described(z.record(z.string(), z.unknown()), 'Result after the changes', {}),
  original: described(z.record(z.string(), z.unknown()), 'Measurements of the draft, by id', {}),
  changes: list(
    z.strictObject({
      id: count('Number of the change', 1),
      at: time('When'),
      author: text('Author of the change', 'Dr A. Reader'),
      kind: text('Kind of change', 'accept'),
      change: described(changeSchema, 'The change as submitted'),
      before: described(changedSchema, 'Affected parts of the review before the change'),
      after: described(changedSchema, 'Affected parts of the review after the change'),
      undone: flag('True if the change was undone', false),
    }),
    'All changes, oldest first',
    [],
  ),
  signatures: list(
    z.strictObject({
      observer: text('Name of the person who signed', 'Dr A. Reader'),
      organization: text('Organization of that person', 'Example Hospital'),
      at: time('When'),
      statement: maybeText('Statement made with the signature'),
    }),
    'Signatures, oldest first',
    [],
  ),
  signatures_needed: count('Number of signatures required', 1),
  readers: list(z.string(), 'People who currently have the review open', ['Dr A. Reader']),
  may: object('Permissions of the key', {
    edit: flag('True if the key may change the review', true),
    sign: flag('True if the key may sign the result', false),
  }),
});
