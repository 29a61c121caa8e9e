import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createFalClient } from '@fal-ai/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import {
  MODEL_TASKS,
  modelsInUse,
  readRegistry,
} from '../../pipelines/inference/model-registry.ts';
import type { EventName } from '../../src/core/requests/events.ts';
import { openSite, type Site } from './site.ts';

const CLI = fileURLToPath(new URL('../../src/app/cli/sonogate.ts', import.meta.url));

let site: Site;
let url: string;
let key: string;
let client: Sonogate;
let folder: string;
let scan: string;

async function newKey(test: boolean): Promise<string> {
  const made = await site.gateway.run('keys.create', { name: 'client', test });
  return made.key;
}

beforeAll(async () => {
  site = await openSite({
    roles: ['api', 'worker'],
    http: { host: '127.0.0.1', port: 0, maxUploadBytes: 1000, uploadPartBytes: 600 },
  });
  url = site.gateway.http?.url ?? '';
  key = await newKey(true);
  client = new Sonogate({ url, key });
  folder = await mkdtemp(join(tmpdir(), 'sonogate-client-'));
  scan = join(folder, 'scan.dcm');
  await writeFile(scan, 'no image at all');
});
afterAll(async () => {
  await site.close();
  await rm(folder, { recursive: true });
});

async function run(endpoint: string, metadata: Record<string, string> = {}) {
  const { id } = await client.submit(endpoint, { files: [scan], metadata });
  const names: EventName[] = [];
  for await (const { name } of client.follow(id)) names.push(name);
  return { request: await client.calls.getRequest({ id }), events: new Set(names) };
}

describe('a request made with a test key', () => {
  it.each(['us/obstetric', 'us/echo'])(
    '%s succeeds free of charge, without a model',
    async (model) => {
      const { request, events } = await run(model);
      expect(request).toMatchObject({
        model,
        status: 'succeeded',
        test: true,
        cost: { total: '0.00' },
        output: { models: [{ id: 'mock' }] },
      });
      expect(events).toEqual(new Set(['status', 'stage', 'partial', 'done']));
    },
  );

  it.each([
    ['reject', 'rejected', 'no_readable_image'],
    ['fail', 'failed', 'pipeline_failed'],
  ])('with metadata.mock %s ends as %s', async (mock, status, code) => {
    const { request, events } = await run('us/obstetric', { mock });
    expect(request).toMatchObject({ status, output: null, error: { code } });
    expect(events).toContain('error');
  });

  it('with metadata.mock triage announces a critical flag', async () => {
    const { events } = await run('us/echo', { mock: 'triage' });
    expect(events).toContain('triage');
  });

  it('with metadata.mock slow can be canceled while it runs', async () => {
    const { id } = await client.submit('us/echo', { files: [scan], metadata: { mock: 'slow' } });
    for await (const { name, data } of client.follow(id)) {
      const { status } = data as { status?: string };
      if (name === 'status' && status === 'running') await client.cancel(id);
    }
    expect((await client.calls.getRequest({ id })).status).toBe('canceled');
  });

  it("runs through the compatible queue with fal's client", async () => {
    const fal = createFalClient({
      credentials: key,
      requestMiddleware: async (request) => ({
        ...request,
        url: request.url.replace(/^https:\/\/(queue\.fal\.run|rest\.fal\.ai)/, `${url}/queue`),
      }),
    });
    const { data } = await fal.subscribe('us/echo/interpret', {
      mode: 'streaming',
      input: { files: [new File(['no image'], 'clip.mp4', { type: 'video/mp4' })] },
    });
    expect(data).toMatchObject({ endpoint: 'us/echo/interpret', models: [{ id: 'mock' }] });
  });
});

