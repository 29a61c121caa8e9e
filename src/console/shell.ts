import { createHash } from 'node:crypto';

interface ShellParts {
  imports: Readonly<Record<string, string>>;
  /** Modules of the pages, which are fetched at once and not one after the other. */
  modules: readonly string[];
  icon: boolean;
}

/** The one page of the console. Its import map is the only thing in line, allowed by its hash. */
export function shell({ imports, modules, icon }: ShellParts): {
  html: string;
  importMapHash: string;
} {
  const importMap = JSON.stringify({ imports });
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sonogate</title>
${icon ? '<link rel="icon" href="/console/icon.svg" type="image/svg+xml">\n' : ''}<link rel="stylesheet" href="/console/styles/main.css">
<script type="importmap">${importMap}</script>
${modules.map((path) => `<link rel="modulepreload" href="/console/${path}">`).join('\n')}
<script type="module" src="/console/main.ts"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console of Sonogate needs JavaScript.</noscript>
</body>
</html>
`;
  const digest = createHash('sha256').update(importMap).digest('base64');
  return { html, importMapHash: `'sha256-${digest}'` };
}
