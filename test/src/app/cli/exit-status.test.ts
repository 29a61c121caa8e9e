import { type AddressInfo, createServer } from 'node:net';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ApiError } from '../../../../clients/typescript/src/index.ts';
import { EXIT, explainFailure, statusOf, UsageError } from '../../../../src/app/cli/exit-status.ts';
import { runCommandLine } from '../../../../src/app/cli/sonogate.ts';
import { openServer } from '../../../../src/platform/database/open.ts';
import { SonogateError } from '../../../../src/platform/errors/catalogue.ts';
import { problem } from '../../../../src/platform/errors/problem.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';

/** A file on this machine; its content does not matter. */
const CLI = fileURLToPath(new URL('../../../../src/app/cli/sonogate.ts', import.meta.url));
const NAME = basename(CLI);

/**
 * Runs the command line in this process, which saves time. Returns its exit status and standard
 * error.
 */
async function run(given: readonly string[], environment: Record<string, string> = {}) {
  const named = { SONOGATE_URL: '', SONOGATE_KEY: '', ...environment };
  for (const [name, value] of Object.entries(named)) vi.stubEnv(name, value);
  const written: string[] = [];
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const before = process.exitCode;
  try {
    process.exitCode = undefined;
    await runCommandLine(given);
    return { status: Number(process.exitCode ?? 0), stderr: written.join('') };
  } finally {
    process.exitCode = before;
    spy.mockRestore();
    vi.unstubAllEnvs();
  }
}

async function answering(answer: Buffer): Promise<number> {
  const server = createServer((socket) => socket.once('data', () => socket.end(answer)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('the exit status of a failure', () => {
  it.each([
    ['a wrong argument', new UsageError('x'), EXIT.usage],
    ['a refusal of the gateway', new ApiError(problem('forbidden', 'x', '')), EXIT.refused],
    ['a fault of the gateway', new ApiError(problem('internal', 'x', '')), EXIT.failed],
    ['a peer that does not answer', new SonogateError('peer_unreachable'), EXIT.unreachable],
    ['a rejected association', new SonogateError('peer_rejected_association'), EXIT.refused],
    ['anything else', new TypeError('x is not a function'), EXIT.unexpected],
  ])('depends on its class: %s', (_what, error, status) => {
    expect(explainFailure(error).status).toBe(status);
  });

  it.each([
    ['ENOTFOUND', 'the host name was not found'],
    ['ECONNREFUSED', 'nothing is listening on that port'],
    ['ETIMEDOUT', 'no response in time'],
    ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ])('of a connection is explained in words: %s', (code, words) => {
    const cause = Object.assign(new Error(`connect ${code} 10.0.0.1:104`), { code });
    const failure = new SonogateError('peer_unreachable', cause.message, { cause });
    expect(explainFailure(failure)).toMatchObject({
      status: EXIT.unreachable,
      line: expect.stringContaining(words),
    });
  });

  it('of a database server that refuses the account says what to correct', () => {
    const error = Object.assign(new Error('permission denied for schema public'), {
      code: '42501',
    });
    expect(explainFailure(error)).toEqual({
      status: EXIT.usage,
      line: expect.stringMatching(/^database: permission denied .*own the database/),
    });
  });

  it('of a database server that cannot be reached is not a fault of the program', async () => {
    const url = `postgres://u@127.0.0.1:${await closedPort()}/x`;
    const error = await openServer(url, silentLogger).catch((thrown: unknown) => thrown);
    expect(explainFailure(error)).toEqual({
      status: EXIT.unreachable,
      line: expect.stringMatching(/^database: .*nothing is listening on that port/),
    });
  });

  it('of a missing study is a refusal', () => {
    expect(statusOf('not_found')).toBe(EXIT.refused);
  });
});

describe('a command', () => {
  it.each([
    ['an unknown option', ['echo', 'PACS@localhost:104', '--fast'], "unknown option '--fast'"],
    ['a node in another form', ['echo', 'localhost:104'], 'write it as AE@host:port'],
    ['a missing file', ['send', 'PACS@localhost:104', '/nowhere/a.dcm'], 'no such file or folder'],
    ['no gateway named', ['history'], 'set SONOGATE_URL and SONOGATE_KEY'],
    ['an unknown state', ['history', '--status', 'done'], 'Allowed choices are queued, preparing'],
    ['an instant in words', ['history', '--since', 'yesterday'], 'a period (30m, 12h, 90d), a day'],
    ['an end in the past', ['keys', 'create', '--name', 'n', '--expires', '2020-01-01'], 'future'],
    [
      'an unknown basis',
      ['submit', 'us/obstetric', CLI, '--ga-days', '140', '--basis', 'guess'],
      'Allowed choices are lmp, crl',
    ],
    ['an unknown endpoint', ['interpret', 'us/liver', CLI, '--out', '/x'], 'allowed: us/obstetric'],
  ])('with %s ends with 2 and states what is allowed', async (_what, given, text) => {
    const { status, stderr } = await run(given);
    expect(stderr).toContain(text);
    expect(status).toBe(EXIT.usage);
  });

  it.each([
    ['an address without http', 'gateway:8080', [], 'write it as http://host:port'],
    ['metadata without a value', 'http://a', ['--metadata', 'ward'], 'is not NAME=VALUE'],
    ['metadata that is no JSON', 'http://a', ['--metadata', '{"ward"'], 'is not JSON'],
    ['a scale of no file', 'http://a', ['--per-file-scale', 'b.png=0.1'], 'no such file'],
    ['a scale that is no number', 'http://a', ['--per-file-scale', `${NAME}=x`], 'above 0'],
    ['events without a webhook', 'http://a', ['--webhook-events', 'request.failed'], '--webhook'],
  ])('submit with %s ends with 2 before anything is uploaded', async (_what, url, more, text) => {
    const { status, stderr } = await run(['submit', 'us/obstetric', CLI, ...more], {
      SONOGATE_URL: url,
      SONOGATE_KEY: 'k',
    });
    expect(stderr).toContain(text);
    expect(status).toBe(EXIT.usage);
  });

  it('to a gateway that is not running ends with 4 and asks whether it is', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    for (const given of [['history'], ['watch', 'req_1'], ['submit', 'us/obstetric', CLI]]) {
      const { status, stderr } = await run(given, { SONOGATE_URL: url, SONOGATE_KEY: 'k' });
      expect(stderr).toContain(`no response from ${url}: is the gateway running?`);
      expect(status).toBe(EXIT.unreachable);
    }
  });

  it('to a DICOM node that is not running ends with 4 and states this', async () => {
    const { status, stderr } = await run(['echo', `PACS@127.0.0.1:${await closedPort()}`]);
    expect(stderr).toContain('nothing is listening on that port');
    expect(status).toBe(EXIT.unreachable);
  });

  it('to a node with another AE title ends with 3 and the reason from the A-ASSOCIATE-RJ', async () => {
    // The rejection is permanent (1), by the service user (1), because of the called AE title (7)
    // (PS3.8 9.3.4).
    const port = await answering(Buffer.from('03000000000400010107', 'hex'));
    const { status, stderr } = await run(['echo', `OTHER@127.0.0.1:${port}`]);
    expect(stderr).toContain('A-ASSOCIATE-RJ: called AE title not recognized (1/1/7)');
    expect(status).toBe(EXIT.refused);
  });
});
