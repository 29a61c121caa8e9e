import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stripTypes } from '../../../../src/doors/console/page-files.ts';
import { type ConsoleSite, openConsole } from './site.ts';

let site: ConsoleSite;
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${site.url}/console/${path}`, { headers, redirect: 'manual' });

beforeAll(async () => {
  site = await openConsole();
});
afterAll(() => site.close());

describe('the shell', () => {
  it.each(['', 'worklist/abc', 'deliveries', 'a/b/c'])(
    'is returned for the deep link /console/%s',
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
      expect(await answer.text()).toContain('<div id="console"></div>');
    },
  );

  it('is where the bare address of the gateway leads', async () => {
    const answer = await fetch(site.url, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('Location')]).toEqual([302, '/console/']);
  });

  it("may run the gateway's scripts and its import map, but nothing else inline", async () => {
    const answer = await get('');
    const policy = answer.headers.get('Content-Security-Policy') ?? '';
    const html = await answer.text();
    const inline = [...html.matchAll(/<script(?![^>]*src)[^>]*>([^<]*)</g)].map(([, text]) => text);
    expect(inline).toHaveLength(1);
    const hash = createHash('sha256')
      .update(inline[0] ?? '')
      .digest('base64');
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        `script-src 'self' 'sha256-${hash}'`,
        "style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
      ]),
    );
    expect(policy).not.toContain('unsafe');
    expect(html).not.toMatch(/\son\w+=|\sstyle=|<style/);
  });

  it('refers only to files that exist', async () => {
    const html = await (await get('')).text();
    const map = JSON.parse(/importmap">([^<]*)</.exec(html)?.[1] ?? '').imports;
    const named = [...html.matchAll(/(?:href|src)="\/console\/([^"]+)"/g)].map(([, path]) => path);
    const files = [...named, ...Object.values(map).map((path) => String(path).slice(9))];
    for (const file of files.filter((path) => !path?.endsWith('/'))) {
      expect((await get(file ?? '')).status, file).toBe(200);
    }
  });
});

describe('a file', () => {
  it('in TypeScript is served as JavaScript', async () => {
    const answer = await get('main.ts');
    expect(answer.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8');
    expect(await answer.text()).not.toMatch(/import type|: string\b/);
  });

  it('is answered with 304 if the browser has it', async () => {
    const etag = (await get('main.ts')).headers.get('ETag') ?? '';
    // Without this header, `fetch` would bypass its cache and request a new copy.
    const headers = { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' };
    const answer = await get('main.ts', headers);
    expect([answer.status, await answer.text()]).toEqual([304, '']);
  });

  it('is sent uncompressed to a client that does not accept gzip', async () => {
    const { status, headers } = await get('main.ts', { 'Accept-Encoding': 'identity' });
    expect([status, headers.get('Content-Encoding')]).toEqual([200, null]);
  });

  it.each([
    'absent.ts',
    'tsconfig.json',
    '../contract.ts',
    '%2e%2e/contract.ts',
    'vendor/lit-html/package.json',
    'vendor/../../../package.json',
  ])('%s is not served', async (path) => {
    expect((await get(path)).status).toBe(404);
  });
});

describe('stripTypes', () => {
  it('keeps lines and columns', async () => {
    const [stripped] = await stripTypes(['const a: number = 1;\nlet b = a as unknown;\n']);
    expect(stripped).toBe('const a         = 1;\nlet b = a           ;\n');
  });

  it('reports syntax that cannot be erased', async () => {
    await expect(stripTypes(['enum A { B }'])).rejects.toThrow(/enum/);
  });
});
