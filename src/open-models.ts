import { openHeartLocator } from '../pipelines/echo/locate/open-heart-locator.ts';
import { keepOpen } from '../pipelines/inference/keep-open.ts';
import { openLocator } from '../pipelines/obstetric/locate/open-locator.ts';

/** The models of a pipeline process, which its pipelines share. */
export const openFetalModels = keepOpen(openLocator);
export const openHeartModels = keepOpen(openHeartLocator);
