import { createHash } from 'node:crypto';
import type { Endpoint } from '../../requests/endpoint.ts';
import { describeApi } from './document.ts';

const STYLE = `
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #1f2933; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #cbd2d9; }
summary { cursor: pointer; padding: 0.3rem 0; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { background: #f5f7fa; padding: 1rem; overflow-x: auto; }
b { display: inline-block; min-width: 4.5rem; }
`;

/** Lets the page have its own style and nothing else. */
export const DOCS_PAGE_POLICY = `default-src 'none'; frame-ancestors 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

interface Call {
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; in: string }[];
  requestBody?: unknown;
  responses: Record<string, { description: string }>;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function callHtml(method: string, path: string, call: Call): string {
  const { summary, description = '', parameters = [], requestBody, responses } = call;
  const given = parameters.map(({ name, in: place }) => `<code>${name}</code> (${place})`);
  const body = requestBody
    ? `<p>Body</p><pre>${escapeHtml(JSON.stringify(requestBody, null, 2))}</pre>`
    : '';
  const answers = Object.entries(responses).map(
    ([status, answer]) => `<li><code>${status}</code> ${escapeHtml(answer.description)}</li>`,
  );
  return `<details><summary><b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(summary)}</summary>
<p>${escapeHtml(description)}</p>${given.length > 0 ? `<p>Parameters: ${given.join(', ')}</p>` : ''}${body}<ul>${answers.join('')}</ul></details>`;
}

/** The description of the API as a page that needs nothing from elsewhere. */
export function renderDocsPage(endpoints: readonly Endpoint[], address: string): string {
  const { info, tags, paths } = describeApi(endpoints, address);
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({ path, method, call: call as Call })),
  );
  const groups = tags.map(({ name }) => {
    const own = calls.filter(({ call }) => call.tags.includes(name));
    return `<h2>${name}</h2>${own.map(({ method, path, call }) => callHtml(method, path, call)).join('\n')}`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${info.title} API</title><style>${STYLE}</style></head>
<body><h1>${info.title} API</h1>
<p>${escapeHtml(info.description)} The same as <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${groups.join('\n')}
</body></html>
`;
}
