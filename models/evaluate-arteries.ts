import { parseArgs } from 'node:util';
import { ARTERIES, type ArteryCase, arteryCase, arteryTable } from './evaluation/arteries.ts';

/**
 * Traces simulated spectra of the umbilical, middle cerebral and uterine arteries, and prints, for
 * each artery, the bias and mean absolute error of each velocity and index.
 *
 * node models/evaluate-arteries.ts [--first 70000] [--count 40] [--artery uterine-artery] [--cases]
 *
 * `--count` spectra are simulated for each artery. Seeds 70000 to 79999 are for reported results,
 * and seeds 60000 to 69999 for choosing parameters. `--cases` prints every spectrum.
 */
const { values } = parseArgs({
  options: {
    first: { type: 'string', default: '70000' },
    count: { type: 'string', default: '40' },
    artery: { type: 'string' },
    cases: { type: 'boolean', default: false },
  },
});

const cases: ArteryCase[] = [];
for (const artery of ARTERIES) {
  if (values.artery && artery !== values.artery) continue;
  for (let i = 0; i < Number(values.count); i++) {
    cases.push(arteryCase(artery, Number(values.first) + i));
  }
}
process.stdout.write(`${arteryTable(cases, values.cases)}\n`);
