import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { agreement, halfWidth95, type Measured } from '../../models/evaluation/agreement.ts';
import { withMeasured } from '../../models/evaluation/card.ts';
import { readRegistry } from '../../pipelines/inference/model-registry.ts';

const measured = (referenceMm: number, measuredMm: number | null, accepted = true): Measured => ({
  image: 'x',
  referenceMm,
  measuredMm,
  confidence: accepted ? 1 : 0,
  accepted,
});

/** The formatter pads the tables, so spacing is ignored. */
const words = (text: string) => text.replace(/[\s-]+/g, ' ');

const root = new URL('../../models/', import.meta.url);
const models = await readRegistry();

describe.each(models.map((model) => [model.id, model] as const))('%s', (_, model) => {
  it('has a card that describes its data, its measured numbers, its limits and what it is not for', async () => {
    const card = await readFile(new URL(model.card, root), 'utf8');
    for (const part of ['## Trained on', '## How well', '## Where it fails', '## Not for']) {
      expect(card).toContain(part);
    }
    expect(words(card)).toContain(words(model.licence));
  });

  it('has a card that shows the numbers of metrics.json, and no others', async () => {
    const card = await readFile(new URL(model.card, root), 'utf8');
    const metrics = JSON.parse(await readFile(new URL(model.metrics, root), 'utf8'));
    expect(words(withMeasured(card, metrics.sets))).toBe(words(card));
  });

  it('was measured at the gate in the registry, on the test split', async () => {
    const metrics = JSON.parse(await readFile(new URL(model.metrics, root), 'utf8'));
    expect(metrics).toMatchObject({ model: model.id, split: 'test', gate: model.gate });
  });
});

describe('agreement', () => {
  it('reports the accepted cases separately from those that the gate withholds', () => {
    const cases = [measured(100, 102), measured(200, 196), measured(50, 90, false)];
    const result = agreement([...cases, measured(80, null, false)]);
    expect(result).toMatchObject({ cases: 4, notFound: 1, withheldByGate: 1 });
    expect(result.accepted).toMatchObject({
      cases: 2,
      meanAbsoluteErrorMm: 3,
      biasMm: -1,
      meanAbsoluteErrorPercent: 2,
      largestErrorMm: 4,
      largestErrorPercent: 2,
    });
    expect(result.allFound?.largestErrorMm).toBe(40);
  });

  it('uses the 95th centile of the absolute error as half width', () => {
    const cases = Array.from({ length: 100 }, (_, i) => measured(100, 100 + (i + 1) / 10));
    expect(halfWidth95(cases)).toBe(9.5);
  });

  it('has no half width if nothing was accepted', () => {
    expect(halfWidth95([measured(100, 300, false)])).toBeNull();
  });
});
