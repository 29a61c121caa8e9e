import type { Router } from '@koa/router';
import { z } from 'zod';
import { SonogateError } from '../errors/catalogue.ts';
import { jsonBody } from '../http/json-body.ts';
import { parseBody } from '../http/uploads.ts';
import type { DoctorFinding, DoctorQuery, Peer } from './contract.ts';
import type { ConsoleDeps, ConsoleState } from './deps.ts';
import { listPeers } from './destinations.ts';
import { needs } from './guard.ts';

const doctorSchema: z.ZodType<DoctorQuery> = z.strictObject({
  peer: z.string().min(1).max(100).optional(),
});

/** `/peers`, and the doctor on a button: it calls peers and changes nothing. */
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
