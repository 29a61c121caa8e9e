import { SonogateError } from '../errors/catalogue.ts';
import type { Endpoint } from '../requests/endpoint.ts';

/**
 * The endpoint of a run path without its version: `us/obstetric/interpret`, or `us/obstetric` as its
 * alias. A version may be cut short: `1` and `1.0` mean the newest that begins so.
 * @throws SonogateError `unknown_endpoint`.
 */
export function endpointAt(
  endpoints: readonly Endpoint[],
  path: string,
  version: string | null,
): Endpoint {
  const matching = endpoints
    .filter(({ id, model }) => id === path || model === path)
    .filter((endpoint) => version === null || `${endpoint.version}.`.startsWith(`${version}.`))
    .sort((a, b) => compareVersions(b.version, a.version));
  const newest = matching[0];
  if (!newest) throw new SonogateError('unknown_endpoint', 'There is no such endpoint or version.');
  return newest;
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)];
  const part = left.findIndex((number, n) => number !== right[n]);
  return part < 0 ? 0 : (left[part] ?? 0) - (right[part] ?? 0);
}
