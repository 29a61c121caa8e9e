import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * Maximum number of files that a section may depend on (including files with types only), so that a
 * reader need not open too many.
 */
const MOST = 20;

const IMPORT = /(?:\bfrom|\bimport\(|^import)\s*'(\.[^']+)'/gm;

/** Returns the files that a file imports, directly or indirectly, except the file itself. */
function closureOf(file: string, reached = new Set<string>()): ReadonlySet<string> {
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const imported = join(file, '..', path);
    if (reached.has(imported)) continue;
    reached.add(imported);
    closureOf(imported, reached);
  }
  return reached;
}

const sectionsOf = (endpoint: string) =>
  readdirSync(endpoint)
    .map((folder) => join(endpoint, folder, 'section.ts'))
    .filter((file) => existsSync(file));

const CLOSURES = ['pipelines/obstetric', 'pipelines/echo']
  .flatMap(sectionsOf)
  .map((file) => ({ file, size: closureOf(file).size }));

describe('import closure of a section', () => {
  it('is printed', () => {
    const rows = CLOSURES.toSorted((one, other) => one.size - other.size);
    console.info(rows.map(({ file, size }) => `${size} ${file}`).join('\n'));
    expect(rows.length).toBeGreaterThan(20);
  });

  it.each(CLOSURES)(`of $file is at most ${MOST} files`, ({ size }) => {
    expect(size).toBeLessThanOrEqual(MOST);
  });
});

/** Imports that run when a file is loaded: neither type imports nor dynamic ones. */
const AT_LOAD = /^(?:import|export)(?! type\b)(?:[^;'=]*\bfrom)? '([^']+)'/gm;

/** Returns the packages that are loaded together with one of our files. */
function packagesOf(file: string, seen = new Set<string>(), packages = new Set<string>()) {
  if (seen.has(file)) return packages;
  seen.add(file);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(AT_LOAD)) {
    if (path.startsWith('.')) packagesOf(join(file, '..', path), seen, packages);
    else if (!path.startsWith('node:')) packages.add(path);
  }
  return packages;
}

const WEB = ['koa', '@koa/router', 'openid-client'];
const PICTURES = ['sharp', 'pdfkit', 'fontkit', 'onnxruntime-node'];
const CALLS = ['undici', 'fhir-kit-client', '@aws-sdk/client-s3', '@opentelemetry/sdk-trace'];

describe('a process loads only what its role needs', () => {
  it.each([
    ['dimse', 'dimse/gateway.ts', [...WEB, ...PICTURES, ...CALLS]],
    ['worker', 'src/core/queue/worker.ts', [...WEB, ...PICTURES, ...CALLS]],
    [
      'delivery',
      'src/app/wiring/deliveries.ts',
      [...WEB, 'onnxruntime-node', '@aws-sdk/client-s3'],
    ],
    ['api', 'src/app/wiring/http-door.ts', [...PICTURES, ...CALLS]],
  ])('%s', (_role, part, not) => {
    const loaded = [...packagesOf('src/app/main.ts'), ...packagesOf(part)];
    expect(loaded).toContain('bullmq');
    expect(loaded.filter((name) => not.includes(name))).toEqual([]);
  });

  it.each(['pipelines/obstetric/review.ts', 'pipelines/echo/review.ts'])(
    'a review runs no model and decodes no image: %s',
    (file) => {
      const files = new Set<string>();
      const loaded = [...packagesOf(file, files)];
      expect(loaded.filter((name) => PICTURES.includes(name))).toEqual([]);
      expect(files.size).toBeGreaterThan(50);
      expect(
        [...files].filter((one) => /pipelines\/(inference|input\/pixels)\//.test(one)),
      ).toEqual([]);
    },
  );
});
