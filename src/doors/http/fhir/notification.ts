import { randomUUID } from 'node:crypto';
import type {
  Bundle,
  BundleEntry,
  Parameters,
  ParametersParameter,
  Resource,
  Task,
} from '@medplum/fhirtypes';
import type { Notification } from '../../../core/subscriptions/deliver.ts';
import type { Subscription, SubscriptionEvent } from '../../../core/subscriptions/subscriptions.ts';
import { FHIR } from './outcome.ts';
import { BACKPORT, subscriptionId, topicCanonical } from './subscription.ts';
import { taskId } from './task.ts';

const STATUS_PROFILE = `${BACKPORT}/StructureDefinition/backport-subscription-status-r4`;
const NOTIFICATION_PROFILE = `${BACKPORT}/StructureDefinition/backport-subscription-notification-r4`;

type StatusType = Notification['type'] | 'query-status' | 'query-event';

/** A resource of a report, and the URL under which other resources refer to it. */
export interface ReportResource {
  fullUrl: string;
  resource: Resource;
}

/** Returns the SubscriptionStatus of R5 in its R4 form, a Parameters resource. */
export function subscriptionStatus(
  row: Subscription,
  { type, events = [], report = [] }: StatusContent,
): Parameters {
  const shows = row.content !== 'empty';
  const context = report.filter(({ resource }) => resource.resourceType === 'DiagnosticReport');
  const parameter: ParametersParameter[] = [
    {
      name: 'subscription',
      valueReference: {
        reference: `${row.address}${FHIR}/Subscription/${subscriptionId(row.id)}`,
      },
    },
    { name: 'topic', valueCanonical: topicCanonical(row.topic) },
    { name: 'status', valueCode: row.status },
    { name: 'type', valueCode: type },
    { name: 'events-since-subscription-start', valueString: String(row.events) },
    ...events.map((event) => ({
      name: 'notification-event',
      part: [
        { name: 'event-number', valueString: String(event.number) },
        { name: 'timestamp', valueInstant: event.at.toISOString() },
        ...(shows ? [{ name: 'focus', valueReference: { reference: taskUrl(row, event) } }] : []),
        ...context.map(({ fullUrl }) => ({
          name: 'additional-context',
          valueReference: { reference: fullUrl },
        })),
      ],
    })),
    ...(row.error === null ? [] : [{ name: 'error', valueCodeableConcept: { text: row.error } }]),
  ];
  return { resourceType: 'Parameters', meta: { profile: [STATUS_PROFILE] }, parameter };
}

const taskUrl = ({ address }: Subscription, { request_id }: SubscriptionEvent): string =>
  `${address}${FHIR}/Task/${taskId(request_id)}`;

interface StatusContent {
  type: StatusType;
  events?: readonly SubscriptionEvent[];
  /** The resources of a report, for the content `full-resource`. */
  report?: readonly ReportResource[];
}

/**
 * Returns a notification (profile backport-subscription-notification-r4). The first entry is the
 * status. Unless the content is `empty`, the Tasks follow; with `full-resource`, the report follows
 * them.
 */
export function notificationBundle(
  row: Subscription,
  content: StatusContent & { tasks?: readonly Task[]; at: Date },
): Bundle {
  const { address } = row;
  const status: BundleEntry = {
    fullUrl: `urn:uuid:${randomUUID()}`,
    resource: subscriptionStatus(row, content),
    // An entry of a history must have both a request and a response (R4 bdl-3, bdl-4).
    request: { method: 'GET', url: `Subscription/${subscriptionId(row.id)}/$status` },
    response: { status: '200' },
  };
  const tasks = (content.tasks ?? []).map((task) => ({
    fullUrl: `${address}${FHIR}/Task/${task.id}`,
    resource: task,
    request: { method: 'GET' as const, url: `Task/${task.id}` },
    response: { status: '200' },
  }));
  const report = (content.report ?? []).map(({ fullUrl, resource }) => ({
    fullUrl,
    resource,
    request: { method: 'POST' as const, url: resource.resourceType },
    response: { status: '201' },
  }));
  return {
    resourceType: 'Bundle',
    meta: { profile: [NOTIFICATION_PROFILE] },
    type: 'history',
    timestamp: content.at.toISOString(),
    entry: [status, ...tasks, ...report],
  };
}
