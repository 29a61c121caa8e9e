import type { z } from 'zod';
import { SonogateError } from '../../platform/errors/catalogue.ts';

export interface PriceLine {
  item: string;
  quantity: number;
  /** Decimal string in USD: money is never a binary fraction. */
  unit_price: string;
  amount: string;
}

/**
 * Everything that the core knows about an endpoint; `main.ts` builds it from the description of the
 * pipeline.
 */
export interface Endpoint {
  /** `us/obstetric/interpret` */
  id: string;
  /** `us/obstetric`, also the alias of the endpoint. */
  model: string;
  version: string;
  title: string;
  /** True for an endpoint that only the gateway uses: clients can neither see nor call it. */
  internal?: boolean;
  /** Schema of `input` (api 2.3); unknown fields are refused. */
  input: z.ZodType<EndpointInput>;
  output: z.ZodType;
  /** Sections of the result, in order. */
  sections?: readonly { id: string; title: string }[];
  /**
   * Prices by the number of uploaded frames, for endpoints whose price depends on it.
   * `up_to_frames` is null for the tier without an upper limit.
   */
  priceTiers?: readonly { up_to_frames: number | null; price: string }[];
  /** Tasks of the models that the endpoint uses. */
  modelTasks?: readonly string[];
  /**
   * What a request costs. `frames` is the number of frames that were read according to the result;
   * it is known when the request succeeds. Without it, the price is that of the smallest upload.
   */
  price(input: EndpointInput, frames?: number): PriceLine[];
}

export interface EndpointInput {
  files: string[];
  prior_files?: string[] | undefined;
  options?: Record<string, unknown> | undefined;
  clinical_context?: Record<string, unknown> | undefined;
}

function parts(version: string): number[] {
  return version.split('.').map(Number);
}

function newerFirst(a: Endpoint, b: Endpoint): number {
  const [left, right] = [parts(a.version), parts(b.version)];
  const differs = left.findIndex((part, i) => part !== right[i]);
  return differs < 0 ? 0 : (right[differs] ?? 0) - (left[differs] ?? 0);
}

/**
 * The endpoint for an id or model alias. `1`, `1.0` and `1.0.0` mean the newest version that begins
 * with these numbers; null means the newest version of all.
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
