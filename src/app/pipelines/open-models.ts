import type { Job } from '../../../pipelines/contract/job.ts';
import { openHeartLocator } from '../../../pipelines/echo/locate/heart-locator.ts';
import { keepOpen } from '../../../pipelines/inference/keep-open.ts';
import { openLocator } from '../../../pipelines/obstetric/open-locator.ts';
import { openOnThread } from './inference-threads.ts';

/** Opens each model once in this process. All its pipelines and studies share the open models. */
const opening = keepOpen(openOnThread);

/** Returns the models that a study needs. They are opened on first use. */
export const openFetalModels = (settings: Job['models']) => openLocator(settings, opening);
export const openHeartModels = (settings: Job['models']) => openHeartLocator(settings, opening);
