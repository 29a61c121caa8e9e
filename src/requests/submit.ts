import type { Database } from '../database/port.ts';
import { InvalidInputError, type PointedError, pointedErrors } from '../errors/problem.ts';
import type { Logger } from '../logging/logger.ts';
import type { RequestQueue } from '../queue/queue.ts';
import type { Endpoint, EndpointInput } from './endpoint.ts';
import { findIdentifiers } from './identifiers.ts';
import type { RequestFile, SubmitCommand } from './port.ts';
import { resolveEndpoint } from './resolve.ts';
import type { RequestRow } from './row.ts';
import { createRequestStore } from './store-request.ts';

interface SubmitParts {
  database: Database;
  queue: Pick<RequestQueue, 'add'>;
  endpoints: readonly Endpoint[];
  logger: Logger;
  now: () => Date;
}

/** `Submit`, with the row as it is stored. */
export type SubmitRow = (command: SubmitCommand) => Promise<RequestRow>;

/** Makes the one `submit` of all doors. */
export function createSubmit({ database, queue, endpoints, logger, now }: SubmitParts): SubmitRow {
  const store = createRequestStore(database);
  return async (command) => {
    const endpoint = resolveEndpoint(endpoints, command.endpoint, command.version);
    checkInput(endpoint, command.input);
    checkFileNames(command);

    const { row, isNew } = await store(endpoint, command, now());
    if (isNew) {
      // The row is safe and the answer need not wait: what does not get onto the queue, the
      // reconciler puts there.
      queue.add(row.id, command.priority).catch((error: unknown) => {
        logger.warn({ request: row.id, error: String(error) }, 'queue not reached, will retry');
      });
    }
    return row;
  };
}

function checkInput(endpoint: Endpoint, input: EndpointInput): void {
  const parsed = endpoint.input.safeParse(input);
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error, '/input'));
  const indication = input.clinical_context?.indication;
  const found = typeof indication === 'string' ? findIdentifiers(indication) : [];
  if (found.length === 0) return;
  throw new InvalidInputError(
    [
      {
        pointer: '/input/clinical_context/indication',
        detail: `The text holds ${found.join(' and ')}; leave out names, identifiers and dates.`,
      },
    ],
    'identifiers_in_context',
  );
}

/**
 * Bytes of a name in UTF-8: file systems take 255 (ext4, XFS), and a prior file may get a prefix in
 * the work folder (files/work-folder.ts).
 */
const LONGEST_NAME_BYTES = 220;

/** A name becomes a file below the work folder, so it must be plain and unique. */
function checkFileNames({ files, priorFiles }: SubmitCommand): void {
  const errors = [
    ...nameErrors(files, '/input/files'),
    ...nameErrors(priorFiles, '/input/prior_files'),
  ];
  if (errors.length > 0) throw new InvalidInputError(errors);
}

function nameErrors(files: readonly RequestFile[], pointer: string): PointedError[] {
  const seen = new Set<string>();
  return files.flatMap(({ name }, i) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a name with one is refused
    const plain = /^(?!\.{1,2}$)[^/\\\u0000-\u001f]+$/.test(name);
    if (!plain || Buffer.byteLength(name) > LONGEST_NAME_BYTES) {
      return [{ pointer: `${pointer}/${i}`, detail: 'not a plain file name' }];
    }
    const second = seen.has(name);
    seen.add(name);
    return second
      ? [{ pointer: `${pointer}/${i}`, detail: 'a second file with the same name' }]
      : [];
  });
}
