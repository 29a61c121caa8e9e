import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The layers of the architecture, from the bottom up. A file may import from its own folder and
 * from any folder in a lower layer; two folders in the same layer may not import from each other.
 * The longest matching folder applies. docs/architecture.md explains each placement.
 */
const STOREYS: readonly (readonly string[])[] = [
  ['config'],
  ['src/platform', 'pipelines/concepts'],
  ['pipelines/contract'],
  ['pipelines/dicom', 'pipelines/measure'],
  ['pipelines/result'],
  ['pipelines/input', 'pipelines/inference'],
  ['pipelines/artifacts', 'pipelines/deidentify'],
  ['src/core', 'pipelines/run'],
  ['src/operations', 'pipelines/obstetric', 'pipelines/echo'],
  ['src/doors', 'dimse', 'fhir', 'pipelines/content', 'pipelines/mock', 'pipelines/translate'],
  ['models', 'clients'],
  ['src/app'],
];

/** Folders whose topics are the third level of the path; elsewhere, topics are the second level. */
const DEEP = ['src/core/', 'src/platform/', 'src/doors/'];

const ROOTS = ['config', 'src', 'dimse', 'fhir', 'pipelines', 'models'];
const IMPORT = /(?:\bfrom|\bimport\(|^import)\s*'(\.[^']+)'/gm;

interface Import {
  from: string;
  to: string;
  line: number;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(IMPORT)].map(({ 1: to = '', index }) => ({
    from: file,
    to: join(file, '..', to),
    line: text.slice(0, index).split('\n').length,
  }));
}

const IMPORTS = ROOTS.flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => importsOf(join(root, name))),
);

function storeyOf(file: string): { folder: string; height: number } | null {
  const found = STOREYS.flatMap((folders, height) =>
    folders.filter((folder) => file.startsWith(`${folder}/`)).map((folder) => ({ folder, height })),
  );
  return found.sort((a, b) => b.folder.length - a.folder.length)[0] ?? null;
}

function folderOf(file: string): string {
  const parts = file.split('/');
  const depth = DEEP.some((folder) => file.startsWith(folder)) ? 3 : 2;
  return parts.slice(0, Math.min(parts.length - 1, depth)).join('/');
}

/** Returns the groups of nodes that can reach each other (Tarjan 1972). */
function circles(edges: readonly (readonly [string, string])[]): string[][] {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const index = order.size;
    order.set(node, index);
    stack.push(node);
    let lowest = index;
    for (const to of next.get(node) ?? []) {
      if (!order.has(to)) lowest = Math.min(lowest, visit(to));
      else if (stack.includes(to)) lowest = Math.min(lowest, low.get(to) ?? order.get(to) ?? index);
      low.set(node, lowest);
    }
    low.set(node, lowest);
    if (lowest === index) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) found.push(group.sort());
    }
    return lowest;
  };
  for (const node of next.keys()) if (!order.has(node)) visit(node);
  return found;
}

const shown = ({ from, line, to }: Import) => `${from}:${line} imports ${to}`;

describe('imports', () => {
  it('are found in every notation', () => {
    expect(importsOf('src/app/cli/interpret.ts').map(({ to }) => to)).toEqual(
      expect.arrayContaining([
        'config/load.ts',
        'src/app/pipelines/echo.ts',
        'src/app/cli/local-files.ts',
      ]),
    );
  });

  it('come from a folder that has a layer', () => {
    const homeless = IMPORTS.filter(({ from, to }) => !storeyOf(from) || !storeyOf(to));
    expect(homeless.map(shown)).toEqual([]);
  });

  it('point downwards', () => {
    const upward = IMPORTS.filter(({ from, to }) => {
      const here = storeyOf(from);
      const there = storeyOf(to);
      return here && there && here.folder !== there.folder && there.height >= here.height;
    });
    expect(upward.map(shown)).toEqual([]);
  });

  it('form no cycle of folders', () => {
    const between = IMPORTS.filter(({ from, to }) => folderOf(from) !== folderOf(to));
    const found = circles(between.map(({ from, to }) => [folderOf(from), folderOf(to)]));
    expect(found.map((circle) => withExamples(circle, between))).toEqual([]);
  });

  it('form no cycle of files', () => {
    const found = circles(IMPORTS.map(({ from, to }) => [from, to]));
    expect(found.map((circle) => circle.join(' <-> '))).toEqual([]);
  });
});

/** Renders a cycle of folders, with an example import for each edge. */
function withExamples(circle: readonly string[], imports: readonly Import[]): string {
  const arrows = new Map<string, string>();
  for (const each of imports) {
    const [a, b] = [folderOf(each.from), folderOf(each.to)];
    if (circle.includes(a) && circle.includes(b)) arrows.set(`${a} ${b}`, shown(each));
  }
  return [circle.join(' <-> '), ...arrows.values()].join('\n  ');
}
