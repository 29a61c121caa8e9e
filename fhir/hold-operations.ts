import type { z } from 'zod';
import { SonogateError } from '../src/errors/catalogue.ts';
import { type HoldQueue, rejectSchema, releaseSchema, showSchema } from './hold-queue.ts';

/** The hold queue as operations of the admin socket, by name. */
export function createHoldOperations(
  queue: HoldQueue,
): Record<string, (parameters: unknown) => Promise<unknown>> {
  return {
    'holds.list': async () => queue.list(),
    'holds.show': async (parameters) => queue.show(read(showSchema, parameters)),
    'holds.release': async (parameters) => queue.release(read(releaseSchema, parameters)),
    'holds.reject': async (parameters) => queue.reject(read(rejectSchema, parameters)),
  };
}

/** @throws SonogateError `invalid_input` with what is wrong, for the person who typed it. */
function read<Schema extends z.ZodType>(schema: Schema, parameters: unknown): z.output<Schema> {
  const parsed = schema.safeParse(parameters);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new SonogateError('invalid_input', `${issue?.path.join('.') ?? ''}: ${issue?.message}`);
}
