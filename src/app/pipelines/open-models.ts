import { openHeartLocator } from '../../../pipelines/echo/locate/heart-locator.ts';
import { openOnce } from '../../../pipelines/inference/keep-open.ts';
import { openLocator } from '../../../pipelines/obstetric/open-locator.ts';
import { openOnThread } from './inference-threads.ts';

/** The models of a pipeline process, shared by its pipelines. */
export const openFetalModels = openOnce((settings) => openLocator(settings, openOnThread));
export const openHeartModels = openOnce((settings) => openHeartLocator(settings, openOnThread));
