import type { Extension, Subscription } from '@medplum/fhirtypes';
import { z } from 'zod';
import { isUid } from '../../../../pipelines/dicom/uid.ts';
import {
  CONTENTS,
  type NewSubscription,
  SHORTEST_HEARTBEAT_SECONDS,
  type Subscription as StoredSubscription,
  TOPICS,
  type Topic,
} from '../../../core/subscriptions/subscriptions.ts';
import {
  InvalidInputError,
  type PointedError,
  pointedErrors,
} from '../../../platform/errors/problem.ts';
import { LONGEST_URL } from '../../../platform/outbound/url-guard.ts';
import { instant } from '../parse.ts';

/**
 * FHIR R4 Subscriptions as profiled by the Subscriptions R5 Backport (STU 1.1): `criteria` contains
 * the canonical URL of a topic, and extensions contain filters and content.
 */

export const BACKPORT = 'http://hl7.org/fhir/uv/subscriptions-backport';
const DEFINITION = `${BACKPORT}/StructureDefinition`;
export const SUBSCRIPTION_PROFILE = `${DEFINITION}/backport-subscription`;
const FILTER = `${DEFINITION}/backport-filter-criteria`;
const HEARTBEAT = `${DEFINITION}/backport-heartbeat-period`;
const CONTENT = `${DEFINITION}/backport-payload-content`;

/** The identifier system for DICOM UIDs (R4 imagingstudy.html). */
export const DICOM_UID = 'urn:dicom:uid';

const TOPIC = 'urn:sonogate:subscription-topic:';
/** Returns the canonical URL of a topic, which is the same in every installation. */
export const topicCanonical = (topic: Topic): string => TOPIC + topic;
export const topicOf = (canonical: string): Topic | undefined =>
  TOPICS.find((topic) => topicCanonical(topic) === canonical);

/** FHIR ids cannot contain an underscore (R4 2.24.0.1). */
export const subscriptionId = (id: string): string => id.replace('_', '-');
export const storedIdOf = (id: string): string => id.replace('-', '_');

const MOST_HEADERS = 10;
const LONGEST_HEADER = 1000;
const LONGEST_TEXT = 500;

const extension = z.looseObject({
  url: z.string(),
  valueString: z.string().optional(),
  valueCode: z.string().optional(),
  valueUnsignedInt: z.number().optional(),
});
const extended = z.looseObject({ extension: z.array(extension).optional() });

/**
 * Headers that the gateway sets itself. A client may specify any other header field (RFC 9110 5.5).
 * Its value may contain credentials, so no error message repeats it.
 */
const OURS =
  /^(host|connection|content-.*|transfer-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*|user-agent|accept-encoding|webhook-.*)$/i;
const header = z
  .string()
  .max(LONGEST_HEADER)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*$/, 'a header in the form `Name: value`')
  .refine((line) => !OURS.test(line.split(':', 1)[0] ?? ''), 'a header that Sonogate sets itself');

/**
 * The elements that a client may send. Text, contacts and unknown extensions have no effect and are
 * omitted from the response. Elements that could change the meaning of the resource are refused.
 */
const body = z.strictObject({
  resourceType: z.literal('Subscription'),
  id: z.string().optional(),
  meta: z.unknown().optional(),
  language: z.string().optional(),
  text: z.unknown().optional(),
  extension: z.array(extension).optional(),
  status: z.literal('requested', 'must be "requested" for a new subscription'),
  contact: z.unknown().optional(),
  end: instant.optional(),
  reason: z.string().min(1).max(LONGEST_TEXT),
  criteria: z.string(),
  _criteria: extended.optional(),
  channel: z.strictObject({
    id: z.string().optional(),
    extension: z.array(extension).optional(),
    type: z.literal('rest-hook', 'only the channel rest-hook is supported'),
    endpoint: z.url({ protocol: /^https?$/, message: 'an https URL' }).max(LONGEST_URL),
    payload: z.literal(['application/fhir+json', 'application/json'], {
      message: 'application/fhir+json',
    }),
    _payload: extended.optional(),
    header: z.array(header).max(MOST_HEADERS).default([]),
  }),
});

/**
 * Reads a client's Subscription.
 * @throws InvalidInputError with each element that is invalid or not supported.
 */
