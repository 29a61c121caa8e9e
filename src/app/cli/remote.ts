import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Stage } from '../../core/requests/request.ts';
import type { RequestObject } from '../../core/requests/view.ts';
import { type ApiClient, createApiClient } from '../../doors/http/client.ts';
import { filesBelow } from './local-files.ts';

const BAR = 24;

/** `[######------------------]  25 %  Finding standard planes, 12 s left`, at most `columns` wide. */
export function progressLine({ label, progress, eta_s }: Stage, columns: number): string {
  const done = Math.round(Math.min(Math.max(progress, 0), 1) * BAR);
  const bar = '#'.repeat(done).padEnd(BAR, '-');
  const percent = String(Math.floor(progress * 100)).padStart(3);
  const left = eta_s ? `, ${eta_s} s left` : '';
  return `[${bar}] ${percent} %  ${label}${left}`.slice(0, columns);
}

interface ProgressOutput {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** Redraws one line of a terminal; elsewhere writes one line for each stage. */
export function progressBar(output: ProgressOutput) {
  const { isTTY = false } = output;
  let last = '';
  return {
    show(stage: Stage): void {
      const line = progressLine(stage, output.columns ?? 120);
      if (line === last) return;
      last = line;
      output.write(isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    },
    /** Prints a line above the bar. */
    say(text: string): void {
      output.write(isTTY ? `\r\u001b[K${text}\n${last}` : `${text}\n`);
    },
    end(): void {
      if (isTTY && last !== '') output.write('\n');
    },
  };
}

interface SubmitOptions {
  gaDays?: number;
  mmPerPx?: number;
  report?: boolean;
  priority?: string;
  metadata?: string[];
  /** Prints the id of the request and does not wait for its end. */
  detach?: boolean;
}

/**
 * @throws Error when the environment does not name the gateway.
 */
export function connect(environment: NodeJS.ProcessEnv = process.env): ApiClient {
  const { SONOGATE_URL: url, SONOGATE_KEY: key } = environment;
  if (!url || !key) throw new Error('set SONOGATE_URL and SONOGATE_KEY (sonogate keys create)');
  return createApiClient({ url, key });
}

/** Uploads files and folders, submits them, and watches the request unless detached. */
export async function submit(
  endpoint: string,
  paths: readonly string[],
  given: SubmitOptions,
  client = connect(),
): Promise<number> {
  const files: string[] = [];
  const found = await filesBelow(paths);
  if (found.length === 0) throw new Error(`no file in ${paths.join(', ')}`);
  for (const path of found) {
    process.stderr.write(`uploading ${basename(path)}\n`);
    files.push(await client.upload(path));
  }
  const { gaDays, mmPerPx, report, priority, metadata = [] } = given;
  const options = {
    ...(gaDays !== undefined && { dating: { ga_days: gaDays } }),
    ...(mmPerPx !== undefined && { mm_per_px: mmPerPx }),
    ...(report !== undefined && { report }),
  };
  const { id } = await client.submit(endpoint, {
    input: { files, options },
    ...(priority !== undefined && { priority }),
    metadata: Object.fromEntries(metadata.map(nameAndValue)),
  });
  process.stdout.write(`${id}\n`);
  return given.detach ? 0 : watch(id, client);
}

function nameAndValue(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`"${text}" is not NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Shows the progress of a request until it ends; 0 when it succeeded. */
export async function watch(id: string, client = connect()): Promise<number> {
  const bar = progressBar(process.stderr);
  let ended: RequestObject | null = null;
  for await (const { name, data } of client.follow(id)) {
    if (name === 'stage') bar.show(data as Stage);
    if (name === 'triage') bar.say(`CRITICAL: ${(data as { display: string }).display}`);
    if (name === 'error') bar.say((data as { detail: string }).detail);
    if (name === 'done') ended = data as RequestObject;
  }
  bar.end();
  process.stderr.write(`${ended?.status ?? 'unknown'}\n`);
  return ended?.status === 'succeeded' ? 0 : 1;
}

export async function cancel(id: string, client = connect()): Promise<void> {
  const { status } = await client.cancel(id);
  process.stdout.write(`${id} is ${status}\n`);
}

/** One line for each request, newest first. */
export async function history(
  filter: { model?: string; status?: string; limit?: number },
  client = connect(),
): Promise<void> {
  const { data } = await client.history(filter);
  for (const { id, created_at, status, endpoint, cost } of data) {
    const money = `${cost.total} ${cost.currency}`;
    process.stdout.write(`${id}  ${created_at}  ${status.padEnd(9)}  ${endpoint}  ${money}\n`);
  }
}

/** Writes the result and the artifacts of a request to `out`. */
export async function download(
  id: string,
  { out, only }: { out: string; only?: string[] },
  client = connect(),
): Promise<void> {
  await mkdir(out, { recursive: true });
  const listed = await client.artifacts(id);
  const wanted = listed.filter(({ name }) => only === undefined || only.includes(name));
  if (wanted.length === 0) throw new Error(`${id} has no such artifact`);
  for (const { name } of wanted) {
    const path = join(out, basename(name));
    await pipeline(Readable.fromWeb(await client.artifact(id, name)), createWriteStream(path));
    process.stdout.write(`${path}\n`);
  }
}
