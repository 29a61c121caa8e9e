import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The storeys of the house, from the ground up (docs/architecture.md). A file may import from its own
 * folder and from lower storeys; the longest prefix of a path decides its storey. Type imports count.
 */
const STOREYS: readonly (readonly string[])[] = [
  ['config'],
  ['src/platform'],
  ['pipelines/dicom', 'pipelines/concepts'],
  ['pipelines/contract'],
  ['pipelines/measure'],
  ['pipelines/result'],
  ['pipelines/input', 'pipelines/inference', 'pipelines/artifacts'],
  ['pipelines/run', 'src/core'],
  ['pipelines/obstetric', 'pipelines/echo', 'src/operations'],
  ['pipelines/mock', 'pipelines/content', 'models', 'src/doors', 'dimse', 'fhir'],
  ['src/app'],
];

/** Folders whose own folders must not form a circle either. */
const DEEPER = ['src/core', 'src/platform', 'src/doors', 'pipelines/obstetric', 'pipelines/echo'];

const ROOTS = ['config', 'src', 'dimse', 'fhir', 'pipelines', 'models'];
const IMPORT = /(?:\bfrom|\bimport\(|^import)\s*'(\.[^']+)'/;

interface Import {
  from: string;
  line: number;
  to: string;
}

function importsOf(file: string): Import[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((text, at) => {
    const to = IMPORT.exec(text)?.[1];
    return to ? [{ from: file, line: at + 1, to: join(dirname(file), to) }] : [];
  });
}

const files = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(root, name)),
);
const imports = files.flatMap(importsOf);

function storeyOf(file: string): { folder: string; storey: number } | null {
  const within = STOREYS.flatMap((folders, storey) =>
    folders.filter((folder) => file.startsWith(`${folder}/`)).map((folder) => ({ folder, storey })),
  );
  return within.toSorted((a, b) => b.folder.length - a.folder.length)[0] ?? null;
}

function folderOf(file: string): string {
  const deep = DEEPER.some((folder) => file.startsWith(`${folder}/`));
  const parts = file.split('/');
  return parts.slice(0, Math.min(parts.length - 1, deep ? 3 : 2)).join('/');
}

/** The circles of a graph as sorted lists of nodes (Tarjan 1972: strongly connected components). */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    low.set(node, index.get(node) ?? 0);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) {
        low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
      }
    }
    if (low.get(node) !== index.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) found.push(circle.toSorted().join(', '));
  };
  for (const node of edges.keys()) if (!index.has(node)) visit(node);
  return found.toSorted();
}

function graph(nodeOf: (file: string) => string): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [a, b] = [nodeOf(from), nodeOf(to)];
    if (a === b) continue;
    edges.set(a, (edges.get(a) ?? new Set()).add(b));
  }
  return edges;
}

/** Number of faults that the rebuild has not reached yet; may only shrink, and goes when it is 0. */
const LEFT = { up: 29, folderCircles: 5, fileCircles: 5 };

describe('imports', () => {
  it('are found in every way in which they are written', () => {
    expect(importsOf('src/app/cli/interpret.ts').map(({ to }) => to)).toEqual(
      expect.arrayContaining(['config/load.ts', 'src/app/pipelines/echo.ts']),
    );
  });

  it('start in a folder that has a storey', () => {
    expect(files.filter((file) => !storeyOf(file) && !file.startsWith('models/'))).toEqual([]);
  });

  it('point down, never up or sideways', () => {
    const up = imports.filter(({ from, to }) => {
      const [own, other] = [storeyOf(from), storeyOf(to)];
      return own && other && own.folder !== other.folder && other.storey >= own.storey;
    });
    const lines = up.map(({ from, line, to }) => `${from}:${line} imports ${to}`);
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(LEFT.up);
  });

  it('form no circle of folders', () => {
    const found = circles(graph(folderOf));
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(LEFT.folderCircles);
  });

  it('form no circle of files, types included', () => {
    const found = circles(graph((file) => file));
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(LEFT.fileCircles);
  });
});
