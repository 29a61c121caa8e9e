import { openHeartLocator } from '../pipelines/echo/locate/open-heart-locator.ts';
import { keepOpen } from '../pipelines/inference/keep-open.ts';
import { openLocator } from '../pipelines/obstetric/locate/open-locator.ts';
import { openOnThread } from './inference-threads.ts';

/** The models of a pipeline process, which its pipelines share. */
export const openFetalModels = keepOpen((settings) => openLocator(settings, openOnThread));
export const openHeartModels = keepOpen((settings) => openHeartLocator(settings, openOnThread));
