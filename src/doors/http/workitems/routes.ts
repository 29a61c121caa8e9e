import type { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { isUid } from '../../../../pipelines/dicom/uid.ts';
import { keyName } from '../../../core/accounts/keys.ts';
import { cancelWorkitem, updateWorkitem } from '../../../core/workitems/change.ts';
import { createWorkitem } from '../../../core/workitems/create.ts';
import {
  type Finder,
  findWorkitem,
  searchKeyOf,
  searchWorkitems,
} from '../../../core/workitems/find.ts';
import { inputReferences, outputReferences } from '../../../core/workitems/references.ts';
import {
  FILTERED_WORKLIST_UID,
  subscribe,
  suspend,
  unsubscribe,
  WORKLIST_UID,
} from '../../../core/workitems/subscriptions.ts';
import { isFinal, type WorkitemRow, workitemUid } from '../../../core/workitems/workitem.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { audited, submissionAudit } from '../audited.ts';
import { alsoRequireScope, bearerKey, requireScope } from '../authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import { acceptedRanges, requireAccepted } from '../dicomweb/accept.ts';
import { DICOM_JSON, MORE_RESULTS, readSearch, warn } from '../dicomweb/search.ts';
import { jsonBody } from '../parse.ts';
import { openChannel, requireHandshake } from './channel.ts';
import { readCreation, readUpdate } from './created.ts';
import { only, readDataSet, refuse, TAG, textOf } from './data-set.ts';
import { EventFeed } from './feed.ts';
import { workitemJson } from './view.ts';

const WORKITEMS = '/dicomweb/workitems';
const WORKITEM = `${WORKITEMS}/:workitem`;
const SUBSCRIBER = `${WORKITEM}/subscribers/:ae`;
const CHANNEL = '/dicomweb/subscribers/:ae';

const MOST_MATCHES = 500;

/** Warning texts from PS3.18 11. */
const WARNING = {
  createdModified: 'The Workitem was created with modifications.',
  unsupported: 'Requested optional Attributes are not supported.',
  notClaimed: 'The target URI did not reference a claimed Workitem.',
  workitemState: 'The submitted request is inconsistent with the current state of the Workitem.',
  upsState: 'The submitted request is inconsistent with the state of the UPS Instance.',
  noTransaction: 'The Transaction UID is missing.',
  otherTransaction: 'The Transaction UID is incorrect.',
  alreadyCanceled: 'The UPS is already in the requested state of CANCELED.',
  alreadyCompleted: 'The UPS is already in the requested state of COMPLETED.',
  noFilter: 'Filtered Worklist Subscriptions are not supported.',
} as const;

type Call = Context & { state: HttpState };

/** What the routes of the worklist share. */
interface Worklist {
  router: Router<HttpState>;
  deps: HttpDeps;
  service: NonNullable<HttpDeps['worklist']>;
  now: () => Date;
  scope: Middleware<HttpState>;
  mayRun: Middleware<HttpState>;
  body: Middleware<HttpState>;
  finderOf(context: Call): Finder;
  /**
   * Returns the workitem in the path.
   * @throws SonogateError `not_found` if there is no such workitem or the caller may not use it.
   */
  target(context: Call): Promise<WorkitemRow>;
}

/**
 * Adds the worklist service (UPS-RS, PS3.18 11) if it is enabled: the requests in the queue as
 * Unified Procedure Steps. Only the gateway performs these steps.
 */
export function addWorkitemRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { worklist: service, database, core, config, now = () => new Date() } = deps;
  if (!service) return;
  const finderOf = ({ state: { principal } }: Call): Finder => ({
    accountId: principal.accountId,
    test: principal.test,
    endpoints: core.endpoints().map(({ id }) => id),
  });
  const target = async (context: Call): Promise<WorkitemRow> => {
    const { workitem = '' } = context.params;
    const row = isUid(workitem) ? await findWorkitem(database, finderOf(context), workitem) : null;
    if (!row) throw new SonogateError('not_found', 'There is no such workitem.');
    context.params.id = row.id;
    return row;
  };
  const worklist: Worklist = {
    router,
    deps,
    service,
    now,
    scope: requireScope(deps, 'retrieve'),
    // A change of a workitem is a change of a request, as with `/v1/run`.
    mayRun: alsoRequireScope(deps, 'run'),
    body: jsonBody(config.maxBodyBytes, [DICOM_JSON, 'application/json']),
    finderOf,
    target,
  };
  addCreate(worklist);
  addSearchAndRetrieve(worklist);
  addChanges(worklist);
  addSubscriptions(worklist);
}

