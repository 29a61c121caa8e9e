import type { Router } from '@koa/router';
import type { CapabilityStatement, CapabilityStatementRestResource } from '@medplum/fhirtypes';
import type { Context } from 'koa';
import { REQUEST_STATUS, type RequestStatus } from '../../../core/requests/request.ts';
import { TOPICS } from '../../../core/subscriptions/subscriptions.ts';
import { idForm } from '../../../platform/ids.ts';
import { VERSION } from '../../../platform/version.ts';
import { audited } from '../audited.ts';
import { requireScope } from '../authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import { isStorable, isStorableTime } from '../parse.ts';
import { ownRequest } from '../requests.ts';
import { answer, FHIR, refuseQuery, searchset } from './outcome.ts';
import { BACKPORT, SUBSCRIPTION_PROFILE, topicCanonical } from './subscription.ts';
import { addSubscriptionRoutes } from './subscription-routes.ts';
import { requestIdOf, TASK_STATUS, taskOf } from './task.ts';
import { addTaskSubmission } from './task-submission.ts';

const DEFAULT_COUNT = 20;
const MOST_COUNT = 100;
/**
 * Parameters that select the format of the response. They are ignored, because there is only one
 * format.
 */
const IGNORED: ReadonlySet<string> = new Set(['_format', '_pretty']);

/** Adds `/fhir` (FHIR R4) if one of its parts is enabled. */
export function addFhirRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { servesTasks, servesSubscriptions: subscriptions, studySource, config } = deps;
  const submission = studySource !== null;
  if (!servesTasks && !subscriptions && !submission) return;
  router.get(`${FHIR}/metadata`, (context) => {
    answer(context, capabilityStatement(baseUrl(context, config), { submission, subscriptions }));
  });
  addTaskRoutes(router, deps);
  if (studySource) addTaskSubmission(router, deps, studySource);
  if (subscriptions) addSubscriptionRoutes(router, deps);
}

/**
 * Adds the routes that read and search requests as Tasks. Notifications and the responses to
 * submissions refer to these Tasks.
 */
function addTaskRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config } = deps;
  const read = requireScope(deps, 'read');

  router.get(`${FHIR}/Task`, read, audited(deps, 'request.list'), async (context) => {
    const address = baseUrl(context, config);
    const { id, count, ...search } = searchOf(context, address);
    const { accountId, test } = context.state.principal;
    const page =
      id === undefined && search.status?.length !== 0
        ? await core.history({ ...search, accountId, testOnly: test, limit: count })
        : { rows: await oneRequest(id ?? ''), nextCursor: null };
    const rows = page.rows.filter(
      ({ status, created_at }) =>
        (search.status?.includes(status) ?? true) && created_at >= (search.since ?? created_at),
    );
    const tasks = rows.map((row) => taskOf(row, address));
    answer(context, searchset(context, address, tasks, page.nextCursor));

    async function oneRequest(requestId: string) {
      const row = await core.get(requestId, accountId);
      return row && (!test || row.test) ? [row] : [];
    }
  });

  router.get(
    `${FHIR}/Task/:id`,
    read,
    // The audit records the id of the request, not that of the Task.
    (context, next) => {
      context.params.id = requestIdOf(context.params.id ?? '');
      return next();
    },
    audited(deps, 'request.read'),
    async (context) => {
      const row = await ownRequest(core, context.params.id, context.state);
      answer(context, taskOf(row, baseUrl(context, config)));
    },
  );
}

interface Search {
  id?: string;
  status?: RequestStatus[];
  since?: Date;
  cursor?: string;
  count: number;
}

/**
 * Parses the parameters of a search (R4 3.1.1). An unknown parameter is refused: if it were
 * ignored, the search would match too many requests.
 * @throws SonogateError `invalid_query`
 */
function searchOf(context: Context, address: string): Search {
  const search: Search = { count: DEFAULT_COUNT };
  for (const [name, given] of Object.entries(context.query)) {
    if (IGNORED.has(name)) continue;
    if (typeof given !== 'string') refuseQuery(`${shown(name)} is given more than once.`);
    if (!isStorable(given)) refuseQuery(`${shown(name)} is not valid text.`);
    switch (name) {
      case '_id':
        search.id = both(search.id, requestIdOf(oneOnly(name, given)));
        break;
      case 'identifier':
        search.id = both(search.id, requestIdentifier(oneOnly(name, given), address));
        break;
      case 'status':
        search.status = requestStatuses(given);
        break;
      case 'authored-on':
        search.since = since(given);
        break;
      case '_count':
        search.count = count(given);
        break;
      case '_cursor':
        if (!idForm('req').test(given)) refuseQuery('_cursor does not come from an earlier page.');
        search.cursor = given;
        break;
      default:
        refuseQuery(`"${shown(name)}" is not a supported parameter.`);
    }
  }
  return search;
}

