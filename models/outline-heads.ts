import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { modelFor, readRegistry } from '../pipelines/inference/model-registry.ts';
import { openSession } from '../pipelines/inference/session.ts';
import { locateOutline } from '../pipelines/obstetric/shared/outline.ts';
import { round } from './evaluation/agreement.ts';
import { readGray } from './evaluation/cases.ts';

/**
 * Writes the outline (centre, half axes and angle) that `fetal-head` finds on each head that is not
 * held out: HC18, and FETAL_PLANES_DB with landmarks. The second stage is trained to correct these
 * outlines, except for heads whose landmarks are wrong (models/training/head_border.py).
 *
 * node models/outline-heads.ts [--data ../shared/data]
 */
const { values } = parseArgs({ options: { data: { type: 'string', default: '../shared/data' } } });
const at = (path: string) => new URL(path, import.meta.url);
const splits: Record<string, { test: string[]; validation: string[] }> = JSON.parse(
  await readFile(at('fetal-head/split.json'), 'utf8'),
);
const model = modelFor(await readRegistry(), 'fetal-head', 'all');
if (!model) throw new Error('no model for fetal-head');
const session = await openSession(model, { provider: 'cpu', threads: 1 });
const lines: string[] = [];
for (const [dataset, table, of] of [
  ['hc18', 'labels.csv', ''],
  ['fetal-planes', 'landmarks.csv', ',Head,'],
] as const) {
  const folder = join(values.data, dataset);
  const held = new Set(Object.values(splits[dataset] ?? {}).flat());
  const [, ...rows] = (await readFile(join(folder, table), 'utf8')).trim().split(/\r?\n/);
  for (const row of rows.filter((one) => one.includes(of))) {
    const [image = ''] = row.split(',');
    if (held.has(image)) continue;
    const [outline] = await locateOutline(session, [await readGray(join(folder, image))]);
    if (!outline) continue;
    const { centre, a, b, angle } = outline.ellipse;
    const axes = [centre.x, centre.y, a, b].map((value) => round(value, 2));
    lines.push(`  ${JSON.stringify(image)}: [${[...axes, round(angle, 4)].join(', ')}]`);
  }
}
await session.close();
await writeFile(at('training/head-outlines.json'), `{\n${lines.join(',\n')}\n}\n`);
