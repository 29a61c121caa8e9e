import type { Context } from 'koa';
import type { z } from 'zod';
import { InvalidInputError, jsonPointer, pointedErrors } from '../errors/problem.ts';
import { isStorable } from './storable-text.ts';

/**
 * The query of a call, checked; parameters that are not in the schema are refused.
 * @throws InvalidInputError naming each wrong parameter.
 */
export function readQuery<T extends z.ZodType>(context: Context, schema: T): z.infer<T> {
  const broken = Object.entries(context.query).filter(
    ([name, value]) => ![name, value].flat().every((text) => isStorable(text ?? '')),
  );
  if (broken.length > 0) {
    throw new InvalidInputError(
      broken.map(([name]) => ({ pointer: jsonPointer([name]), detail: 'not a text' })),
    );
  }
  const parsed = schema.safeParse({ ...context.query });
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
  return parsed.data;
}