export function readSubscription(resource: unknown, address: string): NewSubscription {
  const parsed = body.safeParse(resource);
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
  const { criteria, _criteria, channel, end, reason } = parsed.data;
  const errors: PointedError[] = [];
  const refuse = (pointer: string, detail: string) => errors.push({ pointer, detail });

  const topic = topicOf(criteria);
  if (!topic) refuse('/criteria', `a topic: ${TOPICS.map(topicCanonical).join(', ')}`);
  const filter = { ofEndpoint: null, ofStudy: null } as Filter;
  for (const one of extensionsOf(_criteria?.extension, FILTER)) {
    const fault = addFilter(filter, one.valueString ?? '');
    if (fault !== null) refuse('/_criteria/extension', fault);
  }
  const asked = extensionsOf(channel._payload?.extension, CONTENT)[0]?.valueCode;
  const content = CONTENTS.find((each) => each === asked);
  if (!content) refuse('/channel/_payload/extension', `${CONTENT}: ${CONTENTS.join(', ')}`);
  const heartbeat = extensionsOf(channel.extension, HEARTBEAT)[0];
  const seconds = heartbeat?.valueUnsignedInt ?? null;
  if (heartbeat && !isHeartbeat(seconds)) {
    const detail = `a heartbeat period of ${SHORTEST_HEARTBEAT_SECONDS} to ${LONGEST_HEARTBEAT_SECONDS} seconds`;
    refuse('/channel/extension', detail);
  }
  if (!topic || !content || errors.length > 0) throw new InvalidInputError(errors);
  return {
    url: channel.endpoint,
    reason,
    topic,
    ...filter,
    content,
    headers: channel.header,
    heartbeatSeconds: seconds,
    endsAt: end ?? null,
    address,
  };
}

const LONGEST_HEARTBEAT_SECONDS = 30 * 86_400;

const isHeartbeat = (seconds: number | null): boolean =>
  Number.isInteger(seconds) &&
  Number(seconds) >= SHORTEST_HEARTBEAT_SECONDS &&
  Number(seconds) <= LONGEST_HEARTBEAT_SECONDS;

const extensionsOf = (given: z.infer<typeof extension>[] | undefined, url: string) =>
  (given ?? []).filter((one) => one.url === url);

type Filter = Pick<NewSubscription, 'ofEndpoint' | 'ofStudy'>;

/**
 * Reads a filter, which is a search expression such as `Task?code=…`, into `filter`.
 * @returns why the filter cannot be used; null if it can.
 */
function addFilter(filter: Filter, criteria: string): string | null {
  const search = /^Task\?(.+)$/.exec(criteria)?.[1];
  if (!search) return 'a filter begins with Task?';
  for (const [name, value] of new URLSearchParams(search)) {
    if (name === 'code' && filter.ofEndpoint === null) filter.ofEndpoint = value;
    else if (name === 'focus:identifier' && filter.ofStudy === null) {
      const uid = studyUid(value);
      if (uid === null) return `focus:identifier accepts ${DICOM_UID}|urn:oid: followed by a UID`;
      filter.ofStudy = uid;
    } else return 'a filter accepts code and focus:identifier, each at most once';
  }
  return null;
}

function studyUid(token: string): string | null {
  const uid = token.startsWith(`${DICOM_UID}|urn:oid:`)
    ? token.slice(`${DICOM_UID}|urn:oid:`.length)
    : '';
  return isUid(uid) ? uid : null;
}

/**
 * Returns a subscription as a FHIR resource. Header values are hidden, because they may be secret.
 */
export function subscriptionResource(row: StoredSubscription): Subscription {
  const filters = filtersOf(row);
  return {
    resourceType: 'Subscription',
    id: subscriptionId(row.id),
    meta: { profile: [SUBSCRIPTION_PROFILE] },
    status: row.status,
    ...(row.ends_at && { end: row.ends_at.toISOString() }),
    reason: row.reason,
    criteria: topicCanonical(row.topic),
    ...(filters.length > 0 && { _criteria: { extension: filters } }),
    ...(row.error !== null && { error: row.error }),
    channel: {
      ...(row.heartbeat_seconds !== null && {
        extension: [{ url: HEARTBEAT, valueUnsignedInt: row.heartbeat_seconds }],
      }),
      type: 'rest-hook',
      endpoint: row.url,
      payload: 'application/fhir+json',
      _payload: { extension: [{ url: CONTENT, valueCode: row.content }] },
      ...(row.headers.length > 0 && {
        header: row.headers.map((line) => `${line.split(':', 1)[0]}: hidden`),
      }),
    },
  } as Subscription;
}

function filtersOf({ of_endpoint, of_study }: StoredSubscription): Extension[] {
  return [
    ...(of_endpoint === null ? [] : [`Task?code=${of_endpoint}`]),
    ...(of_study === null ? [] : [`Task?focus:identifier=${DICOM_UID}|urn:oid:${of_study}`]),
  ].map((valueString) => ({ url: FILTER, valueString }));
}
