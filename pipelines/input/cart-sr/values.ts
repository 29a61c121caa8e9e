import { createHash } from 'node:crypto';
import { CONCEPTS, type ConceptKey, type MeasurementConcept } from '../../concepts/concepts.ts';
import { FETUS_WORD, fetusesIn, multipleIn } from '../../contract/fetus-name.ts';
import type { CartCode, CartMeasurement } from '../../contract/study.ts';
import { plainWords } from '../../contract/view-words.ts';
import { nodesOf, type ReportNode } from './content-tree.ts';
import { mergedRepeats } from './repeats.ts';
import {
  ABOUT_THE_GROUP,
  convert,
  DERIVATIONS,
  keyOf,
  LATERALITIES,
  MODIFIERS,
  NAMES,
  NUMBER_OF_FETUSES,
  PROPERTIES,
  SELECTIONS,
  SUBJECT_FETUS,
} from './vocabulary.ts';

/**
 * Age concept for the quantity of each biometry group (TID 5008). The code (18185-9, LN,
 * "Gestational Age") does not state from which quantity the age was derived; only the enclosing
 * group does.
 */
const AGE_OF: Readonly<Partial<Record<ConceptKey, ConceptKey>>> = {
  hc: 'ga-by-hc',
  crl: 'ga-by-crl',
  'mean-sac-diameter': 'ga-by-sac',
};

/**
 * Age concepts. The code of an age does not determine its key, because (11888-5, LN, "Composite
 * Ultrasound Age") may come from any equation.
 */
const AGES: ReadonlySet<ConceptKey> = new Set([...Object.values(AGE_OF), 'ga-by-hc-ac-fl']);

const KEYS = Object.keys(CONCEPTS).filter((key): key is ConceptKey => key in CONCEPTS);

const entryOf = (key: ConceptKey): MeasurementConcept => CONCEPTS[key];

const KEYS_OF_CODE: ReadonlyMap<string, ConceptKey[]> = KEYS.filter((key) => !AGES.has(key))
  .flatMap((key) => entryOf(key).codings.map((coding) => ({ code: keyOf(coding), key })))
  .reduce(
    (all, { code, key }) => all.set(code, [...(all.get(code) ?? []), key]),
    new Map<string, ConceptKey[]>(),
  );

type Named = Pick<
  CartMeasurement,
  'concept' | 'of' | 'site' | 'derivation' | 'divisor' | 'value' | 'unit'
>;

/**
 * Returns the key of the only concept that matches a value's name. For a general name (a diameter,
 * a PI), the site must match as well.
 */
function quantityOf({ concept, site }: Pick<Named, 'concept' | 'site'>): ConceptKey | null {
  const code = keyOf(concept);
  const keys = KEYS_OF_CODE.get(code) ?? [];
  const general = PROPERTIES.has(code) || keys.length > 1;
  const meant = keys.filter((key) => {
    const own = entryOf(key).site;
    return !general || (own && site && keyOf(own) === keyOf(site));
  });
  return meant.length === 1 ? (meant[0] ?? null) : null;
}

function ageOf({ concept, of, site }: Named): ConceptKey | null {
  const quantity = of && quantityOf({ concept: of, site });
  const age = quantity && AGE_OF[quantity];
  const isAge = age && entryOf(age).codings.some((coding) => keyOf(coding) === keyOf(concept));
  return isAge ? age : null;
}

/**
 * Returns a value's key in the concept table, and the value converted to the unit of the table. The
 * key is null and the value unchanged if the table lacks the concept, if the value is indexed, if
 * its unit has another dimension, or if it is a derivation such as a standard deviation.
 */
export function inConceptTable(named: Named): Pick<CartMeasurement, 'key' | 'value' | 'unit'> {
  const { of, derivation, divisor, value, unit } = named;
  const key = of ? ageOf(named) : quantityOf(named);
  const written = { key: null, value, unit };
  if (!key || divisor || derivation === 'other') return written;
  const converted = convert(value, unit, entryOf(key).unit);
  return converted === null ? written : { key, value: converted, unit: entryOf(key).unit };
}

