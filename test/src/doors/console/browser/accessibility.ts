import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** WCAG 2.2 A and AA, and what the authors of the checker consider good practice. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules that compare colours. The dark scheme changes nothing else (tokens.css). */
const OF_COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/**
 * Returns the accessibility violations on the current page in the light and in the dark scheme,
 * each with its scheme, rule, message and element.
 */
export async function violationsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const found: string[] = [];
  for (const [colorScheme, runOnly] of [
    ['light', TAGS],
    ['dark', OF_COLOURS],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
    const violations = await page.evaluate<axe.Result[]>(
      `axe.run(document, ${options}).then(({ violations }) => violations)`,
    );
    for (const { id, help, nodes } of violations) {
      for (const { target, failureSummary } of nodes) {
        found.push(`${colorScheme}: ${id}: ${help} at ${target.join(' ')} ${failureSummary}`);
      }
    }
  }
  return found;
}
