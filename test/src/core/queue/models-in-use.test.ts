import { expect, test } from 'vitest';
import type { ProviderSetting } from '../../../../config/schema.ts';
import type { ModelInUse } from '../../../../pipelines/contract/job.ts';
import type { AcceleratorRefusalOfModel } from '../../../../pipelines/inference/accelerators.ts';
import { followModels } from '../../../../src/core/queue/worker.ts';
import { createLogger } from '../../../../src/platform/logging/logger.ts';

const OPEN: readonly ModelInUse[] = [
  { id: 'fetal-head', version: '1.0.0', pack: 'permissive', provider: 'webgpu' },
  { id: 'fetal-femur', version: '1.0.0', pack: 'permissive', provider: 'webgpu' },
];

function followed(asked: ProviderSetting) {
  const lines: Record<string, unknown>[] = [];
  const changes: (readonly ModelInUse[])[] = [];
  const logger = createLogger('info', { write: (line: string) => lines.push(JSON.parse(line)) });
  const models = followModels(logger, asked, (open) => changes.push(open));
  return { models, lines, changes };
}

const refusal = (why: AcceleratorRefusalOfModel['why']): AcceleratorRefusalOfModel => ({
  model: 'fetal-head',
  accelerator: 'webgpu',
  why,
  detail: 'what the library said',
});

const providers = (open: readonly ModelInUse[] | undefined) =>
  open?.map(({ id, provider }) => [id, provider]);

test('the log and the metrics report on what each model runs', () => {
  const { models, lines, changes } = followed('auto');
  models.ready(OPEN);
  expect(lines).toMatchObject([{ event: 'models_ready', models: OPEN }]);
  expect(changes).toEqual([OPEN]);
});

test.each<[ProviderSetting, string]>([
  ['auto', 'accelerator_not_used'],
  ['webgpu', 'accelerator_asked_for_not_used'],
])('with %s, an accelerator that is not used is logged as %s with the reason', (asked, event) => {
  const { models, lines, changes } = followed(asked);
  models.refused(refusal('unloadable'));
  expect(lines).toMatchObject([
    {
      event,
      model: 'fetal-head',
      accelerator: 'webgpu',
      reason: 'does not load',
      detail: 'what the library said',
    },
  ]);
  expect(changes).toEqual([]);
});

test('a model whose accelerator failed is logged, and listed on the processor from then on', () => {
  const { models, lines, changes } = followed('auto');
  models.ready(OPEN);
  models.refused(refusal('failed'));
  expect(lines[1]).toMatchObject({ event: 'accelerator_failed', model: 'fetal-head' });
  expect(providers(changes[1])).toEqual([
    ['fetal-head', 'cpu'],
    ['fetal-femur', 'webgpu'],
  ]);
});
