import type { Operation } from './operation.ts';

/**
 * A sample of a call in one language, in the form that documentation pages use (`x-codeSamples`).
 */
interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

interface Parameter {
  name: string;
  in: string;
  schema: { examples?: unknown[] };
}

type SampledCall = Pick<Operation, 'id' | 'method' | 'path' | 'group' | 'scope'> &
  Partial<Pick<Operation, 'status' | 'mediaType' | 'bodyType'>> & {
    parameters: readonly object[];
    example: unknown;
  };

/**
 * Groups whose calls are methods of our clients; the other groups are used through other clients.
 */
const CLIENT_GROUPS: readonly Operation['group'][] = [
  'Requests',
  'Uploads',
  'Models',
  'Account',
  'Webhooks',
];

/**
 * True if our clients have a method for the call: it must need a key, and have a JSON body or no
 * body.
 */
function isClientMethod({ group, scope, mediaType, bodyType }: SampledCall): boolean {
  return CLIENT_GROUPS.includes(group) && scope !== null && !mediaType && !bodyType;
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Hand-written samples for calls that the clients cover with a more convenient function. */
const BY_HAND: Readonly<Record<string, { typescript: string; python: string }>> = {
  followRequest: {
    typescript: `for await (const event of sonogate.follow(ID)) {
  console.log(event.id, event.name, event.data);
}`,
    python: `for event in sonogate.follow(ID):
    print(event.id, event.name, event.data)`,
  },
  getArtifact: {
    typescript: `await sonogate.download(ID, 'result', ['report.pdf']);`,
    python: `sonogate.download(ID, "result", ["report.pdf"])`,
  },
};

/** Returns samples of the call in curl, TypeScript and Python. */
export function codeSamples(call: SampledCall): CodeSample[] {
  return [
    { lang: 'Shell', label: 'curl', source: curl(call) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescript(call) },
    { lang: 'Python', label: 'Python', source: python(call) },
  ];
}

function pathParameters({ parameters }: SampledCall): [name: string, example: string][] {
  return (parameters as readonly Parameter[])
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, schema }) => [name, String(schema.examples?.[0] ?? '')]);
}

/** Returns the example of the header `If-Match`; null if the call does not have the header. */
function ifMatchExample({ parameters }: SampledCall): string | null {
  const found = (parameters as readonly Parameter[]).find(({ name }) => name === 'If-Match');
  return found ? String(found.schema.examples?.[0] ?? '') : null;
}

/** Returns the path with examples for its variable segments: `/v1/requests/req_…`. */
function filledPath(call: SampledCall): string {
  const filled = pathParameters(call).reduce(
    (path, [name, example]) => path.replace(`{${name}}`, encodeURIComponent(example)),
    call.path,
  );
  return call.scope === null && call.method === 'put' ? `${filled}?…` : filled;
}

function curl(call: SampledCall): string {
  const { method, scope, example, bodyType, mediaType } = call;
  const lines = [`curl "$SONOGATE_URL${filledPath(call)}"`];
  if (scope !== null) lines.push(`--header "Authorization: Bearer $SONOGATE_KEY"`);
  const revision = ifMatchExample(call);
  if (revision) lines.push(`--header 'If-Match: ${revision}'`);
  if (mediaType === 'text/event-stream') lines.push('--no-buffer');
  if (call.id === 'getArtifact') lines.push('--location', '--output report.pdf');
  if (example !== null && example !== undefined) {
    lines.push(`--json '${JSON.stringify(example, null, 2)}'`);
    if (method !== 'post') lines.push(`--request ${method.toUpperCase()}`);
  } else if (bodyType) {
    lines.push(
      `--form "file=@scan.dcm;type=application/dicom"`,
      `--header 'Content-Type: multipart/related; type="application/dicom"'`,
    );
  } else if (method === 'put' && scope === null) {
    lines.push('--upload-file scan.dcm');
  } else if (method !== 'get') {
    lines.push(`--request ${method.toUpperCase()}`);
  }
  return lines.join(' \\\n  ');
}

/**
 * Writes a value as a literal. The languages differ only in their words for true, false and null.
 */
function literal(value: unknown, words: { true: string; false: string; null: string }): string {
  const text = JSON.stringify(value, null, 2);
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) =>
    token.startsWith('"') ? token : words[token as keyof typeof words],
  );
}
const PLAIN = { true: 'true', false: 'false', null: 'null' };
const PYTHON = { true: 'True', false: 'False', null: 'None' };