/** Parameters are combined with "and", so two different ids match no request. */
const both = (one: string | undefined, other: string): string =>
  one === undefined || one === other ? other : '';

const shown = (text: string): string => text.slice(0, 40);

/** Refuses alternatives ("or", R4 3.1.1.3), which are supported only for `status`. */
function oneOnly(name: string, given: string): string {
  if (given.includes(',')) refuseQuery(`${name} accepts only one value.`);
  return given;
}

/**
 * Reads a token: `value`, `|value` or `system|value`. A token with another system matches no
 * request.
 */
function requestIdentifier(token: string, address: string): string {
  const [system, value] = token.includes('|') ? token.split('|', 2) : ['', token];
  return system === '' || system === `${address}/v1/requests` ? (value ?? '') : '';
}

/** All Task statuses of R4, including those that no request can have. */
const TASK_STATUSES: ReadonlySet<string> = new Set([
  'draft',
  'requested',
  'received',
  'accepted',
  'rejected',
  'ready',
  'cancelled',
  'in-progress',
  'on-hold',
  'failed',
  'completed',
  'entered-in-error',
]);
const STATUS_SYSTEM = 'http://hl7.org/fhir/task-status|';

/** Returns the request statuses for Task status codes with or without their system. */
function requestStatuses(given: string): RequestStatus[] {
  const asked = given
    .split(',')
    .map((token) => (token.startsWith(STATUS_SYSTEM) ? token.slice(STATUS_SYSTEM.length) : token));
  const unknown = asked.find((code) => !TASK_STATUSES.has(code));
  if (unknown !== undefined) refuseQuery(`"${shown(unknown)}" is not a Task status.`);
  return REQUEST_STATUS.filter((status) => asked.includes(TASK_STATUS[status]));
}

function since(value: string): Date {
  const at = /^ge\d{4}-\d\d-\d\d/.test(value) ? new Date(value.slice(2)) : new Date(Number.NaN);
  if (!isStorableTime(at))
    refuseQuery('authored-on accepts ge followed by a date or time, such as ge2026-05-21.');
  return at;
}

function count(value: string): number {
  const asked = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (asked < 1) refuseQuery('_count accepts a whole number of at least 1.');
  // R4 3.1.1.5.5 allows a server to return fewer matches than requested.
  return Math.min(asked, MOST_COUNT);
}

interface ServedParts {
  submission: boolean;
  subscriptions: boolean;
}

/**
 * Returns the CapabilityStatement of `/fhir`.
 * @param address the server's address, without a trailing slash.
 */
function capabilityStatement(address: string, parts: ServedParts): CapabilityStatement {
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date: '2026-11-23',
    kind: 'instance',
    software: { name: 'Sonogate', version: VERSION },
    implementation: { description: 'Requests as tasks', url: `${address}${FHIR}` },
    fhirVersion: '4.0.1',
    format: ['json'],
    rest: [
      {
        mode: 'server',
        security: {
          description:
            'Authorization: Bearer with an API key that has the scope required by the interaction',
        },
        resource: [taskCapability(parts), ...(parts.subscriptions ? [SUBSCRIPTION] : [])],
      },
    ],
  };
}

const taskCapability = ({ submission }: ServedParts): CapabilityStatementRestResource => ({
  type: 'Task',
  interaction: [
    ...(submission ? [{ code: 'create' as const }] : []),
    { code: 'read' },
    { code: 'search-type' },
  ],
  ...(submission && { conditionalCreate: true }),
  searchParam: [
    { name: '_id', type: 'token' },
    { name: 'identifier', type: 'token' },
    { name: 'status', type: 'token' },
    { name: 'authored-on', type: 'date', documentation: 'with the prefix ge' },
  ],
});

const SUBSCRIPTION: CapabilityStatementRestResource = {
  extension: TOPICS.map((topic) => ({
    url: `${BACKPORT}/StructureDefinition/capabilitystatement-subscriptiontopic-canonical`,
    valueCanonical: topicCanonical(topic),
  })),
  type: 'Subscription',
  supportedProfile: [SUBSCRIPTION_PROFILE],
  interaction: [{ code: 'create' }, { code: 'read' }, { code: 'search-type' }, { code: 'delete' }],
  searchParam: [
    { name: '_id', type: 'token' },
    { name: 'status', type: 'token' },
    { name: 'criteria', type: 'string' },
    { name: 'url', type: 'uri' },
  ],
  operation: [
    { name: 'status', definition: `${BACKPORT}/OperationDefinition/backport-subscription-status` },
    { name: 'events', definition: `${BACKPORT}/OperationDefinition/backport-subscription-events` },
  ],
};
