import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { attributeOf, KEYWORDS, LEVELS } from '../../../src/core/query/attributes.ts';

const STATEMENT = readFileSync(
  new URL('../../../docs/dicom-conformance.md', import.meta.url),
  'utf8',
).split('#### 3.2.6')[1];

it.each(LEVELS)('the conformance statement lists exactly the keys of the level %s', (level) => {
  const keys = KEYWORDS.filter((keyword) => attributeOf(keyword).level === level).map(
    (keyword) => `${keyword}${attributeOf(keyword).matched === false ? ' (returned only)' : ''}`,
  );
  expect(STATEMENT).toContain(`| ${level} | ${keys.join(', ')} |`);
});
