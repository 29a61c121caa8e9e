import { Router } from '@koa/router';
import { SonogateError } from '../errors/catalogue.ts';
import { addDeliveryRoutes } from './delivery-routes.ts';
import type { ConsoleDeps, ConsoleState } from './deps.ts';
import { addEventRoutes } from './event-routes.ts';
import { signedIn } from './guard.ts';
import { addHoldRoutes } from './hold-routes.ts';
import { addPageRoutes } from './page-routes.ts';
import { addPeerRoutes } from './peer-routes.ts';
import { addResultRoutes } from './result-routes.ts';
import { addRuleRoutes } from './rule-routes.ts';
import { addSessionRoutes } from './session-routes.ts';
import { addSettingsRoutes } from './settings-routes.ts';
import { addStudyRoutes } from './study-routes.ts';
import { addWebhookRoutes } from './webhook-routes.ts';
import { addWorklistRoutes } from './worklist-routes.ts';

/** The console: its pages, and the API of contract.ts that they call. */
export function consoleRouter(deps: ConsoleDeps): Router<ConsoleState> {
  const signIn = new Router<ConsoleState>({ prefix: '/console/api' });
  addSessionRoutes(signIn, deps);

  const api = new Router<ConsoleState>({ prefix: '/console/api' });
  api.use(signedIn(deps));
  addWorklistRoutes(api, deps);
  addStudyRoutes(api, deps);
  addResultRoutes(api, deps);
  addEventRoutes(api, deps);
  addDeliveryRoutes(api, deps);
  addHoldRoutes(api, deps);
  addRuleRoutes(api, deps);
  addPeerRoutes(api, deps);
  addSettingsRoutes(api, deps);
  addWebhookRoutes(api, deps);

  const all = new Router<ConsoleState>();
  all.use(signIn.routes());
  all.use(api.routes());
  all.all('/console/api/{*path}', () => {
    throw new SonogateError('not_found', 'Nothing is served at this path.');
  });
  addPageRoutes(all, deps);
  return all;
}
