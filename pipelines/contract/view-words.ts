import type { Clip } from './study.ts';

/** Words that an operator or a preset wrote for an image. */
export type ViewNamed = Pick<Clip, 'viewName' | 'stageName'>;

/**
 * Returns words in lower case, separated by one space. Carts separate words by spaces, underscores,
 * hyphens, slashes and points (`AFI_Q4`, `trans-vaginal`, `Umb.A`). A space in a pattern matches
 * all of these.
 */
export const plainWords = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[\s_\-/.:,#]+/g, ' ')
    .trim();

/** Returns the words of View Name and Stage Name. All patterns are matched with them. */
export const viewWords = ({ viewName, stageName }: ViewNamed): string =>
  plainWords(`${viewName ?? ''} ${stageName ?? ''}`);
