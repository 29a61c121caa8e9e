import type { ProviderSetting } from '../../config/schema.ts';
import type { ModelInUse } from '../../pipelines/contract/job.ts';
import { REFUSALS, type RefusalOfModel } from '../../pipelines/inference/refusal.ts';
import type { Logger } from '../logging/logger.ts';

/**
 * Follows what models run on, and tells the operator of each accelerator that is passed over or fails.
 * @param asked `models.provider`.
 * @param changed told of the models once they are open, and when one of them changes over.
 */
export function followModels(
  logger: Logger,
  asked: ProviderSetting,
  changed: (models: readonly ModelInUse[]) => void = () => {},
) {
  let open: readonly ModelInUse[] = [];

  return {
    ready(models: readonly ModelInUse[]): void {
      open = models;
      logger.info({ models }, 'models ready');
      changed(open);
    },
    refused({ model, accelerator, why, detail }: RefusalOfModel): void {
      const line = { model, accelerator, reason: REFUSALS[why], detail };
      if (why === 'failed') {
        logger.warn(line, 'accelerator failed');
        open = open.map((one) => (one.id === model ? { ...one, provider: 'cpu' } : one));
        changed(open);
      } else if (asked === 'auto') logger.info(line, 'accelerator not used');
      else logger.warn(line, 'accelerator asked for is not used');
    },
  };
}
