import { basename } from 'node:path';
import { Sonogate } from '../../../clients/typescript/src/client.ts';
import type { Request } from '../../../clients/typescript/src/generated.ts';
import { NoAnswerError } from '../../../clients/typescript/src/transport.ts';
import { resultSchema } from '../../../pipelines/result/envelope.ts';
import type { RequestStatus, Stage } from '../../core/requests/request.ts';
import { type AnswerForm, answer } from './answer.ts';
import { EXIT, type ExitStatus, UsageError } from './exit-status.ts';
import { type InputOptions, inputOf } from './input-options.ts';
import { filesBelow } from './local-files.ts';

const BAR = 24;

/**
 * Formats the progress as `[######------------------]  25 %  Finding standard planes, 12 s left`,
 * at most `columns` wide.
 */
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

/**
 * Redraws one line of a terminal; if the output is not a terminal, writes one line for each stage.
 */
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

interface SubmitOptions extends InputOptions, AnswerForm {
  priority?: string;
  metadata?: string[];
  /** URL to which the events are posted; by default only the event for the end of the request. */
  webhook?: string;
  webhookEvents?: string[];
  /** A repeated command with the same key does not submit a second request. */
  idempotencyKey?: string;
  /** Prints the id of the request without waiting for it to end. */
  detach?: boolean;
}

/** Number of retries: a gateway that does not respond is reported after a second. */
const RETRIES = 2;

/**
 * Connects to the gateway.
 * @throws UsageError if the environment does not specify one.
 */
export function connect(): Sonogate {
  const { SONOGATE_URL: url, SONOGATE_KEY: key } = process.env;
  if (!url || !key) {
    throw new UsageError('set SONOGATE_URL and SONOGATE_KEY (sonogate keys create)');
  }
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError(`SONOGATE_URL is "${url}"; write it as http://host:port or https://host`);
  }
  return new Sonogate({ url, key, retries: RETRIES });
}

/** Uploads files and folders, submits them as a request, and watches it unless `detach` is set. */
export async function submit(
  endpoint: string,
  paths: readonly string[],
  given: SubmitOptions,
): Promise<ExitStatus> {
  const client = connect();
  const found = await filesBelow(paths);
  if (found.length === 0) throw new UsageError(`no file in ${paths.join(', ')}`);
  const { priority, webhook, webhookEvents: events, idempotencyKey, metadata = [] } = given;
  if (events !== undefined && webhook === undefined) {
    throw new UsageError('--webhook-events needs --webhook');
  }
  // Invalid options are rejected before anything is uploaded.
  const input = inputOf(
    given,
    found.map((path) => basename(path)),
  );
  const attached = metadataOf(metadata);
  const earlier = await filesBelow(given.priors ?? []);
  const files = await uploaded(found, client);
  const priors = await uploaded(earlier, client);
  // The gateway validates the options of the endpoint, so this call is not typed.
  const response = await client.fetch(`/v1/run/${endpoint}`, {
    method: 'POST',
    ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
    json: {
      input: { files, ...(priors.length > 0 && { prior_files: priors }), ...input },
      ...(webhook !== undefined && { webhook: { url: webhook, ...(events && { events }) } }),
      ...(priority !== undefined && { priority }),
      metadata: attached,
    },
  });
  const submitted = (await response.json()) as Request;
  if (given.detach) {
    answer(given, submitted, [submitted.id]);
    return EXIT.success;
  }
  (given.json ? process.stderr : process.stdout).write(`${submitted.id}\n`);
  return watch(submitted.id, given, client);
}

async function uploaded(paths: readonly string[], client: Sonogate): Promise<string[]> {
  const ids: string[] = [];
  for (const path of paths) {
    process.stderr.write(`uploading ${basename(path)}\n`);
    ids.push(...(await client.upload([path])));
  }
  return ids;
}

/**
 * Parses the `metadata` option: NAME=VALUE pairs, or one JSON object or array.
 * @throws UsageError
 */
