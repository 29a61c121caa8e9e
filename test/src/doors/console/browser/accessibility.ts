import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** WCAG 2.2 A and AA, and what the authors of the checker consider good practice. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Returns the accessibility violations on the current page, each with its rule, message and
 * element.
 */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const options = JSON.stringify({ runOnly: TAGS, resultTypes: ['violations'] });
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${options})`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, failureSummary }) => `${id}: ${help} at ${target.join(' ')} ${failureSummary}`,
    ),
  );
}
