import { median } from '../../pipelines/measure/statistics.ts';
import type { DisplayCase } from './displays.ts';

/** Relative error above which an accepted value counts as wrong. */
const WRONG = 0.1;

const errorOf = ({ value, truth }: DisplayCase) =>
  value === null ? Number.NaN : Math.abs(value / truth - 1);

/** Every value counts as wrong if the display does not show the structure (`truth` is NaN). */
const isWrong = (one: DisplayCase) => !(errorOf(one) <= WRONG);

const percent = (share: number) => (Number.isNaN(share) ? '' : (100 * share).toFixed(1));

function rowOf(name: string, cases: readonly DisplayCase[]): string {
  const accepted = cases.filter(({ quality }) => quality === 'accepted');
  const errors = accepted.map(errorOf).filter((error) => !Number.isNaN(error));
  const wrong = accepted.filter(isWrong).length;
  const cells = [
    name,
    String(cases.length),
    percent(accepted.length / cases.length),
    percent(median(errors)),
    percent(errors.toSorted((a, b) => a - b)[Math.ceil(0.95 * errors.length) - 1] ?? Number.NaN),
    `${wrong} (${percent(wrong / cases.length)})`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Returns a Markdown table of the agreement for each display and quantity. */
export function displayTable(cases: readonly DisplayCase[], listWrong: boolean): string {
  const groups = Map.groupBy(cases, ({ kind, key }) => `${kind}: ${key}`);
  const wrong = cases.filter((one) => one.quality === 'accepted' && isWrong(one));
  return [
    '| quantity | displays | accepted, % | median error, % | 95th centile, % | accepted and off by > 10 % |',
    '|---|---|---|---|---|---|',
    ...[...groups].map(([name, group]) => rowOf(name, group)),
    rowOf('all', cases),
    ...(listWrong
      ? wrong.map(
          ({ kind, seed, key, truth, value }) =>
            `${kind} ${seed} ${key}: ${value?.toFixed(2)} for ${truth.toFixed(2)}`,
        )
      : []),
  ].join('\n');
}
