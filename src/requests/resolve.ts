import { SonogateError } from '../errors/catalogue.ts';
import type { Endpoint } from './endpoint.ts';

function parts(version: string): number[] {
  return version.split('.').map(Number);
}

function newerFirst(a: Endpoint, b: Endpoint): number {
  const [left, right] = [parts(a.version), parts(b.version)];
  const differs = left.findIndex((part, i) => part !== right[i]);
  return differs < 0 ? 0 : (right[differs] ?? 0) - (left[differs] ?? 0);
}

/**
 * The endpoint for an id or model alias; `1`, `1.0` and `1.0.0` mean the newest version that begins
 * so, null the newest of all.
 * @throws SonogateError `unknown_endpoint`
 */
export function resolveEndpoint(
  endpoints: readonly Endpoint[],
  idOrModel: string,
  version: string | null,
): Endpoint {
  const named = endpoints.filter(({ id, model }) => id === idOrModel || model === idOrModel);
  const matching = named.filter(
    (endpoint) => version === null || `${endpoint.version}.`.startsWith(`${version}.`),
  );
  const [newest] = matching.sort(newerFirst);
  if (newest) return newest;
  throw new SonogateError(
    'unknown_endpoint',
    named.length === 0
      ? `There is no endpoint "${idOrModel}". Endpoints: ${endpoints.map(({ id }) => id).join(', ')}.`
      : `Endpoint "${idOrModel}" has no version "${version}". Versions: ${named.map((e) => e.version).join(', ')}.`,
  );
}
