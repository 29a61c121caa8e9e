import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { GENERATED } from '../../clients/generate.ts';
import { echoEndpoint } from '../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../pipelines/obstetric/endpoint.ts';
import { signedHeaders } from '../../src/core/webhooks/signature.ts';
import { API_VERSION, describeApi } from '../../src/doors/http/openapi/document.ts';
import { openSite, type Site } from '../gateway/site.ts';
import { freePort } from '../peers/free-port.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENTS = join(ROOT, 'clients');
const run = promisify(execFile);

/** Folder into which `.ci/run` installs what is needed to build and run the Python client. */
const PYTHON_MODULES = join(ROOT, '.ci/clients');
const PYTHON_INSTALLED =
  spawnSync(
    'python3',
    ['-c', 'import hatchling, httpx, mypy, sys; assert sys.version_info >= (3, 11)'],
    {
      env: { ...process.env, PYTHONPATH: PYTHON_MODULES },
    },
  ).status === 0;

const CLI = join(ROOT, 'src/app/cli/sonogate.ts');

/** The receiver's port in the guides. The tests use a free port for each language. */
const PORT_OF_GUIDES = '9000';

/**
 * Returns the code blocks of docs/guides.md in one language, with a free port in place of the
 * documented one.
 */
let guideBlocks: (language: string) => string[];

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

async function examples(client: string, language: string): Promise<string[]> {
  const text = await readFile(join(CLIENTS, client, 'README.md'), 'utf8');
  const blocks = text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'));
  return [...blocks].map(([, code = '']) => code);
}

function samples(label: string): [id: string, source: string][] {
  const { paths } = describeApi([obstetricEndpoint, echoEndpoint], 'https://ward.example');
  return Object.values(paths).flatMap((methods) =>
    Object.values(methods).map((call): [string, string] => {
      const { operationId, 'x-codeSamples': all } = call as {
        operationId: string;
        'x-codeSamples': { label: string; source: string }[];
      };
      return [operationId, all.find((each) => each.label === label)?.source ?? ''];
    }),
  );
}