/** Adds Create Workitem (PS3.18 11.4). */
function addCreate({ router, deps, service, now, scope, mayRun, body }: Worklist): void {
  const { database, core, config } = deps;
  const { destinations } = service.config;

  router.post(WORKITEMS, scope, mayRun, audited(deps, 'request.submit'), body, async (context) => {
    const { principal } = context.state;
    const asked = uidInQuery(context);
    const { workitem, modified } = readCreation(readDataSet(context.state.body), asked, {
      endpoints: core.endpoints(),
      destinations,
    });
    await deps.limits.requireRoom(principal.keyId);
    const row = await createWorkitem(
      { database, submit: core.submit, ...service },
      { ...principal, audit: submissionAudit(context.state, 201, now()) },
      workitem,
    );
    context.state.audited = true;
    if (modified) warn(context, WARNING.createdModified);
    const address = `${baseUrl(context, config)}${WORKITEMS}/${workitem.uid}`;
    context.set({ Location: address, 'Content-Location': address, 'X-Sonogate-Request': row.id });
    context.status = 201;
    context.body = '';
  });
}

/** Adds Search (PS3.18 11.9) and Retrieve Workitem (PS3.18 11.5). */
function addSearchAndRetrieve({ router, deps, service, scope, finderOf, target }: Worklist): void {
  const { database, config } = deps;
  const around = (context: Call) => ({
    destinations: service.config.destinations,
    retrieveFrom: deps.servesStudies ? `${baseUrl(context, config)}/dicomweb` : null,
  });

  router.get(WORKITEMS, scope, audited(deps, 'dicom.query'), async (context) => {
    const type = requireAccepted(acceptedRanges(context), [DICOM_JSON, 'application/json']);
    const { keys, limit, offset } = readSearch(context, {
      keywordOf: searchKeyOf,
      isUid: (keyword) => keyword.endsWith('UID'),
      most: MOST_MATCHES,
    });
    const query = { keys, limit, offset };
    const { rows, more } = await searchWorkitems(database, finderOf(context), query);
    if (more) warn(context, MORE_RESULTS);
    if (rows.length === 0) {
      context.status = 204;
      return;
    }
    const list = { ...around(context), inputs: [], outputs: [] };
    context.body = JSON.stringify(rows.map((row) => workitemJson(row, list)));
    context.type = type;
  });

  router.get(WORKITEM, scope, audited(deps, 'request.read'), async (context) => {
    const type = requireAccepted(acceptedRanges(context), [DICOM_JSON, 'application/json']);
    const row = await target(context);
    const [inputs, outputs] = await Promise.all([
      inputReferences(database, row),
      outputReferences(database, row),
    ]);
    context.body = JSON.stringify([workitemJson(row, { ...around(context), inputs, outputs })]);
    context.type = type;
  });
}

