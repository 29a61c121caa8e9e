import { InvalidInputError, type PointedError } from '../errors/problem.ts';
import type { Uploads } from '../files/uploads.ts';
import type { EndpointInput } from '../requests/endpoint.ts';
import type { RequestFile } from '../requests/port.ts';

const FILE_ID = /^file_[0-9a-hjkmnp-tv-z]{26}$/;

/** The elements of `files` and `prior_files` that are not ids of uploads, each by its place. */
export function notUploads(input: EndpointInput): PointedError[] {
  return elements(input)
    .filter(({ file }) => !FILE_ID.test(file))
    .map(({ pointer, file }) => ({
      pointer,
      detail: /^https:/i.test(file)
        ? 'hosted files come with the next release; upload the file and give its id'
        : 'not the id of an upload (file_…)',
    }));
}

/**
 * The files of an input, as they lie on this machine, under names that are unique in the request.
 * @throws InvalidInputError `file_not_ready`, naming each file that cannot be used.
 */
export async function uploadedFiles(
  uploads: Uploads,
  accountId: string,
  input: EndpointInput,
): Promise<{ files: RequestFile[]; priorFiles: RequestFile[] }> {
  const asked = elements(input);
  const ready = await uploads.ready(accountId, [...new Set(asked.map(({ file }) => file))]);
  const missing = asked.filter(({ file }) => !ready.has(file));
  if (missing.length > 0) {
    throw new InvalidInputError(
      missing.map(({ pointer, file }) => ({ pointer, detail: `${file} is not a ready file` })),
      'file_not_ready',
    );
  }
  const taken = new Set<string>();
  const found = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const file = ready.get(id);
      return file ? [{ ...file, name: uniqueName(file.name, taken) }] : [];
    });
  return { files: found(input.files), priorFiles: found(input.prior_files ?? []) };
}

function elements(input: EndpointInput): { pointer: string; file: string }[] {
  const list = (field: string, files: readonly string[]) =>
    files.map((file, n) => ({ pointer: `/input/${field}/${n}`, file }));
  return [...list('files', input.files), ...list('prior_files', input.prior_files ?? [])];
}

/** Two files of one name stay apart: `a.png`, `a-2.png`. */
function uniqueName(name: string, taken: Set<string>): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let candidate = name;
  for (let n = 2; taken.has(candidate); n++) candidate = `${stem}-${n}${extension}`;
  taken.add(candidate);
  return candidate;
}
