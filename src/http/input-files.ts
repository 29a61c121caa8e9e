import { InvalidInputError, type PointedError } from '../errors/problem.ts';
import { UrlNotPermittedError } from '../outbound/url-guard.ts';
import type { EndpointInput } from '../requests/endpoint.ts';
import type { RequestFile } from '../requests/port.ts';
import type { HttpDeps } from './deps.ts';
import { LONGEST_NAME_BYTES } from './uploads.ts';

const FILE_ID = /^file_[0-9a-hjkmnp-tv-z]{26}$/;
const WEB_ADDRESS = /^https?:/i;

/** Elements of `files`, and of `prior_files`; a larger study comes as an archive. */
export const MOST_FILES = 1000;

type FileParts = Pick<HttpDeps, 'uploads' | 'outbound' | 'logger'>;

/**
 * The files of an input, under names that are unique in the request: uploads as they lie on this
 * machine, hosted files by the URL that they are fetched from when the request starts.
 * @throws InvalidInputError naming each element that cannot be used: `file_not_ready` for uploads.
 */
export async function inputFiles(
  parts: FileParts,
  accountId: string,
  input: EndpointInput,
): Promise<{ files: RequestFile[]; priorFiles: RequestFile[] }> {
  const tooMany = listErrors(input);
  if (tooMany.length > 0) throw new InvalidInputError(tooMany);
  const asked = elements(input);
  const wrong = asked.flatMap((element) => complaint(element, parts));
  if (wrong.length > 0) throw new InvalidInputError(wrong);

  const ids = asked.map(({ file }) => file).filter((file) => FILE_ID.test(file));
  const ready = await parts.uploads.ready(accountId, [...new Set(ids)]);
  const missing = asked.filter(({ file }) => FILE_ID.test(file) && !ready.has(file));
  if (missing.length > 0) {
    throw new InvalidInputError(
      missing.map(({ pointer, file }) => ({ pointer, detail: `${file} is not a ready file` })),
      'file_not_ready',
    );
  }
  const taken = new Map<string, number>();
  const found = (files: readonly string[]) =>
    files.map((file) => {
      const known = ready.get(file) ?? hostedFile(file);
      return { ...known, name: uniqueName(known.name, taken) };
    });
  return { files: found(input.files), priorFiles: found(input.prior_files ?? []) };
}

interface Element {
  pointer: string;
  file: string;
}

function elements(input: EndpointInput): Element[] {
  const list = (field: string, files: readonly string[]) =>
    files.map((file, n) => ({ pointer: `/input/${field}/${n}`, file }));
  return [...list('files', input.files), ...list('prior_files', input.prior_files ?? [])];
}

function listErrors({ files, prior_files = [] }: EndpointInput): PointedError[] {
  const detail = `at most ${MOST_FILES} files; put more of them into an archive`;
  return Object.entries({ files, prior_files }).flatMap(([field, list]) =>
    list.length > MOST_FILES ? [{ pointer: `/input/${field}`, detail }] : [],
  );
}

/** What is wrong with an element that can be said without looking for it. */
function complaint({ pointer, file }: Element, { outbound, logger }: FileParts): PointedError[] {
  if (FILE_ID.test(file)) return [];
  if (!WEB_ADDRESS.test(file)) {
    return [{ pointer, detail: 'neither the id of an upload (file_…) nor an https URL' }];
  }
  try {
    outbound.check(file, 'input-file');
    return [];
  } catch (error) {
    if (!(error instanceof UrlNotPermittedError)) throw error;
    // Which rule it breaks is not said, so that nobody learns of our network by trying.
    logger.info({ pointer, reason: error.reason }, 'URL of an input file refused');
    return [{ pointer, detail: 'URL not permitted' }];
  }
}

/** A file that is yet to be fetched, named after the last part of its path. */
function hostedFile(url: string): RequestFile {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  const name = endOf(decoded(last).replaceAll(/[/\\\p{Cc}]/gu, '_'), LONGEST_NAME_BYTES);
  const plain = /^\.*$/.test(name) ? 'file' : name;
  return { name: plain, url, path: '', bytes: 0, sha256: '' };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The last characters, whole ones, that take no more than `limit` bytes in UTF-8. */
function endOf(text: string, limit: number): string {
  const characters = Array.from(text);
  let [from, bytes] = [characters.length, 0];
  while (from > 0) {
    bytes += Buffer.byteLength(characters[from - 1] as string);
    if (bytes > limit) break;
    from -= 1;
  }
  return characters.slice(from).join('');
}

/**
 * Two files of one name stay apart: `a.png`, `a-2.png`. `taken` remembers for each name the number to
 * go on with, so that a thousand files of one name are not counted through a thousand times.
 */
function uniqueName(name: string, taken: Map<string, number>): string {
  const dot = name.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let n = taken.get(name) ?? 1;
  let candidate = name;
  for (; taken.has(candidate); candidate = `${stem}-${n}${extension}`) n += 1;
  taken.set(name, n);
  if (candidate !== name) taken.set(candidate, 1);
  return candidate;
}
