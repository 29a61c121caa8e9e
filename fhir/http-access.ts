import type { FhirDestination } from '../config/schema.ts';
import { credentialsOf } from './authorization.ts';
import { tlsDispatcher } from './tls.ts';

/** How a server of HTTP is shown who we are; files are read for each call. */
export function httpAccess({
  baseUrl,
  authorization,
  tls,
}: Pick<FhirDestination, 'baseUrl' | 'authorization' | 'tls'>) {
  const dispatcherNow = tlsDispatcher(tls);
  const { header } = credentialsOf(authorization, { baseUrl, dispatcherNow });
  return { header, dispatcherNow };
}
