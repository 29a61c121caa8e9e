import type { agreement } from './agreement.ts';
import type { planeAgreement } from './planes.ts';

const BEGIN = '<!-- measured: written by models/evaluate.ts --write -->';
const END = '<!-- /measured -->';

type Sets = Record<string, unknown>;

/**
 * Returns the card with an updated table of numbers. No number has to be maintained by hand in two
 * places.
 */
export function withMeasured(card: string, sets: Sets): string {
  const begin = card.indexOf(BEGIN);
  const end = card.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the card has no place for numbers (${BEGIN})`);
  return `${card.slice(0, begin + BEGIN.length)}\n\n${table(sets)}\n\n${card.slice(end)}`;
}

function table(sets: Sets): string {
  const measured = Object.entries(sets).flatMap(([name, set]) =>
    isAgreement(set) ? [{ name, ...set }] : [],
  );
  if (measured.length > 0) return geometryTable(measured);
  return Object.entries(sets)
    .map(([name, set]) => planeParagraph(name, set))
    .join('\n\n');
}

type Agreement = ReturnType<typeof agreement>;
type PlaneAgreement = ReturnType<typeof planeAgreement>;

const isAgreement = (set: unknown): set is Agreement =>
  typeof set === 'object' && set !== null && 'accepted' in set;
const isPlaneAgreement = (set: unknown): set is PlaneAgreement =>
  typeof set === 'object' && set !== null && 'recall' in set;

type Measured = Agreement & { name: string };
type Column = [title: string, cell: (set: Measured) => string | number | undefined];

const COLUMNS: readonly Column[] = [
  ['set', ({ name }) => name],
  ['images', ({ cases }) => cases],
  ['withheld', ({ notFound, withheldByGate }) => notFound + withheldByGate],
  ['mean error (mm)', ({ accepted }) => accepted?.meanAbsoluteErrorMm],
  ['mean error (%)', ({ accepted }) => accepted?.meanAbsoluteErrorPercent],
  ['bias (mm)', ({ accepted }) => accepted?.biasMm],
  ['95 % limits (mm)', ({ accepted }) => accepted?.limitsOfAgreementMm.join(' to ')],
  ['largest (mm)', ({ accepted }) => accepted?.largestErrorMm],
];
/**
 * Columns that are left out if no set has a value: models measured before the percentage was
 * recorded have none, and only outlines have a Dice overlap.
 */
const OPTIONAL_COLUMNS: readonly Column[] = [
  ['largest (%)', ({ accepted }) => accepted?.largestErrorPercent],
  ['mean Dice', ({ accepted }) => accepted?.meanDice],
];

function geometryTable(sets: readonly Measured[]): string {
  const given = OPTIONAL_COLUMNS.filter(([, cell]) => sets.some((set) => cell(set) !== undefined));
  const columns = [...COLUMNS, ...given];
  const row = (cells: readonly string[]) => `|${cells.map((one) => ` ${one} |`).join('')}`;
  return [
    row(columns.map(([title]) => title)),
    `|${'---|'.repeat(columns.length)}`,
    ...sets.map((set) => row(columns.map(([, cell]) => String(cell(set) ?? '')))),
  ].join('\n');
}

function planeParagraph(name: string, set: unknown): string {
  if (!isPlaneAgreement(set)) return figures(name, set);
  const rows = Object.entries(set.recall).map(([plane, recall]) => `| ${plane} | ${recall} |`);
  return [
    `${name}: accuracy ${set.accuracy} on ${set.cases} images, expected calibration error ${set.expectedCalibrationError}.`,
    '',
    '| plane | found |',
    '|---|---|',
    ...rows,
    ...('organs' in set ? ['', ...lines({ organs: set.organs }, 0)] : []),
    ...('brainPlanes' in set ? lines({ brainPlanes: set.brainPlanes }, 0) : []),
  ].join('\n');
}

/** Renders a set of numbers that has no table as nested lists. */
function figures(name: string, set: unknown): string {
  return [`${name}:`, '', ...lines(set, 0)].join('\n');
}

function lines(value: unknown, depth: number): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => {
    const indent = '  '.repeat(depth);
    if (typeof one !== 'object' || one === null) return [`${indent}- ${key}: ${one}`];
    const own = Object.entries(one);
    const flat = own.every(([, leaf]) => typeof leaf !== 'object');
    return flat
      ? [`${indent}- ${key}: ${own.map(([label, leaf]) => `${label} ${leaf}`).join(', ')}`]
      : [`${indent}- ${key}:`, ...lines(one, depth + 1)];
  });
}
