import { contentEndpoint } from '../../pipelines/contract/content.ts';
import { echoEndpoint } from '../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../pipelines/obstetric/endpoint.ts';
import { translateEndpoint } from '../../pipelines/translate/endpoint.ts';
import { PIPELINES } from './pipelines/program.ts';

/** The endpoints of this gateway, as descriptions without the pipelines that run them. */
export const ENDPOINTS = [obstetricEndpoint, echoEndpoint, contentEndpoint, translateEndpoint];

/** URL of the module that a pipeline process loads for each endpoint. */
export const MODULE_OF: Readonly<Record<string, string>> = {
  [obstetricEndpoint.id]: PIPELINES.obstetric,
  [echoEndpoint.id]: PIPELINES.echo,
  [contentEndpoint.id]: PIPELINES.content,
  [translateEndpoint.id]: PIPELINES.translate,
};
