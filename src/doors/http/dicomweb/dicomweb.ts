import type { Router } from '@koa/router';
import type { HttpDeps, HttpState } from '../context.ts';
import { addRetrieveRoutes } from './retrieve.ts';
import { addSearchRoutes } from './search.ts';
import { addStoreRoutes } from './store.ts';

/**
 * Adds `/dicomweb`: the studies service of PS3.18 10. Storing is always available, because it
 * requires a separate scope. Searching and retrieving must be enabled.
 */
export function addDicomwebRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  addStoreRoutes(router, deps);
  if (!deps.servesStudies) return;
  addSearchRoutes(router, deps);
  addRetrieveRoutes(router, deps);
}