describe('the client', () => {
  it('uploads a large file in parts', async () => {
    const large = join(folder, 'large.dcm');
    await writeFile(large, 'x'.repeat(1500));
    const [id] = await client.upload([large]);
    const upload = await fetch(`${url}/v1/uploads/${id}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(await upload.json()).toMatchObject({
      file: { status: 'ready', bytes: 1500 },
      upload: null,
    });
  });
});

describe('GET /v1/models/{ns}/{model}', () => {
  const model = async (id: string) => {
    const headers = { Authorization: `Bearer ${key}` };
    return (await fetch(`${url}/v1/models/${id}`, { headers })).json();
  };

  it('lists sections, prices and the models in use with licence and accuracy', async () => {
    expect(await model('us/obstetric')).toMatchObject({
      versions: ['1.0.0'],
      prices: { lines: [{ unit_price: '0.08' }, { item: 'report', unit_price: '0.02' }] },
      sections: expect.arrayContaining([{ id: 'biometry', title: 'Biometry' }]),
      models: expect.arrayContaining([
        expect.objectContaining({ id: 'fetal-head', accuracy: expect.anything() }),
      ]),
    });
  });

  it.each([
    ['us/obstetric', MODEL_TASKS.obstetric],
    ['us/echo', MODEL_TASKS.echo],
  ])('lists for %s every model in the registry that it may use', async (id, tasks) => {
    const used = modelsInUse(await readRegistry(), site.config.models.allow);
    const own = used.filter(({ task }) => tasks.some((each) => each === task));
    const { models } = (await model(id)) as { models: { id: string; task: string }[] };
    expect(models.map((listed) => listed.id)).toEqual(own.map((entry) => entry.id));
    expect(new Set(models.map(({ task }) => task)), 'no task without a model').toEqual(
      new Set(tasks),
    );
  });

  it('lists the prices of echo by number of frames', async () => {
    expect(await model('us/echo')).toMatchObject({
      prices: { by_frames: [{ price: '0.06' }, { price: '0.15' }, { price: '0.25' }] },
    });
  });
});

describe('a request made with a live key', () => {
  it.each(['us/obstetric', 'us/echo'])(
    '%s is not read by a mock: no image, no result',
    async (to) => {
      const live = new Sonogate({ url, key: await newKey(false) });
      const { id } = await live.submit(to, { files: [scan] });
      for await (const { name } of live.follow(id)) if (name === 'done') break;
      expect(await live.calls.getRequest({ id })).toMatchObject({
        status: 'rejected',
        test: false,
        error: { code: 'no_readable_image' },
        cost: { total: '0.00' },
      });
    },
  );
});

describe('the commands of a client', () => {
  const sonogate = (...given: string[]) =>
    promisify(execFile)(process.execPath, [CLI, ...given], {
      env: { ...process.env, SONOGATE_URL: url, SONOGATE_KEY: key },
    });

  it('submit, watch, download and list a request', async () => {
    const submitted = await sonogate('submit', 'us/obstetric', scan, '--ga-days', '196');
    const id = submitted.stdout.trim();
    expect(submitted.stderr).toContain('Finding standard planes');
    expect(submitted.stderr.trim().split('\n').slice(-4)).toEqual([
      'succeeded',
      '  no impression, because no report was requested (add --report)',
      expect.stringMatching(/^cost \d+\.\d\d USD$/),
      `sonogate download ${id} --out DIR`,
    ]);

    const out = join(folder, 'out');
    await sonogate('download', id, '--out', out);
    expect(await readdir(out)).toEqual(expect.arrayContaining(['report.pdf', 'result.json']));
    const result = JSON.parse(await readFile(join(out, 'result.json'), 'utf8'));
    expect(result.endpoint).toBe('us/obstetric/interpret');

    const { stdout } = await sonogate('history', '--model', 'us/obstetric', '--limit', '1');
    expect(stdout).toContain(`${id}  `);
    await expect(sonogate('cancel', id)).rejects.toMatchObject({
      stderr: expect.stringContaining('already_finished'),
    });
  });

  it('show by their exit status how a request ended', async () => {
    const rejected = sonogate('submit', 'us/echo', scan, '--metadata', 'mock=reject');
    await expect(rejected).rejects.toMatchObject({ code: 5 });
  });
});
