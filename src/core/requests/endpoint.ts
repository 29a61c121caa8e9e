import type { z } from 'zod';
import type { Change, Changed } from '../../../pipelines/contract/review.ts';
import type { Effect, ReviewedResult } from '../../../pipelines/result/decisions.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';

export interface PriceLine {
  item: string;
  quantity: number;
  /** Decimal string in USD, because binary fractions cannot represent money exactly. */
  unit_price: string;
  amount: string;
}

/**
 * Everything the core needs to know about an endpoint. Its review is added by
 * `src/app/wiring/reviews.ts`.
 */
export interface Endpoint {
  /** Id of the endpoint, such as `us/obstetric/interpret`. */
  id: string;
  /** Model, such as `us/obstetric`. It also serves as an alias of the endpoint. */
  model: string;
  version: string;
  title: string;
  /**
   * Name in the API description and in the clients made from it, such as `InterpretObstetric`. The
   * names of the input and output schemas begin with this name.
   */
  operation: string;
  /** True if only the gateway uses this endpoint: clients can neither see nor call it. */
  internal?: boolean;
  /** Schema of `input` (api 2.3). Unknown fields are rejected. */
  input: z.ZodType<EndpointInput>;
  output: z.ZodType;
  sections?: readonly { id: string; title: string }[];
  /**
   * Prices by number of uploaded frames, for endpoints priced this way. `up_to_frames` is null for
   * the tier without an upper limit.
   */
  priceTiers?: readonly { up_to_frames: number | null; price: string }[];
  modelTasks?: readonly string[];
  /**
   * Returns the price of a request. `frames` is the number of frames read, as stated in the result,
   * so it is known only once the request has succeeded. Without `frames`, the price of the smallest
   * upload is returned.
   */
  price(input: EndpointInput, frames?: number): PriceLine[];
  /**
   * Opens the evidence of a study for review. Results of endpoints without this function cannot be
   * reviewed.
   */
  review?(evidence: string): Promise<StudyReview>;
}

/** The review of a study, based on the evidence written by its pipeline. */
export interface StudyReview {
  /** Returns the result with these effects applied in the order in which they were made. */
  interpret(effects: readonly Effect[], at: Date): Result;
  /**
   * Returns the effects of a change on the evidence.
   * @throws SonogateError `invalid_input` with the path of the invalid member.
   */
  effectsOf(change: Exclude<Change, { kind: 'undo' }>, state: ReviewedResult): Effect[];
  /**
   * Returns the value that a change applies to, for the history: its state before the change, and a
   * function that finds it again in a later result.
   */
  subjectOf(
    change: Change,
    state: ReviewedResult,
  ): { before: Changed; afterIn(result: Result): Changed };
  /**
   * Writes the documents of a signed result into a folder.
   * @returns the result with its artifacts.
   */
  sign(
    result: Result,
    into: { requestId: string; folder: string; suffix: string; artifactPath: ArtifactPath },
  ): Promise<{ result: Result; artifacts: Result['artifacts'] }>;
}

/** Returns the path of the stored artifact with this name; null if it does not exist. */
type ArtifactPath = (name: string) => Promise<string | null>;

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
 * Finds the endpoint for an id or model alias. `1`, `1.0` and `1.0.0` select the newest version
 * that begins with these numbers; null selects the newest version of all.
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

/**
 * Returns the newest version of each endpoint: the one that runs if a request does not specify a
 * version.
 */
export function newestEndpoints(endpoints: readonly Endpoint[]): Endpoint[] {
  const ids = new Set(endpoints.map(({ id }) => id));
  return [...ids].map((id) => resolveEndpoint(endpoints, id, null));
}
