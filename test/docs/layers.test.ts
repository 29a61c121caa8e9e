import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * What each layer may import of others, as path prefixes; its own files always. The longest prefix of
 * a file says its layer. docs/architecture.md has the same in words.
 */
const CORE = ['src/', 'config/'];
const CONTRACT = ['pipelines/contract/', 'pipelines/inference/'];
const RESULT = ['pipelines/result/', 'pipelines/artifacts/'];
/** Ports hold types only; the implementation is handed over by src/main.ts. */
const PORTS = ['src/database/port.ts', 'src/outbox/port.ts', 'src/requests/port.ts'];
const SHARED = ['config/', 'src/errors/', 'src/logging/', 'src/audit/'];
const EVERYTHING = ['src/', 'config/', 'dimse/', 'fhir/', 'pipelines/', 'models/', 'docs/'];

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'config/': [],
  'src/': [...CORE, ...CONTRACT],
  'src/console/': [
    ...[...CORE, ...RESULT, 'pipelines/measure/rounding.ts'],
    ...['dimse/header.ts', 'dimse/completion.ts'],
  ],
  'src/metrics/metrics.ts': [...CORE, ...CONTRACT, 'dimse/measured-storage.ts'],
  'src/cli/': EVERYTHING,
  'src/wiring/': EVERYTHING,
  'src/main.ts': EVERYTHING,
  'src/obstetric-pipeline.ts': EVERYTHING,
  'src/echo-pipeline.ts': EVERYTHING,
  'src/content-pipeline.ts': EVERYTHING,
  'src/mock-pipeline.ts': EVERYTHING,
  'src/open-models.ts': EVERYTHING,
  'dimse/': [
    ...[...SHARED, ...PORTS, ...RESULT, 'pipelines/content/', 'src/tls/', 'src/rounds.ts'],
    ...['src/files/port.ts', 'src/http/store-port.ts'],
  ],
  'fhir/': [
    ...[...SHARED, ...PORTS, ...RESULT, 'src/outbox/held.ts'],
    ...['pipelines/measure/rounding.ts', 'pipelines/obstetric/charts/dates.ts'],
  ],
  'pipelines/': ['config/', 'models/registry.yaml'],
};

const ROOTS = ['config', 'src', 'dimse', 'fhir', 'pipelines'];
const IMPORT = /(?:\bfrom|\bimport\(|^import)\s*'(\.[^']+)'/gm;

const layerOf = (file: string): string =>
  Object.keys(MAY_IMPORT)
    .filter((layer) => file.startsWith(layer))
    .reduce((longest, layer) => (layer.length > longest.length ? layer : longest), '');

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(IMPORT)].map(([, to = '']) => join(file, '..', to));
}

const files = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(root, name)),
);

describe('imports', () => {
  it('are found in every way in which they are written', () => {
    expect(importsOf('src/cli/interpret.ts')).toEqual(
      expect.arrayContaining(['config/load.ts', 'src/echo-pipeline.ts', 'src/cli/local-files.ts']),
    );
  });

  it('cross layers only as the architecture says', () => {
    const crossings = files.flatMap((file) => {
      const own = layerOf(file);
      const allowed = [own, ...(MAY_IMPORT[own] ?? [])];
      const forbidden = importsOf(file).filter(
        (to) => !allowed.some((each) => to.startsWith(each)),
      );
      return forbidden.map((to) => `${file} imports ${to}`);
    });
    expect(crossings).toEqual([]);
  });
});
