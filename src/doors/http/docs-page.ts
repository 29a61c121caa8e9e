import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Router } from '@koa/router';
import { newestEndpoints } from '../../core/requests/endpoint.ts';
import { baseUrl, type HttpDeps, type HttpState } from './context.ts';
import { describeApi } from './openapi/document.ts';
import { INTRODUCTION } from './openapi/guides.ts';

const TITLE = 'Sonogate API';
const PROGRAM = '/docs/reference.js';
const START = '/docs/start.js';
const DESCRIPTION = '/docs/openapi.json';

/** Documentation pages shown as guides in the reference, in this order. */
const GUIDES = ['guides.md', 'api.md'];

/**
 * Program that starts the API reference. The reference contacts no other server: no fonts, no
 * proxy, no assistant, no telemetry.
 */
const START_PROGRAM = `Scalar.createApiReference('#reference', ${JSON.stringify({
  url: DESCRIPTION,
  pageTitle: TITLE,
  layout: 'modern',
  theme: 'default',
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  persistAuth: false,
  modelsSectionLabel: 'Schemas',
  defaultOpenAllTags: false,
  operationTitleSource: 'summary',
  authentication: { preferredSecurityScheme: 'key' },
})});
`;

/**
 * Content security policy of the reference. It permits only the reference's own scripts, and calls
 * to this server. The components insert styles without a nonce, so inline styles are allowed;
 * inline scripts are not.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${TITLE}</title>
</head>
<body>
<noscript>This page needs JavaScript. The API description is at <a href="/v1/openapi.json">/v1/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="${PROGRAM}"></script>
<script src="${START}"></script>
</body>
</html>
`;

/** The part of Fastify's interface that Scalar's plugin uses to serve its program. */
interface PluginHost {
  route(route: { url: string; handler(request: object, reply: Reply): Reply }): void;
  initialConfig: object;
}
interface Reply {
  header(name: string, value: string): Reply;
  send(body: string): Reply;
}
type Plugin = (host: PluginHost, options: object, done: () => void) => void;

/**
 * Reads Scalar's browser program from its Fastify package, which is loaded only when somebody opens
 * the page, because it takes 60 MB of memory. The package `@scalar/api-reference` contains the same
 * program, but installs 299 packages (240 MB) that we do not use.
 */
async function readProgram(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  return new Promise((resolve, reject) => {
    const host: PluginHost = {
      initialConfig: {},
      route: ({ url, handler }) => {
        if (!url.endsWith('.js')) return;
        const reply: Reply = {
          header: () => reply,
          send: (body) => {
            resolve(body);
            return reply;
          },
        };
        handler({}, reply);
      },
    };
    const plugin = scalar as unknown as Plugin;
    plugin(host, { configuration: { url: DESCRIPTION } }, () =>
      reject(new Error('@scalar/fastify-api-reference has no program for browsers')),
    );
  });
}

/**
 * Returns a documentation page as a guide. Links to files that this server does not serve are
 * reduced to their text.
 */
function asGuide(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1');
}

async function readGuides(): Promise<string> {
  const texts = await Promise.all(
    GUIDES.map((name) => readFile(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')),
  );
  return [INTRODUCTION, ...texts.map(asGuide)].join('\n\n');
}

/**
 * Adds `GET /docs`: the API reference as a page with search, samples and calls to try out. The page
 * needs no key, but the calls do.
 */
export function addDocsRoutes(router: Router<HttpState>, { core, config }: HttpDeps): void {
  let program: Promise<Buffer> | undefined;
  let guides: Promise<string> | undefined;

  router.get('/docs', (context) => {
    context.set('Content-Security-Policy', POLICY);
    context.type = 'text/html';
    context.body = PAGE;
  });

  router.get(PROGRAM, async (context) => {
    program ??= readProgram().then((text) => promisify(gzip)(text));
    const bytes = await program;
    // The program contains no patient data, so browsers may cache its 4 MB.
    context.set('Cache-Control', 'public, max-age=3600');
    context.set('Content-Encoding', 'gzip');
    context.type = 'text/javascript';
    context.body = bytes;
  });

  router.get(START, (context) => {
    context.type = 'text/javascript';
    context.body = START_PROGRAM;
  });

  router.get(DESCRIPTION, async (context) => {
    guides ??= readGuides();
    const endpoints = newestEndpoints(core.endpoints());
    const document = describeApi(endpoints, baseUrl(context, config), config.maxFileBytes);
    context.body = { ...document, info: { ...document.info, description: await guides } };
  });
}