let site: Site;
let folder: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  const guides = await readFile(join(ROOT, 'docs/guides.md'), 'utf8');
  const ports = { ts: await freePort(), python: await freePort() };
  guideBlocks = (language) =>
    [...guides.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
      ([, code = '']) =>
        code.replaceAll(PORT_OF_GUIDES, String(language === 'python' ? ports.python : ports.ts)),
    );
  const [settings = ''] = guideBlocks('yaml');
  const { outbound } = parseYaml(settings);
  outbound.hosts[0].ports.push(ports.python);
  site = await openSite({
    outbound,
    roles: ['api', 'worker', 'delivery'],
    http: { host: '127.0.0.1', port: 0, maxUploadBytes: 1000, uploadPartBytes: 600 },
  });
  const { key } = await site.gateway.run('keys.create', { name: 'client', test: true });
  folder = await mkdtemp(join(tmpdir(), 'sonogate-clients-'));
  environment = { ...process.env, SONOGATE_URL: site.gateway.http?.url ?? '', SONOGATE_KEY: key };
  await mkdir(join(folder, 'study/series'), { recursive: true });
  await writeFile(join(folder, 'study/series/large.dcm'), 'x'.repeat(1500));
  await writeFile(join(folder, 'study/small.dcm'), 'y'.repeat(100));
  await writeFile(join(folder, 'scan.dcm'), 'z'.repeat(300));
});
afterAll(async () => {
  await site?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** Runs an example receiver, sends it a webhook signed with the secret, and returns its output. */
async function receive(command: string[], env: NodeJS.ProcessEnv, secret: string): Promise<string> {
  const port = await freePort();
  const [program = '', ...rest] = command;
  const child: ChildProcess = spawn(program, rest, {
    cwd: folder,
    env: { ...env, WEBHOOK_SECRET: SECRET, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    if (!child.stdout || !child.stderr) throw new Error('no output');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('listening');
    const body = JSON.stringify({ event: 'request.succeeded', id: 'req_1', status: 'succeeded' });
    const headers = signedHeaders([secret], 'whd_1', new Date(), body);
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    return `${answer.status}`;
  } finally {
    child.kill('SIGKILL');
  }
}

let setUp: Promise<NodeJS.ProcessEnv> | undefined;

/**
 * Follows the guides once to create the key and the secret, and returns the environment with both.
 */
function followedSetUp(): Promise<NodeJS.ProcessEnv> {
  setUp ??= followSetUp();
  return setUp;
}

async function followSetUp(): Promise<NodeJS.ProcessEnv> {
  const [, keys = ''] = guideBlocks('sh');
  const npx = `npx() { shift; '${process.execPath}' '${CLI}' "$@"; }`;
  const shown = `printf '%s\\n' "$SONOGATE_KEY" "$WEBHOOK_SECRET"`;
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', [npx, keys, shown].join('\n')], {
    cwd: folder,
    env: { ...environment, SONOGATE_DATA_DIR: site.config.dataDir },
  });
  const [key = '', secret = ''] = stdout.trim().split('\n').slice(-2);
  return { ...environment, SONOGATE_KEY: key, WEBHOOK_SECRET: secret };
}

/** Runs a receiver from the guides; `said` waits for its next line. */
async function startReceiver(command: readonly string[], env: NodeJS.ProcessEnv) {
  const [program = '', ...rest] = command;
  const child = spawn(program, rest, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const said = async () => (await lines.next()).value as string;
  expect(await said()).toBe('listening');
  return { said, stop: () => child.kill('SIGKILL') };
}

const VERIFIED = 'verified: request.succeeded succeeded';

/** The test runs several programs and mock requests, one after the other. */
const LONG = { timeout: 240_000 };

describe('the generated parts of the clients', () => {
  it.each(Object.entries(GENERATED))('%s matches the API description', async (path, make) => {
    expect(await readFile(join(CLIENTS, path), 'utf8')).toBe(make());
  });

  it('state the type of a value that may be null', () => {
    expect(GENERATED['typescript/src/generated.ts']?.()).toMatch(/ sha256: string \| null;/);
    expect(GENERATED['python/src/sonogate/_generated.py']?.()).toMatch(/ sha256: str \| None\n/);
  });

  it('have the version of the API', async () => {
    const { version } = JSON.parse(
      await readFile(join(CLIENTS, 'typescript/package.json'), 'utf8'),
    );
    expect(version).toBe(API_VERSION);
    const project = await readFile(join(CLIENTS, 'python/pyproject.toml'), 'utf8');
    expect(project).toContain(`version = "${API_VERSION}"`);
  });
});

describe('the packed client for TypeScript', () => {
  beforeAll(async () => {
    await run('npm', ['pack', '--pack-destination', folder], { cwd: join(CLIENTS, 'typescript') });
    const own = join(folder, 'node_modules/@sonogate/client');
    await mkdir(own, { recursive: true });
    const archive = join(folder, `sonogate-client-${API_VERSION}.tgz`);
    await run('tar', ['-xzf', archive, '-C', own, '--strip-components=1']);
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  });

  const node = async (name: string, code: string) => {
    await writeFile(join(folder, name), code);
    const { stdout } = await run(process.execPath, [name], { cwd: folder, env: environment });
    return stdout;
  };

  it(
    'submits a folder, follows the request and downloads its artifacts, as its README shows',
    LONG,
    async () => {
      const [first = ''] = await examples('typescript', 'ts');
      const said = await node('first.ts', first);
      expect(said).toContain('1600 of 1600 bytes');
      expect(said).toContain('Measuring the head');
      expect(said).toContain('report.pdf');
      const again = await node('first.ts', first);
      expect(again, 'the second time it is the same request').toContain('report.pdf');
      const history = await node(
        'history.ts',
        `import { Sonogate } from '@sonogate/client';
       console.log((await new Sonogate().calls.listRequests()).data.length);`,
      );
      expect(history.trim()).toBe('1');
    },
  );

  it('makes every call, and reports why one was refused, as its README shows', async () => {
    const said = await node('calls.ts', (await examples('typescript', 'ts'))[1] ?? '');
    expect(said).toMatch(/succeeded/);
    expect(said).toContain('404 not_found');
  });

  it('resumes events after the last one that it received', async () => {
    const said = await node(
      'resume.ts',
      `import { Sonogate } from '@sonogate/client';
       const sonogate = new Sonogate();
       const { id } = (await sonogate.calls.listRequests()).data[0]!;
       const seen = [];
       for await (const event of sonogate.follow(id, { after: 3 })) seen.push(event.id);
       console.log(JSON.stringify(seen));`,
    );
    const seen: number[] = JSON.parse(said);
    expect(seen[0]).toBe(4);
    expect(seen).toEqual(seen.map((_, n) => n + 4));
  });

  it('rejects a webhook that was signed with another secret', async () => {
    await writeFile(join(folder, 'hook.ts'), (await examples('typescript', 'ts'))[2] ?? '');
    const command = [process.execPath, 'hook.ts'];
    expect(await receive(command, environment, SECRET)).toBe('204');
    expect(await receive(command, environment, `whsec_${'A'.repeat(43)}=`)).toBe('400');
  });

  it(
    'receives a verified webhook as the guides describe, also for a request made with curl',
    LONG,
    async () => {
      const env = await followedSetUp();
      const [receiver = '', submit = ''] = guideBlocks('ts');
      await writeFile(join(folder, 'receiver.ts'), receiver);
      await writeFile(join(folder, 'submit.ts'), submit);
      const listening = await startReceiver([process.execPath, 'receiver.ts'], env);
      try {
        const ran = await run(process.execPath, ['submit.ts'], { cwd: folder, env });
        expect(ran.stdout).toMatch(/^succeeded \d+\n$/);
        expect(await listening.said()).toBe(VERIFIED);
        const script = guideBlocks('sh').slice(2).join('\n');
        const shell = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env });
        expect(await listening.said()).toBe(VERIFIED);
        const [ended, triage, first, again, ...errors] = shell.stdout.trim().split('\n');
        expect([ended, triage]).toEqual(['succeeded', 'event: triage']);
        expect(again).toBe(first);
        expect(errors).toEqual([
          'invalid_input',
          '/input/files',
          '/priority',
          expect.stringMatching(/^IN_/),
        ]);
      } finally {
        listening.stop();
      }
    },
  );

  it('runs every guide', LONG, async () => {
    const [uploads, events, idempotency, errors, queue] = await Promise.all(
      guideBlocks('ts')
        .slice(2)
        .map((code, n) => node(`guide-${n}.ts`, code)),
    );
    expect(uploads).toContain('300 of 300 bytes\n1 file');
    expect(events).toMatch(/Interpreting\nCRITICAL: MOCK.*\n(?:.*\n)*picture: MOCK/);
    expect(idempotency).toBe('one request\n');
    expect(errors).toMatch(/identifiers_in_context .*"Mrs Roe"/);
    expect(errors).toContain('rejected no_readable_image');
    expect(queue).toMatch(/^IN_/);
  });

  it('accepts every sample in the reference', async () => {
    await mkdir(join(folder, 'samples'));
    for (const [n, code] of guideBlocks('ts').entries()) {
      await writeFile(join(folder, 'samples', `guides-${n}.ts`), code);
    }
    for (const [id, source] of samples('TypeScript')) {
      await writeFile(join(folder, 'samples', `${id}.ts`), source);
    }
    const [first = '', second = '', third = ''] = await examples('typescript', 'ts');
    for (const [n, code] of [first, second, third].entries()) {
      await writeFile(join(folder, 'samples', `readme-${n}.ts`), code);
    }
    await cp(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'), {
      recursive: true,
      filter: (path) => !path.includes('@types/') || path.includes('@types/node'),
    });
    const undici = 'node_modules/undici-types';
    await cp(join(ROOT, undici), join(folder, undici), { recursive: true });
    const options = {
      compilerOptions: {
        target: 'esnext',
        module: 'nodenext',
        strict: true,
        noEmit: true,
        types: ['node'],
        lib: ['esnext'],
      },
      include: ['samples'],
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(options));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { stdout } = await run(tsc, ['-p', '.'], { cwd: folder }).catch((error) => error);
    expect(stdout).toBe('');
  });
});

