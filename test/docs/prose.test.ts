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

/**
 * Phrases that are codes all the same: spelled so by a standard, or written so by sites and clients.
 */
const SPELLED_SO: ReadonlySet<string> = new Set([
  // Performed Procedure Step Status and Unified Procedure Step State (PS3.3 C.4.14, PS3.4 CC.1.1).
  ...['IN PROGRESS', 'GOING DOWN'],
  // Photometric Interpretation (PS3.3 C.7.6.3.1.2), Relationship Type (PS3.3 C.17.3.2.4).
  ...['PALETTE COLOR', 'HAS OBS CONTEXT', 'HAS ACQ CONTEXT', 'HAS CONCEPT MOD'],
  ...['HAS PROPERTIES', 'INFERRED FROM', 'SELECTED FROM'],
  // Character set of HL7 v2 (table 0211).
  'UNICODE UTF-8',
  // Names of standard views (ASE), an anatomy in the rules of sites, a tag of the OpenAPI description.
  ...['RV inflow', 'RV outflow', 'adult heart', 'Compatible queue'],
]);

const COMPARES: ReadonlySet<string> = new Set(['===', '!==', '==', '!=']);
const SEEKS: ReadonlySet<string> = new Set(['includes', 'has', 'indexOf']);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** Returns the text of a literal that is a phrase and not a code: words with a space between them. */
function phraseOf(node: unknown): string | null {
  const value = isNode(node) && node.type === 'Literal' ? node.value : null;
  const isPhrase = typeof value === 'string' && /[a-z]\S* \S/i.test(value);
  return isPhrase && !SPELLED_SO.has(value) ? value : null;
}

/** Returns the nodes in which a literal is a code, as far as they are one of `value`'s own. */
function codesIn(value: SyntaxNode, text: string): readonly unknown[] {
  const isUnion = (name: unknown, of: string) =>
    isNode(name) && text.includes(of.replace('NAME', String(name.name)));
  switch (value.type) {
    case 'TSLiteralType':
      return [value.literal];
    case 'SwitchCase':
      return [value.test];
    case 'BinaryExpression':
      return COMPARES.has(String(value.operator)) ? [value.left, value.right] : [];
    case 'CallExpression': {
      const callee = unwrapped(value.callee);
      const isList =
        callee?.type === 'MemberExpression' && /^[A-Z_]+$|s$/.test(nameOf(callee.object) ?? '');
      return isList && SEEKS.has(nameOf(callee) ?? '') ? argumentsOf(value) : [];
    }
    case 'VariableDeclarator': {
      const literal =
        isNode(value.init) && value.init.type === 'TSAsExpression' ? value.init.expression : null;
      if (!isNode(literal)) return [];
      if (literal.type === 'ArrayExpression' && isUnion(value.id, '(typeof NAME)[number]')) {
        return listOf(literal.elements);
      }
      if (literal.type === 'ObjectExpression' && isUnion(value.id, 'keyof typeof NAME')) {
        return listOf(literal.properties).map((one) => (isNode(one) ? one.key : null));
      }
      return [];
    }
    default:
      return [];
  }
}

/** Returns the phrases that code uses as codes: in unions, comparisons and lists of members. */
function phrasesIn(file: string, text: string): string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    for (const node of codesIn(value, text)) {
      const phrase = phraseOf(node);
      if (phrase === null || !isNode(node)) continue;
      const line = text.slice(0, Number(node.start)).split('\n').length;
      found.push(`${file}:${line}: ${phrase}`);
    }
    for (const property of Object.values(value)) visit(property);
  };
  visit(parseSync(file, text).program);
  return found;
}

it('no code is a phrase', () => {
  const all = execFileSync(
    'git',
    ['ls-files', 'config', 'dimse', 'fhir', 'pipelines', 'src', 'clients'],
    { encoding: 'utf8' },
  )
    .split('\n')
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
  expect(all.flatMap((file) => phrasesIn(file, readFileSync(file, 'utf8')))).toEqual([]);
});

it.each([
  ["type A = 'mildly abnormal' | 'normal'", 1],
  ["if (grade === 'mildly abnormal') f()", 1],
  ["switch (a) { case 'not ready': f() }", 1],
  ["conflicts.includes('birth date')", 1],
  ["const A = ['very large'] as const; type B = (typeof A)[number]", 1],
  ["const A = { 'very large': 1 } as const; type B = keyof typeof A", 1],
  ["const NEEDS = ['height and weight'] as const", 0],
  ["text.includes('two words')", 0],
  ["status === 'IN PROGRESS'", 0],
  ["const A = { 'very-large': 'very large' } as const; type B = keyof typeof A", 0],
])('%s has %d phrases as codes', (code, count) => {
  expect(phrasesIn('pipelines/a.ts', code)).toHaveLength(count);
});
