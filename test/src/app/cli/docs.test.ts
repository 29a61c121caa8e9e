import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ERRORS_PAGE, renderErrorsPage } from '../../../../src/app/cli/docs.ts';

it('docs/errors.md is what the catalogue says (npm run docs writes it)', () => {
  expect(readFileSync(ERRORS_PAGE, 'utf8')).toBe(renderErrorsPage());
});
