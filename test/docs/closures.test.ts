import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Files that a section may reach, types included: what a reader may have to open. */
const MOST = 20;

/** Sections that still reach more files. The numbers may only shrink; an entry at `MOST` is removed. */
const ABOVE: Readonly<Record<string, number>> = {
  'pipelines/obstetric/biometry/section.ts': 23,
  'pipelines/obstetric/doppler/section.ts': 26,
  'pipelines/obstetric/early-pregnancy/section.ts': 40,
  'pipelines/obstetric/fetal-heart/section.ts': 35,
  'pipelines/obstetric/growth/section.ts': 35,
  'pipelines/obstetric/presentation/section.ts': 35,
};

const IMPORT = /(?:\bfrom|\bimport\(|^import)\s*'(\.[^']+)'/gm;

/** The files that a file imports, directly or through others; without itself. */
function closureOf(file: string, reached = new Set<string>()): ReadonlySet<string> {
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const imported = join(file, '..', path);
    if (reached.has(imported)) continue;
    reached.add(imported);
    closureOf(imported, reached);
  }
  return reached;
}

const sectionsOf = (endpoint: string) =>
  readdirSync(endpoint)
    .map((folder) => join(endpoint, folder, 'section.ts'))
    .filter((file) => existsSync(file));

const CLOSURES = ['pipelines/obstetric', 'pipelines/echo']
  .flatMap(sectionsOf)
  .map((file) => ({ file, size: closureOf(file).size }));

describe('import closure of a section', () => {
  it('is printed', () => {
    const rows = CLOSURES.toSorted((one, other) => one.size - other.size);
    console.info(rows.map(({ file, size }) => `${size} ${file}`).join('\n'));
    expect(rows.length).toBeGreaterThan(20);
  });

  it.each(CLOSURES.filter(({ file }) => !(file in ABOVE)))(
    `of $file is at most ${MOST} files`,
    ({ size }) => {
      expect(size).toBeLessThanOrEqual(MOST);
    },
  );

  it.each(Object.entries(ABOVE))('of %s is %i files and may only shrink', (file, size) => {
    expect(size).toBeGreaterThan(MOST);
    expect(CLOSURES.find((one) => one.file === file)?.size).toBe(size);
  });
});