/**
 * Merges the input fields of a submission with its other fields, which is the form that the
 * clients' `submit` expects.
 */
function flatSubmission(example: unknown): Record<string, unknown> {
  const { input, ...rest } = example as { input: Record<string, unknown> };
  return { ...input, files: ['study/'], prior_files: undefined, ...rest };
}

function isSubmit({ path }: SampledCall): boolean {
  return path.startsWith('/v1/run/');
}

function typescript(call: SampledCall): string {
  const lines = [`import { Sonogate } from '@sonogate/client';`, ''];
  lines.push('// Reads SONOGATE_URL and SONOGATE_KEY.', 'const sonogate = new Sonogate();');
  const { id, method, example } = call;
  const byHand = BY_HAND[id]?.typescript;
  if (byHand) {
    const [[, first = ''] = []] = pathParameters(call);
    lines.push(byHand.replace('ID', `'${first}'`));
  } else if (isSubmit(call)) {
    const endpoint = call.path.slice('/v1/run/'.length);
    const given = literal(flatSubmission(example), PLAIN);
    lines.push(`const request = await sonogate.submit('${endpoint}', ${given});`);
    lines.push('console.log(request.id);');
  } else if (isClientMethod(call)) {
    const fields = pathParameters(call).map(([name, value]) => `${name}: '${value}'`);
    const revision = ifMatchExample(call);
    if (revision) fields.push(`ifMatch: '${revision}'`);
    if (example !== null && example !== undefined) fields.push(`body: ${literal(example, PLAIN)}`);
    const given = fields.length > 0 ? `{ ${fields.join(', ')} }` : '';
    const sent = `await sonogate.calls.${id}(${given});`;
    lines.push(
      ...(call.status === 204 ? [sent] : [`const answer = ${sent}`, 'console.log(answer);']),
    );
  } else {
    const init = [`method: '${method.toUpperCase()}'`];
    if (example !== null && example !== undefined) init.push(`json: ${literal(example, PLAIN)}`);
    else if (method === 'put' || call.bodyType) {
      init.push('body: bytes');
      lines.unshift(`import { readFile } from 'node:fs/promises';`);
      lines.push(`const bytes = await readFile('scan.dcm');`);
    }
    lines.push(
      `const answer = await sonogate.fetch('${filledPath(call)}', { ${init.join(', ')} });`,
      'console.log(answer.status);',
    );
  }
  return lines.join('\n');
}

function python(call: SampledCall): string {
  const lines = ['from sonogate import Sonogate', ''];
  lines.push('# Reads SONOGATE_URL and SONOGATE_KEY.', 'sonogate = Sonogate()');
  const { id, method, example } = call;
  const byHand = BY_HAND[id]?.python;
  const given = example === null || example === undefined ? null : literal(example, PYTHON);
  if (byHand) {
    const [[, first = ''] = []] = pathParameters(call);
    lines.push(byHand.replace('ID', `"${first}"`));
  } else if (isSubmit(call)) {
    const endpoint = call.path.slice('/v1/run/'.length);
    const fields = Object.entries(flatSubmission(example))
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `    ${name}=${literal(value, PYTHON).replaceAll('\n', '\n    ')},`);
    lines.push('request = sonogate.submit(', `    "${endpoint}",`, ...fields, ')');
    lines.push('print(request["id"])');
  } else if (isClientMethod(call)) {
    const fields = pathParameters(call).map(([name, value]) => `${name}="${value}"`);
    const revision = ifMatchExample(call);
    if (revision) fields.push(`if_match='${revision}'`);
    if (given) fields.push(`body=${given}`);
    const sent = `sonogate.calls.${snake(id)}(${fields.join(', ')})`;
    lines.push(...(call.status === 204 ? [sent] : [`answer = ${sent}`, 'print(answer)']));
  } else {
    const fields = [`"${method.toUpperCase()}"`, `"${filledPath(call)}"`];
    if (given) fields.push(`json=${given}`);
    else if (method === 'put' || call.bodyType) fields.push('content=open("scan.dcm", "rb")');
    lines.push(`answer = sonogate.fetch(${fields.join(', ')})`, 'print(answer.status_code)');
  }
  return lines.join('\n');
}