interface FetusId {
  /**
   * Letter or number of the fetus if known; otherwise letters that merely distinguish this fetus
   * from the others.
   */
  fetus: string;
  /**
   * Total number of fetuses, as in "1 of 2", "A/2" or "Twin A". Null if the text does not state it.
   */
  fetuses: number | null;
  known: boolean;
}

const WHOLE = new RegExp(`^(?:${FETUS_WORD} ?)?(i{1,3}|iv|[a-z]|\\d{1,2})(?: of (\\d))?$`);

/**
 * Roman numerals for fetuses. A lone I is read as one and not as the ninth letter, because no
 * pregnancy has nine fetuses.
 */
const ROMAN: Readonly<Record<string, string>> = { i: '1', ii: '2', iii: '3', iv: '4' };

const LETTERS = 26;
const OPAQUE_LETTERS = 3;

/**
 * Replaces an identifier that is not a usual fetus label with letters, because the text may be a
 * person's name, which must not be stored. The letters come from a digest. It distinguishes the
 * fetuses across all reports of a study but is too short to reveal the text.
 */
function opaque(words: string): string {
  const digest = createHash('sha256').update(words).digest().subarray(0, OPAQUE_LETTERS);
  return [...digest].map((byte) => String.fromCharCode(65 + (byte % LETTERS))).join('');
}

function readFetusId(written: string): FetusId | null {
  const words = plainWords(written.replaceAll('/', ' of '));
  if (words === '') return null;
  const [, name, of] = WHOLE.exec(words) ?? [];
  const [named, ...others] = fetusesIn(words);
  const known = name
    ? (ROMAN[name] ?? name.toUpperCase())
    : others.length === 0
      ? named
      : undefined;
  return {
    fetus: known ?? opaque(words),
    fetuses: of ? Number(of) : multipleIn(words),
    known: known !== undefined,
  };
}

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

/**
 * Returns the fetus identifiers among the nodes of a context. (121030, DCM, "Subject ID") may also
 * identify the patient (TID 1007). It is therefore read only if the subject is a fetus, or if no
 * subject is given and the text is a letter or number of a fetus.
 */
function fetusIds(nodes: readonly ReportNode[]) {
  const subject = nodes.find((node) => nameOf(node) === NAMES.subjectClass)?.code;
  const ofFetus = subject ? keyOf(subject) === SUBJECT_FETUS : null;
  return nodes.flatMap((node) => {
    const name = nameOf(node);
    const isSubject = name === NAMES.subjectId;
    if (!isSubject && name !== NAMES.fetusId && name !== NAMES.fetusNumber) return [];
    const read = readFetusId(node.quantity ? String(node.quantity.value) : node.text);
    if (!read || (isSubject && !(ofFetus ?? read.known))) return [];
    return [{ ...read, number: name === NAMES.fetusNumber }];
  });
}

/**
 * Returns the label of the fetus. The identifier takes precedence over the number, so that all
 * sections use the same label.
 */
function fetusOf(nodes: readonly ReportNode[]): string | null {
  const read = fetusIds(nodes);
  return (read.find(({ number }) => !number) ?? read[0])?.fetus ?? null;
}

function fetusCount(root: ReportNode): number {
  const counted = [...nodesOf(root)].flatMap(({ nodes }) => [
    ...nodes
      .filter((node) => nameOf(node) === keyOf(NUMBER_OF_FETUSES.inContext))
      .map(({ quantity }) => quantity?.value ?? 0),
    ...fetusIds(nodes).map(({ fetuses }) => fetuses ?? 0),
  ]);
  return Math.max(0, ...counted);
}

function lateralityOf(nodes: readonly ReportNode[]): 'left' | 'right' | null {
  const below = nodes.flatMap((node) => [node, ...node.nodes]);
  const node = below.find((found) => nameOf(found) === NAMES.laterality);
  return (node?.code && LATERALITIES[keyOf(node.code)]) ?? null;
}

