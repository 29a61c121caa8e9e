import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const ROOT = new URL('../..', import.meta.url);

/** Licences whose only requirement is that their text be included. */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]);

/** Packages under other licences, each described in docs/licences.md. */
const EXCEPTIONS: readonly { packages: RegExp; licence: string; told: string }[] = [
  { packages: /^@img\/sharp-/, licence: 'LGPL-3.0-or-later', told: '@img/sharp-libvips-*' },
  { packages: /^mediabunny$/, licence: 'MPL-2.0', told: '`mediabunny`' },
  { packages: /^@msgpackr-extract\//, licence: 'none', told: '`@msgpackr-extract/*`' },
  { packages: /^(@shinyoshiaki\/)?jspack$/, licence: 'none', told: '`@shinyoshiaki/jspack`' },
  { packages: /^memorystream$/, licence: 'none', told: '`memorystream`' },
  { packages: /^png-js$/, licence: 'none', told: '`png-js`' },
];

interface Component {
  name: string;
  version: string;
  purl: string;
  properties?: { name: string; value: string }[];
  licenses?: ({ license: { id?: string; name?: string } } | { expression: string })[];
}

/** Marks a package that is never installed in production (CycloneDX property taxonomy). */
const DEVELOPMENT = 'cdx:npm:package:development';

/** Returns the SPDX expression of a component; `none` if the manifest has no licence field. */
function licenceOf({ licenses = [] }: Component): string {
  const said = licenses.map((each) =>
    'expression' in each ? each.expression : (each.license.id ?? each.license.name ?? 'none'),
  );
  return said.join(' AND ') || 'none';
}

/** Returns true if at least one alternative of each OR contains only accepted licences. */
function isAccepted(expression: string, accepted: ReadonlySet<string>): boolean {
  return expression
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((side) => side.split(' AND ').every((id) => accepted.has(id)));
}

describe('the bill of materials', () => {
  const output = execFileSync('npm', ['run', '--silent', 'sbom'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1e8,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const bom = JSON.parse(output) as { bomFormat: string; components: Component[] };
  const components = bom.components.filter(
    ({ properties = [] }) => !properties.some(({ name }) => name === DEVELOPMENT),
  );

  test('is CycloneDX and lists every direct dependency, but none for development', () => {
    expect(bom.bomFormat).toBe('CycloneDX');
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(new URL('package.json', ROOT), 'utf8'),
    );
    const names = new Set(components.map(({ name }) => name));
    for (const name of Object.keys(dependencies)) expect(names, name).toContain(name);
    for (const name of ['vitest', 'typescript', '@biomejs/biome']) {
      expect(Object.keys(devDependencies)).toContain(name);
      expect(names).not.toContain(name);
    }
    for (const { purl } of components) expect(purl).toMatch(/^pkg:npm\//);
  });

  test('lists permissive licences, and exceptions described in docs/licences.md', () => {
    const text = readFileSync(new URL('docs/licences.md', ROOT), 'utf8');
    const others = components.filter((component) => !isAccepted(licenceOf(component), PERMISSIVE));
    expect(others.length).toBeGreaterThan(0);
    for (const component of others) {
      const { name, version } = component;
      const exception = EXCEPTIONS.find(({ packages }) => packages.test(name));
      expect(exception, `${name} ${version}: ${licenceOf(component)}`).toBeDefined();
      const accepted = new Set([...PERMISSIVE, exception?.licence ?? '']);
      expect(isAccepted(licenceOf(component), accepted), name).toBe(true);
      expect(text).toContain(exception?.told);
    }
  });

  test.each([
    ['MIT OR GPL-3.0', true],
    ['(MIT AND Zlib)', true],
    ['MIT AND GPL-3.0', false],
    ['none', false],
  ])('takes %s: %s', (expression, accepted) => {
    expect(isAccepted(expression, PERMISSIVE)).toBe(accepted);
  });
});
