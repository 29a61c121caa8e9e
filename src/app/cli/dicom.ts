import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CalledNode } from '../../../dimse/network/dial.ts';
import { type StoreResult, sendFiles } from '../../../dimse/send/store-scu.ts';
import { echo as verify } from '../../../dimse/send/verification.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { ClientCertificates, type ClientFiles } from '../../platform/tls/client-files.ts';
import { type AnswerForm, answer } from './answer.ts';
import { EXIT, type ExitStatus, inWords, statusOf, UsageError } from './exit-status.ts';

export interface DicomNode {
  aeTitle: string;
  host: string;
  port: number;
}

const COMMAND_AE_TITLE = 'SONOGATE-CLI';

/**
 * Timeout for commands in seconds. It is shorter than the timeouts of the gateway, because a person
 * is waiting.
 */
const COMMAND_TIMEOUT_SECONDS = 30;

/**
 * Parses `AE@host:port`; an IPv6 address is in brackets.
 * @throws UsageError with the expected form.
 */
export function parseDicomNode(text: string): DicomNode {
  const match = /^([^@\\]{1,16})@(\[[0-9a-fA-F:]+\]|[^:@[\]]+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match?.[1] || !match[2] || port < 1 || port > 65535) {
    throw new UsageError(`"${text}" is not a DICOM node; write it as AE@host:port`);
  }
  return { aeTitle: match[1], host: match[2].replace(/^\[|\]$/g, ''), port };
}

interface CallOptions extends AnswerForm, ClientFiles {
  from?: string;
  tls?: boolean;
  serverName?: string;
}

/**
 * Returns the node to connect to. Every option about certificates implies TLS, so that nobody who
 * forgets `--tls` sends images in plain text.
 */
function calledNode(text: string, { from, tls = false, ...options }: CallOptions): CalledNode {
  const { caFile, certFile, keyFile, serverName } = options;
  if (!certFile !== !keyFile) throw new UsageError('give --cert-file and --key-file together');
  const isEncrypted = tls || [caFile, certFile, serverName].some((given) => given !== undefined);
  return {
    ...parseDicomNode(text),
    callingAeTitle: from ?? COMMAND_AE_TITLE,
    timeoutSeconds: COMMAND_TIMEOUT_SECONDS,
    ...(isEncrypted && {
      tls: { caFile, certFile, keyFile, serverName, certificates: new ClientCertificates() },
    }),
  };
}

export async function echo(text: string, options: CallOptions): Promise<ExitStatus> {
  const node = calledNode(text, options);
  try {
    const { status, milliseconds } = await verify(node);
    const success = status === 0 ? 'success' : `status ${status.toString(16).padStart(4, '0')}H`;
    answer(options, { status, milliseconds }, [
      `${text}: ${success} in ${milliseconds.toFixed(0)} ms`,
    ]);
    return status === 0 ? EXIT.success : EXIT.refused;
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    process.stderr.write(`${text}: ${inWords(error)}\n`);
    return statusOf(error.code);
  }
}

/** The prefix `DICM` follows the preamble of 128 bytes (PS3.10 7.1). */
const PREFIX_OFFSET = 128;

async function isPart10(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, PREFIX_OFFSET);
    return buffer.toString('latin1') === 'DICM';
  } finally {
    await file.close();
  }
}

/**
 * Returns the given files, and the DICOM files in the given folders (all levels, sorted by name). A
 * given file is always kept, so that the sender can report what is wrong with it.
 */
async function findDicomFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    if (!(await stat(path)).isDirectory()) {
      found.push(path);
      continue;
    }
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    for (const file of files.map((entry) => join(entry.parentPath, entry.name)).sort()) {
      if (await isPart10(file)) found.push(file);
    }
  }
  return found;
}

/**
 * Sends files and folders by C-STORE, and prints a line for each object unless the answer is JSON.
 * @returns what became of each object; null if no association was established. The status is
 * success only if the peer accepted every object.
 */
export async function store(
  text: string,
  paths: readonly string[],
  options: CallOptions,
): Promise<{ results: StoreResult[] | null; status: ExitStatus }> {
  const node = calledNode(text, options);
  const files = await findDicomFiles(paths);
  if (files.length === 0) throw new UsageError(`no DICOM file in ${paths.join(', ')}`);
  try {
    const results = await sendFiles(node, files, {
      onResult: (path, { outcome, detail }) => {
        if (!options.json) process.stdout.write(`${outcome.padEnd(8)} ${path} (${detail})\n`);
      },
    });
    const refused = results.some(({ outcome }) => outcome === 'failed');
    return { results, status: refused ? EXIT.refused : EXIT.success };
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    process.stderr.write(`${text}: ${inWords(error)}\n`);
    return { results: null, status: statusOf(error.code) };
  }
}

/** Returns the last line about sent objects for a person. */
export function countSent(results: readonly StoreResult[]): string {
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  return `${results.length - failed} sent, ${failed} failed`;
}

/** Sends files and folders, and prints what became of each object. */
export async function send(
  text: string,
  paths: string[],
  options: CallOptions,
): Promise<ExitStatus> {
  const { results, status } = await store(text, paths, options);
  if (results) answer(options, results, [countSent(results)]);
  return status;
}
