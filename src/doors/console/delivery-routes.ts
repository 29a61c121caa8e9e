import type { Router } from '@koa/router';
import { z } from 'zod';
import { LONGEST_CLOSING_REASON } from '../../operations/deliveries.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { jsonBody, parseBody, readQuery } from '../http/parse.ts';
import { auditAction, auditStudies } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type {
  AlternateDestination,
  CloseDelivery,
  ConsoleRole,
  Delivery,
  Destination,
  DoctorFinding,
  DoctorQuery,
  Page,
  Peer,
} from './contract.ts';
import {
  deliveryQuery,
  listDeliveries,
  listDestinations,
  listPeers,
  readDeliveries,
  shownDelivery,
} from './deliveries.ts';
import { needs } from './guard.ts';

const alternateSchema: z.ZodType<AlternateDestination> = z.strictObject({
  destination: z.string().min(1).max(100),
});

const closeSchema: z.ZodType<CloseDelivery> = z.strictObject({
  reason: z.string().trim().min(1).max(LONGEST_CLOSING_REASON),
});

/** Adds `/destinations` and `/deliveries`. */
export function addDeliveryRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { config, operations } = deps;
  const body = jsonBody(config.http.maxBodyBytes);

  router.get('/destinations', needs('read'), async (context) => {
    const { role } = context.state.session;
    context.body = (await listDestinations(role, deps)) satisfies Destination[];
  });

  router.get('/deliveries', needs('read'), async (context) => {
    const { role } = context.state.session;
    const query = readQuery(context, deliveryQuery);
    const page = await listDeliveries(role, query, deps);
    const studyIds = page.rows.map(({ key, subject }) => (subject ? key : null));
    await auditStudies(context, studyIds, 'deliveries', deps);
    context.body = page satisfies Page<Delivery>;
  });

  router.post('/deliveries/:id/replay', needs('deliver'), async (context) => {
    const { id = '' } = context.params;
    await operations.together(async ({ deliveries }, writeAudit) => {
      const row = await deliveries.replay(id);
      const of = { requestId: row.request_id, detail: { delivery: id } };
      await auditAction(context, 'delivery.replay', of, { ...deps, writeAudit });
    });
    context.body = (await one(id, context.state.session.role, deps)) satisfies Delivery;
  });

  router.post('/deliveries/:id/close', needs('deliver'), body, async (context) => {
    const { id = '' } = context.params;
    const { session } = context.state;
    const { reason } = parseBody(closeSchema, context.state.body);
    await operations.together(async ({ deliveries }, writeAudit) => {
      const row = await deliveries.close({ id, person: session.name, reason });
      const of = {
        requestId: row.request_id,
        studyId: row.study,
        detail: { delivery: id, reason },
      };
      await auditAction(context, 'delivery.close', of, { ...deps, writeAudit });
    });
    context.body = (await one(id, session.role, deps)) satisfies Delivery;
  });

  router.post('/deliveries/:id/alternate', needs('deliver'), body, async (context) => {
    const { id = '' } = context.params;
    const { role } = context.state.session;
    const { destination } = parseBody(alternateSchema, context.state.body);
    const { alternates } = await one(id, role, deps);
    if (!alternates.includes(destination)) {
      throw new SonogateError('not_found', `The delivery cannot be diverted to ${destination}.`);
    }
    const made = await operations.together(async ({ deliveries }, writeAudit) => {
      const row = await deliveries.divert(id, destination);
      const of = { requestId: row.request_id, detail: { delivery: id, destination } };
      await auditAction(context, 'delivery.divert', of, { ...deps, writeAudit });
      return row.id;
    });
    context.body = (await one(made, role, deps)) satisfies Delivery;
  });
}

/**
 * Reads one delivery as the role may see it.
 * @throws SonogateError `not_found`
 */
async function one(id: string, role: ConsoleRole, deps: ConsoleDeps): Promise<Delivery> {
  const [row] = await readDeliveries(deps.database, [id]);
  if (!row) throw new SonogateError('not_found', 'There is no such delivery.');
  return shownDelivery(row, role, deps);
}

const doctorSchema: z.ZodType<DoctorQuery> = z.strictObject({
  peer: z.string().min(1).max(100).optional(),
});

/**
 * Adds `/peers` and `/doctor`. A person starts the doctor with a button; it contacts peers but
 * changes nothing.
 */
export function addPeerRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { config, operations } = deps;

  router.get('/peers', needs('peers'), async (context) => {
    context.body = (await listPeers(context.state.session.role, deps)) satisfies Peer[];
  });

  router.post('/doctor', needs('peers'), jsonBody(config.http.maxBodyBytes), async (context) => {
    const { peer } = parseBody(doctorSchema, context.state.body ?? {});
    const known = [...config.destinations, ...config.sources].some(({ name }) => name === peer);
    if (peer !== undefined && !known) {
      throw new SonogateError('not_found', `There is no peer "${peer}".`);
    }
    context.body = (await operations.doctor(peer ?? null)) satisfies DoctorFinding[];
  });
}
