import type { Clip } from './study.ts';

/** View and stage of an image, as named by an operator or a preset. */
export type ViewNamed = Pick<Clip, 'viewName' | 'stageName'>;

/**
 * Returns words in lower case, separated by single spaces. Carts separate words with spaces,
 * underscores, hyphens, slashes and points (`AFI_Q4`, `trans-vaginal`, `Umb.A`). A space in a
 * pattern matches all of these.
 */
export const plainWords = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[\s_\-/.:,#]+/g, ' ')
    .trim();

/** Returns the words of View Name and Stage Name, against which all patterns are matched. */
export const viewWords = ({ viewName, stageName }: ViewNamed): string =>
  plainWords(`${viewName ?? ''} ${stageName ?? ''}`);
