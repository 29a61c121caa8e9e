import { parseArgs } from 'node:util';
import {
  type Case,
  hc18Cases,
  midsagittalCases,
  planeCases,
  transperinealCases,
} from './evaluation/cases.ts';
import { earlyOnPhantoms, sacsElsewhere } from './evaluation/early-pregnancy.ts';

/**
 * Measures the accuracy of the `early-pregnancy` image analysis on phantoms of 36 to 69 days, and
 * counts the held-out real images of other structures on which it would wrongly accept a sac.
 *
 * node models/evaluate-early-pregnancy.ts [--seed 9101] [--count 60] [--each 24] [--data
 * ../shared/data] [--cases]
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '9101' },
    count: { type: 'string', default: '60' },
    each: { type: 'string', default: '24' },
    data: { type: 'string', default: '../shared/data' },
    cases: { type: 'boolean', default: false },
  },
});
const { data } = values;
const show = values.cases ? (line: unknown) => console.log(JSON.stringify(line)) : () => {};
const some = (cases: readonly Case[]) => {
  const step = Math.max(1, Math.floor(cases.length / Number(values.each)));
  return cases.filter((_, index) => index % step === 0).slice(0, Number(values.each));
};

console.log(
  JSON.stringify(
    {
      phantoms: await earlyOnPhantoms(Number(values.seed), Number(values.count), show),
      sacsAcceptedElsewhere: {
        of: Number(values.each),
        hc18: await sacsElsewhere(some(await hc18Cases(data, 'test'))),
        'fetal-planes': await sacsElsewhere(some(await planeCases(data, 'test'))),
        psfhs: await sacsElsewhere(some(await transperinealCases(data, 'test'))),
        'nt-midsagittal': await sacsElsewhere(some(await midsagittalCases(data, 'test'))),
      },
    },
    null,
    2,
  ),
);