describe.skipIf(!PYTHON_INSTALLED)('the built client for Python', () => {
  const build = { ...process.env, PYTHONPATH: PYTHON_MODULES };
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    const pip = (...given: string[]) =>
      run('python3', ['-m', 'pip', '--quiet', '--disable-pip-version-check', ...given], {
        env: build,
      });
    const source = join(folder, 'python');
    await cp(join(CLIENTS, 'python'), source, { recursive: true });
    const wheels = join(folder, 'wheels');
    await pip('wheel', '--no-deps', '--no-build-isolation', '--wheel-dir', wheels, source);
    const [wheel = ''] = await readdir(wheels);
    await pip('install', '--no-deps', '--target', join(folder, 'site'), join(wheels, wheel));
    env = { ...environment, PYTHONPATH: `${join(folder, 'site')}:${PYTHON_MODULES}` };
  });

  const python = async (code: string) =>
    (await run('python3', ['-c', code], { cwd: folder, env })).stdout;

  it(
    'submits a folder, follows the request and downloads its artifacts, as its README shows',
    LONG,
    async () => {
      const [first = '', asynchronous = '', calls = ''] = await examples('python', 'python');
      const said = await python(first);
      expect(said).toContain('1600 of 1600 bytes');
      expect(said).toContain('Measuring the head');
      expect(said).toContain('report.pdf');
      expect(await python(asynchronous)).toMatch(/done\nsucceeded\n$/);
      expect(await python(calls)).toContain('404 not_found');
    },
  );

  it('resumes events after the last one that it received', async () => {
    const said = await python(`
from sonogate import Sonogate
with Sonogate() as sonogate:
    id = sonogate.calls.list_requests()["data"][0]["id"]
    print([event.id for event in sonogate.follow(id, after=3)])
`);
    const seen: number[] = JSON.parse(said);
    expect(seen[0]).toBe(4);
    expect(seen).toEqual(seen.map((_, n) => n + 4));
  });

  it('rejects a webhook that was signed with another secret', async () => {
    await writeFile(join(folder, 'hook.py'), (await examples('python', 'python'))[3] ?? '');
    const command = ['python3', 'hook.py'];
    expect(await receive(command, env, SECRET)).toBe('204');
    expect(await receive(command, env, `whsec_${'A'.repeat(43)}=`)).toBe('400');
  });

  it('receives a verified webhook as the guides describe', LONG, async () => {
    const withKey = await followedSetUp();
    const given = { ...withKey, PYTHONPATH: env.PYTHONPATH };
    const [receiver = '', submit = ''] = guideBlocks('python');
    await writeFile(join(folder, 'receiver.py'), receiver);
    await writeFile(join(folder, 'submit.py'), submit);
    const listening = await startReceiver(['python3', 'receiver.py'], given);
    try {
      const ran = await run('python3', ['submit.py'], { cwd: folder, env: given });
      expect(ran.stdout).toMatch(/^succeeded \d+\n$/);
      expect(await listening.said()).toBe(VERIFIED);
    } finally {
      listening.stop();
    }
  });

  it('runs every guide', LONG, async () => {
    const [uploads, events, idempotency, errors, queue] = await Promise.all(
      guideBlocks('python').slice(2).map(python),
    );
    expect(uploads).toContain('300 of 300 bytes\n1 file');
    expect(events).toMatch(/Interpreting\nCRITICAL: MOCK.*\n(?:.*\n)*picture: MOCK/);
    expect(idempotency).toBe('one request\n');
    expect(errors).toMatch(/identifiers_in_context .*"Mrs Roe"/);
    expect(errors).toContain('rejected no_readable_image');
    expect(queue).toMatch(/^IN_/);
  });

  it('accepts every sample in the reference', async () => {
    const own = join(folder, 'python-samples');
    await mkdir(own);
    for (const [id, source] of samples('Python')) await writeFile(join(own, `${id}.py`), source);
    const paths = (await readdir(own)).map((name) => join(own, name));
    const site = join(folder, 'site/sonogate');
    const { stdout } = await run('python3', ['-m', 'mypy', '--strict', site, ...paths], {
      env,
      cwd: folder,
    }).catch((error) => error);
    expect(stdout).toMatch(/^Success/);
  });
});
