import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseSync } from 'vite';
import { expect, it } from 'vitest';

/**
 * Code must not read rendered sentences or take ids apart: conclusions, gaps and remarks are codes
 * together with the measurements they concern (docs/architecture.md, "Statements are data"). This
 * test walks the syntax trees of all product code that handles results.
 */

const LOOKS_INTO: ReadonlySet<string> = new Set([
  ...['includes', 'startsWith', 'endsWith', 'indexOf', 'lastIndexOf', 'search'],
  ...['match', 'matchAll', 'split', 'slice', 'substring', 'replace', 'replaceAll'],
]);
/** Regular expression methods whose argument is the text. */
const MATCHES: ReadonlySet<string> = new Set(['test', 'exec']);
/**
 * Rendered fields of the envelope. They can be read from an object, or from a variable with the
 * same name.
 */
const RENDERED: ReadonlySet<string> = new Set(['note', 'summary', 'detail']);
/**
 * Code that creates results and turns them into documents. In this code, the ids of entries are
 * checked as well.
 */
const OF_RESULTS = /^(pipelines|fhir)\//;

/** Number of known violations in each file. It never rises. */
const KNOWN: Readonly<Record<string, number>> = {};

interface SyntaxNode {
  type: string;
  [property: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

function unwrapped(node: unknown): SyntaxNode | null {
  if (!isNode(node)) return null;
  const wrapped =
    node.type === 'ChainExpression' ||
    node.type === 'ParenthesizedExpression' ||
    node.type === 'TSNonNullExpression';
  return wrapped ? unwrapped(node.expression) : node;
}

/**
 * Returns the name of the field or variable that an expression reads, such as `note` for
 * `measurement.note` and for `note`.
 */
function nameOf(node: unknown): string | null {
  const inner = unwrapped(node);
  if (!inner) return null;
  if (inner.type === 'Identifier') return String(inner.name);
  if (inner.type !== 'MemberExpression' || inner.computed) return null;
  return isNode(inner.property) ? String(inner.property.name) : null;
}

const argumentsOf = ({ arguments: given }: SyntaxNode): readonly unknown[] =>
  Array.isArray(given) ? given : [];

/**
 * Returns true for calls such as `id.slice(0, 64)`, which only shorten a value to the length of a
 * DICOM attribute.
 */
function isCut(method: string, [start, end]: readonly unknown[]): boolean {
  const isNumber = (node: unknown) => isNode(node) && typeof node.value === 'number';
  return method === 'slice' && isNode(start) && start.value === 0 && isNumber(end);
}

/** Returns true for `concept.key`, which is looked up in a table and not searched. */
function isConceptKey(node: unknown): boolean {
  const inner = unwrapped(node);
  return nameOf(inner) === 'key' && nameOf(inner?.object) === 'concept';
}

function offencesIn(file: string, text: string): string[] {
  const ofResults = OF_RESULTS.test(file);
  const isRendered = (node: unknown) => {
    const name = nameOf(node) ?? '';
    const isField = unwrapped(node)?.type === 'MemberExpression';
    return (
      isConceptKey(node) ||
      RENDERED.has(name) ||
      (ofResults && (name === 'id' || (name === 'text' && isField)))
    );
  };
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    const callee = value.type === 'CallExpression' ? unwrapped(value.callee) : null;
    if (callee?.type === 'MemberExpression') {
      const method = nameOf(callee) ?? '';
      const read = LOOKS_INTO.has(method)
        ? callee.object
        : MATCHES.has(method)
          ? argumentsOf(value)[0]
          : null;
      if (isRendered(read) && !isCut(method, argumentsOf(value))) {
        const start = Number(value.start);
        const line = text.slice(0, start).split('\n').length;
        found.push(`${file}:${line}: ${text.slice(start, Number(value.end)).split('\n')[0]}`);
      }
    }
    for (const property of Object.values(value)) visit(property);
  };
  visit(parseSync(file, text).program);
  return found;
}

const FOLDERS = [
  'pipelines/obstetric',
  'pipelines/echo',
  'pipelines/result',
  'pipelines/artifacts',
];
const files = execFileSync(
  'git',
  ['ls-files', ...FOLDERS, 'pipelines/run', 'pipelines/mock', 'fhir', 'dimse', 'src'],
  { encoding: 'utf8' },
)
  .split('\n')
  .filter((file) => file.endsWith('.ts'));

it('no code reads a rendered sentence or takes an id apart', () => {
  const found = files.flatMap((file) => offencesIn(file, readFileSync(file, 'utf8')));
  const counted = Map.groupBy(found, (line) => line.split(':')[0] ?? '');
  const beyond = [...counted].filter(([file, lines]) => lines.length > (KNOWN[file] ?? 0));
  expect(beyond.flatMap(([, lines]) => lines)).toEqual([]);
});

it.each([
  ['m.note.includes("x")', 1],
  ['reason.detail?.endsWith("y")', 1],
  ['/x/.test(summary)', 1],
  ['m.id.startsWith("cart-")', 1],
  ['one.concept.key.startsWith("umbilical-artery")', 1],
  ['VESSEL_OF.get(one.concept.key)', 0],
  ['m.id.slice(0, 64)', 0],
  ['m.id === other.id', 0],
  ['view.name.includes("4ch")', 0],
])('%s has %d offences', (code, count) => {
  expect(offencesIn('pipelines/a.ts', code)).toHaveLength(count);
});
