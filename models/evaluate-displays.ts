import { parseArgs } from 'node:util';
import { displayTable } from './evaluation/display-table.ts';
import { DISPLAY_KINDS, type DisplayCase, displayCases } from './evaluation/displays.ts';
import { PRINTED_SCREENS, printedCases, printedTable } from './evaluation/printed-screens.ts';

/**
 * Reads simulated Doppler and M-mode displays, on which text, rulers and marks are drawn as on real
 * screens. Prints how many displays were measured for each quantity, and how many accepted values
 * are wrong.
 *
 * node models/evaluate-displays.ts [--first 70000] [--count 40] [--kind mitral-inflow] [--cases]
 *
 * node models/evaluate-displays.ts --screens ../shared/data/dicom
 *
 * `--count` is the number of displays of each kind. Seeds 70000 to 79999 are for reported results,
 * and seeds 60000 to 69999 for choosing parameters. `--cases` prints every wrong accepted value.
 * With `--screens`, real screens are instead compared with the values printed on them.
 */
const { values } = parseArgs({
  options: {
    first: { type: 'string', default: '70000' },
    count: { type: 'string', default: '40' },
    kind: { type: 'string' },
    cases: { type: 'boolean', default: false },
    screens: { type: 'string' },
  },
});

async function simulated(): Promise<string> {
  const cases: DisplayCase[] = [];
  for (const kind of DISPLAY_KINDS) {
    if (values.kind && kind.id !== values.kind) continue;
    for (let i = 0; i < Number(values.count); i++) {
      cases.push(...(await displayCases(kind, Number(values.first) + i)));
    }
  }
  return displayTable(cases, values.cases);
}

async function real(folder: string): Promise<string> {
  const cases = [];
  for (const screen of PRINTED_SCREENS) cases.push(...(await printedCases(folder, screen)));
  return printedTable(cases);
}

process.stdout.write(`${values.screens ? await real(values.screens) : await simulated()}\n`);
