import type { Router } from '@koa/router';
import type { HttpDeps, HttpState } from '../context.ts';
import { addRetrieveRoutes } from './retrieve.ts';
import { addSearchRoutes } from './search.ts';
import { addStoreRoutes } from './store.ts';

/**
 * `/dicomweb`: the studies service of PS3.18 10. Storing is always there, since a key needs its own
 * scope for it; searching and retrieving are there where the site has switched them on.
 */
export function addDicomwebRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  addStoreRoutes(router, deps);
  if (!deps.servesStudies) return;
  addSearchRoutes(router, deps);
  addRetrieveRoutes(router, deps);
}