/**
 * Returns the modifiers that apply to a container or value. A node's own modifiers override those
 * of its container.
 */
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

/** Returns the image on which the value was measured or the calipers were placed (TID 320). */
function imageOf(node: ReportNode): CartMeasurement['image'] {
  const sources = node.nodes.filter(({ relationship }) => relationship === 'INFERRED FROM');
  for (const { image, nodes } of sources) {
    const found = image ?? nodes.find((child) => child.image)?.image;
    if (found) return { sopInstanceUid: found.sopInstanceUid, frame: found.frame };
  }
  return null;
}

/**
 * Returns the quantity that a biometry group is about: the concept of its first value that does not
 * describe another value. Null for any other container.
 */
function quantityOfGroup(container: ReportNode): CartCode | null {
  if (nameOf(container) !== NAMES.biometryGroup) return null;
  const values = container.nodes.filter(({ valueType }) => valueType === 'NUM');
  return values.find((node) => !ABOUT_THE_GROUP.has(nameOf(node)))?.name ?? null;
}

type Report = Pick<CartMeasurement, 'file' | 'sopInstanceUid'>;

function measurementOf(
  node: ReportNode & { name: CartCode; quantity: NonNullable<ReportNode['quantity']> },
  context: Context,
  group: CartCode | null,
  report: Report,
): CartMeasurement {
  const own = contextOf(node, context);
  const of = group && ABOUT_THE_GROUP.has(nameOf(node)) ? group : null;
  const derivation = derivationOf(node);
  const { divisor, site } = own;
  return {
    ...own,
    ...inConceptTable({ concept: node.name, of, site, derivation, divisor, ...node.quantity }),
    concept: node.name,
    of,
    derivation,
    selection: codedValue(node, NAMES.selection, SELECTIONS),
    equation: equationOf(node),
    image: imageOf(node),
    ...report,
  };
}

function valuesOf(container: ReportNode, outer: Context, report: Report): CartMeasurement[] {
  const context = contextOf(container, outer);
  const group = quantityOfGroup(container);
  return container.nodes.flatMap((node) => {
    if (node.relationship !== 'CONTAINS') return [];
    const inner = node.valueType === 'CONTAINER' ? valuesOf(node, context, report) : [];
    const { name, quantity } = node;
    if (!name || !quantity || nameOf(node) === NAMES.subjectAge) return inner;
    return [...inner, measurementOf({ ...node, name, quantity }, context, group, report)];
  });
}

/**
 * Returns the number of fetuses as a value if there is more than one. Some reports state it only in
 * the context of their sections.
 */
function severalOf(root: ReportNode, report: Report): CartMeasurement[] {
  const value = fetusCount(root);
  if (value < 2) return [];
  return [
    {
      ...NO_CONTEXT,
      key: null,
      concept: NUMBER_OF_FETUSES.inContext,
      value,
      unit: '1',
      derivation: null,
      selection: null,
      of: null,
      equation: null,
      image: null,
      ...report,
    },
  ];
}

/**
 * Returns the numbers in a report that are related by CONTAINS. A number repeated in several
 * sections is returned once. Numbers below another number (its properties and inputs) and the
 * patient's age are left out. The number of fetuses is included if the context of a section states
 * more than one.
 */
export function reportValues(root: ReportNode, report: Report): CartMeasurement[] {
  const outer = contextOf(root, NO_CONTEXT);
  // Each section is read separately, followed by the content outside all sections.
  const inSections = root.nodes
    .filter(({ valueType }) => valueType === 'CONTAINER')
    .map((section) => ({ ...root, nodes: [section] }));
  const inNone = {
    ...root,
    nodes: root.nodes.filter(({ valueType }) => valueType !== 'CONTAINER'),
  };
  const places = [...inSections, inNone].map((place) => valuesOf(place, outer, report));
  return [...mergedRepeats(places), ...severalOf(root, report)];
}

export function referencedClasses(root: ReportNode): ReadonlySet<string> {
  return new Set([...nodesOf(root)].flatMap(({ image }) => image?.sopClassUid ?? []));
}
