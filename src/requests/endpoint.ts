import type { z } from 'zod';

export interface PriceLine {
  item: string;
  quantity: number;
  /** Decimal strings in USD: money is never a binary fraction. */
  unit_price: string;
  amount: string;
}

/** All the core knows of an endpoint; `main.ts` builds it from the pipeline's own description. */
export interface Endpoint {
  /** `us/obstetric/interpret` */
  id: string;
  /** `us/obstetric`, also the alias of the endpoint. */
  model: string;
  version: string;
  title: string;
  /** Asked by the gateway itself only: clients neither see nor call it. */
  internal?: boolean;
  /** Schema of `input` (service.md 2.3); unknown fields are refused. */
  input: z.ZodType<EndpointInput>;
  output: z.ZodType;
  /** Sections of the result, in order. */
  sections?: readonly { id: string; title: string }[];
  /** Prices by frames of the upload, where one price does not hold for all; null: any number. */
  priceTiers?: readonly { up_to_frames: number | null; price: string }[];
  /** Tasks of the models it uses. */
  modelTasks?: readonly string[];
  /**
   * What a request costs. `frames` are those its result says were read, known when it succeeds;
   * without them the price is that of the smallest upload.
   */
  price(input: EndpointInput, frames?: number): PriceLine[];
}

export interface EndpointInput {
  files: string[];
  prior_files?: string[] | undefined;
  options?: Record<string, unknown> | undefined;
  clinical_context?: Record<string, unknown> | undefined;
}
