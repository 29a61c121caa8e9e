import { type HoldQueue, rejectSchema, releaseSchema, showSchema } from './hold-queue.ts';

/** The hold queue as operations of the admin socket, by name. */
export function createHoldOperations(
  queue: HoldQueue,
): Record<string, (parameters: unknown) => Promise<unknown>> {
  return {
    'holds.list': async () => queue.list(),
    'holds.show': async (parameters) => queue.show(showSchema.parse(parameters)),
    'holds.release': async (parameters) => queue.release(releaseSchema.parse(parameters)),
    'holds.reject': async (parameters) => queue.reject(rejectSchema.parse(parameters)),
  };
}
