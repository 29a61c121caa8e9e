import type { Context } from 'koa';
import type { z } from 'zod';
import { InvalidInputError, pointedErrors } from '../errors/problem.ts';

/**
 * The query of a call, checked; parameters that are not in the schema are refused.
 * @throws InvalidInputError naming each wrong parameter.
 */
export function readQuery<T extends z.ZodType>(context: Context, schema: T): z.infer<T> {
  const parsed = schema.safeParse({ ...context.query });
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
  return parsed.data;
}
