import type { CartCode, CartMeasurement } from '../../contract/cart.ts';
import { inTable } from './concept-key.ts';
import { nodesOf, type ReportNode } from './content-tree.ts';
import {
  ABOUT_THE_GROUP,
  DERIVATIONS,
  keyOf,
  LATERALITIES,
  MODIFIERS,
  NAMES,
  SELECTIONS,
} from './vocabulary.ts';

type Modifier = (typeof MODIFIERS)[keyof typeof MODIFIERS];
type Context = Pick<CartMeasurement, Modifier | 'laterality' | 'fetus'>;

const NO_CONTEXT: Context = {
  site: null,
  method: null,
  phase: null,
  respiration: null,
  imageMode: null,
  imageView: null,
  flowDirection: null,
  stage: null,
  property: null,
  divisor: null,
  laterality: null,
  fetus: null,
};

const modifiers: Readonly<Record<string, Modifier>> = MODIFIERS;

const nameOf = (node: ReportNode) => (node.name ? keyOf(node.name) : '');

/** A letter or a small number: nothing that could be a name or an identifier of a person. */
const FETUS = /^(?:fetus\s*)?([a-z]|\d{1,2})$/i;

/**
 * The fetus that a node names. (121030, DCM, "Subject ID") is of the patient too, so that only what
 * looks like a letter or number of a fetus is taken (TID 1007, TID 1008).
 */
function fetusIn(node: ReportNode): string | null {
  const name = nameOf(node);
  if (name !== NAMES.subjectId && name !== NAMES.fetusId && name !== NAMES.fetusNumber) return null;
  const written = node.quantity ? String(node.quantity.value) : node.text;
  return FETUS.exec(written)?.[1]?.toUpperCase() ?? null;
}

/** The identifier of a fetus goes before its number, so that all sections name it alike. */
function fetusOf(nodes: readonly ReportNode[]): string | null {
  const ids = nodes.filter((node) => nameOf(node) !== NAMES.fetusNumber);
  return [...ids, ...nodes].map(fetusIn).find((fetus) => fetus !== null) ?? null;
}

function lateralityOf(nodes: readonly ReportNode[]): 'left' | 'right' | null {
  const below = nodes.flatMap((node) => [node, ...node.nodes]);
  const node = below.find((found) => nameOf(found) === NAMES.laterality);
  return (node?.code && LATERALITIES[keyOf(node.code)]) ?? null;
}

/** What holds for a container or a value: its own modifiers over those of what contains it. */
function contextOf(node: ReportNode, outer: Context): Context {
  const own = node.nodes.filter(({ relationship }) => relationship.startsWith('HAS '));
  const context = {
    ...outer,
    laterality: lateralityOf(own) ?? outer.laterality,
    fetus: fetusOf(own) ?? outer.fetus,
  };
  for (const { name, code } of own) {
    const modifier = name && modifiers[keyOf(name)];
    if (modifier && code) context[modifier] = code;
  }
  return context;
}

function codedValue<Value>(
  node: ReportNode,
  name: string,
  values: Readonly<Record<string, Value>>,
): Value | null {
  const found = node.nodes.find((child) => nameOf(child) === name);
  return (found?.code && values[keyOf(found.code)]) ?? null;
}

function derivationOf(node: ReportNode): CartMeasurement['derivation'] {
  const given = node.nodes.some((child) => nameOf(child) === NAMES.derivation && child.code);
  return given ? (codedValue(node, NAMES.derivation, DERIVATIONS) ?? 'other') : null;
}

function equationOf(node: ReportNode): CartCode | null {
  const names: readonly string[] = [NAMES.equation, NAMES.tableOfValues];
  return node.nodes.find((child) => names.includes(nameOf(child)))?.code ?? null;
}

/** The image that the value was measured on, or that its calipers lie on (TID 320). */
function imageOf(node: ReportNode): CartMeasurement['image'] {
  const sources = node.nodes.filter(({ relationship }) => relationship === 'INFERRED FROM');
  for (const { image, nodes } of sources) {
    const found = image ?? nodes.find((child) => child.image)?.image;
    if (found) return { sopInstanceUid: found.sopInstanceUid, frame: found.frame };
  }
  return null;
}

/** The quantity of a biometry group: that of its first value which speaks for itself. */
function quantityOfGroup(container: ReportNode): CartCode | null {
  if (nameOf(container) !== NAMES.biometryGroup) return null;
  const values = container.nodes.filter(({ valueType }) => valueType === 'NUM');
  return values.find((node) => !ABOUT_THE_GROUP.has(nameOf(node)))?.name ?? null;
}

/**
 * The numbers that a report CONTAINS, each with what modifies it. Numbers below them are their
 * properties and inputs. The age of the patient is left out.
 */
export function reportValues(
  root: ReportNode,
  report: Pick<CartMeasurement, 'file' | 'sopInstanceUid'>,
): CartMeasurement[] {
  const values: CartMeasurement[] = [];
  const visit = (container: ReportNode, outer: Context) => {
    const context = contextOf(container, outer);
    const group = quantityOfGroup(container);
    for (const node of container.nodes) {
      if (node.relationship !== 'CONTAINS') continue;
      if (node.valueType === 'CONTAINER') visit(node, context);
      if (!node.name || !node.quantity || nameOf(node) === NAMES.subjectAge) continue;
      const own = contextOf(node, context);
      const of = group && ABOUT_THE_GROUP.has(nameOf(node)) ? group : null;
      const derivation = derivationOf(node);
      const { divisor, site } = own;
      values.push({
        ...own,
        ...inTable({ concept: node.name, of, site, derivation, divisor, ...node.quantity }),
        concept: node.name,
        of,
        derivation,
        selection: codedValue(node, NAMES.selection, SELECTIONS),
        equation: equationOf(node),
        image: imageOf(node),
        ...report,
      });
    }
  };
  visit(root, NO_CONTEXT);
  return values;
}

/** The SOP classes of all images that a report refers to. */
export function referencedClasses(root: ReportNode): ReadonlySet<string> {
  return new Set([...nodesOf(root)].flatMap(({ image }) => image?.sopClassUid ?? []));
}
