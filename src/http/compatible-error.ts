import type { Problem } from '../errors/problem.ts';

/** Where the fields of a submit body come from in a call of the compatible queue. */
const PLACES: ReadonlyMap<string, readonly string[]> = new Map([
  ['input', ['body']],
  ['webhook', ['query', 'fal_webhook']],
  ['priority', ['header', 'x-fal-queue-priority']],
]);

export interface CompatibleError {
  message: string;
  /** Text, or each wrong place as the client's `fieldErrors` reads it (interop 5.1). */
  detail: string | { loc: (string | number)[]; msg: string; type: 'value_error' }[];
  code: string;
  request_id?: string;
}

/** Problem details as the client of the compatible queue reads them: plain JSON (interop 5.6). */
export function compatibleError(problem: Problem): CompatibleError {
  const { title, detail, code, errors, request_id } = problem;
  return {
    message: errors ? title : detail,
    detail:
      errors?.map((error) => ({
        loc: place(error.pointer),
        msg: error.detail,
        type: 'value_error' as const,
      })) ?? detail,
    code,
    ...(request_id && { request_id }),
  };
}

/** `/input/files/0` → `body`, `files`, 0 */
function place(pointer: string): (string | number)[] {
  const [field = '', ...rest] = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = rest.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return [...(PLACES.get(field) ?? ['body', field]), ...path];
}
