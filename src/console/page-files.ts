import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { shell } from './shell.ts';
import { stripTypes } from './strip-types.ts';

/** A file as the browser gets it. */
export interface PageFile {
  mediaType: string;
  body: Buffer;
  gzipped: Buffer;
  /** Strong validator (RFC 9110 8.8.3). */
  etag: string;
}

export interface PageFiles {
  /** By path below `/console/`; null when there is none. */
  file(path: string): PageFile | null;
  /** The page that every deep link opens, and the hash of its import map for the policy. */
  shell: PageFile;
  importMapHash: string;
}

const PAGES = fileURLToPath(new URL('./pages/', import.meta.url));

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.ts': 'text/javascript; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Path below `/console/vendor/` → folder of a package. */
const VENDOR = {
  'lit-html': packageFolder('lit-html'),
  uplot: join(packageFolder('uplot'), 'dist'),
} as const;

/** Names by which pages import libraries. */
const IMPORTS = {
  'lit-html': '/console/vendor/lit-html/lit-html.js',
  'lit-html/': '/console/vendor/lit-html/',
  uplot: '/console/vendor/uplot/uPlot.esm.js',
} as const;

/** Reads and strips everything that the console serves; once, at start. */
export async function readPageFiles(): Promise<PageFiles> {
  const files = new Map<string, PageFile>();
  const own = await filesBelow(PAGES, (name) => extname(name) in MEDIA_TYPES);
  const modules = own.filter((path) => path.endsWith('.ts'));
  const sources = await Promise.all(modules.map((path) => readFile(join(PAGES, path), 'utf8')));
  const stripped = new Map((await stripTypes(sources)).map((text, n) => [modules[n], text]));
  for (const path of own) {
    const text = stripped.get(path);
    const body = text === undefined ? await readFile(join(PAGES, path)) : Buffer.from(text);
    files.set(path, await pageFile(path, body));
  }
  for (const [name, folder] of Object.entries(VENDOR)) {
    for (const path of await filesBelow(folder, isVendorFile)) {
      const body = await readFile(join(folder, path));
      files.set(`vendor/${name}/${path}`, await pageFile(path, body));
    }
  }
  const page = shell({ imports: IMPORTS, modules, icon: files.has('icon.svg') });
  return {
    file: (path) => files.get(path) ?? null,
    shell: await pageFile('shell.html', Buffer.from(page.html), 'text/html; charset=utf-8'),
    importMapHash: page.importMapHash,
  };
}

function packageFolder(name: string): string {
  const described = findPackageJSON(name, import.meta.url);
  if (!described) throw new Error(`the package ${name} is not installed`);
  return dirname(described);
}

/** Modules for browsers and style, without those for Node and for debugging. */
function isVendorFile(path: string): boolean {
  return /^((directives\/)?[a-z-]+\.js|uPlot\.(esm\.js|min\.css))$/.test(path);
}

async function filesBelow(folder: string, wanted: (path: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter(wanted)
    .sort();
}

async function pageFile(
  path: string,
  body: Buffer,
  mediaType = MEDIA_TYPES[extname(path)] ?? 'application/octet-stream',
): Promise<PageFile> {
  return {
    mediaType,
    body,
    gzipped: await promisify(gzip)(body),
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
  };
}