/** Adds Update (PS3.18 11.6), Change State (11.7) and Request Cancellation (11.8). */
function addChanges({ router, deps, now, scope, mayRun, body, target }: Worklist): void {
  const { database, core } = deps;

  router.post(WORKITEM, scope, mayRun, audited(deps, 'request.update'), body, async (context) => {
    const row = await target(context);
    const { attributes, startAt, ignored } = readUpdate(readDataSet(context.state.body));
    refuseUpdate(context, row, 'transaction-uid' in context.query);
    if (!(await updateWorkitem(database, row.id, { attributes, startAt, at: now() }))) {
      refuseUpdate(context, await target(context), false);
    }
    if (ignored) warn(context, WARNING.unsupported);
    context.status = 200;
    context.body = '';
  });

  router.put(
    `${WORKITEM}/state`,
    scope,
    mayRun,
    audited(deps, 'request.update'),
    body,
    async (context) => {
      const row = await target(context);
      const dataSet = readDataSet(context.state.body);
      const asked = textOf(dataSet, TAG.ProcedureStepState);
      if (!CHANGES.includes(asked)) {
        refuse(`/${TAG.ProcedureStepState}`, `one of ${CHANGES.join(', ')}`);
      }
      const transaction = textOf(dataSet, TAG.TransactionUID);
      refuseChange(context, row, { asked, transaction });
      context.status = 200;
      context.body = '';
    },
  );

  router.post(
    `${WORKITEM}/cancelrequest`,
    scope,
    mayRun,
    audited(deps, 'request.cancel'),
    body,
    async (context) => {
      const row = await target(context);
      const given = context.state.body === undefined ? {} : readDataSet(context.state.body);
      context.status = 202;
      context.body = '';
      if (row.state === 'CANCELED') return warn(context, WARNING.alreadyCanceled);
      const { accountId, keyId } = context.state.principal;
      const cancellation = {
        requestedBy: aeTitleOf(await keyName(database, keyId)),
        attributes: only(given, CANCELLATION),
      };
      await cancelWorkitem(
        { database, core },
        { requestId: row.id, accountId },
        cancellation,
        now(),
      ).catch((error: unknown) => {
        if (error instanceof SonogateError && error.code === 'already_finished') {
          conflict(context, WARNING.workitemState, `The workitem is ${row.state}.`);
        }
        throw error;
      });
    },
  );
}

/** Adds Subscribe (PS3.18 11.10), Unsubscribe (11.11), Suspend (11.12) and the event channel. */
function addSubscriptions({ router, deps, now, scope, target }: Worklist): void {
  const { database, core, config, logger } = deps;
  const feed = new EventFeed({ database, core, logger, now });

  const subscription = async (context: Call) => {
    const { workitem = '' } = context.params;
    const subscriber = {
      accountId: context.state.principal.accountId,
      aeTitle: requireAeTitle(context),
    };
    if (workitem === FILTERED_WORKLIST_UID) {
      warn(context, WARNING.noFilter);
      throw new SonogateError('forbidden', 'Subscribe to the worklist or to a workitem.');
    }
    const uid = workitem === WORKLIST_UID ? workitem : workitemUid(await target(context));
    return { uid, subscriber };
  };

  router.post(SUBSCRIBER, scope, audited(deps, 'request.follow'), async (context) => {
    const { uid, subscriber } = await subscription(context);
    const deletionLock = context.query.deletionlock === 'true';
    await subscribe(database, subscriber, { target: uid, deletionLock, at: now() });
    const address = baseUrl(context, config).replace(/^http/, 'ws');
    const channel = `${address}/dicomweb/subscribers/${encodeURIComponent(subscriber.aeTitle)}`;
    context.set('Content-Location', channel);
    context.status = 201;
    context.body = '';
  });

  router.delete(SUBSCRIBER, scope, audited(deps, 'request.follow'), async (context) => {
    const { uid, subscriber } = await subscription(context);
    const ended = await unsubscribe(database, subscriber, { target: uid, at: now() });
    if (!ended) throw new SonogateError('not_found', 'There is no such subscription.');
    context.status = 200;
    context.body = '';
  });

  router.post(`${SUBSCRIBER}/suspend`, scope, audited(deps, 'request.follow'), async (context) => {
    const { uid, subscriber } = await subscription(context);
    if (uid !== WORKLIST_UID) {
      throw new SonogateError(
        'workitem_state',
        'Only the subscription to the worklist can be suspended.',
      );
    }
    if (!(await suspend(database, subscriber, now()))) {
      throw new SonogateError('not_found', 'There is no such subscription.');
    }
    context.status = 200;
    context.body = '';
  });

  // The connection is upgraded only after the call has been audited.
  const open: Middleware<HttpState> = async (context, next) => {
    await next();
    const key = bearerKey(context);
    openChannel(context, deps, {
      aeTitle: requireAeTitle(context),
      stillValid: () => deps.authenticate(key, now()),
      opened: (channel) => feed.open(channel),
    });
  };
  router.get(CHANNEL, scope, open, audited(deps, 'request.follow'), (context) => {
    requireAeTitle(context);
    requireHandshake(context, deps);
    context.status = 101;
  });
}

