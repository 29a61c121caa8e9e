import { filesAt } from './files-node.ts';
import type { Calls, UploadInParts, WholeUpload } from './generated.ts';
import { withRetries } from './transport.ts';

/** Named content, such as a browser's `File`. */
export interface LocalFile {
  name: string;
  data: Blob;
}

export interface UploadProgress {
  file: string;
  /** Bytes received by the gateway so far, summed over all files. */
  sent: number;
  total: number;
}

interface UploadParts {
  calls: Calls;
  fetch: typeof fetch;
  retries: number;
}

export interface UploadOptions {
  /**
   * Repeating an upload with the same key within 24 hours resumes it. By default, every upload gets
   * a new key.
   */
  idempotencyKey?: string;
  onProgress?: (progress: UploadProgress) => void;
  signal?: AbortSignal;
}

/** Number of concurrent PUTs. */
const AT_ONCE = 4;

async function inTurns<Item, Made>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      made[index] = await work(items[index] as Item, index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  return made;
}

/** Anything that can be uploaded: the path of a file or folder (Node.js), a Blob or a File. */
export type Source = string | Blob | LocalFile;

export async function openSource(source: Source): Promise<LocalFile[]> {
  if (typeof source === 'string') return filesAt(source);
  if (!(source instanceof Blob)) return [source];
  return [{ name: 'name' in source ? String(source.name) : 'file', data: source }];
}

/** Uploads files and returns their ids in the same order. */
export async function upload(
  parts: UploadParts,
  files: readonly LocalFile[],
  { idempotencyKey = crypto.randomUUID(), onProgress, signal }: UploadOptions = {},
): Promise<string[]> {
  const total = files.reduce((sum, { data }) => sum + data.size, 0);
  let sent = 0;
  return inTurns(files, (file, index) => {
    const tell = (bytes: number) => {
      sent += bytes;
      onProgress?.({ file: file.name, sent, total });
    };
    // The key includes the file's size, so that a different file in the same place of a changed
    // folder does not resume the earlier upload.
    const key = `${idempotencyKey}/${index}/${file.data.size}`;
    return uploadOne(parts, file, { key, tell, ...(signal && { signal }) });
  });
}

async function uploadOne(
  parts: UploadParts,
  { name, data }: LocalFile,
  { key, tell, signal }: { key: string; tell: (bytes: number) => void; signal?: AbortSignal },
): Promise<string> {
  const { calls } = parts;
  const options = signal ? { signal } : {};
  const body = {
    filename: name,
    bytes: data.size,
    media_type: data.type || 'application/octet-stream',
  };
  const { file } = await calls.createUpload({ body }, { ...options, idempotencyKey: key });
  // The response may be a stored one from an earlier call, so the current state and addresses are
  // fetched.
  const state = await calls.getUpload({ id: file.id }, options);
  const { upload: to } = state;
  if (state.file.status === 'ready' || to === null) {
    tell(data.size);
    return file.id;
  }
  if ('parts' in to) await putParts(parts, to, data, tell, signal);
  else await put(parts, to, data, tell, signal);
  await calls.completeUpload({ id: file.id }, options);
  return file.id;
}

async function putParts(
  parts: UploadParts,
  { parts: all }: UploadInParts,
  data: Blob,
  tell: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  await inTurns(all, async (part) => {
    if (part.etag !== null) return tell(part.bytes);
    const slice = data.slice(part.first_byte, part.first_byte + part.bytes);
    await put(parts, part, slice, tell, signal);
  });
}

/**
 * Uploads bytes to a signed URL, which needs no key. An interrupted PUT leaves nothing behind, so
 * it can be repeated.
 */
async function put(
  { fetch: call, retries }: UploadParts,
  { url, headers }: Pick<WholeUpload, 'url' | 'headers'>,
  body: Blob,
  tell: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const init = { method: 'PUT', headers, body, ...(signal && { signal }) };
  await withRetries(url, () => call(url, init), { retries, signal });
  tell(body.size);
}
