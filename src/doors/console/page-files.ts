import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';

interface ShellParts {
  imports: Readonly<Record<string, string>>;
  /** Modules of the pages, preloaded in parallel rather than one after the other. */
  modules: readonly string[];
  icon: boolean;
}

/**
 * Returns the console's only HTML page. Its only inline content is the import map, which the policy
 * allows by its hash.
 */
function shell({ imports, modules, icon }: ShellParts): {
  html: string;
  importMapHash: string;
} {
  const importMap = JSON.stringify({ imports });
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sonogate</title>
${icon ? '<link rel="icon" href="/console/icon.svg" type="image/svg+xml">\n' : ''}<link rel="stylesheet" href="/console/styles/main.css">
<script type="importmap">${importMap}</script>
${modules.map((path) => `<link rel="modulepreload" href="/console/${path}">`).join('\n')}
<script type="module" src="/console/main.ts"></script>
</head>
<body>
<div id="console"></div>
<noscript>The Sonogate console needs JavaScript.</noscript>
</body>
</html>
`;
  const digest = createHash('sha256').update(importMap).digest('base64');
  return { html, importMapHash: `'sha256-${digest}'` };
}

/**
 * Worker source that strips types. `stripTypeScriptTypes` is experimental in Node 24 and prints a
 * warning, which can be hidden in a separate thread without hiding the gateway's other warnings.
 */
const STRIPPING = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { stripTypeScriptTypes } = require('node:module');
  parentPort.postMessage(workerData.map((source) => stripTypeScriptTypes(source)));
`;

/**
 * Converts TypeScript modules to JavaScript. Types are replaced with blanks, so lines and columns
 * stay the same.
 * @throws Node's error for a module with syntax that cannot be erased.
 */
export async function stripTypes(sources: readonly string[]): Promise<string[]> {
  const worker = new Worker(STRIPPING, {
    eval: true,
    workerData: sources,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const [stripped] = (await once(worker, 'message')) as [string[]];
  return stripped;
}

export interface PageFile {
  mediaType: string;
  body: Buffer;
  gzipped: Buffer;
  /** Strong validator (RFC 9110 8.8.3). */
  etag: string;
}

export interface PageFiles {
  /** Returns the file at a path below `/console/`; null if there is no such file. */
  file(path: string): PageFile | null;
  /**
   * The page served for every deep link. `importMapHash` is the hash of its import map, for the
   * content security policy.
   */
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

/** The package folder served at each path below `/console/vendor/`. */
const VENDOR = {
  'lit-html': packageFolder('lit-html'),
  uplot: join(packageFolder('uplot'), 'dist'),
} as const;

const IMPORTS = {
  'lit-html': '/console/vendor/lit-html/lit-html.js',
  'lit-html/': '/console/vendor/lit-html/',
  uplot: '/console/vendor/uplot/uPlot.esm.js',
} as const;

let pageFiles: Promise<PageFiles> | null = null;

/** Returns all files that the console serves. They are read only once. */
export function readPageFiles(): Promise<PageFiles> {
  pageFiles ??= read();
  return pageFiles;
}

/** Reads the files and strips the modules' types. */
async function read(): Promise<PageFiles> {
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

/** Whether a file is a browser module or a style, rather than one for Node or for debugging. */
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