/**
 * Returns the UID in the query of a create request: `?1.2.3`, as in PS3.18 11.4.1, or the value of
 * one of the parameters that clients use.
 */
function uidInQuery({ query, querystring }: Context): string | null {
  const { workitem, AffectedSOPInstanceUID: affected } = query;
  const bare = querystring !== '' && !querystring.includes('=') ? querystring : null;
  const named = workitem ?? affected ?? bare;
  if (Array.isArray(named)) refuse(`/${TAG.SOPInstanceUID}`, 'the UID is given twice');
  return named;
}

const AE_TITLE = /^[\x20-\x5b\x5d-\x7e]{1,16}$/;

function requireAeTitle({ params }: Context): string {
  const aeTitle = (params.ae ?? '').trim();
  if (AE_TITLE.test(aeTitle)) return aeTitle;
  throw new SonogateError(
    'invalid_query',
    'The path does not contain an AE title of 1 to 16 characters.',
  );
}

/** Converts a text to an AE title for the Requesting AE, because an HTTP client has no AE title. */
const aeTitleOf = (text: string): string =>
  text
    .replace(/[^\x20-\x5b\x5d-\x7e]/g, '_')
    .slice(0, 16)
    .trim() || 'UNKNOWN';

const CANCELLATION = [
  TAG.ReasonForCancellation,
  TAG.ProcedureStepDiscontinuationReasonCodeSequence,
  TAG.ContactURI,
  TAG.ContactDisplayName,
] as const;

function conflict(context: Context, warning: string, detail: string): never {
  warn(context, warning);
  throw new SonogateError('workitem_conflict', detail);
}

function badState(context: Context, warning: string, detail: string): never {
  warn(context, warning);
  throw new SonogateError('workitem_state', detail);
}

/**
 * Refuses an update that the state of the step forbids (PS3.18 11.6.2, 11.6.3). Once a step is in
 * progress, only its performer, the gateway, may update it.
 */
function refuseUpdate(context: Context, { state }: WorkitemRow, hasTransaction: boolean): void {
  if (isFinal(state)) badState(context, WARNING.workitemState, `The workitem is ${state}.`);
  if (state === 'IN PROGRESS') {
    const detail = 'The gateway performs this step, so only the gateway may update it.';
    badState(context, WARNING.workitemState, detail);
  }
  if (hasTransaction) {
    conflict(context, WARNING.notClaimed, 'A scheduled workitem has no Transaction UID.');
  }
}

/** The states that a client may request (PS3.18 11.7.1.4). */
const CHANGES: readonly string[] = ['IN PROGRESS', 'COMPLETED', 'CANCELED'];

/**
 * Refuses every change of state by a client (PS3.4 table CC.1.1-2). A change to a final state that
 * the step already has is answered with a warning instead. A claim is refused as if another
 * performer had been first, because the gateway performs its steps itself.
 */
function refuseChange(
  context: Context,
  { state }: WorkitemRow,
  { asked, transaction }: { asked: string; transaction: string },
): void {
  if (transaction === '') {
    badState(context, WARNING.noTransaction, 'The data set has no Transaction UID.');
  }
  if (asked === state && isFinal(state)) {
    warn(context, state === 'CANCELED' ? WARNING.alreadyCanceled : WARNING.alreadyCompleted);
    return;
  }
  if (state === 'IN PROGRESS' && asked !== state) {
    badState(context, WARNING.otherTransaction, 'The gateway performs this step.');
  }
  const detail =
    state === 'SCHEDULED' && asked === 'IN PROGRESS'
      ? 'The gateway performs this step itself, so it cannot be claimed.'
      : `The workitem is ${state}.`;
  conflict(context, WARNING.upsState, detail);
}
