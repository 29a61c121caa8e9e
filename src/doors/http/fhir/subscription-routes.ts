import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { mayRetrieveStudies } from '../../../core/accounts/keys.ts';
import {
  createSubscription,
  deleteSubscription,
  findSubscription,
  listEvents,
  listSubscriptions,
  type Subscription,
} from '../../../core/subscriptions/subscriptions.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { InvalidInputError } from '../../../platform/errors/problem.ts';
import { idForm } from '../../../platform/ids.ts';
import { audited } from '../audited.ts';
import { mayUse, requireScope } from '../authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import { isStorable, jsonBody } from '../parse.ts';
import { enabledUrl } from '../webhooks.ts';
import { notificationBundle, subscriptionStatus } from './notification.ts';
import { answer, FHIR, refuseQuery, searchset } from './outcome.ts';
import {
  readSubscription,
  storedIdOf,
  subscriptionId,
  subscriptionResource,
  topicOf,
} from './subscription.ts';
import { taskOf } from './task.ts';

const PAGE = 50;
/**
 * Maximum number of events in a response to `$events`. Clients request further events by number.
 */
const MOST_EVENTS = 100;
const SUBSCRIPTION = `${FHIR}/Subscription`;

/**
 * Adds `/fhir/Subscription`: create, read, search and delete, `$status` and `$events`. To change a
 * subscription, a client creates a new one.
 */
export function addSubscriptionRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { database, core, config, now = () => new Date() } = deps;
  const read = requireScope(deps, 'read');

  router.post(
    SUBSCRIPTION,
    read,
    audited(deps, 'subscription.create', (context) => ({ subscription: nameOf(context) })),
    jsonBody(config.maxBodyBytes, ['application/fhir+json', 'application/json']),
    async (context) => {
      const { principal, body } = context.state;
      const address = baseUrl(context, config);
      const asked = readSubscription(body, address);
      if (asked.endsAt && asked.endsAt <= now()) {
        throw new InvalidInputError([{ pointer: '/end', detail: 'a time in the future' }]);
      }
      if (asked.content === 'full-resource' && !mayRetrieveStudies(principal)) {
        const detail = `full-resource includes the patient's identity; use a live key with the scope "retrieve".`;
        throw new SonogateError('forbidden', detail);
      }
      const url = await enabledUrl(deps, principal.accountId, asked.url, '/channel/endpoint');
      const made = await createSubscription(database, principal, { ...asked, url }, now());
      context.state.subscription = made.id;
      context.status = 201;
      context.set('Location', `${address}${SUBSCRIPTION}/${subscriptionId(made.id)}`);
      answer(context, subscriptionResource(made));
    },
  );

  router.get(SUBSCRIPTION, read, async (context) => {
    const { accountId, test } = context.state.principal;
    const address = baseUrl(context, config);
    const { rows, nextCursor } = await listSubscriptions(database, {
      accountId,
      testOnly: test,
      ...searchOf(context),
      limit: PAGE,
    });
    answer(context, searchset(context, address, rows.map(subscriptionResource), nextCursor));
  });

  router.get(`${SUBSCRIPTION}/:id`, read, async (context) => {
    answer(context, subscriptionResource(await subscriptionIn(context, database)));
  });

  router.delete(
    `${SUBSCRIPTION}/:id`,
    read,
    audited(deps, 'subscription.delete', (context) => ({ subscription: nameOf(context) })),
    async (context) => {
      const { id, key_id: creator } = await subscriptionIn(context, database);
      context.state.subscription = id;
      const { principal } = context.state;
      if (principal.keyId !== creator && !mayUse(principal, 'admin')) {
        const detail =
          'Only the key that created the subscription, or one with the scope "admin", may do this.';
        throw new SonogateError('forbidden', detail);
      }
      await deleteSubscription(database, id);
      context.status = 204;
    },
  );

  router.get(`${SUBSCRIPTION}/:id/$status`, read, async (context) => {
    const row = await subscriptionIn(context, database);
    const status = subscriptionStatus(row, { type: 'query-status' });
    answer(context, searchset(context, baseUrl(context, config), [status], null));
  });

  router.get(`${SUBSCRIPTION}/:id/$events`, read, async (context) => {
    const row = await subscriptionIn(context, database);
    const since = eventNumber(context, 'eventsSinceNumber') ?? 1;
    const until = eventNumber(context, 'eventsUntilNumber') ?? row.events;
    const events = await listEvents(database, row.id, { since, until, limit: MOST_EVENTS });
    const requests =
      row.content === 'empty' ? [] : [...new Set(events.map((one) => one.request_id))];
    const rows = await Promise.all(requests.map((id) => core.get(id, row.account_id)));
    const tasks = rows.flatMap((request) => (request ? [taskOf(request, row.address)] : []));
    answer(context, notificationBundle(row, { type: 'query-event', events, tasks, at: now() }));
  });
}

/**
 * Returns the subscription in the path.
 * @throws SonogateError `not_found`, also for a subscription of another account.
 */
async function subscriptionIn(
  context: Context & { state: HttpState },
  database: HttpDeps['database'],
): Promise<Subscription> {
  const { accountId, test } = context.state.principal;
  const id = storedIdOf(String(context.params.id));
  const row = idForm('sub').test(id) ? await findSubscription(database, id) : null;
  if (!row || row.account_id !== accountId || (test && !row.test)) {
    throw new SonogateError('not_found', 'There is no such Subscription.');
  }
  return row;
}

const nameOf = ({ state }: Context): string => String(state.subscription ?? '');

function searchOf(context: Context) {
  const search: {
    id?: string;
    statuses?: string[];
    topic?: string;
    url?: string;
    cursor?: string;
  } = {};
  for (const [name, value] of Object.entries(context.query)) {
    if (typeof value !== 'string') refuseQuery(`${name.slice(0, 40)} is given more than once.`);
    else if (!isStorable(value)) refuseQuery(`${name.slice(0, 40)} is not valid text.`);
    else if (name === '_id') search.id = storedIdOf(value);
    else if (name === 'status') search.statuses = value.split(',');
    // An unknown topic matches no subscription.
    else if (name === 'criteria') search.topic = topicOf(value) ?? '';
    else if (name === 'url') search.url = value;
    else if (name === '_cursor' && idForm('sub').test(value)) search.cursor = value;
    else if (name !== '_format' && name !== '_pretty') {
      refuseQuery(`"${name.slice(0, 40)}" is not a supported parameter.`);
    }
  }
  return search;
}

function eventNumber({ query }: Context, name: string): number | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^\d{1,9}$/.test(value))
    refuseQuery(`${name} accepts only a number.`);
  return Number(value);
}