function metadataOf(texts: readonly string[]): unknown {
  const [only = '', ...others] = texts;
  if (others.length === 0 && /^\s*[{[]/.test(only)) {
    try {
      return JSON.parse(only);
    } catch (cause) {
      throw new UsageError(`--metadata is not JSON: ${(cause as Error).message}`, { cause });
    }
  }
  return Object.fromEntries(texts.map(nameAndValue));
}

function nameAndValue(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--metadata "${text}" is not NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Shows the progress of a request until it ends. Then shows the impression, the cost, and how to
 * download the result.
 */
export async function watch(id: string, form: AnswerForm, client = connect()): Promise<ExitStatus> {
  // A gateway that does not respond now is reported. Afterwards, it is waited for.
  await client.calls.getRequest({ id });
  const status = await followed(id, client);
  process.stderr.write(`${status ?? 'unknown'}\n`);
  const request = await client.calls.getRequest({ id });
  if (form.json) answer(form, request, []);
  if (status !== 'succeeded') return EXIT.failed;
  for (const line of summaryOf(request)) process.stderr.write(`${line}\n`);
  return EXIT.success;
}

/** Shows the events of a request until it ends. Returns the status with which it ended. */
async function followed(id: string, client: Sonogate): Promise<RequestStatus | null> {
  const bar = progressBar(process.stderr);
  let after = 0;
  let status: RequestStatus | null = null;
  for (let waits = true; waits; ) {
    try {
      for await (const event of client.follow(id, { after })) {
        after = event.id;
        if (event.name === 'stage') bar.show(event.data);
        if (event.name === 'triage') bar.say(`CRITICAL: ${event.data.display}`);
        if (event.name === 'error') bar.say(event.data.detail);
        if (event.name === 'done') status = event.data.status;
      }
      waits = false;
    } catch (error) {
      // The gateway is restarting: the request continues.
      if (!(error instanceof NoAnswerError)) throw error;
    }
  }
  bar.end();
  return status;
}

/** Returns a request's impression and cost, and how to download its result, as lines of text. */
export function summaryOf({
  id,
  cost,
  output,
}: Pick<Request, 'id' | 'cost'> & { output: unknown }): string[] {
  const { report } = resultSchema.parse(output);
  return [
    ...(report?.impression.map((line) => `  ${line}`) ?? [
      '  no impression, because no report was requested (add --report)',
    ]),
    `cost ${cost.total} ${cost.currency}`,
    `sonogate download ${id} --out DIR`,
  ];
}

export async function cancel(id: string, form: AnswerForm): Promise<void> {
  const request = await connect().cancel(id);
  answer(form, request, [`${id} is ${request.status}`]);
}

/** Prints one line for each request, newest first, or all as a JSON array. */
export async function history({
  json = false,
  since,
  ...filter
}: AnswerForm & {
  model?: string;
  status?: RequestStatus;
  key?: string;
  since?: Date;
  limit?: number;
}): Promise<void> {
  const { data } = await connect().calls.listRequests({
    ...filter,
    ...(since && { since: since.toISOString() }),
  });
  const lines = data.map(({ id, created_at, status, withdrawal, endpoint, cost }) => {
    const state = withdrawal ? 'withdrawn' : status;
    const money = `${cost.total} ${cost.currency}`;
    return `${id}  ${created_at}  ${state.padEnd(9)}  ${endpoint}  ${money}`;
  });
  answer({ json }, data, lines);
}

/** Writes the result and the artifacts of a request to `out`. */
export async function download(
  id: string,
  { out, only, json = false }: AnswerForm & { out: string; only?: string[] },
  client = connect(),
): Promise<void> {
  const { data: listed } = await client.calls.listArtifacts({ id });
  const names = listed.map(({ name }) => name);
  const missing = (only ?? []).filter((name) => !names.includes(name));
  if (missing.length > 0 || listed.length === 0) {
    const what = missing.join(', ') || 'artifact';
    throw new UsageError(`${id} has no ${what}; available: ${names.join(', ') || 'none'}`);
  }
  const written = await client.download(id, out, only);
  answer({ json }, written, written);
}
