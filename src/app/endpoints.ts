import { contentEndpoint } from '../../pipelines/contract/content.ts';
import { echoEndpoint } from '../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../pipelines/obstetric/endpoint.ts';
import { translateEndpoint } from '../../pipelines/translate/endpoint.ts';

/** The endpoints of this gateway, as descriptions without the pipelines that run them. */
export const ENDPOINTS = [obstetricEndpoint, echoEndpoint, contentEndpoint, translateEndpoint];
